"""One step of a forager (Alg 12): four moves, between which the world is asked.

    url, worth = choose(rules, mind, fleet, slot, now)     the next page of the path, or of a new one     (Alg 3, 11)
    …somebody visits it, and records the visit…
    arrive(rules, fleet, slot, url, links)                 its links are open from now on
    send(rules, mind, fleet, slot, seen, …)                each of its documents is judged                (Alg 5, 7)
    settle(rules, mind, fleet, slot, url, downloads)       long-term profit learns from what they earned  (Alg 4)

A live crawl calls them one by one, a replay from within one loop; there must be room for what they enter (`Flock`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.expectation import chances, returning, worth_of_one
from forager.core.fleet import BFS, RL, WL, WLRL, FleetState, Walker
from forager.core.judge import RELEVANT, Seen, count_judged, count_work, is_document, is_unsent, judge
from forager.core.kernels import best
from forager.core.pace import PaceRow
from forager.core.profit import learn_profit, profits
from forager.core.promise import NO_LEANING, pick
from forager.core.rules import FloatArray, ForagerRules, IntArray
from forager.core.starts import best_start
from forager.core.updates import Mind, note_going
from forager.core.weblog import find_entry, learned, rank_entries

TIE = 1e-9
"""How far long-term profit moves the worth of a page with a history: it breaks ties."""


# Choose: the next page, or a new path.


@inner
def _draw(fleet: FleetState, me: Walker, slot: int) -> float:
    """The next number of a forager's luck."""
    me.drawn += 1
    number: float = fleet.luck[slot, me.drawn - 1]
    return number


@inner
def _learns_profit(me: Walker) -> bool:
    return me.kind == RL or me.kind == WLRL


@compiled
def admitted(links: IntArray, met: NDArray[np.int32], path: int, out: IntArray, count: int) -> int:
    """Append the links that this path has not met yet; how many are open then."""
    for url in links:
        if met[url] != path:
            met[url] = path
            out[count] = url
            count += 1
    return count


@compiled
def leanings(rules: ForagerRules, mind: Mind, links: IntArray, weights: FloatArray, learns: bool) -> FloatArray:
    """A factor for each page: 1 ± `profit_weight` for pages without history, a hair's breadth to break ties for others."""
    out = np.ones(len(links))
    gains = profits(links, mind.rows, mind.vectors, weights) if learns else np.zeros(len(links))
    for i in range(len(links)):
        leaning, url = math.tanh(gains[i] / rules.profit_scale), links[i]
        if mind.appeal_share > 0:
            appeal = mind.appeal[url] if url < len(mind.appeal) else 0.0
            leaning = (1 - mind.appeal_share) * leaning + mind.appeal_share * appeal
        out[i] = 1 + leaning * (TIE if mind.table[url].visits > 0 else rules.profit_weight)
    return out


@compiled
def _pick_leaning(
    rules: ForagerRules, mind: Mind, links: IntArray, weights: FloatArray, learns: bool, now: float, luck: float
) -> tuple[int, float, bool, float]:
    """The link that promises most, as long-term profit and the link graph lean."""
    leaning = leanings(rules, mind, links, weights, learns)
    return pick(mind.table, links, mind.means, mind.priors, mind.glances, now, leaning, luck)


@compiled
def _pick_profit(mind: Mind, links: IntArray, weights: FloatArray, luck: float) -> int:
    """The link of the largest long-term profit (Alg 3)."""
    return best(profits(links, mind.rows, mind.vectors, weights), luck)


@inner
def _follow(rules: ForagerRules, mind: Mind, fleet: FleetState, me: Walker, slot: int, now: float) -> tuple[int, float]:
    """The index of the open link to follow and its worth, nan where the ordering does not say; -1 ends the path."""
    links, weights = fleet.open[slot, me.head : me.count], fleet.weights[slot]
    if len(links) == 0 or (rules.by_profit and me.length >= rules.max_step):
        return -1, np.nan
    luck = _draw(fleet, me, slot)
    if rules.by_profit:
        return _pick_profit(mind, links, weights, luck), np.nan
    if mind.appeal_share > 0 or _learns_profit(me):
        index, worth, fresh, most = _pick_leaning(rules, mind, links, weights, _learns_profit(me), now, luck)
    else:
        index, worth, fresh, most = pick(
            mind.table, links, mind.means, mind.priors, mind.glances, now, NO_LEANING, luck
        )
    pace: PaceRow = mind.pace[0]
    mean = pace.hits / pace.downloads if pace.downloads > 0 else 0.0
    going_on = me.length < rules.max_step or (rules.harvest and fresh)
    return (index if going_on and not most < rules.below * mean else -1), worth


@compiled
def _learn_path(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, entries: int, length: int) -> int:
    """The weblog learns from a path (Alg 1); how many entries it has then."""
    path, earned = fleet.path[slot, :length], fleet.earned[slot, :length]
    weblog, values = fleet.weblog[slot], fleet.values[slot]
    allowed = np.ones(length, np.bool_) if rules.texts else returning(mind.table, path)
    urls, worth = learned(weblog[:entries], values[:entries], path, earned, allowed, rules.weblog_step)
    count = min(len(urls), len(weblog))
    weblog[:count], values[:count] = urls[:count], worth[:count]
    return count


@compiled
def _draw_start(mind: Mind, urls: IntArray, values: FloatArray, now: float, luck: float) -> int:
    """Any page of a weblog, weighted by (value + 1) × chance of news; the luck decides alone if there is no chance."""
    heap = np.cumsum((np.maximum(values, 0.0) + 1) * chances(mind.table, urls, mind.means, mind.priors, now))
    if heap[-1] <= 0:
        return int(urls[int(luck * len(urls))])
    return int(urls[np.searchsorted(heap, luck * heap[-1], side="right")])


@inner
def _start(rules: ForagerRules, mind: Mind, fleet: FleetState, me: Walker, slot: int, now: float) -> int:
    """The first page of the next path; one of the seeds if the weblog is empty."""
    weblog, values = fleet.weblog[slot, : me.entries], fleet.values[slot, : me.entries]
    if rules.start_explore > 0 and _draw(fleet, me, slot) < rules.start_explore and mind.hubs[0] > 0:
        return int(mind.hubs[1 + int(_draw(fleet, me, slot) * mind.hubs[0])])
    luck = _draw(fleet, me, slot)
    if me.entries == 0:
        return int(fleet.seeds[slot, int(luck * me.seeds)])
    if rules.start_list > 0:
        return int(weblog[int(luck * min(rules.start_list, me.entries))])
    if rules.start_draw:
        return _draw_start(mind, weblog, values, now, luck)
    return best_start(mind.table, weblog, mind.means, mind.priors, now, values, luck)


@inner
def _begin(me: Walker) -> None:
    """Forget the finished path and start a new one: nothing visited, nothing open."""
    me.number += 1
    me.first += me.length
    me.length = me.head = me.count = 0


@inner
def _take(fleet: FleetState, me: Walker, slot: int, index: int) -> int:
    """Remove an open link. The last one takes its place, unless it was the first."""
    url = fleet.open[slot, me.head + index]
    if index == 0:
        me.head += 1
    else:
        me.count -= 1
        fleet.open[slot, me.head + index] = fleet.open[slot, me.count]
    return int(url)


@inner
def _sweep(fleet: FleetState, me: Walker, slot: int) -> int:
    """Breadth first: the oldest open link; when all are done, the seeds again."""
    if me.head == me.count:
        _begin(me)
        me.count = admitted(fleet.seeds[slot, : me.seeds], fleet.met[slot], me.number, fleet.open[slot], 0)
    return _take(fleet, me, slot, 0)


@inner
def choose(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, now: float) -> tuple[int, float]:
    """The next page and the new documents expected of it, nan where the ordering does not say; the step has begun."""
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
                me.entries = _learn_path(rules, mind, fleet, slot, me.entries, me.length)
            url = _start(rules, mind, fleet, me, slot, now)
            _begin(me)
            worth = np.nan if rules.by_profit else worth_of_one(mind.table, url, mind.means, mind.priors, now)
        fleet.path[slot, me.length], fleet.earned[slot, me.length], fleet.before[slot, me.length] = url, 0.0, before
        me.length += 1
    fleet.met[slot, url] = me.number
    me.gained = 0.0
    note_going(mind.table, url, now)
    return url, worth


# Arrive, send, settle.


@inner
def arrive(rules: ForagerRules, fleet: FleetState, slot: int, url: int, links: IntArray) -> None:
    """Open the links that were neither visited nor open on this path; a start list grows by the page itself."""
    me: Walker = fleet.walkers[slot]
    if len(links):
        me.count = admitted(links, fleet.met[slot], me.number, fleet.open[slot], me.count)
    starts = me.kind == RL and me.entries < min(rules.start_size, fleet.weblog.shape[1])
    if starts and find_entry(fleet.weblog[slot, : me.entries], url) < 0:
        fleet.weblog[slot, me.entries], fleet.values[slot, me.entries] = url, 0.0
        me.entries += 1
        rank_entries(fleet.weblog[slot, : me.entries], fleet.values[slot, : me.entries])


@inner
def _paid(rules: ForagerRules, fleet: FleetState, me: Walker, slot: int, revealer: int) -> int:
    """The step of the path that is paid for a document: the one that showed its link, or the latest."""
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
    """Send a document if it is young and this forager has not sent it; what became of it, 0 if it was not sent."""
    if not is_document(rules, seen, now) or not is_unsent(fleet, slot, seen):
        return 0
    became = judge(rules, mind, fleet, seen, revealer, links, now)
    me: Walker = fleet.walkers[slot]
    count_judged(rules, fleet, slot, (became & RELEVANT) > 0)
    amount = rules.reward if became & RELEVANT else rules.penalty
    me.gained += amount
    if me.kind != BFS and (amount >= 0 or rules.penalties):
        fleet.earned[slot, _paid(rules, fleet, me, slot, revealer)] += amount
    return became


@inner
def settle(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, url: int, downloads: int) -> None:
    """The step is over: it cost so many downloads, and long-term profit learns from what it earned."""
    me: Walker = fleet.walkers[slot]
    count_work(rules, fleet, slot, downloads)
    if not _learns_profit(me):
        return
    before = fleet.before[slot, me.length - 1]
    if before >= 0:
        learn_profit(fleet.weights[slot], mind.vectors[before], mind.vectors[mind.rows[url]], me.gained,
                     rules.rate, rules.discount, rules.normalised)  # fmt: skip
