"""Kernels that change the page table after visits. `record_visit` records a visit in all its parts.

`known` holds all pages that were visited or found as a link, `hubs` the lists among them, each in the order in which
that became known. Their form is that of `page_row.append`.
"""

import math

import numpy as np

from forager.arrays import FloatArray, Int32Array, IntArray
from forager.core.expectation import list_rate, rate_of, share_of_fresh, sort_of, text_prior
from forager.core.page_row import (
    ATTEMPTS,
    BACKLOG,
    DEGREES,
    FORM_MEMORY,
    FRESH,
    HAZARD,
    HUB,
    LIFT,
    LISTS,
    LOOK,
    MAINS,
    OLD,
    PASSED,
    REVEALED_MOST,
    RHYTHM,
    SPREAD,
    STALE,
    TEXT,
    Mind,
    PageRow,
    Priors,
    append,
)
from forager.kernel import in_python, inner
from forager.recrawl.history import enter, log_credit, log_visit, see
from forager.recrawl.list_estimates import (
    FLEETING,
    MEMORY,
    add_watched,
    faded,
    hazard_everywhere,
    hazard_of,
    share_left,
    urgency_of,
)
from forager.recrawl.poisson import SIZE
from forager.recrawl.rhythm import busy_clock, expect_news, find_rhythm, spread_news

STEADY = 5.0
"""After this many recent documents of a list, its visits teach the rhythm of the week."""


@inner
def weigh(means: FloatArray, kind: int, hits: float, hours: float, sign: float) -> None:
    """Adds (1) a page with such a history to the sums over its kind, or removes it (−1)."""
    means[SPREAD + 2 * kind, 0] += sign * hits * hits
    means[SPREAD + 2 * kind, 1] += sign * hits * hours
    means[SPREAD + 2 * kind + 1, 0] += sign * hours * hours
    means[SPREAD + 2 * kind + 1, 1] += sign * hours


@inner
def _fade(means: FloatArray, row: int, keep: float) -> None:
    """Lets old visits count less."""
    means[row, 0] *= keep
    means[row, 1] *= keep


@inner
def _hazard(page: PageRow, means: FloatArray) -> float:
    """How fast documents leave a list."""
    return hazard_of(page.gone, page.stood_hours, hazard_everywhere(means[HAZARD, 0], means[HAZARD, 1]))


@inner
def _keep_rhythm(page: PageRow, since: float, when: float, means: FloatArray, prior: Priors) -> None:
    """Adds the documents expected of the hours since the last visit of a page that brought documents before. Once an
    hour, works out the rhythm from these.
    """
    page.steady = when > since and page.hits >= STEADY and (not page.hub or page.came >= STEADY)
    if page.steady and page.hub:
        expect_news(means[RHYTHM:], since, when, _hazard(page, means), page.came / page.seen_hours)
    elif page.steady:  # a text is replaced as fast as new ones come
        rate = rate_of(page, *text_prior(means, prior))
        expect_news(means[RHYTHM:], since, when, rate, rate)
    hour = math.floor(when / 3600)
    if prior.rhythm > 0 and means[RHYTHM - 1, 1] != hour:
        find_rhythm(means[RHYTHM:], means[PASSED:RHYTHM])
        means[RHYTHM - 1, 1] = hour


@inner
def _busy_hours(means: FloatArray, since: float, when: float) -> float:
    """Busy hours between two times."""
    passed = means[PASSED:RHYTHM, 0]
    return busy_clock(passed, 0, when) - busy_clock(passed, 0, since)


@inner
def _watch_list(page: PageRow, since: float, when: float, means: FloatArray) -> None:
    """Adds the hours since the last visit of a list: the documents that the visit brings belong to them."""
    absent, busy = _busy_hours(means, page.last, since), _busy_hours(means, since, when)
    page.came = faded(page.came, absent + busy, MEMORY)
    watched = faded(page.seen_hours, absent, MEMORY)
    page.seen_hours = add_watched(watched, (when - since) / 3600, busy, _hazard(page, means))


@inner
def _note_departures(page: PageRow, means: FloatArray) -> None:
    """Counts all links that were new at the visit before as gone; `note_stays` takes those back that the list still
    shows.
    """
    hours = max(0.0, page.last - page.before) / 3600
    page.gone = faded(page.gone, hours, FLEETING) + page.newly
    page.stood_hours = faded(page.stood_hours, hours, FLEETING) + page.newly * hours / 2
    means[HAZARD, 0] += page.newly
    means[HAZARD, 1] += page.newly * hours / 2
    page.newly = page.length = 0
    page.urgency = urgency_of(page.elsewhere, page.paid)


@inner
def note_stays(mind: Mind, links: IntArray | Int32Array, by: int) -> None:
    """Records which links a list still shows that were new at its visit before, and which it shows that became known on
    another page since.

    Links of the latter sort that another page revealed at its first visit would have been fresh here, had that page
    been known, as it is from now on. They count for the rate of a main list; otherwise the home pages of busy sites
    would seem slow once a crawl has got to know the site. They do not count for other lists: where every page shows the
    latest texts beside its own, all would seem busy.
    """
    table = mind.table
    mind.outlook[STALE] = 1.0
    source: PageRow = table[by]
    stayed = forestalled = 0
    for link in links:
        page: PageRow = table[link]
        if page.revealer == by:
            stayed += page.fresh and page.met == source.before
        elif page.revealer >= 0 and source.before < page.met < source.last:
            table[page.revealer].elsewhere += 1
            young = not source.last - page.latest > mind.priors[0].max_age
            forestalled += page.visits > 0 and not page.hub and not page.fresh and young
    _close_stays(mind, source, stayed, forestalled, len(links))


@inner
def _close_stays(mind: Mind, source: PageRow, stayed: int, forestalled: int, length: int) -> None:
    """Records what the links that `note_stays` found say about their list."""
    means = mind.means
    if source.main:
        source.came += forestalled * share_of_fresh(source, means[FRESH, 0] / means[FRESH, 1], mind.priors[0])
    hours = stayed * max(0.0, source.last - source.before) / 3600 / 2
    source.gone -= stayed
    source.stood_hours += hours
    source.length += length
    means[HAZARD, 0] -= stayed
    means[HAZARD, 1] += hours


@in_python(note_stays)
def _note_stays_at_once(mind: Mind, links: IntArray | Int32Array, by: int) -> None:
    table = mind.table
    mind.outlook[STALE] = 1.0
    source: PageRow = table[by]
    revealers, met = table["revealer"][links], table["met"][links]
    is_own = revealers == by
    stayed = int(np.sum(is_own & table["fresh"][links] & (met == source.before)))
    since = ~is_own & (revealers >= 0) & (source.before < met) & (met < source.last)
    elsewhere, texts = table["elsewhere"], links[since]
    np.add.at(elsewhere, revealers[since], 1)
    pages = [table[name][texts] for name in ("visits", "hub", "fresh", "latest")]
    young = ~(source.last - pages[3] > mind.priors[0].max_age)
    forestalled = int(np.sum((pages[0] > 0) & ~pages[1] & ~pages[2] & young))
    _close_stays(mind, source, stayed, forestalled, len(links))


@inner
def _claim_links(mind: Mind, url: int) -> None:
    """Marks the links that a new list revealed while it passed for a text."""
    for known in mind.known[1 : 1 + mind.known[0]]:
        page: PageRow = mind.table[known]
        page.from_list |= page.revealer == url


@in_python(_claim_links)
def _claim_links_at_once(mind: Mind, url: int) -> None:
    known, table = mind.known[1 : 1 + mind.known[0]], mind.table
    table["from_list"][known] |= table["revealer"][known] == url


@inner
def _become_list(mind: Mind, url: int) -> None:
    """Makes a page a list, because a visit showed that it is one."""
    page: PageRow = mind.table[url]
    means = mind.means
    weigh(means, TEXT, page.hits, page.hours, -1.0)
    weigh(means, HUB, page.hits, page.hours, 1.0)
    page.hub = True
    page.came, page.seen_hours = page.hits, page.hours
    append(mind.hubs, url)
    if page.visits > 0:
        _claim_links(mind, url)


@inner
def _unlifted_news(mind: Mind, page: PageRow, hours: float, busy: float) -> float:
    """News expected of a visited page, without a lift."""
    means, prior = mind.means, mind.priors[0]
    if not page.hub:
        return 1 - math.exp(-rate_of(page, *text_prior(means, prior)) * busy)
    rate = list_rate(page, mind.table[page.place], means[MAINS, 0], means[MAINS, 1], prior)
    return rate * busy * share_left(hours, _hazard(page, means))


@inner
def note_visit(mind: Mind, url: int, when: float, ok: bool, hub: bool) -> bool:
    """Records one visit; returns whether it was the first. An unvisited page that cannot be fetched is tried again
    later.
    """
    table, means = mind.table, mind.means
    page: PageRow = table[url]
    prior: Priors = mind.priors[0]
    mind.outlook[STALE] = 1.0
    first = page.visits == 0
    if first and page.failures == 0 and page.met == -np.inf:
        append(mind.known, url)
    if first and not ok and (page.failures + 1 < ATTEMPTS or page.main or page.met == -np.inf):
        page.failures += 1
        page.awaited = True
        page.asked = when
        return first
    if first:
        if not page.fresh and when - page.latest > prior.max_age:
            _fade(means, OLD, prior.backlog_keep)
            means[OLD, 1] += 1
        elif not page.fresh:
            sort = sort_of(page)
            for row in (sort, LISTS + sort - BACKLOG):
                _fade(means, row, prior.backlog_keep)
                means[row, 1] += 1
            means[LISTS + sort - BACKLOG, 0] += hub
            alike: PageRow = table[page.place]
            if alike.tried >= FORM_MEMORY:
                alike.tried, alike.docs, alike.lists = alike.tried / 2, alike.docs / 2, alike.lists / 2
                alike.looks, alike.brought = alike.looks / 2, alike.brought / 2
            alike.tried += 1
            alike.lists += hub
        else:
            means[FRESH, 1] += 1
            if page.revealer >= 0:
                table[page.revealer].followed += 1
        page.lifted = False
    else:
        since = min(when, max(page.last, when - prior.max_age))
        hours, busy = (when - since) / 3600, _busy_hours(means, since, when)
        page.lifted = page.signal > page.last
        if page.lifted:
            _fade(means, LIFT, prior.lift_keep)
            means[LIFT, 1] += _unlifted_news(mind, page, hours, busy)
        kind, watched = (HUB, hours) if page.hub else (TEXT, busy)
        weigh(means, kind, page.hits, page.hours, -1.0)
        page.hours += watched
        weigh(means, kind, page.hits, page.hours, 1.0)
        means[kind, 1] += watched
        _keep_rhythm(page, since, when, means, prior)
        if page.hub:
            _fade(means, LOOK, prior.backlog_keep)
            means[LOOK, 1] += 1
            table[page.place].looks += 1
            table[page.place].place_hours += hours
            if page.main:
                means[MAINS, 1] += hours
            _watch_list(page, since, when, means)
    if hub and not page.hub:
        _become_list(mind, url)
    page.visits += 1
    page.before = page.last
    page.last = when
    page.awaited = False
    return first


@inner
def note_going(mind: Mind, url: int, now: float) -> None:
    """Records that a visit is under way."""
    page: PageRow = mind.table[url]
    page.awaited = True
    page.asked = now


@inner
def note_arrived(mind: Mind, url: int) -> bool:
    """Records that no visit is under way any more; returns whether the page was visited at most once."""
    page: PageRow = mind.table[url]
    page.awaited = False
    return page.visits <= 1


@inner
def note_links(mind: Mind, links: IntArray, by: int, when: float, first: bool) -> int:
    """Adds the links of a page, seen for the first time or again; returns how many were unknown."""
    table, means, max_age, source = mind.table, mind.means, mind.priors[0].max_age, mind.table[by]
    mind.outlook[STALE] = 1.0
    count = young = 0
    for link in links:
        page: PageRow = table[link]
        met = page.met > -np.inf
        if not met:
            if page.visits == 0 and page.failures == 0:
                append(mind.known, link)
            page.met = when
            page.revealer, page.from_list = by, source.hub
            page.fresh = not first
            count += 1
            young += not when - page.latest > max_age
        page.links_in += first or not met
    if first and source.hub and not source.fresh:
        worth = means[BACKLOG + DEGREES, 0] / means[BACKLOG + DEGREES, 1]
        means[sort_of(source), 0] += min(REVEALED_MOST, young * worth)
    return count


@inner
def note_shown(mind: Mind, links: IntArray, by: int, when: float, first: bool) -> None:
    """Adds links whose documents a page shows itself, so that no visit has to follow them."""
    table, means = mind.table, mind.means
    for link in links:
        page: PageRow = table[link]
        if page.visits == 0 and page.met == -np.inf and not first:
            means[FRESH, 1] += 1
            table[by].followed += 1
    new = note_links(mind, links, by, when, first)
    if not first:
        table[by].newly += new
    for link in links:
        shown: PageRow = table[link]
        if shown.visits == 0:
            shown.visits = 1
            shown.last = when


@inner
def note_signal(mind: Mind, links: IntArray, when: float) -> None:
    """Records that a page with these links just had news."""
    for link in links:
        mind.table[link].signal = when


@in_python(note_signal)
def _note_signal_at_once(mind: Mind, links: IntArray, when: float) -> None:
    mind.table["signal"][links] = when


@inner
def lacks_room(mind: Mind, visits: int) -> bool:
    """Whether the trail or the log has too little room for this many more visits."""
    history, log = mind.history, mind.log
    if len(history.trail) and len(history.trail) - history.trail_tally[SIZE] < visits:
        return True
    return len(log.rows) > 0 and len(log.rows) - log.tally[SIZE] < visits


@inner
def record_visit(
    mind: Mind, url: int, when: float, version: int, there: bool, hub: bool, made: bool, links: IntArray
) -> tuple[bool, int]:
    """Records a visit and the links that it showed; returns whether it was the first, and how many of the links were
    unknown.

    `version` is -1 if no page could be had. Not `there`: it is unknown whether there is a page, so it is worth trying
    again. Not `made`: the server was not asked because there is known to be no page; histories hold real visits only.
    """
    first = note_visit(mind, url, when, there, hub)
    page: PageRow = mind.table[url]
    watched = page.hub and not first and version >= 0
    if watched:
        _note_departures(page, mind.means)
    page.newly = 0
    new = 0
    if len(links):
        if watched:
            note_stays(mind, links, url)
        new = note_links(mind, links, url, when, first)
        if watched:
            page.newly = new
        if new > 0 and not first and hub:
            note_signal(mind, links, when)
    if made:
        changed = see(mind.held, url, version)
        enter(mind.history, url, when, changed, 0)
        log_visit(mind.log, url, when, changed)
    return first, new


@inner
def record_credit(mind: Mind, url: int, revealer: int, published: float) -> bool:
    """Credits an accepted document to the page that revealed it, unless it was backlog of a first visit; returns
    whether it did.
    """
    if not _note_credit(mind, url, revealer, published):
        return False
    mind.history.counts[2, revealer] += 1
    log_credit(mind.log, revealer)
    return True


@inner
def _note_credit(mind: Mind, url: int, revealer: int, published: float) -> bool:
    """Learns from an accepted document about the page that revealed it; returns False if it was backlog of a first
    visit.

    If a text states since when it has stood there, no news appeared from then until the visit. The time before does not
    count, because nobody knows what happened in it.
    """
    table, means = mind.table, mind.means
    page: PageRow = table[url]
    source: PageRow = table[revealer]
    prior: Priors = mind.priors[0]
    mind.outlook[STALE] = 1.0
    if revealer != url:
        if not page.fresh:
            if page.last - page.latest > prior.max_age:
                means[OLD, 0] += 1
            else:
                means[sort_of(page), 0] += 1
                table[page.place].docs += 1
            table[source.place].brought += source.hub
            return False
        source.paid += 1
        means[FRESH, 0] += 1
    kind = HUB if source.hub else TEXT
    since = max(source.before, source.last - prior.max_age)
    weigh(means, kind, source.hits, source.hours, -1.0)
    fast = 0.0
    if source.hub:
        source.came += 1
        fast = _hazard(source, means)
    elif source.visits > 1 and source.paid_at != source.last:
        fast = rate_of(source, *text_prior(means, prior))
        if since < published < source.last:
            unknown = min(_busy_hours(means, since, published), source.hours - source.hit_hours)
            source.hours -= unknown
            means[TEXT, 1] -= unknown
        else:
            source.hit_hours += _busy_hours(means, since, source.last)
        source.paid_at = source.last
    if source.steady and fast > 0:
        spread_news(means[RHYTHM:], means[PASSED:RHYTHM], since, source.last, fast)
    source.hits += 1
    weigh(means, kind, source.hits, source.hours, 1.0)
    means[kind, 0] += 1
    if source.hub:
        means[LOOK, 0] += 1
        table[source.place].brought += 1
        table[source.place].place_hits += 1
        if source.main:
            means[MAINS, 0] += 1
    if source.lifted:
        means[LIFT, 0] += 1
    return True
