"""Which pages a cycle takes, compiled: the best groups first, sorted only as far as they are needed.

A group is all pages with equal state; its pages lie side by side in `arena` from `start` to `end`, in the fixed order.
"""

import numpy as np
from numba import njit

from forager.recrawl.gp.bits import first_bit

_SMALL = 12
"""Segments up to this size are sorted by insertion."""
_DEEP = 400
"""Segments that can wait at a time; a segment found when so many wait is sorted by insertion, whatever its size."""


@njit(cache=True)
def _take_merged(groups, wanted, start, end, arena, run_group, run_from, run_size, runs, marks, home):  # type: ignore[no-untyped-def]
    """Take from several groups of one rank, page by page in the fixed order; neighbours of one group make one run."""
    few = len(groups) <= 4
    word, left = -1, np.uint64(0)
    if not few:
        for group in groups:
            for i in range(start[group], end[group]):
                page = arena[i]
                marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
                home[page] = group
    open_run = -1
    for _ in range(wanted):
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
        if open_run != best:
            run_group[runs], run_from[runs], run_size[runs] = best, start[best], 0
            runs, open_run = runs + 1, best
        run_size[runs - 1] += 1
        start[best] += 1
    if not few:
        marks[:] = 0
    return runs


@njit(cache=True)
def _take_equals(equals, wanted, last, start, end, arena, run_group, run_from, run_size, runs, marks, home):  # type: ignore[no-untyped-def]
    """Take up to `wanted` pages from groups of equal score: longer unvisited first, then the fixed order."""
    if len(equals) > 1:
        equals = equals[np.argsort(last[equals])]
    first, filled = 0, 0
    while first < len(equals) and filled < wanted:
        group, beyond = equals[first], first + 1
        while beyond < len(equals) and last[equals[beyond]] == last[group]:
            beyond += 1
        if beyond - first == 1:
            size = min(wanted - filled, end[group] - start[group])
            run_group[runs], run_from[runs], run_size[runs] = group, start[group], size
            start[group] += size
            runs, filled = runs + 1, filled + size
        else:
            tier = equals[first:beyond]
            size = min(wanted - filled, np.sum(end[tier] - start[tier]))
            runs = _take_merged(tier, size, start, end, arena, run_group, run_from, run_size, runs, marks, home)
            filled += size
        first = beyond
    return runs, filled


@njit(cache=True)
def _split(order, low, high, score):  # type: ignore[no-untyped-def]
    """Put groups above a pivot first, then its equals, then those below; where the second and the third part begin."""
    a, b, c = score[order[low]], score[order[(low + high) >> 1]], score[order[high - 1]]
    pivot = max(min(a, b), min(max(a, b), c))
    above, at, below = low, low, high
    while at < below:
        group = order[at]
        if score[group] > pivot:
            order[at], order[above] = order[above], group
            above, at = above + 1, at + 1
        elif score[group] < pivot:
            below -= 1
            order[at], order[below] = order[below], group
        else:
            at += 1
    return above, below


@njit(cache=True)
def select(k, groups, score, order, last, start, end, arena, run_group, run_from, run_size, marks, home):  # type: ignore[no-untyped-def]
    """Take the k best pages off the front of their groups, as runs in the order of their ranks."""
    for group in range(groups):
        order[group] = group
    waiting = np.empty((_DEEP, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = 0, groups
    count, runs, filled = 1, 0, 0
    while count and filled < k:
        count -= 1
        low, high = waiting[count]
        if high - low > _SMALL and count + 3 <= _DEEP:
            above, below = _split(order, low, high, score)
            for begin, stop in ((below, high), (above, below), (low, above)):  # the highest is looked at next
                if begin < stop:
                    waiting[count, 0], waiting[count, 1] = begin, stop
                    count += 1
            if above > low or below < high:
                continue
            count -= 1  # all are equal: nothing to split
        for at in range(low + 1, high):
            group, place = order[at], at
            while place > low and score[order[place - 1]] < score[group]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = group
        while low < high and filled < k:
            beyond = low + 1
            while beyond < high and score[order[beyond]] == score[order[low]]:
                beyond += 1
            if beyond - low == 1:  # as a rule; no need to call anybody
                group = order[low]
                size = min(k - filled, end[group] - start[group])
                run_group[runs], run_from[runs], run_size[runs] = group, start[group], size
                start[group] += size
                runs += 1
            else:
                equals, wanted = order[low:beyond], k - filled
                runs, size = _take_equals(
                    equals, wanted, last, start, end, arena, run_group, run_from, run_size, runs, marks, home
                )
            low, filled = beyond, filled + size
    return runs, filled
