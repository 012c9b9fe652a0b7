"""The majority of bits over all runs of three words: the inner loop of a simhash, compiled."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

_PLACES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""One odd factor for each place in a shingle, so that the order of its words counts."""
_SHINGLE = len(_PLACES)
_FULL = 255
"""Shingles after which a counter of 8 bits may be full."""
_SPREAD = np.array(
    [sum((byte >> bit & 1) << 8 * bit for bit in range(8)) for byte in range(256)], dtype=np.uint64
)  # of each byte its bits, one in each of 8 bytes: adding these counts 8 bits at once


def majority(words: NDArray[np.uint64]) -> int:
    """Each bit as most shingles have it; a text shorter than a shingle is one shingle."""
    return int(_majority(np.resize(words, _SHINGLE) if len(words) < _SHINGLE else words, _PLACES, _SPREAD))


@compiled
def _majority(words: NDArray[np.uint64], places: NDArray[np.uint64], spread: NDArray[np.uint64]) -> np.uint64:
    shingles = len(words) - len(places) + 1
    counts = np.zeros(64, dtype=np.int64)  # how often each bit is set, the lowest one first
    some = np.zeros(8, dtype=np.uint64)  # the same of the latest shingles, 8 counters in each
    for first in range(shingles):
        mixed = np.uint64(0)
        for place in range(len(places)):
            mixed ^= words[first + place] * places[place]
        mixed = (mixed ^ mixed >> np.uint64(32)) * places[0]
        mixed ^= mixed >> np.uint64(29)
        for byte in range(8):
            some[byte] += spread[mixed >> np.uint64(8 * byte) & np.uint64(255)]
        if first % _FULL == _FULL - 1 or first == shingles - 1:
            for bit in range(64):
                counts[bit] += some[bit >> 3] >> np.uint64(8 * (bit & 7)) & np.uint64(255)
            some[:] = 0
    most = np.uint64(0)
    for bit in range(64):
        if 2 * counts[bit] > shingles:
            most |= np.uint64(1) << np.uint64(56 - 8 * (bit >> 3) + (bit & 7))
    return most
