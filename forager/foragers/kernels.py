"""Small functions over arrays as machine code."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled


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


@compiled
def append(column: NDArray[np.int64], number: int) -> None:
    """Put a number at the end of a column whose first entry says how many follow; there must be room."""
    column[0] += 1
    column[column[0]] = number
