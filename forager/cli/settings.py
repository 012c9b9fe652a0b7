"""`forager settings`: shows every value and its origin, or prints a config.yaml template."""

import json as jsonlib
from typing import Annotated

import typer

from forager.cli.options import Config, Json, Set, loaded
from forager.config_file import config_text, in_yaml, plain
from forager.settings import setting_leaves, value_of


def settings(
    config: Config = None,
    set_: Set = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a config.yaml with every default explained.")
    ] = False,
    json: Json = False,
) -> None:
    """Show every setting, its value and where it came from."""
    if template:
        typer.echo(config_text(), nl=False)
        return
    found = loaded(config, set_)
    rows = [(key, plain(value_of(found.settings, key)), found.origins[key]) for key in setting_leaves()]
    if json:
        typer.echo(jsonlib.dumps({key: {"value": value, "origin": origin} for key, value, origin in rows}))
        return
    wide = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        note = "" if origin == "default" else f"   # {origin}"
        typer.echo(f"{key:<{wide}}  {in_yaml(value)}{note}")
