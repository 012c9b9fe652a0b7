"""What a page promises, at a glance: right to one part in a thousand, from figures that are kept for it.

A logarithm and a power for every page at every choice would take most of the time. They depend on the page's history and
on the means, and between two choices both move little or not at all. So λ and λ^−breadth are kept for every page together
with how steeply λ rises, and are worked out again only when the page was visited or the means have moved it too far. Whoever
looks for the best pages then works out exactly those that may be among them: what is kept never changes what is found.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inlined
from forager.core.expectation import SHARE_MOST, mean_news, own_rate, rank_of
from forager.core.page_row import HUB, SPREAD, TEXT, PageRow, Priors

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
        ("hits", np.float32),  # … and its hits
        ("own", np.float32),  # λ before it is corrected for changes that look like one, as those of texts do
        ("most", np.float32),  # which is never larger
        ("steepness", np.float32),  # by what share λ rises if that rises by 1
        ("rate", np.float32),  # λ
        ("stretch", np.float32),  # λ^−breadth
    ]
)
"""What is kept of one page."""


class Glance(Protocol):
    """One row of the table of glances, as the kernels see it."""

    visits: int
    hits: float
    own: float
    most: float
    steepness: float
    rate: float
    stretch: float


@compiled
def scales(outlook: NDArray[np.float64], prior: Priors) -> NDArray[np.float64]:
    """For both kinds of pages (mean rate)^breadth."""
    return np.array([outlook[HUB] ** prior.breadth, outlook[TEXT] ** prior.text_breadth])


@inlined
def _make(glance: Glance, page: PageRow, own: float, prior: Priors) -> None:
    """Work out what is to be kept of a page."""
    most, rate, steepness = np.inf, own, 1.0
    if not page.hub and page.visits > 1 and page.hours > 0:
        gap = page.hours / (page.visits - 1)
        most = SHARE_MOST / gap
        share = min(own * gap, SHARE_MOST)
        changes = -math.log(1 - share)
        rate, own = changes / gap, share / gap
        steepness = share / (1 - share) / changes if share > 0 else 1.0
    breadth = prior.breadth if page.hub else prior.text_breadth
    glance.visits, glance.hits = page.visits, page.hits
    glance.own, glance.most, glance.rate = own, most, rate
    glance.steepness = steepness / own if own > 0 else 0.0
    glance.stretch = rate**-breadth if rate > 0 else 1.0


@inlined
def at_a_glance(
    table: NDArray[np.void],
    url: int,
    glances: NDArray[np.void],
    outlook: NDArray[np.float64],
    scales: NDArray[np.float64],
    prior: Priors,
    now: float,
) -> tuple[float, float]:
    """What a page is ordered by and the new documents expected of it, both up to `SLACK`."""
    page: PageRow = table[url]
    if page.visits == 0:
        rank, worth, _ = rank_of(table, url, outlook, prior, now)
        return rank, worth
    glance: Glance = glances[url]
    kind = HUB if page.hub else TEXT
    own = min(own_rate(page, outlook[kind], outlook[SPREAD + kind]), glance.most)
    moved = glance.steepness * (own - glance.own)
    if glance.visits != page.visits or glance.hits != np.float32(page.hits) or not abs(moved) <= FAR:
        _make(glance, page, own_rate(page, outlook[kind], outlook[SPREAD + kind]), prior)
        moved = 0.0
    news = mean_news(page, glance.rate * (1 + moved), outlook, prior, now)
    if page.hub:
        return news * glance.stretch * (1 - prior.breadth * moved) * scales[kind], news
    worth = 12 * news / (12 + 6 * news + news * news) if news < SMALL else 1 - math.exp(-news)
    return worth * glance.stretch * (1 - prior.text_breadth * moved) * scales[kind], worth
