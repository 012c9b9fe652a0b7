"""Uses the live web: one page through all rules, or a crawl in the background of an `async with` block."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from forager.errors import InputError, first_error
from forager.events import Event, Told
from forager.library.run_reader import Story, stories_after, with_text
from forager.pages.urls import canonical
from forager.report.phrases import shown
from forager.terms import Outcome, Request, Response, Url

if TYPE_CHECKING:
    from forager.assembly import Hooks, OpenCrawl
    from forager.pages.page import Page
    from forager.settings import Settings
    from forager.store.protocol import Counts

_SLOW = ("htmldate", "charset_normalizer")
"""Modules that page readers import lazily; loaded in advance, so that the import does not block the event loop."""


def live_settings(values: Mapping[str, Any] | None, user_agent: str | None) -> "Settings":
    """Settings of a program that uses the live web; raises `SettingsError` without a contact."""
    from forager.assembly import require_contact
    from forager.settings import load_values

    agent = {} if user_agent is None else {"live.user_agent": user_agent}
    settings = load_values({**(values or {}), **agent})
    require_contact(settings, 'user_agent="{}"')
    return settings


async def fetch(url: str, *, user_agent: str | None = None, settings: Mapping[str, Any] | None = None) -> "Page":
    """Fetches one page through all rules: robots.txt, politeness, redirects, retries, limits.

        page = await forager.fetch("https://example.org/news", user_agent="Mine/1.0 (+https://example.org/bot)")
        print(page.response.status, page.title, len(page.links))

    A failed fetch raises no exception: `page.response.outcome` says how it ended, and `page.trouble` why. Calls share no
    state, so to request more than a few pages of a host, use `crawl`.
    """
    chosen = await asyncio.to_thread(live_settings, settings, user_agent)
    from forager.assembly import open_wire
    from forager.clock import WallClock
    from forager.pages.page import Page

    asked = given_url(url)
    async with open_wire(chosen, WallClock()) as wire:
        response = await wire.web.fetch(Request(asked))
    page = Page(response, settings=chosen.pages)
    if response.outcome is not Outcome.FETCHED:
        page.trouble = response.error or f"{response.outcome}, status {response.status}"
    return page


def read(html: str | bytes, url: str, *, content_type: str = "", fetched: float | None = None) -> "Page":
    """Reads a page, feed or sitemap from bytes: title, dates, text, links; each is parsed when first used.

        page = forager.read("<title>Rain</title><p>It rains. <a href='/sun'>Sun</a>", "https://example.org/")
        print(page.title, page.published, page.links[0].url)

    No input raises an exception: what cannot be read is empty, and `page.trouble` says why. `content_type` is the header
    of the response. `fetched` is its time in UTC seconds, by default now; dates after it are ignored.
    """
    from forager.clock import WallClock
    from forager.pages.page import Page

    kind = content_type or ("text/html; charset=utf-8" if isinstance(html, str) else "")
    response = Response(
        given_url(url),
        Outcome.FETCHED,
        WallClock().now() if fetched is None else fetched,
        headers=(("content-type", kind),) if kind else (),
        body=html.encode("utf-8", "replace") if isinstance(html, str) else html,
    )
    return Page(response)


def given_url(text: str) -> Url:
    """A URL in its canonical form."""
    url = canonical(text)
    if url is None:
        raise InputError(f"{shown(text)!r} is not an http(s) URL, such as https://example.org/news")
    return url


@dataclass(eq=False)
class CrawlSession:
    """A running crawl; `async with` starts it, and leaving the block drains and saves it. See `crawl` for the fields."""

    run_dir: Path
    seeds: Sequence[str]
    user_agent: str | None
    settings: Mapping[str, Any] | None
    time_limit: float | None
    on_page: "Callable[[Page], None] | None"
    accept: Callable[[Story], bool] | None

    def __post_init__(self) -> None:
        self._stopping = asyncio.Event()
        self._news = asyncio.Event()
        """Set when a story arrived since it was created, or the crawl has ended."""

    def __repr__(self) -> str:
        return f"<CrawlSession {self.run_dir}>"

    async def __aenter__(self) -> Self:
        settings, seeds = await asyncio.to_thread(self._check)
        from forager.assembly import open_crawl
        from forager.clock import WallClock

        async with AsyncExitStack() as stack:
            self._opened: OpenCrawl = await stack.enter_async_context(
                open_crawl(self.run_dir, settings, seeds, WallClock(), lambda account: [self._hear], self._hooks())
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

        crawl, limit = self._opened.crawl, self.time_limit
        ends = math.inf if limit is None else crawl.clock.now() + limit
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(crawl.clock, limit, self._stopping))
            await crawl.run(self._opened.seeds, self._stopping, ends)

    def _check(self) -> "tuple[Settings, list[Url]]":
        """Checks settings and seeds; imports everything slow, off the event loop."""
        for name in _SLOW:
            import_module(name)
        settings = live_settings(self.settings, self.user_agent)
        return settings, check_seeds((f"seeds[{place}]", text) for place, text in enumerate(self.seeds))

    def _hooks(self) -> "Hooks":
        from forager.assembly import Hooks

        accept = self.accept
        return Hooks(self.on_page, None if accept is None else lambda story, version: accept(with_text(story, version)))

    def _hear(self, event: Event) -> None:
        """Reads every event of the journal."""
        if isinstance(event, Told):
            self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


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
    return CrawlSession(Path(run_dir), seeds, user_agent, settings, time_limit, on_page, accept)


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
