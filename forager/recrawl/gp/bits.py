"""Bits of machine words, compiled, and change logs packed into them."""

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray


@intrinsic
def _trailing_zeros(typing, word):  # type: ignore[no-untyped-def]
    """One instruction of the processor; 64 for 0."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), emit


@njit(cache=True, inline="always")
def first_bit(word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; 64 for 0."""
    return _trailing_zeros(word)  # type: ignore[call-arg]


def packed(changed: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The change log with 64 cycles in a word: `[w, page]` has bit b set if the page changes in cycle 64·w + b."""
    pages, cycles = changed.shape
    words = np.zeros((max(1, -(-cycles // 64)), pages), dtype=np.uint64)
    for cycle in range(cycles):
        words[cycle // 64] |= changed[:, cycle].astype(np.uint64) << np.uint64(cycle % 64)
    return words
