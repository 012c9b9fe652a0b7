"""What visits teach: kernels that change the columns of a history."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@compiled
def see(held: IntArray, page: int, version: int) -> bool:
    """A page shows a version, or none if that is -1; whether it has changed since the visit before."""
    before = held[page]
    if version >= 0:
        held[page] = version
    return version >= 0 and before >= 0 and version != before


@compiled
def enter(
    counts: FloatArray,
    times: FloatArray,
    sums: FloatArray,
    rule: FloatArray,
    page: int,
    now: float,
    changed: bool,
    documents: int,
) -> None:
    """Enter a visit of a page; its first visit detects no change.

    `rule` holds the adaptive interval: decrease, increase, initial, shortest, longest.
    """
    new = counts[0, page] == 0
    saw = changed and not new
    if new:
        times[0, page] = times[2, page] = times[3, page] = times[4, page] = now
    counts[0, page] += 1
    counts[1, page] += saw
    counts[2, page] += documents
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


@compiled
def enter_all(
    counts: FloatArray,
    times: FloatArray,
    sums: FloatArray,
    rule: FloatArray,
    pages: IntArray,
    when: FloatArray,
    changed: BoolArray,
    documents: IntArray,
) -> None:
    """Enter visits of distinct pages; `documents` may be empty."""
    for i in range(len(pages)):
        brought = documents[i] if len(documents) else 0
        enter(counts, times, sums, rule, pages[i], when[i], changed[i], brought)
