"""The majority of bits over all runs of three words: the inner loop of a simhash, compiled."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

_PLACES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""One odd factor for each place in a shingle, so that the order of its words counts."""
_SHINGLE = len(_PLACES)


def majority(words: NDArray[np.uint64]) -> int:
    """Each bit as most shingles have it; a text shorter than a shingle is one shingle."""
    return int(_majority(np.resize(words, _SHINGLE) if len(words) < _SHINGLE else words, _PLACES))


@compiled
def _majority(words: NDArray[np.uint64], places: NDArray[np.uint64]) -> np.uint64:
    shingles = len(words) - len(places) + 1
    counts = np.zeros((8, 256), dtype=np.int64)  # how often each byte stands in each place, the lowest one first
    for first in range(shingles):
        mixed = np.uint64(0)
        for place in range(len(places)):
            mixed ^= words[first + place] * places[place]
        mixed = (mixed ^ mixed >> np.uint64(32)) * places[0]
        mixed ^= mixed >> np.uint64(29)
        for place in range(8):
            counts[place, mixed >> np.uint64(8 * place) & np.uint64(255)] += 1
    most = np.uint64(0)
    for place in range(8):
        for bit in range(8):
            ones = 0
            for byte in range(256):
                ones += counts[place, byte] * (byte >> (7 - bit) & 1)
            if 2 * ones > shingles:
                most |= np.uint64(1) << np.uint64(63 - 8 * place - bit)
    return most
