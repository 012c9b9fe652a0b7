"""Bits of machine words, compiled."""

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic


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
