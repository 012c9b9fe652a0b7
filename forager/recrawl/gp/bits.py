"""Bits of machine words, compiled."""

import numpy as np
from numba import njit

_SPREADER = 0x03F79D71B4CB0A89
"""A de Bruijn number: shifted left by 0 to 63 places, it begins with 64 different patterns of 6 bits."""
_PLACES = np.array(sorted(range(64), key=lambda place: (_SPREADER << place & 0xFFFFFFFFFFFFFFFF) >> 58))
"""By such a pattern, how far the number was shifted."""


@njit(cache=True, inline="always")
def first_bit(word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; 64 for 0."""
    lowest = word & (~word + np.uint64(1))
    return _PLACES[lowest * np.uint64(_SPREADER) >> np.uint64(58)] if word else 64
