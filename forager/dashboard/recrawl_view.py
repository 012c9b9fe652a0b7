"""Page Recrawl: the policy that decides when known pages are revisited, how well it works, and which pages come next."""

from dataclasses import asdict

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.core.page_table import PageTable
from forager.core.scheduler import Scheduler
from forager.dashboard.chronicle import Chronicle, Cycle, JsonFacts
from forager.dashboard.watched import Watched
from forager.engine.policy import function_source
from forager.events import Learned
from forager.recrawl.cycle import top
from forager.recrawl.policies import EXPECTED, ByKind, Policy
from forager.recrawl.recrawl_settings import WORTH
from forager.report.phrases import shown, span
from forager.store.protocol import Known
from forager.terms import LISTS, UrlId

NEXT = 50
"""Pages of the schedule sent at once (ours)."""
DAY = 86_400.0

MEANING = (
    "links that just appeared go first, then the pages that promise most: λ·t new documents for pages that list, "
    "1 − e^(−λt) for single texts, with λ learned from all visits"
)
"""How the hand-made rule ranks, in words."""
FORMULA = "λ·t for lists, 1 − e^(−λt) for texts"
BY_POLICY = (
    "pages never visited go first while they promise enough new documents; all others are ordered by the score that the "
    "function gives to their history: n visits, X changes, t cycles since the last visit"
)
"""How any other policy ranks, in words."""
REORDERED = (
    "links that just appeared and pages never visited are ordered by the new documents they promise; known pages that promise "
    "enough by the score that a learned function gives to their history, lists and texts apart"
)
"""How the default policy ranks, in words."""


def recrawl(watched: Watched, chronicle: Chronicle) -> JsonFacts:
    """Content of the page."""
    now, settings, total = watched.clock.now(), watched.settings, chronicle.account.total
    policy = Policy() if watched.scheduler is None else watched.scheduler.policy
    by_hand, by_kind = policy.score is None, isinstance(policy.score, ByKind)
    return {
        "now": now,
        "policy": EXPECTED if policy.name == WORTH else policy.name,
        "meaning": MEANING if by_hand else REORDERED if by_kind else BY_POLICY,
        "formula": policy.formula or (FORMULA if by_hand else policy.name),
        "from": None if watched.scheduler is None else function_source(policy, chronicle.learned),
        "fitness": next((_learned(one) for one in reversed(chronicle.learned) if one.replaced), None),
        "learned": [_learned(one) for one in chronicle.learned],
        "least_worth": settings.least_worth,
        "explore": settings.explore,
        "cycle": settings.cycle,
        "share": settings.recrawl_share,
        "turns": {"fleet": total.fleet.requests, "recrawl": total.recrawl.requests},
        "cycles": [_cycle(cycle) for cycle in chronicle.cycles],
        "next": schedule(watched, now),
    }


def schedule(watched: Watched, now: float) -> list[JsonFacts]:
    """The pages that the recrawl cycle would visit first, and why.

    With a score function, pages never visited come first if worth a request, then pages with a history in the order of
    their scores. If the function was learned for the default policy, the latter too must be worth a request.
    """
    scheduler = watched.scheduler
    if scheduler is None or scheduler.policy.score is None:
        return _by_worth(watched.known(), watched, now, NEXT)
    known = watched.known()
    never = known[~scheduler.history.visited(known)]
    never = never[_promises_enough(never, scheduler, watched, now)]
    return _by_worth(never, watched, now, NEXT // 2) + _by_policy(scheduler, watched, now, len(never))


def _by_worth(known: IntArray, watched: Watched, now: float, count: int) -> list[JsonFacts]:
    """The pages with the most expected documents; links that just appeared come first."""
    visits = watched.shared.visits
    worth, fresh = visits.worth(known, now)
    best = _best(np.where(fresh, worth + 1e3, worth), count)
    rows = []
    for rank, place in enumerate(best.tolist(), start=1):
        page, is_fresh = watched.store.known(UrlId(int(known[place]))), bool(fresh[place])
        promise, (rate,) = float(worth[place]), visits.rate(known[place : place + 1]).tolist()
        why = why_next(page, promise, is_fresh, rate, watched, visits, now)
        rows.append(_row(rank, page, promise, rate, why, fresh=is_fresh))
    return rows


def _by_policy(scheduler: Scheduler, watched: Watched, now: float, before: int) -> list[JsonFacts]:
    """The pages with a history, ranked by the policy after `before` others."""
    score = scheduler.asked
    assert score is not None

    def eligible(pages: IntArray) -> BoolArray:
        return _promises_enough(pages, scheduler, watched, now)

    reorders = isinstance(score, ByKind)
    chosen = top(scheduler.history, score, now, NEXT // 2, eligible if reorders else None)
    states, visits = scheduler.history.states(now, chosen.pages), watched.shared.visits
    worths, rates = visits.worth(chosen.pages, now)[0], visits.rate(chosen.pages)
    columns = chosen.pages, chosen.scores, worths, rates, states.n, states.X, states.t
    rows = []
    for rank, row in enumerate(zip(*(column.tolist() for column in columns), strict=True), start=before + 1):
        page, points, worth, rate, n, changes, cycles = row
        known = watched.store.known(UrlId(page))
        why = f"n = {n:g} visits, X = {changes:g} changes, t = {cycles:.2f} cycles since the last"
        if reorders:
            why = why_next(known, worth, False, rate, watched, visits, now)
        rows.append(_row(rank, known, worth, rate, why, score=round(points, 4)))
    return rows


def _promises_enough(pages: IntArray, scheduler: Scheduler, watched: Watched, now: float) -> BoolArray:
    """Which pages are worth a request."""
    worth, _ = watched.shared.visits.worth(pages, now)
    return np.asarray(worth >= scheduler.candidates.thrift.least_worth)


def why_next(
    page: Known, worth: float, fresh: bool, rate: float, watched: Watched, visits: PageTable, now: float
) -> str:
    """Explains the expected documents of a page."""
    if fresh:
        source = visits.revealer(page.id)
        where = f" on {shown(watched.store.url(source), 80)}" if source >= 0 else ""
        return f"a link that just appeared{where}"
    if page.last_visit is None or not visits.visited(np.array([page.id]))[0]:
        asked = f"asked for {page.visits} times, never seen itself" if page.visits else "never visited"
        return f"{asked}; links of its sort brought {worth:.2f} new documents each"
    hours = min(now - page.last_visit, DAY) / 3600
    lists = page.kind in LISTS
    said = f"{rate:.2f} news an hour, last seen {span(now - page.last_visit)} ago"
    lift = worth / (rate * hours) if lists and rate * hours > 0 else 1.0
    return f"{said}; × {lift:.1f}, as a page that links here just had news" if lift > 1.05 else said


def why_scheduled(id: UrlId, watched: Watched) -> str:
    """What the policy reads of a page, its score and rank; empty if the expected documents decide."""
    if watched.scheduler is None:
        return ""
    explained = watched.scheduler.explain(id, watched.clock.now())
    return "" if explained is None else f"By {shown(explained.rule or str(watched.scheduler.policy))}: {explained}."


def _best(order: FloatArray, count: int) -> IntArray:
    """Indices of the largest values, largest first."""
    if not order.size:
        return np.empty(0, dtype=np.int64)
    largest = np.argpartition(-order, min(count, order.size) - 1)[:count]
    return largest[np.argsort(-order[largest], kind="stable")]


def _row(
    rank: int, page: Known, worth: float, rate: float, why: str, *, fresh: bool = False, score: float | None = None
) -> JsonFacts:
    return {
        "rank": rank,
        "worth": round(worth, 4),
        "fresh": fresh,
        "rate": round(rate, 4),
        "score": score,
        "url": page.url,
        "kind": page.kind.value,
        "visits": page.visits,
        "changes": page.changes,
        "last_visit": page.last_visit,
        "why": why,
    }


def _learned(learned: Learned) -> JsonFacts:
    return asdict(learned) | {"formula": shown(learned.formula, 2000), "verdict": learned.verdict}


def _cycle(cycle: Cycle) -> JsonFacts:
    """A cycle as JSON values; until it is judged, its ChangeRate covers all its visits so far."""
    so_far = round(cycle.changed / cycle.visited, 4) if cycle.visited else None
    return asdict(cycle) | {"change_rate": so_far if cycle.change_rate is None else cycle.change_rate}
