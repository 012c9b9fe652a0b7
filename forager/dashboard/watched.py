"""What the pages look at: the parts of a crawl or of a replay, whatever world it runs in."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.clock import Clock
from forager.core.agent import ReinforcingAgent
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.dashboard.coverage import Coverage
from forager.engine.crawl import Crawl
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.scope import Skipped
from forager.report.dossier import Records
from forager.web.robots import Robots
from forager.web.timetable import Timetable


@dataclass(frozen=True, slots=True)
class Watched:
    """A crawl or a replay as the dashboard sees it."""

    name: str
    """Which one it is, for people who look at several."""
    store: Records
    known: Callable[[], NDArray[np.int64]]
    """The URLs known now."""
    agent: ReinforcingAgent
    shared: Shared
    clock: Clock
    settings: CrawlSettings
    skipped: Callable[[], Skipped]
    """What was left out, and why."""
    coverage: Coverage
    timetable: Timetable | None = None
    """None where no host has to be spared."""
    robots: Robots | None = None
    scheduler: Scheduler | None = None
    """The recrawl side; None if nobody looks at pages again by a plan."""


def watch(
    name: str, crawl: Crawl, coverage: Coverage, timetable: Timetable | None = None, robots: Robots | None = None
) -> Watched:
    """A live crawl, to be looked at."""
    return Watched(
        name=name,
        store=crawl.store,
        known=lambda: np.arange(crawl.store.counts().known, dtype=np.int64),
        agent=crawl.agent,
        shared=crawl.shared,
        clock=crawl.clock,
        settings=crawl.settings,
        skipped=lambda: crawl.world.keeper.skipped,
        coverage=coverage,
        timetable=timetable,
        robots=robots,
        scheduler=crawl.scheduler,
    )
