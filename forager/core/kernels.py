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
def merged(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of two columns that rise, by rising number, each once."""
    out, count, i, j = np.empty(len(one) + len(other), np.int64), 0, 0, 0
    while i < len(one) or j < len(other):
        first = j == len(other) or (i < len(one) and one[i] <= other[j])
        number = one[i] if first else other[j]
        i += i < len(one) and one[i] == number
        j += j < len(other) and other[j] == number
        out[count] = number
        count += 1
    return out[:count]


@compiled
def append(column: NDArray[np.int64], number: int) -> None:
    """Put a number at the end of a column whose first entry says how many follow; there must be room."""
    column[0] += 1
    column[column[0]] = number
