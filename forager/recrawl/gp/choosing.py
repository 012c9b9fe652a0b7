"""Which pages a cycle takes, compiled: the best groups first, sorted only as far as they are needed.

A group is all pages with equal state; its pages lie side by side in `arena` from `start` to `end`, in the fixed order.
Groups are numbered by birth: the longer unvisited first. Pages are taken off the front of their group and written to
`taken` in the order of their ranks, their groups to `origin`.
"""

import numpy as np
from numba import njit

from forager.recrawl.gp.bits import first_bit

_SMALL = 12
"""Segments up to this size are sorted by insertion."""
_DEEP = 400
"""Segments that can wait at a time; a segment found when so many wait is sorted by insertion, whatever its size."""
_MANY = 400
"""Groups from which on they are first sorted roughly."""
_DIGIT, _DIGITS = 11, 3
"""Bits of a score looked at in one pass of the rough sort, and its passes."""


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
    equals.sort()  # a group born later was visited later
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
def _sort_roughly(groups, score, order, spare, keys):  # type: ignore[no-untyped-def]
    """Order the groups by the 33 highest of those bits in which scores differ, best first; `keys` then holds these bits."""
    bits, varying = score.view(np.uint64), np.uint64(0)
    for group in range(groups):
        word = bits[group] if score[group] != 0.0 else np.uint64(0)  # −0 is 0
        keys[group] = word ^ (~(np.uint64(0) - (word >> np.uint64(63))) & np.uint64(0x7FFFFFFFFFFFFFFF))  # best lowest
        varying |= keys[group] ^ keys[0]
        order[group] = group
    shift, mask = np.uint64(0), np.uint64((1 << _DIGIT) - 1)
    while varying >> shift >> np.uint64(_DIGITS * _DIGIT):
        shift += np.uint64(1)
    counts = np.zeros((_DIGITS, 1 << _DIGIT), dtype=np.int64)
    for group in range(groups):
        keys[group] = (keys[group] >> shift) & np.uint64((1 << _DIGITS * _DIGIT) - 1)
        for digit in range(_DIGITS):
            counts[digit, (keys[group] >> np.uint64(_DIGIT * digit)) & mask] += 1
    for digit in range(_DIGITS):
        place, right, before = counts[digit], np.uint64(_DIGIT * digit), 0
        if place[(keys[0] >> right) & mask] == groups:  # all are equal here
            continue
        for i in range(len(place)):
            before, place[i] = before + place[i], before
        for i in range(groups):
            at = (keys[order[i]] >> right) & mask
            spare[place[at]] = order[i]
            place[at] += 1
        order, spare = spare, order
    return order


@njit(cache=True)
def _take_sorted(low, high, k, filled, score, order, last, start, end, arena, choice, marks, home):  # type: ignore[no-untyped-def]
    """Sort the few groups `order[low:high]` and take pages from them until k are taken."""
    taken, origin, _ = choice
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
        if beyond - low == 1:
            filled = _take(order[low], k - filled, filled, start, end, arena, taken, origin)
        else:
            equals = order[low:beyond]
            filled = _take_equals(equals, k - filled, filled, last, start, end, arena, taken, origin, marks, home)
        low = beyond
    return filled


@njit(cache=True)
def _take_best(low, high, k, filled, score, order, last, start, end, arena, choice, marks, home):  # type: ignore[no-untyped-def]
    """Take the best of the groups `order[low:high]` until k pages are taken."""
    waiting = np.empty((_DEEP, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = low, high
    count = 1
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
        filled = _take_sorted(low, high, k, filled, score, order, last, start, end, arena, choice, marks, home)
    return filled


@njit(cache=True)
def select(k, groups, score, orders, keys, last, start, end, arena, choice, marks, home):  # type: ignore[no-untyped-def]
    """Take the k best pages; how many there were."""
    taken, origin, _ = choice
    order = orders[0]
    if groups < _MANY:
        for group in range(groups):
            order[group] = group
        return _take_best(0, groups, k, 0, score, order, last, start, end, arena, choice, marks, home)
    order = _sort_roughly(groups, score, order, orders[1], keys)
    filled, low = 0, 0
    while low < groups and filled < k:
        beyond = low + 1
        while beyond < groups and keys[order[beyond]] == keys[order[low]]:
            beyond += 1
        if beyond - low == 1:  # as a rule; calling somebody would take longer
            filled = _take(order[low], k - filled, filled, start, end, arena, taken, origin)
        elif beyond - low <= _SMALL:
            filled = _take_sorted(low, beyond, k, filled, score, order, last, start, end, arena, choice, marks, home)
        else:
            filled = _take_best(low, beyond, k, filled, score, order, last, start, end, arena, choice, marks, home)
        low = beyond
    return filled
