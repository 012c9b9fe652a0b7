"""The recrawl side of a crawl or a replay, put together from what the fleet knows and the settings."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.core.candidates import EVERYWHERE, NOWHERE, Candidates
from forager.core.rules import FloatArray, IntArray
from forager.core.scheduler import Scheduler
from forager.engine.settings import CrawlSettings
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.recrawl.policies import Hacs, Policy, history_for
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.visit_log import VisitLog


def make_scheduler(
    policy: Policy,
    shared: Shared,
    thrift: Thrift,
    crawl: CrawlSettings,
    recrawl: RecrawlSettings,
    *,
    revisit_after: float,
    last: Callable[[], FloatArray] | None = None,
    seeds: IntArray = NOWHERE,
    only: NDArray[np.bool_] = EVERYWHERE,
    known: Callable[[], IntArray] | None = None,
    groups: Callable[[int], IntArray] | None = None,
) -> Scheduler:
    """A scheduler that hears of every visit from now on; the page table keeps what it needs. See `Candidates`; `last` are
    the last visits if nothing else is given."""
    retrain, pages = recrawl.retrain, shared.visits
    extended = retrain.enabled and retrain.terminals == "extended"  # functions to come may read what HACS reads
    history = history_for(Hacs(recrawl.hacs) if extended else policy.score, 0, recrawl, crawl.cycle)
    pages.keep_histories(history, VisitLog() if retrain.enabled else None)
    candidates = Candidates(
        pages,
        shared.mind,
        thrift,
        every=crawl.cycle,
        last=last or (lambda: pages.history.tables.times[1]),
        revisit_after=revisit_after,
        seeds=seeds,
        only=only,
        known=known,
        groups=groups,
    )
    shared.reveal = candidates.reveal
    return Scheduler(policy, candidates)
