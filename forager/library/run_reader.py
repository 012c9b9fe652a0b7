"""Reads a run directory: stories, versions and visits of a crawl that has ended or is running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from forager.errors import InputError
from forager.store.protocol import AcceptedStory, Counts, RunRecords, Version, Visit
from forager.terms import ABOUT, Url, UrlId

if TYPE_CHECKING:
    from forager.store.store import Store


@dataclass(frozen=True, slots=True)
class Story(AcceptedStory):
    """A new, young document that a crawl found. Times are UTC seconds since the epoch.

    `version` is the number of the version of its page, from 1, or 0 until the story is accepted.
    """

    number: int = -1
    """Its number in the order of acceptance, from 0; pass it to `stories(after=…)` to continue after it."""
    text: str = ""
    authors: tuple[str, ...] = ()
    lead: str = ""
    image: str = ""
    section: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    """As stated by the page (`en-gb`), or detected from the words of the text (`en`)."""
    paywalled: bool | None = None
    """None if the page does not state it."""
    word_count: int = 0
    canonical: str = ""
    """The URL that the page names as canonical; empty if none."""
    modified: float | None = None


def with_text(story: AcceptedStory, version: Version, number: int = -1, version_number: int = 0) -> Story:
    return Story(
        **{one.name: getattr(story, one.name) for one in fields(AcceptedStory)} | {"version": version_number},
        number=number,
        text=version.text,
        **{name: getattr(story.about, name) for name in ABOUT},
        canonical=version.canonical,
        modified=None if version.modified is None else version.modified.time,
    )


async def stories_after(source: RunRecords, after: int | None) -> AsyncIterator[Story]:
    """The stories stored now, after the one with this number; None for all."""
    from forager.output.fields import edition

    number = 0 if after is None else after + 1
    async for story in source.stories(number):
        page, _, version = await source.version(story.version)
        yield with_text(story, version, number, await edition(story.version, page, source))
        number += 1


@asynccontextmanager
async def viewed(directory: Path) -> AsyncIterator["Store"]:
    """The store of a run directory, to be read, also while the crawl runs."""
    from forager.store.store import Store

    reader = await Store.view(directory)
    try:
        yield reader
    finally:
        await reader.close()


class Run:
    """The run directory of a crawl, as of when `async with` enters it; reading does not disturb a running crawl."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._opened: Store | None = None

    def __repr__(self) -> str:
        return f"<Run {self.directory}{'' if self._opened else ', not entered'}>"

    async def __aenter__(self) -> Self:
        reader = await asyncio.to_thread(import_module, "forager.store.store")
        self._opened = await reader.Store.view(self.directory)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._reader.close()
        self._opened = None

    @property
    def _reader(self) -> "Store":
        if self._opened is None:
            raise RuntimeError(f"{self.directory}: use it within `async with forager.open_run(…) as run:`")
        return self._opened

    def stories(self, after: int | None = None) -> AsyncIterator[Story]:
        """The stories in the order of acceptance, after the one with the number `after`; None for all."""
        return stories_after(self._reader, after)

    async def versions(self, url: str) -> AsyncIterator[tuple[float, Version]]:
        """The versions of a page with the times when they were fetched, oldest first."""
        for number, at in await self._reader.versions(self._id(url)):
            _, _, version = await self._reader.version(number)
            yield at, version

    def visits(self, url: str | None = None) -> AsyncIterator[Visit]:
        """The visits of a page, or of all pages, in order; `url(visit.id)` returns the page's URL."""
        return self._reader.visits(None if url is None else self._id(url))

    def url(self, id: UrlId) -> Url:
        """The URL of a page number; visits and links refer to pages by number."""
        return self._reader.url(id)

    def counts(self) -> Counts:
        """Numbers of pages, visits and stories."""
        return self._reader.counts()

    def _id(self, url: str) -> UrlId:
        from forager.pages.urls import canonical

        known = canonical(url)
        id = None if known is None else self._reader.find(known)
        if id is None:
            raise InputError(f"{url}: the crawl in {self.directory} knows no such page")
        return id


def open_run(directory: str | PathLike[str]) -> Run:
    """Opens the run directory of a crawl, ended or running, for reading.

    async with forager.open_run("runs/world") as run:
        async for story in run.stories():
            print(story.number, story.title)
    """
    return Run(Path(directory))
