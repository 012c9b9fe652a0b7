"""Options that several commands share."""

import os
from pathlib import Path
from typing import Annotated

import typer

from forager.settings import Loaded, load

Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: config.yaml here, if there is one.")
]
Set = Annotated[
    list[str] | None, typer.Option("-s", "--set", metavar="KEY=VALUE", help="Override one setting; may be repeated.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def loaded(config: Path | None, overrides: list[str] | None) -> Loaded:
    """The settings of this call, from all layers."""
    return load(config, overrides or (), os.environ)
