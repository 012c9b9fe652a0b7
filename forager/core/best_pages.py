"""Finds the most promising among very many pages.

Every page is first estimated at a glance, within one part in a thousand; only those that may be among the best are
computed exactly. Exact values need a logarithm and a power for each page, which would take most of the time of a
choice. They depend on the history of the page and on the means over all pages. Both change little between two choices,
so they are kept.
"""

import math
from typing import Protocol

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.core.expectation import (
    SCALE,
    TEXT_HITS,
    TEXT_HOURS,
    USUAL_WAIT,
    guessed_hours,
    hazard_on,
    lift_of,
    list_promise,
    look_ahead,
    mean_news,
    promise_of,
    rate_of,
    rate_on,
    stranger_worth,
    waited_since,
)
from forager.core.page_row import (
    BUSY_THEN,
    MAIN_HITS,
    MAIN_HOURS,
    MOMENT,
    PASSED,
    PER_LONGEST,
    PER_WAIT,
    TEXT,
    Mind,
    PageRow,
    Priors,
)
from forager.kernel import compiled, inlined, inner
from forager.recrawl.rhythm import HOURS, busy_clock

HOUR, WEEK = 1 / 3600, 1 / HOURS
FAR = 0.02
"""λ is computed again if it has moved by more than this share."""
SMALL = 0.5
"""Up to this x, 1 − e^(−x) is nearly 12x / (12 + 6x + x²)."""
SLACK = 1.0015
"""An estimate at a glance is wrong by less than this factor: by at most 0.06 % because λ is taken to be linear, by 0.04
% because its power is, and by 0.01 % for e^(−x).
"""


BLOCK = 64
"""Number of pages whose rows fit into the processor's cache."""


class Glance(Protocol):
    """What is kept of a single text between choices. Nothing is kept of lists: their promise needs no power."""

    visits: int  # of the page when these figures were computed
    hits: float  # its hits then
    prior: float  # the hits that its rate was drawn towards
    prior_hours: float  # the hours that its rate was drawn towards
    per_hit: float  # by what share λ rises with `prior`
    per_hour: float  # by what share λ changes with `prior_hours`
    rate: float  # λ
    stretch: float  # λ^−breadth


_WIDE = {"visits": np.int32, "prior": np.float64, "prior_hours": np.float64}
GLANCE = np.dtype([(name, _WIDE.get(name, np.float32)) for name in Glance.__annotations__])


@inlined
def _make(glance: Glance, page: PageRow, hits: float, hours: float, prior: Priors) -> None:
    """Computes what is kept of a text whose rate is drawn towards `hits` in `hours`."""
    quiet = page.hours - page.hit_hours + hours
    ratio = page.hit_hours / quiet
    rate = rate_of(page, hits, hours)
    glance.visits, glance.hits = page.visits, page.hits
    glance.prior, glance.prior_hours = hits, hours
    glance.per_hit = 1 / (page.hits + hits)
    glance.per_hour = -(ratio / math.log(1 + ratio) if ratio > 0 else 1.0) / (1 + ratio) / quiet
    glance.rate = rate
    glance.stretch = rate**-prior.text_breadth


@inlined
def at_a_glance(mind: Mind, url: int, outlook: FloatArray, now: float) -> tuple[float, float]:
    """The promise and the worth of a page, both accurate to `SLACK`; exact except for visited texts."""
    page: PageRow = mind.table[url]
    prior: Priors = mind.priors[0]
    if page.visits == 0:
        worth, fresh = stranger_worth(mind.table, page, outlook, prior, now)
        return (worth * prior.fresh_first if fresh else worth), worth
    if page.hub:
        return list_promise(page, rate_on(mind.table, page, outlook, prior), outlook, prior, now)
    glance: Glance = mind.glances[url]
    hits, hours = outlook[TEXT_HITS], outlook[TEXT_HOURS]
    moved = glance.per_hit * (hits - glance.prior) + glance.per_hour * (hours - glance.prior_hours)
    if glance.visits != page.visits or glance.hits != np.float32(page.hits) or not abs(moved) <= FAR:
        _make(glance, page, hits, hours, prior)
        moved = 0.0
    news = mean_news(page, glance.rate * (1 + moved), outlook, prior, now)
    worth = 12 * news / (12 + 6 * news + news * news) if news < SMALL else 1 - math.exp(-news)
    return worth * glance.stretch * (1 - prior.text_breadth * moved) * outlook[SCALE], worth


@inlined
def _busy_about(outlook: FloatArray, seconds: float) -> float:
    """Like `busy_clock`, but multiplies where that divides."""
    hours = seconds * HOUR
    hours -= math.floor(hours * WEEK) * HOURS
    place = min(max(int(hours), 0), HOURS - 1)
    before: float = outlook[PASSED + place]
    part: float = (hours - place) * (outlook[PASSED + place + 1] - before)
    return math.floor(seconds * HOUR * WEEK) * HOURS + before + part


@inlined
def list_bounds(mind: Mind, page: PageRow, now: float) -> tuple[float, float]:
    """Upper bounds for a visited list: of the square of its promise, and of its worth.

    They assume that no document has left the list since the last visit. Otherwise this is the computation of
    `list_promise`, in an order that needs fewer divisions and no function calls.
    """
    prior: Priors = mind.priors[0]
    if prior.breadth != 0.5:
        return np.inf, np.inf
    alike: PageRow = mind.table[page.place]
    out, weight, since = mind.outlook, prior.list_weight, min(now, page.asked if page.awaited else page.last)
    hours, known = (now - since) * HOUR, alike.place_hits + weight
    guessed = guessed_hours(page, alike, out[MAIN_HITS], out[MAIN_HOURS], prior)
    watched = page.seen_hours * known + weight * (alike.place_hours + guessed)
    rate = (page.came + weight) * known / watched * page.topical * lift_of(page, out)
    rate *= min(1.0, rate * hours * (now - since) * out[PER_WAIT])
    short = min(hours * out[PER_LONGEST], 1.0)
    saved = min(1.0, short * (1 + hazard_on(page, out) * prior.max_age * HOUR) * 0.5)
    if out[MOMENT] != now:
        out[MOMENT], out[BUSY_THEN] = now, busy_clock(out, PASSED, now)
    order = rate * (out[BUSY_THEN] - _busy_about(out, since)) * page.urgency
    return order * order * saved * (ROUNDED / USUAL_WAIT), rate * short * prior.max_age * (HOUR * ROUNDED)


@inlined
def text_bounds(mind: Mind, page: PageRow, now: float) -> tuple[float, float]:
    """No less than the square of the ordering value of a visited text, and no less than its worth.

    The value is at most news · (mean / λ)^breadth, and λ^(1 − breadth) · mean^breadth is at most the arithmetic mean.
    """
    out, prior = mind.outlook, mind.priors[0]
    rate = rate_of(page, out[TEXT_HITS], out[TEXT_HOURS])
    news = mean_news(page, ROUNDED, out, prior, now)
    order = news * (rate + prior.text_breadth * (out[TEXT] - rate)) + TINY
    return order * order, news * rate + TINY


@inlined
def bounds_of(mind: Mind, page: PageRow, now: float) -> tuple[float, float]:
    """No less than the square of the ordering value of a visited page, and no less than its worth."""
    return list_bounds(mind, page, now) if page.hub else text_bounds(mind, page, now)


ROUNDED = 1.000001
"""Factor that raises an upper bound, because it is rounded differently from what it bounds."""
TINY = 1e-9
"""Added to bounds that contain 1 − e^(−x), because that is rounded to multiples of 1e-16 even for a tiny x."""


@inlined
def _alike(page: PageRow, other: PageRow, prior: Priors, now: float) -> bool:
    """Whether two visited texts have the same history, and so the same promise."""
    if page.visits == 0 or page.visits != other.visits or page.hits != other.hits or page.hours != other.hours:
        return False
    if page.hit_hours != other.hit_hours or (page.signal > page.last) != (other.signal > other.last):
        return False
    return waited_since(page, prior, now) == waited_since(other, prior, now)


@inlined
def _is_backlog(page: PageRow) -> bool:
    """Whether a page has the same worth at any time: it was never visited, no visit is under way, and it is not a fresh
    link.
    """
    return page.visits == 0 and not page.fresh and not page.awaited


@compiled
def _worked_out(
    mind: Mind, urls: IntArray, keys: FloatArray, now: float, leaning: FloatArray, plain: bool
) -> FloatArray:
    """The exact promise of pages. `keys` are the estimates, which are already exact for lists and for undated backlog.

    Many of the best texts have the same history, and so the same estimate. The last page for each ending of an estimate
    is remembered, so that its result can be used again.
    """
    table, prior, exact, values, bits = (
        mind.table,
        mind.priors[0],
        keys.copy(),
        np.empty(len(urls)),
        keys.view(np.int64),
    )
    remembered = np.full(64, -1)
    for i in range(len(urls)):
        page: PageRow = table[urls[i]]
        if (page.hub and page.visits > 0) or (_is_backlog(page) and np.isnan(page.latest)):
            continue
        last = remembered[bits[i] & 63]
        if last >= 0 and _alike(page, table[urls[last]], prior, now):
            values[i] = values[last]
        else:
            rank, worth, _ = promise_of(table, urls[i], mind.outlook, prior, now)
            values[i] = worth if plain else rank
            remembered[bits[i] & 63] = i
        exact[i] = values[i] * (leaning[i] if len(leaning) else 1.0)
    return exact


@inner
def best(values: FloatArray, luck: float) -> int:
    """Index of the largest value; `luck` chooses among equals."""
    top, ties = values[0], 0
    for value in values:
        if value > top:
            top, ties = value, 0
        if value == top:
            ties += 1
    wanted = int(luck * ties)
    for i in range(len(values)):
        if values[i] == top:
            if wanted == 0:
                return i
            wanted -= 1
    return 0


@inlined
def _worth_from(most: float, enough: float) -> float:
    """The worth below which a page need not be computed exactly; infinite once some page is surely worth enough."""
    return np.inf if most >= enough * SLACK else most / SLACK**2


@inner
def pick(
    mind: Mind, urls: IntArray, now: float, leaning: FloatArray, luck: float, enough: float
) -> tuple[int, float, bool, float]:
    """The most promising page: its index, its worth, whether it is a fresh link; and the largest worth of any page, or
    one that is no less than `enough`.

    `leaning` holds a factor for each page, or is empty; `luck` in [0, 1) breaks ties. A visited page is computed only
    if its upper bounds can win. The one with the highest bound comes first, which rules out most others.
    """
    look_ahead(mind)
    table, prior, foreseen = mind.table, mind.priors[0], mind.outlook
    ranks, worths, places = mind.scratch[0], mind.scratch[1], mind.scratch[3]
    first, highest = 0, -1.0
    for i in range(len(urls)):
        page: PageRow = table[urls[i]]
        square, worth = np.inf, np.inf
        if page.visits > 0:
            square, worth = bounds_of(mind, page, now)
            if len(leaning):
                square *= leaning[i] * leaning[i]
            if square > highest:
                first, highest = i, square
        ranks[i], worths[i] = square, worth
    top, most = at_a_glance(mind, urls[first], foreseen, now)
    if len(leaning):
        top *= leaning[first]
    edge, high, count = top / SLACK**2, _worth_from(most, enough), 0
    for i in range(len(urls)):
        if ranks[i] < edge * edge and worths[i] < high:
            continue
        rank, worth = at_a_glance(mind, urls[i], foreseen, now)
        if len(leaning):
            rank *= leaning[i]
        ranks[count], worths[count], places[count] = rank, worth, i
        count += 1
        if rank > top or worth > most:
            top, most = max(top, rank), max(most, worth)
            edge, high = top / SLACK**2, _worth_from(most, enough)
    high, most = most / SLACK**2, 0.0
    for k in range(count):
        if ranks[k] >= edge or worths[k] >= high:
            i = int(places[k])
            row: PageRow = table[urls[i]]
            if row.visits > 0 and not row.hub:
                rank, worths[k], _ = promise_of(table, urls[i], foreseen, prior, now)
                ranks[k] = rank * leaning[i] if len(leaning) else rank
            most = max(most, worths[k])
        else:
            ranks[k] = -np.inf
    chosen = best(ranks[:count], luck)
    place = int(places[chosen])
    _, _, fresh = promise_of(table, urls[place], foreseen, prior, now)
    return place, worths[chosen], fresh, most


@compiled
def _nth_largest(values: FloatArray, n: int) -> float:
    """The n-th largest value, found in one pass that skips values below the n-th largest so far."""
    kept, count, least = np.empty(4 * n), 0, -np.inf
    for value in values:
        if value <= least:
            continue
        kept[count] = value
        count += 1
        if count == len(kept):
            kept[:n] = np.partition(kept, count - n)[count - n :]
            count, least = n, kept[:n].min()
    return float(np.partition(kept[:count], count - n)[count - n])


@compiled
def _select(
    mind: Mind, urls: IntArray, keys: FloatArray, now: float, leaning: FloatArray, plain: bool, size: int
) -> IntArray:
    """Indices of the `size` most promising pages, in order; the first among equals.

    The estimates `keys` decide for most pages; only the doubtful ones are computed exactly.
    """
    edge = _nth_largest(keys, size)
    low, high = edge / SLACK**2, edge * SLACK**2
    some, count = np.empty(len(keys), np.int64), 0
    for i in range(len(keys)):
        if keys[i] >= low:
            some[count] = i
            count += 1
    some = some[:count]
    between = some[keys[some] <= high]
    factors = leaning[between] if len(leaning) else leaning
    exact = _worked_out(mind, urls[between], keys[between], now, factors, plain)
    wanted = size - len(some) + len(between)
    least = np.partition(exact, len(exact) - wanted)[len(exact) - wanted]
    ties = wanted - (exact > least).sum()
    out, count, place = np.empty(size, np.int64), 0, 0
    for one in some:
        chosen = keys[one] > high
        if place < len(between) and between[place] == one:
            tie = exact[place] == least and ties > 0
            chosen = exact[place] > least or tie
            ties -= tie
            place += 1
        if chosen:
            out[count] = one
            count += 1
    return out


@inner
def _glance_at(mind: Mind, urls: IntArray, now: float, leaning: FloatArray, plain: bool, keys: FloatArray) -> None:
    """Sets `keys` to estimates of the promise of pages, or of their worth alone."""
    look_ahead(mind)
    for i in range(len(urls)):
        rank, worth = at_a_glance(mind, urls[i], mind.outlook, now)
        keys[i] = (worth if plain else rank) * (leaning[i] if len(leaning) else 1.0)


@compiled
def _best_of(mind: Mind, urls: IntArray, now: float, leaning: FloatArray, plain: bool, size: int) -> IntArray:
    """Indices of the `size` most promising pages, in order; the first among equals."""
    if len(urls) <= size:
        return np.arange(len(urls))
    keys = np.empty(len(urls))
    _glance_at(mind, urls, now, leaning, plain, keys)
    return _select(mind, urls, keys, now, leaning, plain, size)


@compiled
def most_promising(mind: Mind, urls: IntArray, now: float, leaning: FloatArray, plain: bool, size: int) -> IntArray:
    """The `size` most promising pages, sorted by number; the lower numbers among equals.

    `plain`: by worth alone. `leaning` holds a factor for each page, or is empty. `urls` must be sorted.
    """
    chosen: IntArray = urls[_best_of(mind, urls, now, leaning, plain, size)]
    return chosen


@compiled
def now_and_later(
    mind: Mind, urls: IntArray, now: float, later: float, leaning: FloatArray, size: int
) -> tuple[IntArray, IntArray]:
    """`most_promising` at two times, of more than `size` pages; their rows are read from memory only once."""
    keys, later_keys = np.empty(len(urls)), np.empty(len(urls))
    for begin in range(0, len(urls), BLOCK):
        end = begin + BLOCK
        part, factors = urls[begin:end], leaning[begin:end]
        _glance_at(mind, part, now, factors, False, keys[begin:end])
        _glance_at(mind, part, later, factors, False, later_keys[begin:end])
    soon = urls[_select(mind, urls, keys, now, leaning, False, size)]
    return soon, urls[_select(mind, urls, later_keys, later, leaning, False, size)]


@inlined
def appears_now(mind: Mind, link: int, now: float) -> bool:
    """Whether a link just appeared, was never visited, and is worth a download; needs the outlook."""
    page: PageRow = mind.table[link]
    if page.visits > 0:
        return False
    worth, fresh = stranger_worth(mind.table, page, mind.outlook, mind.priors[0], now)
    return (fresh or page.listed) and worth > 0


@compiled
def fresh_links(mind: Mind, links: IntArray, now: float) -> IntArray:
    """The links that just appeared, were never visited, and are worth a download."""
    out, count = np.empty(len(links), np.int64), 0
    look_ahead(mind)
    for link in links:
        if appears_now(mind, link, now):
            out[count] = link
            count += 1
    return out[:count]
