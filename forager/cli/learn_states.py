"""`forager learn states`: learns from a corpus the text clusters that turn a text into a state."""

import json as jsonlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from forager.cli.options import Config, Json, Quiet, Set, check_place, loaded, whole
from forager.core.states import LONGEST_TEXT, States
from forager.errors import InputError
from forager.importers.texts import read_texts

_SHOW_EVERY = 1.0
"""Seconds between two lines of progress."""


def learn_states(
    corpus: Annotated[Path, typer.Argument(help="A folder of .txt and .html files, or JSON lines with a `text` each.")],
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the states (.npz).")],
    general: Annotated[
        Path | None, typer.Option(help="Text of no particular topic, in the same forms: the class that is dropped.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Texts to read at most.")] = 20_000,
    config: Config = None,
    set_: Set = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn text clusters and write them to a file; use it with -s forager.states.file=FILE."""
    check_place(output)
    settings = loaded(config, set_).settings.forager.states
    begun = time.monotonic()
    texts = _read(corpus, limit, quiet)
    if len(texts) < settings.dimension:
        raise InputError(
            f"{corpus}: {len(texts)} texts are too few for {settings.dimension} clusters; "
            "give more, or set forager.states.dimension"
        )
    _say(f"{len(texts)} texts read; learning {settings.dimension} clusters", quiet)
    states = States(settings).train(texts, _read(general, limit, quiet) if general else ())
    with whole(output) as draft:
        draft.write_bytes(states.save())
    result = {
        "texts": len(texts),
        "clusters": settings.dimension,
        "words": states.words,
        "seconds": round(time.monotonic() - begun, 3),
        "file": str(output),
    }
    if json:
        typer.echo(jsonlib.dumps(result))
    else:
        typer.echo(
            f"{settings.dimension} clusters of {states.words} words from {len(texts)} texts; written to {output}"
        )


def _read(place: Path, limit: int, quiet: bool) -> list[str]:
    """Reads the texts, cut to the length that the crawl uses, and shows progress."""
    texts: list[str] = []
    shown = time.monotonic()
    for text in read_texts(place):
        texts.append(text[:LONGEST_TEXT])
        if time.monotonic() - shown > _SHOW_EVERY:
            shown = time.monotonic()
            _say(f"{place}: {len(texts)} texts", quiet)
        if len(texts) == limit:
            break
    return texts


def _say(line: str, quiet: bool) -> None:
    if not quiet:
        sys.stderr.write(f"{line}\n")
