"""Kernels that change the page table after visits. `record_visit` records a visit in all its parts.

`known` holds all pages that were visited or found as a link, `hubs` the lists among them, each in the order in which
that became known; see `kernels.append` for their form.
"""

import math
from typing import NamedTuple

import numpy as np

from forager.arrays import ByteArray, Float32Array, FloatArray, Int32Array, IntArray, RowArray
from forager.compiling import compiled, inner
from forager.core.expectation import likeness, list_rate, rate_of, sort_of
from forager.core.kernels import append
from forager.core.page_row import (
    ATTEMPTS,
    BACKLOG,
    DEGREES,
    FORM_MEMORY,
    FRESH,
    HUB,
    LIFT,
    LISTS,
    LOOK,
    OLD,
    REVEALED_MOST,
    SPREAD,
    TEXT,
    PageRow,
    Priors,
)
from forager.recrawl.history import Log, Tables, enter, log_credit, log_visit, see
from forager.recrawl.poisson import SIZE


class Mind(NamedTuple):
    """What all foragers share, for kernels: the page table, the row of each page's state, and the success of the fleet."""

    table: RowArray
    means: FloatArray
    priors: RowArray
    known: IntArray
    hubs: IntArray
    glances: RowArray
    held: IntArray
    """The version that each page showed last, -1 for none."""
    history: Tables
    log: Log
    rows: Int32Array
    vectors: Float32Array
    """All states."""
    appeal: FloatArray
    """What the link graph says about never-visited pages; it may be shorter than the table."""
    appeal_share: float
    """Weight of `appeal` beside long-term profit; 0: not used."""
    pace: RowArray
    """One row: the success of the fleet, and what was spent."""
    marks: ByteArray
    """For each page the marks of its address; empty if nobody asks for them."""
    prospects: FloatArray
    """What long-term profit says of links never followed, from −1 to 1; empty if nobody learns it."""


@compiled
def weigh(means: FloatArray, kind: int, hits: float, hours: float, sign: float) -> None:
    """Adds (1) a page with such a history to the sums over its kind, or removes it (−1)."""
    means[SPREAD + 2 * kind, 0] += sign * hits * hits
    means[SPREAD + 2 * kind, 1] += sign * hits * hours
    means[SPREAD + 2 * kind + 1, 0] += sign * hours * hours
    means[SPREAD + 2 * kind + 1, 1] += sign * hours


@compiled
def _become_list(table: RowArray, url: int, means: FloatArray, hubs: IntArray) -> None:
    """Makes a page a list: it looks like one."""
    page: PageRow = table[url]
    weigh(means, TEXT, page.hits, page.hours, -1.0)
    weigh(means, HUB, page.hits, page.hours, 1.0)
    page.hub = True
    append(hubs, url)


@compiled
def note_visit(
    table: RowArray,
    url: int,
    when: float,
    ok: bool,
    hub: bool,
    means: FloatArray,
    priors: RowArray,
    known: IntArray,
    hubs: IntArray,
) -> bool:
    """Records one visit; returns whether it was the first. A never-visited page that cannot be fetched is tried again
    later."""
    page: PageRow = table[url]
    prior: Priors = priors[0]
    first = page.visits == 0
    if first and page.failures == 0 and page.met == -np.inf:
        append(known, url)
    if first and not ok and (page.failures + 1 < ATTEMPTS or page.met == -np.inf):
        page.failures += 1
        page.awaited = True
        page.asked = when
        return first
    if first:
        if not page.fresh and when - page.latest > prior.max_age:
            means[OLD] *= prior.backlog_keep
            means[OLD, 1] += 1
        elif not page.fresh:
            sort = sort_of(table, page)
            for row in (sort, LISTS + sort - BACKLOG):
                means[row] *= prior.backlog_keep
                means[row, 1] += 1
            means[LISTS + sort - BACKLOG, 0] += hub
            alike: PageRow = table[page.place]
            if alike.tried >= FORM_MEMORY:
                alike.tried, alike.docs, alike.lists = alike.tried / 2, alike.docs / 2, alike.lists / 2
            alike.tried += 1
            alike.lists += hub
        else:
            means[FRESH, 1] += 1
            if page.revealer >= 0:
                table[page.revealer].followed += 1
        page.lifted = False
    else:
        hours = max(0.0, min(when - page.last, prior.max_age)) / 3600
        page.lifted = page.signal > page.last
        if page.lifted:
            if page.hub:
                news = list_rate(page, table[page.place], prior) * hours
            else:
                news = rate_of(page, means[TEXT, 0] / means[TEXT, 1], likeness(TEXT, means, prior)) * hours
            means[LIFT] *= prior.lift_keep
            means[LIFT, 1] += news if page.hub else 1 - math.exp(-news)
        kind = HUB if page.hub else TEXT
        weigh(means, kind, page.hits, page.hours, -1.0)
        page.hours += hours
        weigh(means, kind, page.hits, page.hours, 1.0)
        means[kind, 1] += hours
        if page.hub:
            means[LOOK] *= prior.backlog_keep
            means[LOOK, 1] += 1
            table[page.place].looks += 1
            table[page.place].place_hours += hours
    if hub and not page.hub:
        _become_list(table, url, means, hubs)
    page.visits += 1
    page.last = when
    page.awaited = False
    return first


@compiled
def note_going(table: RowArray, url: int, now: float) -> None:
    """Notes that a visit is under way."""
    page: PageRow = table[url]
    page.awaited = True
    page.asked = now


@compiled
def note_arrived(table: RowArray, url: int) -> bool:
    """Notes that no visit is under way any more; returns whether the page was visited at most once."""
    page: PageRow = table[url]
    page.awaited = False
    return page.visits <= 1


@compiled
def note_links(
    table: RowArray,
    links: IntArray,
    by: int,
    when: float,
    first: bool,
    means: FloatArray,
    known: IntArray,
    max_age: float,
) -> int:
    """Adds the links of a page, seen for the first time or again; returns how many were unknown."""
    count = young = 0
    for link in links:
        page: PageRow = table[link]
        met = page.met > -np.inf
        if not met:
            if page.visits == 0 and page.failures == 0:
                append(known, link)
            page.met = when
            page.revealer = by
            page.fresh = not first
            count += 1
            young += not when - page.latest > max_age
        page.links_in += first or not met
    source: PageRow = table[by]
    if first and source.hub and not source.fresh:
        worth = means[BACKLOG + DEGREES, 0] / means[BACKLOG + DEGREES, 1]
        means[sort_of(table, source), 0] += min(REVEALED_MOST, young * worth)
    return count


@compiled
def note_shown(
    table: RowArray,
    links: IntArray,
    by: int,
    when: float,
    first: bool,
    means: FloatArray,
    known: IntArray,
    max_age: float,
) -> None:
    """Adds links whose documents a page shows itself, so that no visit has to follow them."""
    for link in links:
        page: PageRow = table[link]
        if page.visits == 0 and page.met == -np.inf and not first:
            means[FRESH, 1] += 1
            table[by].followed += 1
    note_links(table, links, by, when, first, means, known, max_age)
    for link in links:
        shown: PageRow = table[link]
        if shown.visits == 0:
            shown.visits = 1
            shown.last = when


@compiled
def note_signal(table: RowArray, links: IntArray, when: float) -> None:
    """Notes that a page with these links just had news."""
    for link in links:
        table[link].signal = when


@inner
def lacks_room(mind: Mind, visits: int) -> bool:
    """Whether the trail or the log has no room for so many more visits."""
    history, log = mind.history, mind.log
    if len(history.trail) and len(history.trail) - history.trail_tally[SIZE] < visits:
        return True
    return len(log.rows) > 0 and len(log.rows) - log.tally[SIZE] < visits


@inner
def record_visit(
    mind: Mind, url: int, when: float, version: int, there: bool, hub: bool, made: bool, links: IntArray
) -> tuple[bool, int]:
    """Record a visit and the links that it showed; whether it was the first, and how many of the links nobody had met.

    `version` is -1 if no page could be had; not `there`: nobody can say whether there is one, so it is worth trying again.
    Not `made`: the server was not asked, it is known that there is no page; histories tell of real visits alone.
    """
    table, means = mind.table, mind.means
    first = note_visit(table, url, when, there, hub, means, mind.priors, mind.known, mind.hubs)
    new = 0
    if len(links):
        new = note_links(table, links, url, when, first, means, mind.known, mind.priors[0].max_age)
        if new > 0 and not first and hub:
            note_signal(table, links, when)
    if made:
        changed = see(mind.held, url, version)
        enter(mind.history, url, when, changed, 0)
        log_visit(mind.log, url, when, changed)
    return first, new


@compiled
def record_one(
    mind: Mind, url: int, when: float, version: int, there: bool, hub: bool, made: bool, links: IntArray
) -> tuple[bool, int]:
    """`record_visit` for callers outside kernels."""
    return record_visit(mind, url, when, version, there, hub, made, links)


@compiled
def record_credit(mind: Mind, url: int, revealer: int) -> bool:
    """A document was accepted: pay the page that revealed it, unless it was backlog of a first visit; whether it is paid."""
    if not note_credit(mind.table, url, revealer, mind.means, mind.priors[0].max_age):
        return False
    mind.history.counts[2, revealer] += 1
    log_credit(mind.log, revealer)
    return True


@compiled
def note_credit(table: RowArray, url: int, revealer: int, means: FloatArray, max_age: float) -> bool:
    """What an accepted document teaches of the page that revealed it; False if it was backlog of a first visit."""
    page: PageRow = table[url]
    source: PageRow = table[revealer]
    if revealer != url:
        if not page.fresh:
            if page.last - page.latest > max_age:
                means[OLD, 0] += 1
            else:
                means[sort_of(table, page), 0] += 1
                table[page.place].docs += 1
            table[source.place].brought += source.hub
            return False
        source.paid += 1
        means[FRESH, 0] += 1
    kind = HUB if source.hub else TEXT
    weigh(means, kind, source.hits, source.hours, -1.0)
    source.hits += 1
    weigh(means, kind, source.hits, source.hours, 1.0)
    means[kind, 0] += 1
    if source.hub:
        means[LOOK, 0] += 1
        table[source.place].brought += 1
        table[source.place].place_hits += 1
    if source.lifted:
        means[LIFT, 0] += 1
    return True
