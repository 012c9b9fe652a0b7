"""The recrawl side of a crawl or a replay, put together from what the fleet knows and the settings."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.engine.settings import CrawlSettings
from forager.foragers.kernels import best
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.pages.urls import host
from forager.recrawl.choosing import Surroundings
from forager.recrawl.policies import Hacs, history_for
from forager.recrawl.scheduler import Policy, Scheduler
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.visit_log import VisitLog
from forager.recrawl.watching import Watch
from forager.store.protocol import Store

IntArray = NDArray[np.int64]
NOWHERE: IntArray = np.empty(0, dtype=np.int64)


def make_scheduler(
    policy: Policy,
    shared: Shared,
    thrift: Thrift,
    crawl: CrawlSettings,
    recrawl: RecrawlSettings,
    *,
    known: Callable[[], IntArray],
    shared_until: Callable[[int], float],
    groups: Callable[[], IntArray] | None = None,
    lately: Callable[[int], IntArray] | None = None,
    seeds: IntArray = NOWHERE,
) -> Scheduler:
    """A scheduler that hears of every visit from now on."""

    def explore(unseen: IntArray, luck: float) -> int:
        """The first in the order of the link graph; without that any."""
        return int(luck * len(unseen)) if shared.order is None else best(shared.order.appeal(unseen), luck)

    retrain = recrawl.retrain
    extended = retrain.enabled and retrain.terminals == "extended"  # functions to come may read what HACS reads
    history = history_for(Hacs(recrawl.hacs) if extended else policy.score, 0, recrawl, crawl.cycle)
    history.about = shared.visits.about
    scheduler = Scheduler(
        policy,
        Watch(history, VisitLog() if retrain.enabled else None),
        Surroundings(shared.visits, thrift, known, shared_until, explore, groups, lately),
        leaning=shared.leaning,
        cycle=crawl.cycle,
        seeds=seeds,
    )
    shared.watcher = scheduler
    return scheduler


class Hosts:
    """The hosts of all known pages as numbers; each page is looked at once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._numbers: dict[str, int] = {}
        self._host = np.empty(1024, dtype=np.int64)
        self._size = 0

    def __repr__(self) -> str:
        return f"<Hosts {len(self._numbers)} of {self._size} pages>"

    def of_all(self) -> IntArray:
        """The number of the host of every known page."""
        known = self.store.counts().known
        if known > len(self._host):
            self._host = np.resize(self._host, max(known, 2 * len(self._host)))
        numbers = self._numbers
        for id, url in enumerate(self.store.urls(self._size), self._size):
            self._host[id] = numbers.setdefault(host(url), len(numbers))
        self._size = known
        return self._host[:known]
