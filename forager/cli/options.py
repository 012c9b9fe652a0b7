"""Options that several commands share, and the files that commands write at their end.

Such a file is checked before the work begins, and written as a whole or not at all.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forager.errors import OutputError
from forager.settings import Loaded, load_settings
from forager.units import seconds


class LogFormat(StrEnum):
    """How a crawl tells what happens."""

    TEXT = "text"
    JSON = "json"


Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: config.yaml here, if there is one.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("-s", "--set", metavar="KEY=VALUE", help="Override one setting; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, only warnings and the summary.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="A line for every request, instead of the live view.")]
LogAs = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="Lines on standard error; default: text, or the live view on a terminal."),
]
NoDashboard = Annotated[bool, typer.Option("--no-dashboard", help="Do not serve the dashboard.")]
TimeLimit = Annotated[str | None, typer.Option("--time-limit", help="Stop after this time, such as 90s, 15m or 6h.")]


def loaded(config: Path | None, overrides: list[str] | None) -> Loaded:
    """The settings of this call, from all layers."""
    return load_settings(config, overrides or (), os.environ)


def time_given(text: str | None) -> float | None:
    """A `--time-limit` in seconds."""
    try:
        return None if text is None else float(str(seconds(text)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-limit") from None


def check_place(path: Path | None) -> None:
    """Find out before hours of work what cannot be written."""
    if path is None or _is_device(path):
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: cannot be written: no such folder, or no right to write there")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the place of the file when it is complete; a device or pipe is written to itself."""
    try:
        if _is_device(path):
            yield path
            return
        place = path.resolve()  # a link stays, and leads to what was written
        draft = place.with_name(place.name + ".tmp")
        try:
            yield draft
            draft.replace(place)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    except OSError as problem:
        raise OutputError(f"{path}: cannot be written ({problem.strerror}); choose another place with -O") from problem


def write_whole(path: Path, text: str) -> None:
    """Write a text file."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def tell(outcome: str, *stories: str | None) -> None:
    """Say what came of the work; on standard error if the stories go to standard output, where nothing else does."""
    typer.echo(outcome, err="-" in stories)


def _is_device(path: Path) -> bool:
    """Whether this is neither a file nor a folder: /dev/stdout, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()
