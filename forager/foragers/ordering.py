"""Which never-visited pages to look at first: what long-term profit and the link graph have to say together."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.terms import UrlId

NOTHING: NDArray[np.float64] = np.empty(0)


class LinkOrder(Protocol):
    """What the link graph says of pages nobody has visited."""

    share: float
    """How much it has to say: 1 alone, 0.5 as much as long-term profit."""
    scores: NDArray[np.float64]
    """By page number, how promising each page is, from −1 to 1; it may be shorter than the pages are many."""

    def saw(self, url: UrlId, links: NDArray[np.int64]) -> None:
        """A page was visited and showed these links."""

    def appeal(self, urls: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each page how promising it is, from −1 to 1; 0 if nothing is known."""


def leanings(
    urls: NDArray[np.int64],
    profit: NDArray[np.float64],
    order: LinkOrder | None,
    visited: NDArray[np.bool_],
    weight: float,
) -> NDArray[np.float64]:
    """A factor for each page: 1 ± `weight` for pages without history, a hair's breadth to break ties for others.

    `profit` is long-term profit from −1 to 1, or nothing if nobody learns it.
    """
    leaning = profit if len(profit) else np.zeros(len(urls))
    if order is not None:
        leaning = (1 - order.share) * leaning + order.share * order.appeal(urls)
    return np.asarray(1 + leaning * np.where(visited, 1e-9, weight))
