"""Options that several commands share."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forager.settings import Loaded, load
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
    return load(config, overrides or (), os.environ)


def time_given(text: str | None) -> float | None:
    """A `--time-limit` in seconds."""
    try:
        return None if text is None else float(str(seconds(text)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-limit") from None
