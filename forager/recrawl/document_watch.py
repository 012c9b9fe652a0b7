"""Estimates from visits on a change log how fast documents come to each page and leave it, by the rules of
`list_estimates`.

The page table of a crawl keeps the same figures from real visits. A list goes on showing a document for a while; a text
shows one document at a time, which is lost at the next change.
"""

from typing import NamedTuple

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray, spans
from forager.kernel import compiled
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.list_estimates import (
    MEMORY,
    PRIOR,
    PRIOR_HOURS,
    add_departures,
    add_watched,
    elsewhere_of,
    faded,
    hazard_everywhere,
    hazard_of,
    rate_of_list,
    rate_of_text,
)

NEWS, HAZARD, ELSEWHERE, LENGTH, GONE, STOOD, BROUGHT, WATCHED, SHOWN, FOUND = range(10)
"""Rows of the sums: four estimates, then what they are made of. Of texts: hits, hours with and without news."""
HITS, HIT_HOURS, QUIET_HOURS = GONE, STOOD, BROUGHT
ESTIMATES = 4
TEXT_PRIOR_HOURS = 24.0
"""A text of which nothing is known changes `PRIOR` times in this many hours."""
DAY, REPLACED = 24.0, 0.7
"""After more than this many hours, a list of which more than this share is new was replaced: it was watched for a day."""


class Watch(NamedTuple):
    """The documents of a log, sorted by page and first cycle, and what the visits so far showed."""

    begin: IntArray
    document: IntArray
    first: IntArray
    last: IntArray
    entry: IntArray
    """Of every page the first entry that no visit has looked at, now …"""
    before: IntArray
    """… and before the last visit."""
    found: IntArray
    """Of every document the cycle in which it was found, -1 for none, …"""
    home: IntArray
    """… and the page on which it was."""
    standing: IntArray
    """`[page, cycle]`: documents that stand on a page; empty if nobody asks."""
    lists: BoolArray
    visited: IntArray
    """The cycle of the last visit of every page, -1 for none."""
    sums: FloatArray
    everywhere: FloatArray
    """Documents that left all lists, and the hours for which one was watched."""
    busy: FloatArray
    """Busy time passed until every cycle, in cycles."""
    hours: float
    """Hours in a cycle."""


def watch_of(log: ChangeLog, busy: FloatArray, *, lengths: bool = True) -> Watch:
    """A watch before the first visit. `busy` is the busy time passed until every cycle; `lengths`: whether the number
    of documents on each list is needed.
    """
    nothing = np.empty(0, dtype=np.int64)
    shown = log.documents or ShownDocuments(nothing, nothing, nothing, nothing)
    order = np.lexsort((shown.first, shown.page))
    page, first, last = shown.page[order], shown.first[order], shown.last[order]
    begin = np.searchsorted(page, np.arange(log.pages + 1))
    documents = int(shown.document.max(initial=-1)) + 1
    lists = np.full(log.pages, log.documents is not None) if log.hub is None else log.hub.astype(np.bool_)
    return Watch(
        begin,
        shown.document[order],
        first,
        last,
        begin[:-1].copy(),
        begin[:-1].copy(),
        np.full(documents, -1),
        np.full(documents, -1),
        _standing(page, first, last, log) if lengths and lists.any() else np.zeros((log.pages, 0), dtype=np.int64),
        lists,
        np.full(log.pages, -1),
        np.zeros((FOUND + 1, log.pages)),
        np.zeros(2),
        busy,
        log.cycle / 3600.0,
    )


def _standing(page: IntArray, first: IntArray, last: IntArray, log: ChangeLog) -> IntArray:
    steps = np.zeros((log.pages, log.cycles + 1), dtype=np.int64)
    kept = first < log.cycles
    np.add.at(steps, (page[kept], np.maximum(first[kept], 0)), 1)
    np.add.at(steps, (page[kept], np.clip(last[kept] + 1, 0, log.cycles)), -1)
    return np.cumsum(steps, axis=1)[:, :-1]


@compiled
def watch_visit(watch: Watch, page: int, cycle: int, changed: bool) -> int:
    """Records a visit of a page; returns how many documents it is the first to reveal."""
    since, sums = watch.visited[page], watch.sums
    hours = (cycle - since) * watch.hours if since >= 0 else 0.0
    gone, stayed = 0.0, 0.0
    for at in range(watch.before[page], watch.entry[page]):
        if watch.home[watch.document[at]] == page and watch.found[watch.document[at]] == since:
            if watch.last[at] >= cycle:
                stayed += 1
            else:
                gone += 1
    watch.before[page] = watch.entry[page]
    brought, at = 0, watch.entry[page]
    while at < watch.begin[page + 1] and watch.first[at] <= cycle:
        document = watch.document[at]
        if watch.last[at] >= cycle:
            if watch.found[document] < 0:
                watch.found[document], watch.home[document] = cycle, page
                brought += 1
            elif watch.found[document] > since and watch.home[document] != page:
                other = watch.home[document]
                sums[SHOWN, other] += 1
                sums[ELSEWHERE, other] = elsewhere_of(sums[SHOWN, other], sums[FOUND, other])
        at += 1
    watch.entry[page] = at
    watch.visited[page] = cycle
    if watch.lists[page]:
        _estimate_list(watch, page, cycle, since, gone, stayed, brought, hours)
    else:
        _estimate_text(watch, page, since >= 0, changed, hours)
    return brought


@compiled
def visit_all(watch: Watch, pages: IntArray, cycle: int, changed: BoolArray) -> IntArray:
    """Records visits of some pages, in this order; returns how many documents each is the first to reveal."""
    brought = np.zeros(len(pages), dtype=np.int64)
    for place in range(len(pages)):
        brought[place] = watch_visit(watch, pages[place], cycle, changed[place])
    return brought


def unfound(watch: Watch, cycle: int) -> tuple[IntArray, IntArray]:
    """The documents that are shown in this cycle and were not found before: the indices of their entries, and the page
    of each.

    Whatever was on a page at a visit was found then, or had left before.
    """
    at = spans(watch.entry, watch.begin[1:] - watch.entry)
    at = at[(watch.first[at] <= cycle) & (watch.last[at] >= cycle) & (watch.found[watch.document[at]] < 0)]
    return at, np.searchsorted(watch.begin, at, side="right") - 1


@compiled
def _estimate_list(
    watch: Watch, page: int, cycle: int, since: int, gone: float, stayed: float, brought: int, hours: float
) -> None:
    sums, everywhere = watch.sums, watch.everywhere
    if watch.standing.shape[1]:
        sums[LENGTH, page] = watch.standing[page, cycle]
    if since < 0:
        watch.before[page] = watch.entry[page]  # what was there before is not new
    else:
        sums[GONE, page], sums[STOOD, page] = add_departures(sums[GONE, page], sums[STOOD, page], gone, stayed, hours)
        everywhere[0] += gone
        everywhere[1] += (stayed + gone / 2) * hours
        busy = (watch.busy[cycle] - watch.busy[since]) * watch.hours
        hazard = hazard_of(sums[GONE, page], sums[STOOD, page], hazard_everywhere(everywhere[0], everywhere[1]))
        if hours > DAY and brought > REPLACED * sums[LENGTH, page]:
            busy, hours = busy * DAY / hours, DAY
        sums[WATCHED, page] = add_watched(sums[WATCHED, page], hours, busy, hazard)
        sums[BROUGHT, page] = faded(sums[BROUGHT, page], busy, MEMORY) + brought
        sums[FOUND, page] += brought
        sums[ELSEWHERE, page] = elsewhere_of(sums[SHOWN, page], sums[FOUND, page])
    hazard = hazard_of(sums[GONE, page], sums[STOOD, page], hazard_everywhere(everywhere[0], everywhere[1]))
    sums[HAZARD, page] = hazard * watch.hours
    sums[NEWS, page] = rate_of_list(sums[BROUGHT, page], sums[WATCHED, page], PRIOR, PRIOR_HOURS) * watch.hours


@compiled
def _estimate_text(watch: Watch, page: int, again: bool, changed: bool, hours: float) -> None:
    sums = watch.sums
    if again:
        sums[HITS, page] += changed
        sums[HIT_HOURS if changed else QUIET_HOURS, page] += hours
    rate = rate_of_text(sums[HITS, page], sums[HIT_HOURS, page], sums[QUIET_HOURS, page], PRIOR, TEXT_PRIOR_HOURS)
    sums[NEWS, page] = sums[HAZARD, page] = rate * watch.hours
    sums[LENGTH, page] = 1.0
