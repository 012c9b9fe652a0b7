"""What visits teach: kernels that change the page table. `record_visit` enters a visit in all its parts.

`known` holds all pages that were visited or met as a link, `hubs` the lists among them, each in the order in which that
was learned; see `kernels.append` for their form.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.expectation import likeness, rate_of, sort_of
from forager.core.kernels import append
from forager.core.page_row import (
    ATTEMPTS,
    BACKLOG,
    DEGREES,
    FRESH,
    HUB,
    LIFT,
    LISTS,
    LOOK,
    REVEALED_MOST,
    SPREAD,
    TEXT,
    PageRow,
    Priors,
)
from forager.recrawl.visit_updates import SIZE, Log, Tables, enter, log_credit, log_visit, see


class Mind(NamedTuple):
    """What all foragers know together, as kernels see it: the page table, where the state of each page stands in the state
    matrix, and how well the fleet does."""

    table: NDArray[np.void]
    means: NDArray[np.float64]
    priors: NDArray[np.void]
    known: NDArray[np.int64]
    hubs: NDArray[np.int64]
    glances: NDArray[np.void]
    held: NDArray[np.int64]
    """The version that each page showed last, -1 for none."""
    history: Tables
    log: Log
    rows: NDArray[np.int32]
    vectors: NDArray[np.float32]
    """All states."""
    appeal: NDArray[np.float64]
    """What the link graph says of pages nobody has visited; it may be shorter than the table. And …"""
    appeal_share: float
    """… how much that counts beside long-term profit; 0: nothing."""
    pace: NDArray[np.void]
    """One row: how well the fleet does, and what was spent."""


@compiled
def weigh(means: NDArray[np.float64], kind: int, hits: float, hours: float, sign: float) -> None:
    """Enter (1) a page with such a history in the sums over its kind, or take it out (−1)."""
    means[SPREAD + 2 * kind, 0] += sign * hits * hits
    means[SPREAD + 2 * kind, 1] += sign * hits * hours
    means[SPREAD + 2 * kind + 1, 0] += sign * hours * hours
    means[SPREAD + 2 * kind + 1, 1] += sign * hours


@compiled
def note_visit(
    table: NDArray[np.void],
    url: int,
    when: float,
    ok: bool,
    hub: bool,
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    known: NDArray[np.int64],
    hubs: NDArray[np.int64],
) -> bool:
    """Enter one visit; whether it was the first. A page never seen that cannot be had is tried again some time."""
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
        if not page.fresh:
            sort = sort_of(table, page)
            for row in (sort, LISTS + sort - BACKLOG):
                means[row] *= prior.backlog_keep
                means[row, 1] += 1
            means[LISTS + sort - BACKLOG, 0] += hub
        else:
            means[FRESH, 1] += 1
            if page.revealer >= 0:
                table[page.revealer].followed += 1
        page.lifted = False
    else:
        hours = max(0.0, min(when - page.last, prior.max_age)) / 3600
        page.lifted = page.signal > page.last
        if page.lifted:
            kind = HUB if page.hub else TEXT
            mean = means[kind, 0] / means[kind, 1]
            news = rate_of(page, mean, likeness(kind, means, prior)) * hours
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
    if hub and not page.hub:
        weigh(means, TEXT, page.hits, page.hours, -1.0)
        weigh(means, HUB, page.hits, page.hours, 1.0)
        page.hub = True
        append(hubs, url)
    page.visits += 1
    page.last = when
    page.awaited = False
    return first


@compiled
def note_going(table: NDArray[np.void], url: int, now: float) -> None:
    """Somebody is on the way."""
    page: PageRow = table[url]
    page.awaited = True
    page.asked = now


@compiled
def note_arrived(table: NDArray[np.void], url: int) -> bool:
    """Nobody is on the way any more; whether the page was seen once at most."""
    page: PageRow = table[url]
    page.awaited = False
    return page.visits <= 1


@compiled
def note_links(
    table: NDArray[np.void],
    links: NDArray[np.int64],
    by: int,
    when: float,
    first: bool,
    means: NDArray[np.float64],
    known: NDArray[np.int64],
) -> int:
    """Enter the links of a page, seen for the first time or again; how many were never met before."""
    count = 0
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
        page.links_in += first or not met
    source: PageRow = table[by]
    if first and source.hub and not source.fresh:
        worth = means[BACKLOG + DEGREES, 0] / means[BACKLOG + DEGREES, 1]
        means[sort_of(table, source), 0] += min(REVEALED_MOST, count * worth)
    return count


@compiled
def note_shown(
    table: NDArray[np.void],
    links: NDArray[np.int64],
    by: int,
    when: float,
    first: bool,
    means: NDArray[np.float64],
    known: NDArray[np.int64],
) -> None:
    """Enter links whose documents a page shows itself, so that nobody has to follow them."""
    for link in links:
        page: PageRow = table[link]
        if page.visits == 0 and page.met == -np.inf and not first:
            means[FRESH, 1] += 1
            table[by].followed += 1
    note_links(table, links, by, when, first, means, known)
    for link in links:
        shown: PageRow = table[link]
        if shown.visits == 0:
            shown.visits = 1
            shown.last = when


@compiled
def note_signal(table: NDArray[np.void], links: NDArray[np.int64], when: float) -> None:
    """A page with these links just had news."""
    for link in links:
        table[link].signal = when


@inner
def lacks_room(mind: Mind, visits: int) -> bool:
    """Whether so many more visits find no room in the trail or the log."""
    history, log = mind.history, mind.log
    if len(history.trail) and len(history.trail) - history.trail_tally[SIZE] < visits:
        return True
    return len(log.rows) > 0 and len(log.rows) - log.tally[SIZE] < visits


@inner
def record_visit(
    mind: Mind, url: int, when: float, version: int, there: bool, hub: bool, made: bool, links: NDArray[np.int64]
) -> tuple[bool, int]:
    """Record a visit and the links that it showed; whether it was the first, and how many of the links nobody had met.

    `version` is -1 if no page could be had; not `there`: nobody can say whether there is one, so it is worth trying again.
    Not `made`: the server was not asked, it is known that there is no page; histories tell of real visits alone.
    """
    table, means = mind.table, mind.means
    first = note_visit(table, url, when, there, hub, means, mind.priors, mind.known, mind.hubs)
    new = 0
    if len(links):
        new = note_links(table, links, url, when, first, means, mind.known)
        if new > 0 and not first and hub:
            note_signal(table, links, when)
    if made:
        changed = see(mind.held, url, version)
        enter(mind.history, url, when, changed, 0)
        log_visit(mind.log, url, when, changed)
    return first, new


@compiled
def record_one(
    mind: Mind, url: int, when: float, version: int, there: bool, hub: bool, made: bool, links: NDArray[np.int64]
) -> tuple[bool, int]:
    """`record_visit` for callers outside kernels."""
    return record_visit(mind, url, when, version, there, hub, made, links)


@compiled
def record_credit(mind: Mind, url: int, revealer: int) -> bool:
    """A document was accepted: pay the page that revealed it, unless it was backlog of a first visit; whether it is paid."""
    if not note_credit(mind.table, url, revealer, mind.means):
        return False
    mind.history.counts[2, revealer] += 1
    log_credit(mind.log, revealer)
    return True


@compiled
def note_credit(table: NDArray[np.void], url: int, revealer: int, means: NDArray[np.float64]) -> bool:
    """What an accepted document teaches of the page that revealed it; False if it was backlog of a first visit."""
    page: PageRow = table[url]
    source: PageRow = table[revealer]
    if revealer != url:
        if not page.fresh:
            means[sort_of(table, page), 0] += 1
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
    if source.lifted:
        means[LIFT, 0] += 1
    return True
