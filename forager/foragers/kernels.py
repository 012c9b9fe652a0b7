"""Plain functions over arrays as machine code, their types kept for readers and checkers; and two small ones."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a kernel: compiled at its first call, kept on disk for the next run if there is a place."""
    try:
        return cast("Callable[P, R]", numba.njit(cache=True)(function))
    except RuntimeError:  # neither the package nor the user's cache folder can be written
        return cast("Callable[P, R]", numba.njit()(function))


@compiled
def highest(urls: NDArray[np.int64]) -> int:
    """The largest number among them; -1 if there is none."""
    top = -1
    for url in urls:
        top = max(top, url)
    return top


@compiled
def best(values: NDArray[np.float64], luck: float) -> int:
    """The index of the largest value; among equals `luck` in [0, 1) decides, each as likely."""
    top, ties = values[0], 0
    for value in values:
        if value > top:
            top, ties = value, 0
        if value == top:
            ties += 1
    wanted = int(luck * ties)
    for i in range(len(values)):
        if values[i] == top:
            if wanted == 0:
                return i
            wanted -= 1
    return 0
