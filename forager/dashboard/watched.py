"""The parts of a crawl or replay that the dashboard reads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forager.arrays import IntArray
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

if TYPE_CHECKING:  # few crawls have one
    from forager.engine.topic import TopicDesk


@dataclass(frozen=True, slots=True)
class Watched:
    """A crawl or a replay for the dashboard."""

    name: str
    """Name of the run, for people who watch several."""
    store: Records
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


def watch(
    name: str, crawl: Crawl, coverage: Coverage, timetable: Timetable | None = None, robots: Robots | None = None
) -> Watched:
    """The parts of a live crawl."""
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
        topic=crawl.topic,
    )
