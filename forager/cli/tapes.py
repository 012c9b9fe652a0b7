"""Budgets, warm-ups and presets of the commands that replay."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
import yaml

from forager.report.text import span
from forager.settings import PRESETS, Settings, load_settings
from forager.tape.tape import Tape
from forager.units import seconds

_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:/\s*(s|min|h|d))?")
_WARM_UP = 12 * 3600.0
_PER_HOUR = {"s": 3600.0, "min": 60.0, "h": 1.0, "d": 1 / 24}


def tape_facts(tape: Tape) -> dict[str, Any]:
    """Contents of a tape as JSON values."""
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
    """Converts `60/h` to downloads per hour; also per s, min or d."""
    match = _BUDGET.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"expected downloads per hour such as 60/h, not {text!r}", param_hint="--budget")
    return float(match[1]) * _PER_HOUR[match[2] or "h"]


def warm_up_of(text: str | None, length: float) -> float:
    """Seconds at the start whose stories do not count: as given, or 12 hours but at most a quarter of the recording."""
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
    """Settings of this call; a preset from the command line overrides the config file."""
    if preset not in PRESETS:
        raise typer.BadParameter(f"no preset {preset!r}; known: {', '.join(filter(None, PRESETS))}")
    layer = [f"{key}={yaml.safe_dump(value).splitlines()[0]}" for key, value in PRESETS[preset].items()]
    return load_settings(config, [f"preset={preset}", *layer, *overrides] if preset else overrides, os.environ).settings
