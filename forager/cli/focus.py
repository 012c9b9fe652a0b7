"""`forager focus mark RUN_DIR URL yes|no`: tell a focused crawl, running or not, whether a page is on its topic."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forager.engine.topic import Mark, add_mark
from forager.errors import InputError
from forager.pages.urls import canonical
from forager.report.text import shown
from forager.store.store import Store


class Answer(StrEnum):
    """Whether a page is on topic."""

    YES = "yes"
    NO = "no"


def mark_page(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a run, finished or not.")],
    url: Annotated[str, typer.Argument(help="A page that the run has read.")],
    answer: Annotated[Answer, typer.Argument(help="Whether the page is on the topic of the crawl.")],
) -> None:
    """Say whether a page is on the topic of the crawl; a running crawl learns from it within seconds."""
    asyncio.run(_check(run, url))
    add_mark(run, Mark(url, answer is Answer.YES))
    typer.echo(f"{shown(url)}: marked as {'on' if answer is Answer.YES else 'off'} topic.")


async def _check(run: Path, text: str) -> None:
    """Only a page that was read can be learned from."""
    url = canonical(text)
    if url is None:
        raise InputError(f"{shown(text)!r} is not an http(s) URL")
    reader = await Store.view(run)
    try:
        id = reader.find(url)
        if id is None or reader.known(id).version is None:
            raise InputError(f"{run}: this run has not read {shown(url)}")
        if await reader.recall("focus") is None:
            raise InputError(f"{run}: this run has no focus; crawl with focus.query or focus.examples")
    finally:
        await reader.close()
