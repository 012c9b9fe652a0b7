"""Bits of machine words, compiled, and change logs packed into them."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.empty(64, dtype=np.int64)
for _index in range(64):
    _BIT[((1 << _index) * int(_DE_BRUIJN) % (1 << 64)) >> 58] = _index


@njit(cache=True)
def first_bit(word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; anything for 0."""
    return _BIT[((word & (~word + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


def packed(changed: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The change log with 64 cycles in a word: `[w, page]` has bit b set if the page changes in cycle 64·w + b."""
    pages, cycles = changed.shape
    words = np.zeros((max(1, -(-cycles // 64)), pages), dtype=np.uint64)
    for cycle in range(cycles):
        words[cycle // 64] |= changed[:, cycle].astype(np.uint64) << np.uint64(cycle % 64)
    return words
