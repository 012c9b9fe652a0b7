"""One step of a forager (Alg 12) in four parts, between which the world is asked.

    url, worth = choose(rules, mind, fleet, slot, now)     the next page of the path, or of a new path    (Alg 3, 11)
    …somebody visits it, and records the visit…
    arrive(rules, fleet, slot, url, links)                 opens its links
    send(rules, mind, fleet, slot, seen, …)                has each of its documents judged               (Alg 5, 7)
    settle(rules, mind, fleet, slot, url, …)               learns long-term profit from what they earned  (Alg 4)

A live crawl calls them one by one, a replay from one loop. The caller makes room for what they add (`Flock`).
"""

import math

import numpy as np

from forager.arrays import FloatArray, Int32Array, IntArray
from forager.core.best_pages import best, bounds_of, pick
from forager.core.draws import draw
from forager.core.expectation import chances, look_ahead, promise_of, returning
from forager.core.exploration import PaceRow
from forager.core.fleet import BFS, RL, WL, WLRL, FleetState, Tally, Walker
from forager.core.judge import RELEVANT, Seen, count_judged, count_work, is_document, is_unsent, judge, reward_by
from forager.core.page_row import Mind, PageRow
from forager.core.profit import foresee, learn_look, learn_profit, profits, value_of
from forager.core.rules import ForagerRules
from forager.core.updates import note_going
from forager.core.weblog import find_entry, learned
from forager.kernel import compiled, inner

TYPICAL = 0.05
"""How far one page moves the running mean of long-term profit, with which others are compared."""
NOBODYS = -1e300
"""The value of a page outside the weblog, so that pages of the weblog come first among equals."""
START_LISTS = 4
"""How many lists a path may start from for each other page outside the weblog; most lists are soon ruled out."""
TIE = 1e-9
"""Weight of long-term profit for a page with a history; it only breaks ties."""


# Choose: the next page, or a new path.


@inner
def _learns_profit(me: Walker) -> bool:
    return me.kind == RL or me.kind == WLRL


@inner
def admitted(links: IntArray, met: Int32Array, path: int, out: IntArray, count: int) -> int:
    """Appends the links that are new to this path; returns the number of open links."""
    for url in links:
        if met[url] != path:
            met[url] = path
            out[count] = url
            count += 1
    return count


@inner
def lean(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, links: IntArray, factors: FloatArray) -> None:
    """Sets the factor of each page by long-term profit and the link graph: up to 1 ± the forager's `profit_weight` for
    unvisited pages; for others it only breaks ties.
    """
    me: Walker = fleet.walkers[slot]
    learns, weights = _learns_profit(me), fleet.weights[slot]
    for i in range(len(links)):
        leaning, url = 0.0, links[i]
        if learns:
            leaning = math.tanh((value_of(mind, url, weights, rules.shaped) - me.typical) / rules.profit_scale)
        if mind.appeal_share > 0:
            appeal = mind.appeal[url] if url < len(mind.appeal) else 0.0
            leaning = (1 - mind.appeal_share) * leaning + mind.appeal_share * appeal
        factors[i] = 1 + leaning * (TIE if mind.table[url].visits > 0 else me.profit_weight)


@inner
def learn_arrival(
    rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, url: int, first: bool, links: IntArray, gained: float
) -> None:
    """Learns long-term profit from the first visit of a page, and tells the recrawl side what the links there promise."""
    me: Walker = fleet.walkers[slot]
    weights = fleet.weights[slot]
    most = foresee(mind, links, weights, rules.shaped, me.typical, rules.profit_scale)
    if first:
        me.typical += TYPICAL * (value_of(mind, url, weights, rules.shaped) - me.typical)
        learn_look(mind, url, weights, gained + me.discount * most, me.rate, rules.shaped)


@inner
def _pick_leaning(
    rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, links: IntArray, now: float, luck: float,
    enough: float,
) -> tuple[int, float, bool, float]:  # fmt: skip
    """The most promising link, given how long-term profit and the link graph lean."""
    factors = mind.scratch[2, : len(links)]
    plain = pick(mind, links, now, factors[:0], luck, enough)
    lean(rules, mind, fleet, slot, links, factors)
    chosen = pick(mind, links, now, factors, luck, enough)
    tally: Tally = fleet.tally[0]
    tally.decided += chosen[0] != plain[0]
    return chosen


@compiled
def _pick_profit(rules: ForagerRules, mind: Mind, links: IntArray, weights: FloatArray, luck: float) -> int:
    """The link with the largest long-term profit (Alg 3)."""
    return best(profits(mind, links, weights, rules.shaped), luck)


@inner
def _follow(rules: ForagerRules, mind: Mind, fleet: FleetState, me: Walker, slot: int, now: float) -> tuple[int, float]:
    """The index of the open link to follow and its worth, nan if the ordering does not estimate it; index -1 ends the
    path.
    """
    links, tally = fleet.open[slot, me.head : me.count], fleet.tally[0]
    if len(links) == 0 or (rules.by_profit and me.length >= me.max_step):
        return -1, np.nan
    luck = draw(fleet, slot)
    tally.steps += 1
    if rules.by_profit:
        tally.decided += 1
        return _pick_profit(rules, mind, links, fleet.weights[slot], luck), np.nan
    pace: PaceRow = mind.pace[0]
    enough = me.below * (pace.hits / pace.downloads if pace.downloads > 0 else 0.0)
    if mind.appeal_share > 0 or _learns_profit(me):
        index, worth, fresh, most = _pick_leaning(rules, mind, fleet, slot, links, now, luck, enough)
    else:
        index, worth, fresh, most = pick(mind, links, now, mind.scratch[2, :0], luck, enough)
    going_on = me.length < me.max_step or (rules.harvest and fresh)
    return (index if going_on and not most < enough else -1), worth


@compiled
def _learn_path(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int) -> int:
    """Updates the weblog with a finished path (Alg 1); returns its number of entries."""
    me: Walker = fleet.walkers[slot]
    entries, length = me.entries, me.length
    path, earned = fleet.path[slot, :length], fleet.earned[slot, :length]
    weblog, values = fleet.weblog[slot], fleet.values[slot]
    allowed = np.ones(length, np.bool_) if rules.texts else returning(mind, path)
    urls, worth = learned(weblog[:entries], values[:entries], path, earned, allowed, me.weblog_step)
    count = min(len(urls), int(me.weblog_size))
    weblog[:count], values[:count] = urls[:count], worth[:count]
    return count


@compiled
def _draw_start(mind: Mind, urls: IntArray, values: FloatArray, now: float, luck: float) -> int:
    """A random page of a weblog, weighted by (value + 1) × probability of news; unweighted if all weights are 0."""
    heap = np.cumsum((np.maximum(values, 0.0) + 1) * chances(mind, urls, now))
    if heap[-1] <= 0:
        return int(urls[int(luck * len(urls))])
    return int(urls[np.searchsorted(heap, luck * heap[-1], side="right")])


@inner
def _some_of(known: IntArray, place: int, count: int, luck: float) -> int:
    """One of `count` pages that are evenly spread over a column in the form of `page_row.append`."""
    page: int = known[1 + int((place + luck) * known[0] / count)]
    return page


@inner
def _start_at(mind: Mind, fleet: FleetState, slot: int, lists: int, pages: int, luck: float, place: int) -> int:
    """One of the pages from which a path may start: the weblog, then `lists` known lists, then `pages` other known
    pages.
    """
    mine: int = fleet.walkers[slot].entries
    if place < mine:
        return int(fleet.weblog[slot, place])
    if place < mine + lists:
        return _some_of(mind.hubs, place - mine, lists, luck)
    return _some_of(mind.known, place - mine - lists, pages, luck)


@inner
def _best_start(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, now: float, luck: float) -> int:
    """A seed that was never visited, else the most promising page of the weblog, some known lists and some other known
    pages. Ties go to the largest value.
    """
    me: Walker = fleet.walkers[slot]
    mine, pages = me.entries, min(rules.start_others, mind.known[0])
    lists = min(START_LISTS * rules.start_others, mind.hubs[0])
    promise, urls = mind.scratch[0, : mine + lists + pages], mind.scratch[1, : mine + lists + pages]
    look_ahead(mind)
    table, foreseen, prior, first, highest, most = mind.table, mind.outlook, mind.priors[0], -1, -1.0, 0.0
    for i in range(len(promise)):
        url = _start_at(mind, fleet, slot, lists, pages, luck, i)
        page: PageRow = table[url]
        urls[i], promise[i] = url, np.inf
        if page.visits > 0:
            promise[i], _ = bounds_of(mind, page, now)
            if promise[i] > highest:
                first, highest = i, promise[i]
    if first >= 0:  # its promise rules out most others
        most, _, _ = promise_of(table, int(urls[first]), foreseen, prior, now)
    for i in range(len(promise)):
        if promise[i] < most * most:
            promise[i] = -np.inf
            continue
        one: PageRow = table[int(urls[i])]
        promise[i], _, _ = promise_of(table, int(urls[i]), foreseen, prior, now)
        if i < mine and one.main and one.visits == 0 and promise[i] > 0:  # and it was not tried a moment ago
            promise[i] = np.inf
        most = max(most, promise[i])
    for i in range(len(promise)):
        if promise[i] == most:
            promise[i] = fleet.values[slot, i] if i < mine else NOBODYS
        else:
            promise[i] = -np.inf
    return int(urls[best(promise, luck)])


@inner
def _start(rules: ForagerRules, mind: Mind, fleet: FleetState, me: Walker, slot: int, now: float) -> int:
    """The first page of the next path; a seed if the weblog is empty."""
    weblog, values = fleet.weblog[slot, : me.entries], fleet.values[slot, : me.entries]
    if me.explore > 0 and draw(fleet, slot) < me.explore and mind.hubs[0] > 0:
        return int(mind.hubs[1 + int(draw(fleet, slot) * mind.hubs[0])])
    luck = draw(fleet, slot)
    if me.entries == 0:
        return int(fleet.seeds[slot, int(luck * me.seeds)])
    if rules.start_list > 0:
        return int(weblog[int(luck * min(rules.start_list, me.entries))])
    if rules.start_draw:
        return _draw_start(mind, weblog, values, now, luck)
    return _best_start(rules, mind, fleet, slot, now, luck)


@inner
def _begin(me: Walker) -> None:
    """Starts a new path: no page visited, no link open."""
    me.number += 1
    me.mark += 1
    me.first += me.length
    me.length = me.head = me.count = 0


@inner
def _take(fleet: FleetState, me: Walker, slot: int, index: int) -> int:
    """Removes an open link. The last link takes its place, unless it was the first."""
    url = fleet.open[slot, me.head + index]
    if index == 0:
        me.head += 1
    else:
        me.count -= 1
        fleet.open[slot, me.head + index] = fleet.open[slot, me.count]
    return int(url)


@inner
def _sweep(fleet: FleetState, me: Walker, slot: int) -> int:
    """Breadth first: the oldest open link; once all are done, the seeds again."""
    if me.head == me.count:
        _begin(me)
        me.count = admitted(fleet.seeds[slot, : me.seeds], fleet.met[slot], me.mark, fleet.open[slot], 0)
    return _take(fleet, me, slot, 0)


@inner
def choose(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, now: float) -> tuple[int, float]:
    """Begins a step: returns the next page and its worth, nan if the ordering does not estimate it."""
    me: Walker = fleet.walkers[slot]
    before, worth = -1, np.nan
    if me.kind == BFS:
        url = _sweep(fleet, me, slot)
        me.length += 1
    else:
        index, worth = _follow(rules, mind, fleet, me, slot, now)
        if index >= 0:
            before = mind.rows[fleet.path[slot, me.length - 1]]
            url = _take(fleet, me, slot, index)
        else:
            if me.length > 0 and (me.kind == WL or me.kind == WLRL):
                me.entries = _learn_path(rules, mind, fleet, slot)
            url, worth = _start(rules, mind, fleet, me, slot, now), np.nan
            _begin(me)
            if not rules.by_profit:
                look_ahead(mind)
                _, worth, _ = promise_of(mind.table, url, mind.outlook, mind.priors[0], now)
        fleet.path[slot, me.length], fleet.earned[slot, me.length], fleet.before[slot, me.length] = url, 0.0, before
        me.length += 1
    fleet.met[slot, url] = me.mark
    me.gained = 0.0
    note_going(mind, url, now)
    return url, worth


# Arrive, send, settle.


@inner
def arrive(rules: ForagerRules, fleet: FleetState, slot: int, url: int, links: IntArray) -> None:
    """Opens the links that this path has neither visited nor opened. The page itself joins the start list that all RL
    foragers share, while that is short.
    """
    me: Walker = fleet.walkers[slot]
    if len(links):
        me.count = admitted(links, fleet.met[slot], me.mark, fleet.open[slot], me.count)
    if me.kind != RL or me.entries >= rules.start_size:
        return
    for each in fleet.order[: fleet.tally[0].alive]:
        other: Walker = fleet.walkers[each]
        if other.kind == RL and find_entry(fleet.weblog[each, : other.entries], url) < 0:
            fleet.weblog[each, other.entries], fleet.values[each, other.entries] = url, 0.0
            other.entries += 1


@inner
def _paid(rules: ForagerRules, fleet: FleetState, me: Walker, slot: int, revealer: int) -> int:
    """The step of the path that is rewarded for a document: the one that showed its link, else the latest."""
    if rules.pays_revealer and revealer >= 0:
        for place in range(me.length):
            if fleet.path[slot, place] == revealer:
                return place
    return int(me.length - 1)


@inner
def send(
    rules: ForagerRules,
    mind: Mind,
    fleet: FleetState,
    slot: int,
    seen: Seen,
    revealer: int,
    links: IntArray,
    now: float,
) -> int:
    """Sends a document if it is young and this forager has not sent it before; returns what became of it, 0 if it was
    not sent.
    """
    if not is_document(rules, seen, now) or not is_unsent(fleet, slot, seen):
        return 0
    became = judge(rules, mind, fleet, seen, revealer, links, now)
    me: Walker = fleet.walkers[slot]
    count_judged(rules, fleet, slot, (became & RELEVANT) > 0)
    amount = reward_by(rules, became)
    me.gained += amount
    if me.kind != BFS and (amount >= 0 or rules.penalties):
        fleet.earned[slot, _paid(rules, fleet, me, slot, revealer)] += amount
    return became


@inner
def settle(
    rules: ForagerRules,
    mind: Mind,
    fleet: FleetState,
    slot: int,
    url: int,
    downloads: int,
    first: bool,
    links: IntArray,
) -> None:
    """Ends the step: counts its downloads, and learns long-term profit from what it earned.

    `first`: nobody had downloaded the page before.
    """
    me: Walker = fleet.walkers[slot]
    count_work(rules, fleet, slot, downloads)
    if not _learns_profit(me):
        return
    if rules.arrivals:
        learn_arrival(rules, mind, fleet, slot, url, first, links, me.gained)
        return
    before = fleet.before[slot, me.length - 1]
    if before >= 0:
        learn_profit(fleet.weights[slot], mind.vectors[before], mind.vectors[mind.rows[url]], me.gained,
                     me.rate, me.discount, rules.normalised)  # fmt: skip
