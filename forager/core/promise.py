"""Which of very many pages promise most: kernels over the table of pages.

All pages are looked at by a glance; only those that may be among the best are worked out.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inlined
from forager.core.expectation import mean_news, outlook, rank_of, worth_of
from forager.core.glance import SLACK, at_a_glance, scales
from forager.core.kernels import best
from forager.core.page_row import PageRow, Priors

NO_LEANING: NDArray[np.float64] = np.empty(0)
PART = 1 << 16
"""Of very many pages so many are looked at at a time: the figures of a part stay in the processor's cache."""
FEW = PART // 64
"""If no more than so many are asked for, the best of each part are found first."""


@inlined
def _alike(page: PageRow, other: PageRow, outlook: NDArray[np.float64], prior: Priors, now: float) -> bool:
    """Whether two visited pages promise exactly the same, because they have the same history."""
    if page.visits == 0 or page.visits != other.visits or page.hits != other.hits or page.hours != other.hours:
        return False
    if page.hub != other.hub or (page.signal > page.last) != (other.signal > other.last):
        return False
    return mean_news(page, 1.0, outlook, prior, now) == mean_news(other, 1.0, outlook, prior, now)


@compiled
def _worked_out(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    keys: NDArray[np.float64],
    outlook: NDArray[np.float64],
    prior: Priors,
    now: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What pages are ordered by and what is expected of them, exactly; `keys` is the first at a glance.

    Those close to the best often have the same history, and so the same key. The last page with any key that ends like that
    is remembered, and what was worked out for it serves all that are like it.
    """
    ranks, worths, bits = np.empty(len(urls)), np.empty(len(urls)), keys.view(np.int64)
    remembered = np.full(64, -1)
    for i in range(len(urls)):
        last = remembered[bits[i] & 63]
        if last >= 0 and _alike(table[urls[i]], table[urls[last]], outlook, prior, now):
            ranks[i], worths[i] = ranks[last], worths[last]
        else:
            ranks[i], worths[i], _ = rank_of(table, urls[i], outlook, prior, now)
            remembered[bits[i] & 63] = i
    return ranks, worths


@compiled
def pick(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    glances: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    luck: float,
) -> tuple[int, float, bool, float]:
    """The page that promises most: its index, its worth, whether it is a fresh link; and the largest worth of any.

    `leaning` holds a factor for each page, or nothing at all; `luck` in [0, 1) breaks ties.
    """
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, ranks, worths = scales(foreseen, prior), np.empty(len(urls)), np.empty(len(urls))
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
    _, _, fresh = rank_of(table, urls[may[place]], foreseen, prior, now)
    return may[place], worth[place], fresh, worth.max()


@compiled
def _select(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    keys: NDArray[np.float64],
    outlook: NDArray[np.float64],
    prior: Priors,
    now: float,
    leaning: NDArray[np.float64],
    plain: bool,
    size: int,
) -> NDArray[np.int64]:
    """Where the `size` pages stand that promise most, in order; among equals the first.

    `keys`, what they are ordered by at a glance, show who is surely among them and who is not; the others are worked out.
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
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    glances: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    plain: bool,
    size: int,
) -> NDArray[np.int64]:
    """Where the `size` pages stand that promise most, in order; among equals the first."""
    if len(urls) <= size:
        return np.arange(len(urls))
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, keys = scales(foreseen, prior), np.empty(len(urls))
    for i in range(len(urls)):
        rank, worth = at_a_glance(table, urls[i], glances, foreseen, scale, prior, now)
        keys[i] = (worth if plain else rank) * (leaning[i] if len(leaning) else 1.0)
    return _select(table, urls, keys, foreseen, prior, now, leaning, plain, size)


@inlined
def _is_backlog(page: PageRow) -> bool:
    """Whether a page promises the same at any time: nobody has seen it, goes for it, or saw the link to it appear."""
    return page.visits == 0 and not page.fresh and not page.awaited


@compiled
def now_and_later(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    glances: NDArray[np.void],
    now: float,
    later: float,
    leaning: NDArray[np.float64],
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `size` pages that promise most now, and those that will at a later time, as `most_promising` finds them.

    There must be more pages. Of very many, each is fetched from memory once. `leaning` holds a factor for each, or nothing.
    """
    foreseen, prior = outlook(means, priors[0]), priors[0]
    scale, keys, coming = scales(foreseen, prior), np.empty(len(urls)), np.empty(len(urls))
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
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    glances: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    plain: bool,
    size: int,
) -> NDArray[np.int64]:
    """The `size` pages that promise most, by rising number; among equals the lower numbers.

    `plain`: by worth alone; `leaning` holds a factor for each page, or nothing at all. `urls` rise.
    """
    if size <= FEW and len(urls) > 4 * PART:
        some, count = np.empty((len(urls) // PART + 1) * size, np.int64), 0
        for start in range(0, len(urls), PART):
            part, factors = urls[start : start + PART], leaning[start : start + PART]
            found = _best_of(table, part, means, priors, glances, now, factors, plain, size)
            some[count : count + len(found)] = found + start
            count += len(found)
        urls, leaning = urls[some[:count]], leaning[some[:count]] if len(leaning) else leaning
    chosen: NDArray[np.int64] = urls[_best_of(table, urls, means, priors, glances, now, leaning, plain, size)]
    return chosen


@compiled
def ranks(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> NDArray[np.float64]:
    """What each page is ordered by."""
    out, foreseen = np.empty(len(urls)), outlook(means, priors[0])
    for i in range(len(urls)):
        out[i], _, _ = rank_of(table, urls[i], foreseen, priors[0], now)
    return out


@compiled
def fresh_links(
    table: NDArray[np.void],
    links: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
) -> NDArray[np.int64]:
    """Those of these links that just appeared, nobody has seen, and are worth a download."""
    out, count, foreseen = np.empty(len(links), np.int64), 0, outlook(means, priors[0])
    for link in links:
        page: PageRow = table[link]
        if page.visits == 0:
            worth, fresh, _ = worth_of(table, link, foreseen, priors[0], now)
            if fresh and worth > 0:
                out[count] = link
                count += 1
    return out[:count]
