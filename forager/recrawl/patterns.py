"""Change logs in few words: 64 cycles in one of the machine's, and which pages have the same changes."""

import numpy as np
from numpy.typing import NDArray


def packed(changed: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The change log with 64 cycles in a word: `[w, page]` has bit b set if the page changes in cycle 64·w + b."""
    pages, cycles = changed.shape
    words = np.zeros((max(1, -(-cycles // 64)), pages), dtype=np.uint64)
    for cycle in range(cycles):
        words[cycle // 64] |= changed[:, cycle].astype(np.uint64) << np.uint64(cycle % 64)
    return words


def patterns(changed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each page such that pages with equal rows have equal numbers, and one page for each number."""
    first, *others = packed(changed)
    _, examples, number = np.unique(first, return_index=True, return_inverse=True)
    for word in others:
        distinct, place = np.unique(word, return_inverse=True)
        _, examples, number = np.unique(number * len(distinct) + place, return_index=True, return_inverse=True)
    return number, examples
