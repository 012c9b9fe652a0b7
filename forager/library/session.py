"""Runs a live crawl in the background of an `async with` block, which reads its stories."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from forager.events import Event, Told
from forager.library.one_page import live_settings
from forager.library.run_reader import Story, stories_after, with_text
from forager.terms import Url

if TYPE_CHECKING:
    from forager.assembly import Hooks, OpenCrawl
    from forager.pages.page import Page
    from forager.settings import Settings
    from forager.store.protocol import Counts

from collections.abc import Iterable

from forager.errors import InputError, first_error
from forager.pages.urls import canonical

_SLOW = ("htmldate", "feedparser", "charset_normalizer")
"""Modules that page readers import lazily; loaded in advance, so that the import does not block the event loop."""


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """The arguments of `crawl`."""

    run_dir: Path
    seeds: Sequence[str]
    user_agent: str | None
    settings: Mapping[str, Any] | None
    time_limit: float | None
    on_page: "Callable[[Page], None] | None"
    accept: Callable[[Story], bool] | None


class CrawlSession:
    """A running crawl; `async with` starts it, and leaving the block drains and saves it."""

    def __init__(self, order: CrawlOrder) -> None:
        self._order = order
        self._stopping = asyncio.Event()
        self._news = asyncio.Event()
        """Set when a story arrived since it was created, or the crawl has ended."""

    def __repr__(self) -> str:
        return f"<CrawlSession {self._order.run_dir}>"

    async def __aenter__(self) -> Self:
        settings, seeds = await asyncio.to_thread(_check, self._order)
        from forager.assembly import open_crawl
        from forager.clock import WallClock

        async with AsyncExitStack() as stack:
            self._opened: OpenCrawl = await stack.enter_async_context(
                open_crawl(
                    self._order.run_dir, settings, seeds, WallClock(), lambda account: [self._hear], _hooks(self._order)
                )
            )
            self._task = asyncio.get_running_loop().create_task(self._run())  # the block owns the task and awaits it
            self._task.add_done_callback(lambda _: self._wake())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finishes open work and saves, or saves at once if the program was cancelled; then raises the crawl's error."""
        self.stop()
        async with self._stack:
            try:
                if isinstance(error, asyncio.CancelledError):
                    self._task.cancel()
                await asyncio.wait([self._task])
            except asyncio.CancelledError:
                self._task.cancel()
                await asyncio.wait([self._task])
                raise
            finally:
                if self._task.cancelled():
                    await self._opened.crawl.save()
        failure = None if self._task.cancelled() else self._task.exception()
        if failure is None:
            return
        if error is None:
            raise first_error(failure)
        error.add_note(f"The crawl had ended before: {first_error(failure)!r}")

    async def stories(self, after: int | None = None) -> AsyncIterator[Story]:
        """The stories of the run after the one with the number `after` (None: all), then each new one as it appears.

        They come from the run directory at the reader's pace, so a slow reader delays nothing. The iteration ends when
        the crawl ends: by `stop`, by its time limit, or by an error, which is raised when the block is left.
        """
        while True:
            has_ended, news = self._task.done(), self._news
            async for story in stories_after(self._opened.store, after):
                yield story
                after = story.number
            if has_ended:
                return
            await news.wait()

    def stop(self) -> None:
        """Asks the crawl to finish open work; `stories` then ends."""
        self._stopping.set()

    def counts(self) -> "Counts":
        """Numbers of pages, visits and stories so far."""
        return self._opened.store.counts()

    async def _run(self) -> None:
        from forager.engine.crawl import stop_after

        crawl, limit = self._opened.crawl, self._order.time_limit
        ends = math.inf if limit is None else crawl.clock.now() + limit
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(crawl.clock, limit, self._stopping))
            await crawl.run(self._opened.seeds, self._stopping, ends)

    def _hear(self, event: Event) -> None:
        """Reads every event of the journal."""
        if isinstance(event, Told):
            self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _check(order: CrawlOrder) -> "tuple[Settings, list[Url]]":
    """Checks settings and seeds; imports everything slow, off the event loop."""
    for name in _SLOW:
        import_module(name)
    settings = live_settings(order.settings, order.user_agent)
    return settings, check_seeds((f"seeds[{place}]", text) for place, text in enumerate(order.seeds))


def _hooks(order: CrawlOrder) -> "Hooks":
    from forager.assembly import Hooks

    accept = order.accept
    if accept is None:
        return Hooks(order.on_page)
    return Hooks(order.on_page, lambda story, version: accept(with_text(story, version)))


def crawl(
    run_dir: str | PathLike[str],
    *,
    seeds: Sequence[str] = (),
    user_agent: str | None = None,
    settings: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    on_page: "Callable[[Page], None] | None" = None,
    accept: Callable[[Story], bool] | None = None,
) -> CrawlSession:
    """Crawls news sites into a run directory, in the background of an `async with` block.

        async with forager.crawl("runs/world", seeds=["https://example.org/"], user_agent=WHO) as crawl:
            async for story in crawl.stories():
                print(story.title, story.url)

    An existing run directory continues, with its own seeds and those given. Leaving the block in any way drains and saves
    the crawl. `user_agent` must name a contact. `settings` are values by dotted name (see config.yaml); the call reads no
    config file and no environment variable. `time_limit` is in seconds.

    `on_page` is called with every fetched page. `accept` decides whether a document becomes a story; the story has no
    `number` yet. Both run on the event loop, so they should be short; an error in one ends the crawl and is raised when
    the block is left.
    """
    return CrawlSession(CrawlOrder(Path(run_dir), seeds, user_agent, settings, time_limit, on_page, accept))


def read_seeds(path: Path) -> list[Url]:
    """URLs of a seed file in order, each once; the first bad line raises an error."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    seeds = check_seeds(((f"{path}:{number}", line.partition(" #")[0].strip()) for number, line in enumerate(lines, 1)))
    if not seeds:
        raise InputError(f"{path}: no URL in it; write one per line")
    return seeds


def check_seeds(places: Iterable[tuple[str, str]]) -> list[Url]:
    """Checks URLs, each given with its origin for error messages; skips blank lines and comments."""
    seeds: dict[Url, None] = {}
    for place, text in places:
        if not text or text.startswith("#"):
            continue
        url = canonical(text) if "://" in text else None
        if url is None:
            raise InputError(f"{place}: {text[:80]!r} is not an http(s) URL, such as https://example.org/news")
        seeds[url] = None
    return list(seeds)
