"""Which of very many pages promise most, found in one pass: kernels over the table of pages.

A logarithm, an exponential and a power for every page would take most of the time. So each page is first held against
the best found so far by a bound that a few products give, and only what may be better is worked out.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.foragers.expectation import ROUNDING, outlook, rank_of, worth_of
from forager.foragers.kernels import best
from forager.foragers.table import BACKLOG, DEGREES, LIFT, SPREAD, TEXT, Page, Priors

HEAP = 512
"""So many pages at most are kept in a heap while others go by; of more the keys are worked out first."""
MANY = 1 << (DEGREES - 1)
"""Links from so many pages, or from more, are all one sort of backlog."""


@compiled
def backlog_bounds(outlook: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most that backlog can be worth, by how many pages link there."""
    out, degree = np.empty(MANY + 1), 0
    for pages in range(MANY + 1):
        degree += pages >= 2 << degree
        out[pages] = max(outlook[BACKLOG + degree], outlook[BACKLOG + DEGREES + degree])
    return out


@inner
def at_most(page: Page, outlook: NDArray[np.float64], backlog: NDArray[np.float64], prior: Priors, now: float) -> float:
    """No rank of this page is above; inf where the rank itself is cheap. `backlog` are its bounds.

    Uses 1 − e^(−x) ≤ min(1, x), −ln(1 − y) ≤ y(2 − y) / 2(1 − y), and x^b ≤ 1 + b(x − 1) for b up to 1.
    """
    if page.visits == 0:
        if page.hours > 0 or (page.fresh and now - page.met <= prior.max_age):
            return np.inf
        most: float = backlog[min(page.links_in, MANY)]
        return most
    if page.hub:
        return np.inf
    mean, weight = outlook[TEXT], outlook[SPREAD + TEXT]
    least = rate = (page.hits + weight * mean) / (page.hours + weight)
    if page.visits > 1 and page.hours > 0:
        gap = page.hours / (page.visits - 1)
        share = min(least * gap, 0.95)
        least = share / gap
        rate = least * (2 - share) / (2 - 2 * share)
    since = page.asked if page.awaited else page.last
    hours = max(0.0, min(now - since, prior.max_age)) / 3600
    news = rate * hours * outlook[LIFT] if page.signal > page.last else rate * hours
    bound: float = min(1.0, news) * (1 + prior.text_breadth * (mean / least - 1)) * (1 + ROUNDING)
    return bound


@compiled
def best_pick(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    luck: float,
) -> tuple[int, float]:
    """The page that promises most: its index and its worth, as `expectation.pick` says."""
    foreseen, prior = outlook(means, priors[0]), priors[0]
    backlog = backlog_bounds(foreseen)
    ranks, highest = np.empty(len(urls)), -np.inf
    for i in range(len(urls)):
        ranks[i] = -np.inf
        if at_most(table[urls[i]], foreseen, backlog, prior, now) >= highest:
            ranks[i], _, _ = rank_of(table, urls[i], foreseen, prior, now, 1.0, highest)
            highest = max(highest, ranks[i])
    index = best(ranks, luck)
    return index, worth_of(table, urls[index], foreseen, prior, now)[0]


@inner
def _sink(keys: NDArray[np.float64], urls: NDArray[np.int64], key: float, url: int) -> None:
    """Put a page in the place of the worst, which stands at the front of a heap; of equals the later one is worse."""
    place, size = 0, len(keys)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (keys[other] < keys[child] or (keys[other] == keys[child] and urls[other] > urls[child])):
            child = other
        if key < keys[child] or (key == keys[child] and url > urls[child]):
            break
        keys[place], urls[place] = keys[child], urls[child]
        place = child
    keys[place], urls[place] = key, url


@inner
def _key(
    table: NDArray[np.void],
    url: int,
    outlook: NDArray[np.float64],
    prior: Priors,
    now: float,
    factor: float,
    plain: bool,
    least: float,
) -> float:
    """What a page is ordered by; −inf if that is surely below `least`."""
    if plain:
        return worth_of(table, url, outlook, prior, now)[0] * factor
    return rank_of(table, url, outlook, prior, now, factor, least)[0]


@compiled
def _keys(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    plain: bool,
) -> NDArray[np.float64]:
    out, foreseen = np.empty(len(urls)), outlook(means, priors[0])
    for i in range(len(urls)):
        factor = leaning[i] if len(leaning) else 1.0
        out[i] = _key(table, urls[i], foreseen, priors[0], now, factor, plain, -np.inf)
    return out


@compiled
def _above(urls: NDArray[np.int64], keys: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """The `size` pages with the largest keys, in the order in which they come; among equals the first."""
    least = np.partition(keys, len(keys) - size)[len(keys) - size]
    out, count, ties = np.empty(size, np.int64), 0, size - (keys > least).sum()
    for i in range(len(urls)):
        tie = keys[i] == least and ties > 0
        if keys[i] > least or tie:
            out[count] = urls[i]
            count += 1
            ties -= tie
    return out


@compiled
def most_promising(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    plain: bool,
    size: int,
) -> NDArray[np.int64]:
    """The `size` pages that promise most, by rising number; among equals the lower numbers.

    `plain`: by worth alone; `leaning` holds a factor for each page, or nothing at all. `urls` rise.
    """
    if len(urls) <= size:
        return urls.copy()
    if size > HEAP:
        return _above(urls, _keys(table, urls, means, priors, now, leaning, plain), size)
    keys, chosen = np.full(size, -np.inf), np.zeros(size, np.int64)
    foreseen, prior = outlook(means, priors[0]), priors[0]
    backlog = backlog_bounds(foreseen)
    for i in range(len(urls)):
        factor, page = leaning[i] if len(leaning) else 1.0, table[urls[i]]
        if (page.visits == 0 or not plain) and at_most(page, foreseen, backlog, prior, now) * factor <= keys[0]:
            continue
        key = _key(table, urls[i], foreseen, prior, now, factor, plain, keys[0])
        if key > keys[0]:
            _sink(keys, chosen, key, urls[i])
    return np.sort(chosen)


@compiled
def ranks(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> NDArray[np.float64]:
    """What each page is ordered by."""
    out, foreseen = np.empty(len(urls)), outlook(means, priors[0])
    for i in range(len(urls)):
        out[i], _, _ = rank_of(table, urls[i], foreseen, priors[0], now, 1.0, -np.inf)
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
        page: Page = table[link]
        if page.visits == 0:
            worth, fresh, _ = worth_of(table, link, foreseen, priors[0], now)
            if fresh and worth > 0:
                out[count] = link
                count += 1
    return out[:count]
