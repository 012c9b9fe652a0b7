"""Small compiled functions over arrays."""

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.compiling import compiled, inner


@compiled
def highest(urls: IntArray) -> int:
    """The largest number; -1 if there is none."""
    top = -1
    for url in urls:
        top = max(top, url)
    return top


@inner
def best(values: FloatArray, luck: float) -> int:
    """Index of the largest value; `luck`, a random number in [0, 1), picks among equals with equal probability."""
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
def merged(one: IntArray, other: IntArray) -> IntArray:
    """The numbers of two sorted columns, sorted, each once."""
    out, count, i, j = np.empty(len(one) + len(other), np.int64), 0, 0, 0
    while i < len(one) or j < len(other):
        first = j == len(other) or (i < len(one) and one[i] <= other[j])
        number = one[i] if first else other[j]
        i += i < len(one) and one[i] == number
        j += j < len(other) and other[j] == number
        out[count] = number
        count += 1
    return out[:count]


@inner
def append(column: IntArray, number: int) -> None:
    """Appends a number to a column whose first entry is its length; there must be room."""
    column[0] += 1
    column[column[0]] = number
