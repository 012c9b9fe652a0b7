"""The better part of very many known pages, which is ranked instead of all of them most of the time.

What a page promises grows with time, fast or slowly. So the list holds those that promise most now, and those that will
after a day without a visit: that are the quick ones, also those looked at a moment ago. Any other page is far from the best
and stays so for a few hundred downloads. Pages that became known since are on the list too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

IntArray = NDArray[np.int64]

LEAST = 1024
"""No list is shorter; of twice as many pages, or fewer, all are ranked every time."""
PART = 32
"""Else one page of so many is on it for what it promises now, as many for later, …"""
LATER = 86_400.0
"""Seconds after which the quick pages are surely among the best."""
LOOKS = 64
"""… and a new one is made after one download for so many known pages, …"""
LATE = 2
"""… or when so many times as many pages as were listed have joined it."""


def length(known: int) -> int:
    """How many of so many known pages are on a list for now, and for later; 0: none is needed."""
    return 0 if known <= 2 * LEAST else max(LEAST, known // PART)


def serves(used: int, known: int, late: int, listed: int) -> bool:
    """Whether a list may still be used: `listed` of `known` pages are on it, `used` downloads were made since, and `late`
    pages became known."""
    return used * LOOKS < known and late <= LATE * listed


list_length, list_serves = compiled(length), compiled(serves)
"""The same for kernels."""


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """Made by a ranking of all pages; with those that become known later it is another one."""

    pages: IntArray
    unseen: IntArray
    """Some pages that nobody had seen."""
    known: int
    """How many pages were known, …"""
    listed: int
    """… and how many of them were listed."""
    late: int = 0
    """Pages that joined."""
    used: int = 0
    """Downloads since."""
