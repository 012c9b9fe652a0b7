"""The recrawl side of a crawl or a replay, put together from what the fleet knows and the settings."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.engine.settings import CrawlSettings
from forager.foragers.kernels import best
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.recrawl.choosing import Surroundings
from forager.recrawl.policies import Hacs, history_for
from forager.recrawl.scheduler import Policy, Scheduler
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.visit_log import VisitLog

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
    groups: Callable[[int], IntArray] | None = None,
    lately: Callable[[int], IntArray] | None = None,
    seeds: IntArray = NOWHERE,
) -> Scheduler:
    """A scheduler that hears of every visit from now on; the page table keeps what it needs."""

    def explore(unseen: IntArray, luck: float) -> int:
        """The first in the order of the link graph; without that any."""
        return int(luck * len(unseen)) if shared.order is None else best(shared.order.appeal(unseen), luck)

    retrain = recrawl.retrain
    extended = retrain.enabled and retrain.terminals == "extended"  # functions to come may read what HACS reads
    history = history_for(Hacs(recrawl.hacs) if extended else policy.score, 0, recrawl, crawl.cycle)
    shared.visits.keep_histories(history, VisitLog() if retrain.enabled else None)
    scheduler = Scheduler(
        policy,
        history,
        Surroundings(shared.visits, thrift, known, shared_until, explore, groups, lately),
        leaning=shared.leaning,
        cycle=crawl.cycle,
        seeds=seeds,
    )
    shared.reveal = scheduler.reveal
    return scheduler
