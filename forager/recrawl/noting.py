"""What visits teach: the kernel that changes the columns of a history."""

from collections.abc import Callable
from typing import cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Enter = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, FloatArray, BoolArray, IntArray], None]


def _enter(
    counts: FloatArray,
    times: FloatArray,
    sums: FloatArray,
    rule: FloatArray,
    pages: IntArray,
    when: FloatArray,
    changed: BoolArray,
    documents: IntArray,
) -> None:
    """Enter visits of distinct pages; the first visit of a page detects no change. `documents` may be empty.

    `rule` holds the adaptive interval: decrease, increase, initial, shortest, longest.
    """
    for i in range(len(pages)):
        page, now = pages[i], when[i]
        new = counts[0, page] == 0
        saw = changed[i] and not new
        if new:
            times[0, page] = times[2, page] = times[3, page] = times[4, page] = now
        counts[0, page] += 1
        counts[1, page] += saw
        if len(documents):
            counts[2, page] += documents[i]
        times[1, page] = now
        if saw:
            times[2, page] = now
        sums[0, page] = saw
        sums[1, page] += counts[0, page] * saw
        sums[2, page] = (sums[2, page] + saw) / 2.0
        if new:
            sums[3, page] = rule[2]
        else:
            longer = sums[3, page] * (1.0 - rule[0] if saw else 1.0 + rule[1])
            sums[3, page] = min(max(longer, rule[3]), rule[4])


enter = cast("Enter", njit(cache=True)(_enter))
