"""Where a new path starts: evenly from the start list as in the paper, or from the whole weblog by chance of news."""

import numpy as np
from numpy.typing import NDArray

from forager.foragers.kernels import best
from forager.foragers.settings import StartSettings
from forager.foragers.visits import VisitStatistics
from forager.foragers.weblog import Weblog
from forager.terms import UrlId


def start_page(
    weblog: Weblog,
    visits: VisitStatistics,
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
    weights = (np.maximum(weblog.values, 0.0) + 1) * visits.chance(weblog.urls, now)
    if settings.by == "best":
        return UrlId(int(weblog.urls[best(weights, rng.random())]))
    heap = np.cumsum(weights)
    if heap[-1] <= 0:
        return _any(weblog.urls, rng)
    return UrlId(int(weblog.urls[np.searchsorted(heap, rng.random() * heap[-1], side="right")]))


def _any(urls: NDArray[np.int64], rng: np.random.Generator) -> UrlId:
    return UrlId(int(urls[int(rng.random() * len(urls))]))
