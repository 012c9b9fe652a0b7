"""What the recrawl side knows, kept in the store: the histories of all pages, the policy in use and what was learned.

Histories are saved with the fleet. What a sudden end cut off is read back from the stored visits, page by page; without
a saved history all of it is.
"""

from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
import numpy as np

from forager.events import CycleDone, Learned
from forager.foragers.saving import pack, unpack
from forager.recrawl.formula import parse
from forager.recrawl.policies import Formula
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.scheduler import Policy, Scheduler, rhythm_in
from forager.recrawl.visit_log import VisitLog
from forager.recrawl.watching import Watch
from forager.store.protocol import Story, Visit
from forager.store.store import Store
from forager.terms import UrlId

HISTORY, SCHEDULE = "history", "schedule"
"""The names under which it is kept."""
FORM = 1
BATCH = 10_000
"""Visits entered into a log at once."""
MANY = 2_000
"""Pages whose visits are asked for one after the other, at most; a minute's work of a polite crawl is less."""
LESSONS = 50
"""Latest attempts at learning that are remembered."""


class Schedule(msgspec.Struct):
    """The policy in use, how it came to that, and how the last cycle went."""

    setting: str
    """`crawl.policy` as it was set."""
    formula: str = ""
    """The formula in use; empty if the setting names a rule."""
    learned: bool = False
    """The formula was learned during the crawl."""
    lessons: list[Learned] = msgspec.field(default_factory=list)
    done: CycleDone | None = None
    """The last full cycle."""
    cycle: float = 900.0
    """How long cycles are, in seconds."""
    rhythm: Rhythm = ()
    """Of the week, if the formula came with one."""


def save_history(watch: Watch) -> Callable[[], bytes]:
    """Its history as of now; it may be packed later, by another thread."""
    copied = watch.copied()
    return lambda: pack(HISTORY, FORM, copied.columns())


def save_schedule(setting: str, scheduler: Scheduler, lessons: Sequence[Learned]) -> bytes:
    policy = scheduler.policy
    in_use = [one for one in lessons if one.replaced and one.formula == policy.formula][-1:]
    latest = list(lessons[-LESSONS:])
    if in_use and in_use[0] not in latest:  # how it came to that is remembered however long ago it was
        latest[:1] = in_use
    kept = Schedule(setting, policy.formula, bool(in_use), latest, scheduler.done, scheduler.cycle, rhythm_in(policy))
    return msgspec.json.encode(kept)


async def recall_schedule(store: Store) -> Schedule | None:
    kept = await store.recall(SCHEDULE)
    return None if kept is None else msgspec.json.decode(kept, type=Schedule)


def policy_in_use(set_now: Policy, kept: Schedule | None) -> Policy:
    """The policy of the settings, or the function learned from it before."""
    if kept is None or not kept.learned or kept.setting != set_now.name:
        return set_now
    return Policy(set_now.name, Formula.of(parse(kept.formula)), kept.formula)


async def restore_history(watch: Watch, store: Store) -> None:
    """Fill an empty watch with all that the store knows."""
    kept = await store.recall(HISTORY)
    if kept is not None:
        watch.restore(unpack(HISTORY, FORM, kept))
    log, watch.log = watch.log, None
    visited = store.last_visits()
    since = watch.history.lasts(len(visited))
    behind = np.flatnonzero(visited > since).tolist()
    async for visit in _visits(store, behind):
        if visit.at > since[visit.id]:
            watch.enter(np.array([visit.id]), np.array([visit.at]), np.array([visit.changed]))
    for number in behind:
        version = store.known(UrlId(number)).version
        if version is not None:
            watch.holds(number, version)
    watch.log = log
    if log is not None:
        await _refill(log, store)


async def _visits(store: Store, pages: Sequence[int]) -> AsyncIterator[Visit]:
    """The stored visits of some pages, and perhaps of others: of many pages they are had faster all together."""
    if len(pages) > MANY:
        async for visit in store.visits():
            yield visit
    else:
        for number in pages:
            async for visit in store.visits(UrlId(number)):
                yield visit


async def _refill(log: VisitLog, store: Store) -> None:
    """Enter the stored visits into a log, and which new documents they revealed."""
    waiting: list[Visit] = []
    async for visit in store.visits():
        waiting.append(visit)
        if len(waiting) == BATCH:
            _enter(log, waiting)
            waiting.clear()
    _enter(log, waiting)
    log.credit_past([_document(story, store) async for story in store.stories()])


def _document(story: Story, store: Store) -> tuple[int, int, float, float]:
    source = None if story.discovered_from is None else store.find(story.discovered_from)
    return story.id, -1 if source is None else source, story.first_seen, story.fetched


def _enter(log: VisitLog, visits: list[Visit]) -> None:
    pages = np.array([visit.id for visit in visits], dtype=np.int64)
    log.add(pages, np.array([visit.at for visit in visits]), np.array([visit.changed for visit in visits], np.bool_))
