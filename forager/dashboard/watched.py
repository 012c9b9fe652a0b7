"""The parts of a crawl or replay that the dashboard reads, and coverage: the share of the published stories that was found.

A replay and the demo know all published stories. A live crawl does not; it counts the stories that feeds and news
sitemaps announce with a date, and how many of them it has found. Stories that nobody announces do not count on either
side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.clock import Clock
from forager.core.agent import ReinforcingAgent
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.crawl import Crawl
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.scope import Skipped
from forager.report.account import Account
from forager.store.protocol import RunRecords
from forager.terms import UrlId
from forager.web.robots import Robots
from forager.web.timetable import Timetable

if TYPE_CHECKING:  # few crawls have one
    from forager.engine.topic import TopicDesk

BUCKETS = 48
"""Maximum number of columns in the chart (ours)."""
WIDTHS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 10_800.0, 21_600.0, 86_400.0, 604_800.0)
"""Possible lengths of a column in seconds (ours)."""
AT_ONCE = 2_000
"""URLs checked for dates in one call, so that the crawl does not wait long (ours)."""

Appeared = tuple[FloatArray, BoolArray]
"""When each story appeared, in any order, and whether it was found."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Source of the coverage figures."""

    of: str
    """Description of what is counted."""
    appeared: Callable[[], Appeared]

    def over_time(self) -> dict[str, Any]:
        """Counts per column, with the start of the first."""
        times, found = self.appeared()
        if not times.size:
            return {"of": self.of, "start": None, "width": WIDTHS[0], "appeared": [], "found": [], "share": None}
        span = float(times.max() - times.min())
        width = next((one for one in WIDTHS if span / one < BUCKETS - 1), span / (BUCKETS - 1))
        start = float(times.min() // width * width)
        places = ((times - start) // width).astype(np.int64)
        return {
            "of": self.of,
            "start": start,
            "width": width,
            "appeared": np.bincount(places).tolist(),
            "found": np.bincount(places, weights=found).astype(int).tolist(),
            "share": round(float(found.mean()), 4),
        }


class Rules(Protocol):
    """The rules of a live web that pages are asked by."""

    @property
    def timetable(self) -> Timetable: ...
    @property
    def robots(self) -> Robots: ...


class AnnouncedStories:
    """URLs that feeds and news sitemaps dated after the crawl began; each URL is checked once, when it is new."""

    def __init__(self, store: RunRecords, told: Callable[[UrlId], bool], since: Callable[[], float | None]) -> None:
        """`told` returns whether a URL is a story, `since` when the crawl began."""
        self._store, self._told, self._since = store, told, since
        self._next = 0
        self._times: list[float] = []
        self._found: list[bool] = []
        self._open: dict[UrlId, int] = {}
        """URLs not found yet, with their indices in both lists."""

    def __call__(self) -> Appeared:
        since = self._since()
        if since is not None:
            self._look_at_new(since)
        for id in [id for id in self._open if self._told(id)]:
            self._found[self._open.pop(id)] = True
        return np.array(self._times), np.array(self._found, dtype=np.bool_)

    def _look_at_new(self, since: float) -> None:
        end = min(self._store.counts().known, self._next + AT_ONCE)
        for number in range(self._next, end):
            page = self._store.known(UrlId(number))
            if page.published is not None and since <= page.published <= page.found:
                self._open[page.id] = len(self._times)
                self._times.append(page.published)
                self._found.append(False)
        self._next = end


@dataclass(frozen=True, slots=True)
class Watched:
    """A crawl or a replay for the dashboard."""

    name: str
    """Name of the run, for people who watch several."""
    store: RunRecords
    known: Callable[[], IntArray]
    """Returns the URLs known now."""
    agent: ReinforcingAgent
    shared: Shared
    clock: Clock
    settings: CrawlSettings
    skipped: Callable[[], Skipped]
    """Returns what was skipped, and why."""
    coverage: Coverage
    timetable: Timetable | None = None
    """None in a world without hosts to spare."""
    robots: Robots | None = None
    scheduler: Scheduler | None = None
    """The recrawl side; None if there is none."""
    topic: "TopicDesk | None" = None
    """The focus; None if every topic will do."""


def watch(name: str, crawl: Crawl, account: Account, rules: Rules | None, coverage: Coverage | None = None) -> Watched:
    """The parts of a live crawl; coverage is by default measured against the entries of feeds."""
    announced = AnnouncedStories(crawl.store, account.is_told, lambda: account.began)
    return Watched(
        name=name,
        store=crawl.store,
        known=lambda: np.arange(crawl.store.counts().known, dtype=np.int64),
        agent=crawl.agent,
        shared=crawl.shared,
        clock=crawl.clock,
        settings=crawl.settings,
        skipped=lambda: crawl.world.ingest.skipped,
        coverage=coverage or Coverage("stories announced in feeds", announced),
        timetable=None if rules is None else rules.timetable,
        robots=None if rules is None else rules.robots,
        scheduler=crawl.scheduler,
        topic=crawl.topic,
    )
