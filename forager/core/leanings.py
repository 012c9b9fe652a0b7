"""Which never-visited pages to look at first: what the link graph has to say."""

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
