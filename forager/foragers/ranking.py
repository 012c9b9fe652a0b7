"""Which of very many pages promise most, found in one pass: kernels over the table of pages."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.foragers.expectation import outlook, rank_of, worth_of
from forager.foragers.table import Page


@compiled
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
    keys, chosen = np.full(size, -np.inf), np.zeros(size, np.int64)
    foreseen, prior = outlook(means, priors[0]), priors[0]
    for i in range(len(urls)):
        factor = leaning[i] if len(leaning) else 1.0
        if plain:
            key = worth_of(table, urls[i], foreseen, prior, now)[0] * factor
        else:
            key, _, _ = rank_of(table, urls[i], foreseen, prior, now, factor, keys[0])
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
