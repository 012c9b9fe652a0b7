"""Plain functions over arrays as machine code, their types kept for readers and checkers."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a kernel: compiled at its first call, kept on disk for the next run if there is a place."""
    try:
        return cast("Callable[P, R]", numba.njit(cache=True)(function))
    except RuntimeError:  # neither the package nor the user's cache folder can be written
        return cast("Callable[P, R]", numba.njit()(function))
