"""Where a new path starts: evenly from the start list as in the paper, or from the whole weblog by what pages promise."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.core.page_table import PageTable
from forager.foragers.kernels import best, highest
from forager.foragers.ranking import ranks
from forager.foragers.settings import StartSettings
from forager.foragers.weblog import Weblog
from forager.terms import UrlId


@compiled
def best_start(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    values: NDArray[np.float64],
    luck: float,
) -> int:
    """The page that promises most; among equals the one with the largest value."""
    promise = ranks(table, urls, means, priors, now)
    most = promise.max()
    for i in range(len(urls)):
        promise[i] = values[i] if promise[i] == most else -np.inf
    return int(urls[best(promise, luck)])


def start_page(
    weblog: Weblog,
    visits: PageTable,
    seeds: NDArray[np.int64],
    settings: StartSettings,
    now: float,
    rng: np.random.Generator,
) -> UrlId:
    """The first page of the next path; one of the seeds if the weblog is empty."""
    if settings.explore and rng.random() < settings.explore and len(visits.hubs):
        return _any(visits.hubs, rng)
    if not len(weblog):
        return _any(seeds, rng)
    if settings.by == "list":
        return _any(weblog.urls[: weblog.settings.start_size], rng)
    if settings.by == "best":
        visits.reserve(highest(weblog.urls) + 1)
        mind = visits.mind()
        return UrlId(best_start(mind.table, weblog.urls, mind.means, mind.priors, now, weblog.values, rng.random()))
    heap = np.cumsum((np.maximum(weblog.values, 0.0) + 1) * visits.chance(weblog.urls, now))
    if heap[-1] <= 0:
        return _any(weblog.urls, rng)
    return UrlId(int(weblog.urls[np.searchsorted(heap, rng.random() * heap[-1], side="right")]))


def _any(urls: NDArray[np.int64], rng: np.random.Generator) -> UrlId:
    return UrlId(int(urls[int(rng.random() * len(urls))]))
