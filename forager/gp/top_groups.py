"""Which pages a cycle takes, compiled: those of the best groups first.

A group is all pages with equal state; its pages lie side by side in `arena` from `start` to `end`, in the fixed order.
Groups are numbered by birth: the longer unvisited first. Pages are taken off the front of their group and written to
`taken` in the order of their ranks, their groups to `origin`.
"""

import numpy as np
from numba import njit

_SPREADER = 0x03F79D71B4CB0A89
"""A de Bruijn number: shifted left by 0 to 63 places, it begins with 64 different patterns of 6 bits."""
_PLACES = np.array(sorted(range(64), key=lambda place: (_SPREADER << place & 0xFFFFFFFFFFFFFFFF) >> 58))
"""By such a pattern, how far the number was shifted."""


@njit(cache=True, inline="always")
def first_bit(word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; 64 for 0."""
    lowest = word & (~word + np.uint64(1))
    return _PLACES[lowest * np.uint64(_SPREADER) >> np.uint64(58)] if word else 64


@njit(cache=True, inline="always")
def _take(group, wanted, filled, start, end, arena, taken, origin):  # type: ignore[no-untyped-def]
    """Take up to `wanted` pages of one group; how many pages are taken then."""
    first = start[group]
    size = min(wanted, end[group] - first)
    for i in range(size):
        taken[filled + i] = arena[first + i]
        origin[filled + i] = group
    start[group] = first + size
    return filled + size


@njit(cache=True)
def _take_merged(groups, wanted, filled, start, end, arena, taken, origin, marks, home):  # type: ignore[no-untyped-def]
    """Take from several groups of one rank, page by page in the fixed order."""
    few = len(groups) <= 4
    word, left = -1, np.uint64(0)
    if not few:
        for group in groups:
            for i in range(start[group], end[group]):
                page = arena[i]
                marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
                home[page] = group
    for rank in range(filled, filled + wanted):
        best = -1
        if few:
            for group in groups:
                if start[group] < end[group] and (best < 0 or arena[start[group]] < arena[start[best]]):
                    best = group
        else:
            while not left:
                word += 1
                left = marks[word]
            best = home[(word << 6) + first_bit(left)]
            left &= left - np.uint64(1)
        taken[rank], origin[rank] = arena[start[best]], best
        start[best] += 1
    if not few:
        marks[:] = 0
    return filled + wanted


@njit(cache=True)
def _take_equals(equals, wanted, filled, last, start, end, arena, taken, origin, marks, home):  # type: ignore[no-untyped-def]
    """Take up to `wanted` pages from groups of equal score: longer unvisited first, then the fixed order."""
    first, full = 0, filled + wanted
    while first < len(equals) and filled < full:
        beyond = first + 1
        while beyond < len(equals) and last[equals[beyond]] == last[equals[first]]:
            beyond += 1
        if beyond - first == 1:
            filled = _take(equals[first], full - filled, filled, start, end, arena, taken, origin)
        else:
            tier = equals[first:beyond]
            size = min(full - filled, np.sum(end[tier] - start[tier]))
            filled = _take_merged(tier, size, filled, start, end, arena, taken, origin, marks, home)
        first = beyond
    return filled


@njit(cache=True)
def select(k, groups, score, last, start, end, arena, choice, marks, home):  # type: ignore[no-untyped-def]
    """Take the k best pages; how many there were."""
    taken, origin, _ = choice
    order = np.argsort(-score[:groups], kind="mergesort")  # stable: of equals the longer unvisited first
    filled, low = 0, 0
    while low < groups and filled < k:
        beyond = low + 1
        while beyond < groups and score[order[beyond]] == score[order[low]]:
            beyond += 1
        if beyond - low == 1:  # as a rule; calling somebody would take longer
            filled = _take(order[low], k - filled, filled, start, end, arena, taken, origin)
        else:
            equals = order[low:beyond]
            filled = _take_equals(equals, k - filled, filled, last, start, end, arena, taken, origin, marks, home)
        low = beyond
    return filled
