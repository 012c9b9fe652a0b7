"""Keeps in the store what the recrawl side knows: the policy in use, and what was learned.

Histories are saved with the page table. What a sudden end cut off is read back from the stored visits, page by page;
without a saved history, all of it is.
"""

from collections.abc import AsyncIterator, Sequence

import msgspec
import numpy as np

from forager.core.findings import Finding
from forager.core.packed import unpack
from forager.core.page_table import PageTable
from forager.core.scheduler import Scheduler
from forager.events import CycleDone, Learned
from forager.recrawl.formula import parse
from forager.recrawl.policies import ByKind, Formula, Policy, RuleInUse, rhythm_of_score, rules_in_use
from forager.recrawl.recrawl_settings import WORTH
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.visit_log import VisitLog
from forager.store.protocol import AcceptedStory, Visit
from forager.store.store import Store
from forager.terms import LISTS, Outcome, UrlId

SCHEDULE = "schedule"
"""The name under which it is kept."""
HISTORY, FORM = "history", 1
"""The name and the format under which an earlier version kept histories separately."""
BATCH = 10_000
"""Visits that are entered into a log at once."""
MANY = 2_000
"""Visits are read page by page for at most this many pages; a minute's work of a polite crawl is less."""
LESSONS = 50
"""Number of latest lessons that are remembered."""


class Schedule(msgspec.Struct):
    """The policy in use, where it came from, and how the last cycle went."""

    setting: str
    """`crawl.policy` as it was set."""
    formula: str = ""
    """The formula in use; empty if the setting names a rule."""
    learned: bool = False
    """Whether the formula was learned during the crawl."""
    lessons: list[Learned] = msgspec.field(default_factory=list)
    done: CycleDone | None = None
    """The last complete cycle."""
    cycle: float = 900.0
    """How long cycles are, in seconds."""
    rhythm: Rhythm = ()
    """The rhythm of the week, if the formula came with one."""
    formula_cycle: float = 0.0
    """Seconds in one unit of the formula's time; 0: a cycle of the crawl."""
    by_kind: tuple[RuleInUse, RuleInUse] | None = None
    """The functions for lists and for texts, if each kind has its own."""


def save_schedule(setting: str, scheduler: Scheduler, lessons: Sequence[Learned]) -> bytes:
    policy = scheduler.policy
    rules = rules_in_use(policy)
    used = {policy.formula, *(one.rule for one in rules)}
    in_use = [one for one in lessons if one.replaced and one.formula in used][-1:]
    latest = list(lessons[-LESSONS:])
    if in_use and in_use[0] not in latest:  # the lesson that it came from is kept, however long ago it was
        latest[:1] = in_use
    by_kind = rules if isinstance(policy.score, ByKind) else None
    kept = Schedule(
        setting,
        policy.formula,
        bool(in_use),
        latest,
        scheduler.done,
        scheduler.cycle,
        rhythm_of_score(policy.score),
        rules[0].cycle,
        by_kind,
    )
    return msgspec.json.encode(kept)


async def recall_schedule(store: Store) -> Schedule | None:
    kept = await store.recall(SCHEDULE)
    return None if kept is None else msgspec.json.decode(kept, type=Schedule)


def policy_in_use(set_now: Policy, kept: Schedule | None) -> Policy:
    """Returns the policy of the settings, or the function learned from it before."""
    if kept is None or not kept.learned or kept.setting != set_now.name:
        return set_now
    return kept_policy(kept)


def kept_policy(kept: Schedule) -> Policy:
    """Returns the policy that a run ended with, as far as it consists of formulas."""
    if kept.by_kind is None:
        return Policy(kept.setting, Formula.of(parse(kept.formula), kept.rhythm, kept.formula_cycle), kept.formula)
    lists, texts = (None if one.rule == WORTH else Formula.of(parse(one.rule), (), one.cycle) for one in kept.by_kind)
    return Policy.by_kind(kept.setting, ByKind(lists, texts))


async def recall_waits(store: Store) -> dict[str, bytes]:
    """Returns what was kept of each host; an earlier version kept all hosts together."""
    kept = await store.recall("timetable")
    earlier = {} if kept is None else msgspec.msgpack.decode(kept, type=dict[str, msgspec.Raw])
    return {**{name: bytes(state) for name, state in earlier.items()}, **await store.noted_hosts()}


async def restore_histories(pages: PageTable, store: Store) -> None:
    """Brings a page table and its histories up to date with the store."""
    kept = await store.recall(HISTORY)
    if kept is not None and not pages.history.any_visits:
        pages.restore(unpack(HISTORY, FORM, kept))
    log, pages.log = pages.log, None
    visited = store.last_visits()
    since = pages.history.lasts(len(visited))
    behind = np.flatnonzero(visited > since).tolist()
    async for visit in _visits(store, behind):
        if visit.at > since[visit.id]:
            pages.recall(np.array([visit.id]), np.array([visit.at]), np.array([visit.changed]))
    for number in behind:
        version = store.known(UrlId(number)).version
        if version is not None:
            pages.holds(number, version)
    await _catch_up(pages, store)
    pages.log = log
    if log is not None:
        await _refill(log, store)


async def _catch_up(pages: PageTable, store: Store) -> None:
    """Records the visits that were stored after the page table was saved, so that no page is requested again."""
    visited = store.last_visits()
    since = pages.lasts(len(visited))
    behind = np.flatnonzero(visited > since).tolist()
    lost = [visit async for visit in _visits(store, behind) if visit.at > since[visit.id]]
    new = set(np.flatnonzero(~pages.visited(np.arange(len(visited), dtype=np.int64))).tolist()) if lost else set()
    versions = {number: await store.versions(UrlId(number)) for number in behind}
    for visit in sorted(lost, key=lambda visit: visit.at):
        shown = [version for version, at in versions[visit.id] if at <= visit.at]
        fine = visit.outcome in (Outcome.FETCHED, Outcome.UNCHANGED) and shown
        version = (await store.version(shown[-1]))[2] if fine else None
        pages.record(
            visit.id,
            visit.at,
            ok=visit.outcome not in (Outcome.FAILED, Outcome.REFUSED),
            hub=version is not None and version.kind in LISTS,
            made=False,
            links=np.asarray(() if version is None else version.links, dtype=np.int64),
        )
    if new:
        async for story in store.stories():
            if story.id in new:
                by, revealer = story.forager, pages.revealer(story.id)
                pages.credit(Finding(by, story.id, story.version, story.text_print, story.published, revealer))


async def _visits(store: Store, pages: Sequence[int]) -> AsyncIterator[Visit]:
    """Yields the stored visits of these pages; if they are many, those of all pages, which is faster."""
    if len(pages) > MANY:
        async for visit in store.visits():
            yield visit
    else:
        for number in pages:
            async for visit in store.visits(UrlId(number)):
                yield visit


async def _refill(log: VisitLog, store: Store) -> None:
    """Enters the stored visits into a log, and which new documents they revealed."""
    waiting: list[Visit] = []
    async for visit in store.visits():
        waiting.append(visit)
        if len(waiting) == BATCH:
            _enter(log, waiting)
            waiting.clear()
    _enter(log, waiting)
    log.credit_past([_document(story, store) async for story in store.stories()])


def _document(story: AcceptedStory, store: Store) -> tuple[int, int, float, float]:
    source = None if story.discovered_from is None else store.find(story.discovered_from)
    return story.id, -1 if source is None else source, story.first_seen, story.fetched


def _enter(log: VisitLog, visits: list[Visit]) -> None:
    pages = np.array([visit.id for visit in visits], dtype=np.int64)
    log.add(pages, np.array([visit.at for visit in visits]), np.array([visit.changed for visit in visits], np.bool_))
