"""`forager robots URL`: shows whether a URL may be fetched, and which rule decides."""

import asyncio
import json as jsonlib
from typing import Annotated, Any

import typer

from forager.assembly import open_wire
from forager.cli.options import Config, Json, Set, loaded
from forager.clock import WallClock
from forager.errors import Exit, InputError
from forager.pages.urls import canonical
from forager.settings import Settings


def robots(
    url: Annotated[str, typer.Argument(help="The URL in question.")],
    config: Config = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Say whether a URL may be fetched, and which rule says so."""
    verdict = asyncio.run(_ask(url, loaded(config, set_).settings))
    if json:
        typer.echo(jsonlib.dumps(verdict))
    else:
        for name, value in verdict.items():
            typer.echo(f"{name:<12} {value}")
    raise typer.Exit(Exit.OK if verdict["allowed"] else Exit.REFUSED)


async def _ask(text: str, settings: Settings) -> dict[str, Any]:
    url = canonical(text)
    if url is None:
        raise InputError(f"{text!r} is not an http(s) URL")
    async with open_wire(settings, WallClock()) as wire:
        verdict = await wire.robots.explain(url)
        return {"url": url, **{name: getattr(verdict, name) for name in verdict.__slots__}}
