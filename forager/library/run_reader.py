"""A run directory, looked into: the stories, versions and visits of a crawl that has ended or is running."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from forager.errors import InputError
from forager.store.protocol import Counts, Version, VersionId, Visit
from forager.store.protocol import Story as Accepted
from forager.terms import Url, UrlId

if TYPE_CHECKING:
    from forager.store.store import Store


@dataclass(frozen=True, slots=True)
class Story(Accepted):
    """A new, young document that a crawl found. Times are UTC seconds since the epoch."""

    number: int = -1
    """Its place in the order of acceptance, from 0: hand it to `stories(after=…)` to go on behind it."""
    text: str = ""
    lang: str = ""
    canonical: str = ""
    """What the page calls its own URL; empty if it does not say."""
    modified: float | None = None


class StorySource(Protocol):
    """What is read from a store, open for writing or not."""

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]: ...

    def stories(self, after: int = 0) -> AsyncIterator[Accepted]: ...


def with_text(story: Accepted, version: Version, number: int = -1) -> Story:
    """A story with what its stored version adds."""
    return Story(
        **{one.name: getattr(story, one.name) for one in fields(Accepted)},
        number=number,
        text=version.text,
        lang=version.lang,
        canonical=version.canonical,
        modified=None if version.modified is None else version.modified.time,
    )


async def stories_after(source: StorySource, after: int | None) -> AsyncIterator[Story]:
    """The stories that are stored now, behind the one of this number; None: all."""
    number = 0 if after is None else after + 1
    async for story in source.stories(number):
        _, _, version = await source.version(story.version)
        yield with_text(story, version, number)
        number += 1


class Run:
    """The run directory of a crawl, as of the moment it is entered with `async with`; it disturbs no crawl."""

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
        """The stories in the order of acceptance, behind the one with the number `after`; None: all."""
        return stories_after(self._reader, after)

    async def versions(self, url: str) -> AsyncIterator[tuple[float, Version]]:
        """When each version of a page was fetched, and what was kept of it, the oldest first."""
        for number, at in await self._reader.versions(self._id(url)):
            _, _, version = await self._reader.version(number)
            yield at, version

    def visits(self, url: str | None = None) -> AsyncIterator[Visit]:
        """The visits of a page, or of all pages, in order; `url(visit.id)` tells which page it was."""
        return self._reader.visits(None if url is None else self._id(url))

    def url(self, id: UrlId) -> Url:
        """The page of a number; visits and links name pages by numbers."""
        return self._reader.url(id)

    def counts(self) -> Counts:
        """How much there is."""
        return self._reader.counts()

    def _id(self, url: str) -> UrlId:
        from forager.pages.urls import canonical

        known = canonical(url)
        id = None if known is None else self._reader.find(known)
        if id is None:
            raise InputError(f"{url}: the crawl in {self.directory} knows no such page")
        return id


def open_run(directory: str | PathLike[str]) -> Run:
    """Look into the run directory of a crawl, ended or running.

    async with forager.open_run("runs/world") as run:
        async for story in run.stories():
            print(story.number, story.title)
    """
    return Run(Path(directory))
