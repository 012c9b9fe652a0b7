"""What the replaying commands share: opening a tape or a run directory, budgets, presets and seeds."""

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
import yaml

from forager.errors import InputError, SettingsError
from forager.imports.from_run import tape_of_run
from forager.reports.showing import span
from forager.settings import PRESETS, Settings, load
from forager.simulation.seeds import default_seeds
from forager.terms import Url, UrlId
from forager.units import seconds
from forager.world.tape import columns
from forager.world.tape.columns import CONTENTS, Tape

_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:/\s*(s|min|h|d))?")
_WARM_UP = 12 * 3600.0
_PER_HOUR = {"s": 3600.0, "min": 60.0, "h": 1.0, "d": 1 / 24}


@contextmanager
def tape_folder(path: Path) -> Iterator[Path]:
    """The folder of a tape; a run directory is compiled to a tape that is deleted afterwards."""
    if (path / CONTENTS).is_file():
        yield path
    elif (path / "crawl.db").is_file():
        with TemporaryDirectory(prefix="forager-tape-") as folder:
            columns.save(compiled(path), Path(folder))
            yield Path(folder)
    else:
        raise InputError(f"{path}: neither a tape (no {CONTENTS}) nor a run directory (no crawl.db)")


def compiled(run_dir: Path, identity: str = "url") -> Tape:
    """The tape of a run directory; how its texts became states stands in its own settings."""
    own = run_dir / "config.yaml"
    try:
        states = load(own, (), {}).settings.forager.states if own.is_file() else None
    except SettingsError:  # written by another release; its usual settings will do
        states = None
    return asyncio.run(tape_of_run(run_dir, identity=identity, states=states))


def tape_facts(tape: Tape) -> dict[str, Any]:
    """What a tape holds, as plain values."""
    return {
        "origin": tape.origin,
        "pages": tape.pages,
        "versions": tape.versions,
        "links": int(tape.links.size),
        "start": tape.start,
        "end": tape.end,
        "identity": tape.identity,
    }


def budget(text: str) -> float:
    """`60/h` as downloads per hour; also per s, min or d."""
    match = _BUDGET.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"expected downloads per hour such as 60/h, not {text!r}", param_hint="--budget")
    return float(match[1]) * _PER_HOUR[match[2] or "h"]


def usual_budget(tape: Tape) -> float:
    """A twentieth of the pages per hour, but no less than 30 downloads: scarce enough to tell fleets apart."""
    return max(30.0, round(tape.pages / 20))


def warm_up_of(text: str | None, length: float) -> float:
    """The first seconds of a recording whose news does not count: as said, or 12 hours, but no more than a quarter of it."""
    if text is None:
        return min(_WARM_UP, length / 4)
    try:
        said = float(str(seconds(text)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--warm-up") from None
    if said and said >= length:
        raise typer.BadParameter(f"{text} leaves nothing of a recording of {span(length)}", param_hint="--warm-up")
    return said


def settings_for(config: Path | None, overrides: Sequence[str], preset: str) -> Settings:
    """The settings of this call; a preset given on the command line goes before the config file."""
    if preset not in PRESETS:
        raise typer.BadParameter(f"no preset {preset!r}; known: {', '.join(filter(None, PRESETS))}")
    layer = [f"{key}={yaml.safe_dump(value).splitlines()[0]}" for key, value in PRESETS[preset].items()]
    return load(config, [f"preset={preset}", *layer, *overrides] if preset else overrides, os.environ).settings


def seeds_of(tape: Tape, given: Sequence[Url]) -> tuple[UrlId, ...]:
    """The numbers of the given URLs on the tape; without any, the tape's own."""
    if not given:
        return default_seeds(tape)
    wanted = set(given)
    numbers = {url: UrlId(id) for id, url in enumerate(tape.urls()) if url in wanted}
    missing = [url for url in given if url not in numbers]
    if missing:
        raise InputError(
            f"{missing[0]}: not on the tape; `forager replay` without --seed starts from its largest pages"
        )
    return tuple(numbers[url] for url in dict.fromkeys(given))
