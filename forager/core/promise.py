"""Which of very many pages promise most: kernels over the table of pages.

All pages are looked at by a glance; only those that may be among the best are worked out. A glance is right to one part in a
thousand: a logarithm and a power for every page at every choice would take most of the time. They depend on the page's
history and on the means, and between two choices both move little or not at all, so they are kept for the page.
"""

import math
from typing import Protocol

import numpy as np

from forager.arrays import FloatArray, IntArray, RowArray
from forager.compiling import compiled, inlined, inner
from forager.core.expectation import (
    TEXT_HITS,
    TEXT_HOURS,
    list_promise,
    list_rate,
    mean_news,
    outlook,
    promise_of,
    rate_of,
    stranger_worth,
    waited_since,
)
from forager.core.kernels import best
from forager.core.page_row import TEXT, PageRow, Priors

FAR = 0.02
"""If λ has moved by more than this share, it is worked out again."""
SMALL = 0.5
"""Up to here 1 − e^(−x) is nearly 12x / (12 + 6x + x²)."""
SLACK = 1.0015
"""A glance is wrong by less than this factor: by 0.06 % at most because λ is no straight line, by 0.04 % because its power
is none, and by 0.01 % for e^(−x)."""

GLANCE = np.dtype(
    [
        ("visits", np.int32),  # of the page when the figures were worked out, …
        ("hits", np.float32),  # … its hits, …
        ("prior", np.float64),  # … the hits …
        ("prior_hours", np.float64),  # … and hours that its rate was drawn towards
        ("per_hit", np.float32),  # by what share λ rises with the former …
        ("per_hour", np.float32),  # … and with the latter
        ("rate", np.float32),  # λ
        ("stretch", np.float32),  # λ^−breadth
    ]
)
"""What is kept of one single text. The ordering value of a list is worked out every time: it has no power in it."""


class Glance(Protocol):
    """One row of the cache, for kernels."""

    visits: int
    hits: float
    prior: float
    prior_hours: float
    per_hit: float
    per_hour: float
    rate: float
    stretch: float


@inner
def scale_of(outlook: FloatArray, prior: Priors) -> float:
    """(mean rate of texts)^breadth."""
    scale: float = outlook[TEXT] ** prior.text_breadth
    return scale


@inlined
def _make(glance: Glance, page: PageRow, hits: float, hours: float, prior: Priors) -> None:
    """Works out what is to be kept of a text that is drawn towards so many hits in so many hours."""
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
def at_a_glance(
    table: RowArray, url: int, glances: RowArray, outlook: FloatArray, scale: float, prior: Priors, now: float
) -> tuple[float, float]:
    """Ordering value of a page and its expected new documents, both accurate to `SLACK`."""
    page: PageRow = table[url]
    if page.visits == 0:
        worth, fresh = stranger_worth(table, page, outlook, prior, now)
        return (worth * prior.fresh_first if fresh else worth), worth
    if page.hub:
        return list_promise(page, list_rate(page, table[page.place], prior), outlook, prior, now)
    glance: Glance = glances[url]
    hits, hours = outlook[TEXT_HITS], outlook[TEXT_HOURS]
    moved = glance.per_hit * (hits - glance.prior) + glance.per_hour * (hours - glance.prior_hours)
    if glance.visits != page.visits or glance.hits != np.float32(page.hits) or not abs(moved) <= FAR:
        _make(glance, page, hits, hours, prior)
        moved = 0.0
    news = mean_news(page, glance.rate * (1 + moved), outlook, prior, now)
    worth = 12 * news / (12 + 6 * news + news * news) if news < SMALL else 1 - math.exp(-news)
    return worth * glance.stretch * (1 - prior.text_breadth * moved) * scale, worth


NO_LEANING: FloatArray = np.empty(0)
PART = 1 << 16
"""Number of pages processed at a time, so that their figures stay in the processor's cache."""
FEW = PART // 64
"""Up to this many requested pages, the best of each part are found first."""


@inlined
def _alike(page: PageRow, other: PageRow, prior: Priors, now: float) -> bool:
    """Whether two visited texts promise exactly the same, because they have the same history."""
    if page.visits == 0 or page.visits != other.visits or page.hits != other.hits or page.hours != other.hours:
        return False
    if page.hub != other.hub or (page.signal > page.last) != (other.signal > other.last):
        return False
    if page.hub or page.hit_hours != other.hit_hours:
        return False
    return waited_since(page, prior, now) == waited_since(other, prior, now)


@compiled
def _worked_out(
    table: RowArray,
    urls: IntArray,
    keys: FloatArray,
    outlook: FloatArray,
    prior: Priors,
    now: float,
) -> tuple[FloatArray, FloatArray]:
    """Exact ordering values and expected documents of pages; `keys` are the estimated ordering values.

    Pages close to the best often have the same history, and so the same key. The last page with any key that ends the
    same is remembered, and its result is reused for all pages like it.
    """
    ranks, worths, bits = np.empty(len(urls)), np.empty(len(urls)), keys.view(np.int64)
    remembered = np.full(64, -1)
    for i in range(len(urls)):
        last = remembered[bits[i] & 63]
        if last >= 0 and _alike(table[urls[i]], table[urls[last]], prior, now):
            ranks[i], worths[i] = ranks[last], worths[last]
        else:
            ranks[i], worths[i], _ = promise_of(table, urls[i], outlook, prior, now)
            remembered[bits[i] & 63] = i
    return ranks, worths


@compiled
def pick(
    table: RowArray,
    urls: IntArray,
    means: FloatArray,
    priors: RowArray,
    glances: RowArray,
    now: float,
    leaning: FloatArray,
    luck: float,
) -> tuple[int, float, bool, float]:
    """The page that promises most: its index, its worth, whether it is a fresh link; and the largest worth of any.

    `leaning` holds a factor for each page, or nothing at all; `luck` in [0, 1) breaks ties.
    """
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, ranks, worths = scale_of(foreseen, prior), np.empty(len(urls)), np.empty(len(urls))
    top, most = 0.0, 0.0
    for i in range(len(urls)):
        rank, worths[i] = at_a_glance(table, urls[i], glances, foreseen, scale, prior, now)
        ranks[i] = rank * leaning[i] if len(leaning) else rank
        top, most = max(top, ranks[i]), max(most, worths[i])
    may, count = np.empty(len(urls), np.int64), 0
    for i in range(len(urls)):
        if ranks[i] >= top / SLACK**2 or worths[i] >= most / SLACK**2:
            may[count] = i
            count += 1
    may = may[:count]
    exact, worth = _worked_out(table, urls[may], ranks[may], foreseen, prior, now)
    place = best(exact * leaning[may] if len(leaning) else exact, luck)
    _, _, fresh = promise_of(table, urls[may[place]], foreseen, prior, now)
    return may[place], worth[place], fresh, worth.max()


@compiled
def _select(
    table: RowArray,
    urls: IntArray,
    keys: FloatArray,
    outlook: FloatArray,
    prior: Priors,
    now: float,
    leaning: FloatArray,
    plain: bool,
    size: int,
) -> IntArray:
    """Indices of the `size` pages with the highest ordering values, in order; the first among equals.

    The estimates `keys` show which pages are surely among them and which are not; the others are computed exactly.
    """
    edge = np.partition(keys, len(keys) - size)[len(keys) - size]
    low, high = edge / SLACK**2, edge * SLACK**2
    between = np.flatnonzero((keys >= low) & (keys <= high))
    ranks, worths = _worked_out(table, urls[between], keys[between], outlook, prior, now)
    exact = worths if plain else ranks
    if len(leaning):
        exact *= leaning[between]
    wanted = size - (keys > high).sum()
    least = np.partition(exact, len(exact) - wanted)[len(exact) - wanted]
    ties = wanted - (exact > least).sum()
    out, count, place = np.empty(size, np.int64), 0, 0
    for i in range(len(urls)):
        chosen = keys[i] > high
        if place < len(between) and between[place] == i:
            tie = exact[place] == least and ties > 0
            chosen = exact[place] > least or tie
            ties -= tie
            place += 1
        if chosen:
            out[count] = i
            count += 1
    return out


@compiled
def _best_of(
    table: RowArray,
    urls: IntArray,
    means: FloatArray,
    priors: RowArray,
    glances: RowArray,
    now: float,
    leaning: FloatArray,
    plain: bool,
    size: int,
) -> IntArray:
    """Indices of the `size` pages with the highest ordering values, in order; the first among equals."""
    if len(urls) <= size:
        return np.arange(len(urls))
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, keys = scale_of(foreseen, prior), np.empty(len(urls))
    for i in range(len(urls)):
        rank, worth = at_a_glance(table, urls[i], glances, foreseen, scale, prior, now)
        keys[i] = (worth if plain else rank) * (leaning[i] if len(leaning) else 1.0)
    return _select(table, urls, keys, foreseen, prior, now, leaning, plain, size)


@inlined
def _is_backlog(page: PageRow) -> bool:
    """Whether a page has the same expectation at any time: never visited, no visit under way, and not a fresh link."""
    return page.visits == 0 and not page.fresh and not page.awaited


@compiled
def now_and_later(
    table: RowArray,
    urls: IntArray,
    means: FloatArray,
    priors: RowArray,
    glances: RowArray,
    now: float,
    later: float,
    leaning: FloatArray,
    size: int,
) -> tuple[IntArray, IntArray]:
    """The `size` pages with the highest ordering values now, and those at a later time, as `most_promising` finds them.

    There must be more pages. Of very many, each is read from memory once. `leaning` holds a factor for each, or is
    empty.
    """
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, keys, coming = scale_of(foreseen, prior), np.empty(len(urls)), np.empty(len(urls))
    for i in range(len(urls)):
        keys[i], _ = at_a_glance(table, urls[i], glances, foreseen, scale, prior, now)
        if _is_backlog(table[urls[i]]):
            coming[i] = keys[i]
        else:
            coming[i], _ = at_a_glance(table, urls[i], glances, foreseen, scale, prior, later)
        if len(leaning):
            keys[i] *= leaning[i]
            coming[i] *= leaning[i]
    first = _select(table, urls, keys, foreseen, prior, now, leaning, False, size)
    then = _select(table, urls, coming, foreseen, prior, later, leaning, False, size)
    return urls[first], urls[then]


@compiled
def most_promising(
    table: RowArray,
    urls: IntArray,
    means: FloatArray,
    priors: RowArray,
    glances: RowArray,
    now: float,
    leaning: FloatArray,
    plain: bool,
    size: int,
) -> IntArray:
    """The `size` pages with the highest ordering values, sorted by number; the lower numbers among equals.

    `plain`: by worth alone; `leaning` holds a factor for each page, or is empty. `urls` must be sorted.
    """
    if size <= FEW and len(urls) > 4 * PART:
        some, count = np.empty((len(urls) // PART + 1) * size, np.int64), 0
        for start in range(0, len(urls), PART):
            part, factors = urls[start : start + PART], leaning[start : start + PART]
            found = _best_of(table, part, means, priors, glances, now, factors, plain, size)
            some[count : count + len(found)] = found + start
            count += len(found)
        urls, leaning = urls[some[:count]], leaning[some[:count]] if len(leaning) else leaning
    chosen: IntArray = urls[_best_of(table, urls, means, priors, glances, now, leaning, plain, size)]
    return chosen


@compiled
def ranks(table: RowArray, urls: IntArray, means: FloatArray, priors: RowArray, now: float) -> FloatArray:
    """Ordering value of each page."""
    out, foreseen = np.empty(len(urls)), outlook(means, priors[0])
    for i in range(len(urls)):
        out[i], _, _ = promise_of(table, urls[i], foreseen, priors[0], now)
    return out


@compiled
def fresh_links(
    table: RowArray,
    links: IntArray,
    means: FloatArray,
    priors: RowArray,
    now: float,
) -> IntArray:
    """The links that just appeared, were never visited, and are worth a download."""
    out, count, foreseen = np.empty(len(links), np.int64), 0, outlook(means, priors[0])
    for link in links:
        page: PageRow = table[link]
        if page.visits == 0:
            worth, fresh = stranger_worth(table, page, foreseen, priors[0], now)
            if (fresh or page.listed) and worth > 0:
                out[count] = link
                count += 1
    return out[:count]
