"""The compiled heart of the grouped simulation: take the best groups, look at their pages, sort these into new groups.

A group is all pages with equal state; its pages lie side by side in `arena`, in the fixed order. All groups born in one
cycle were visited in that cycle, so a group only ever loses pages, from its front. Group tables have a column a group.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Int64Array = NDArray[np.int64]
Int32Array = NDArray[np.int32]
DueArray = NDArray[np.uint16]

N, X, RECENT, RANKED, HALVED, LAST_CHANGE = range(6)
"""Codes of the running sums a state may hold."""

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.empty(64, dtype=np.int64)
for _index in range(64):
    _BIT[((1 << _index) * int(_DE_BRUIJN) % (1 << 64)) >> 58] = _index


@njit(cache=True)
def _take(group: int, wanted: int, start, end, arena, picked, source, filled):  # type: ignore[no-untyped-def]
    """Take up to `wanted` pages from the front of a group."""
    count = min(wanted, end[group] - start[group])
    for i in range(count):
        picked[filled + i] = arena[start[group] + i]
        source[filled + i] = group
    start[group] += count
    return filled + count


@njit(cache=True)
def _take_merged(groups, k, start, end, arena, picked, source, filled):  # type: ignore[no-untyped-def]
    """Take from several groups of one rank, page by page in the fixed order."""
    if len(groups) <= 8:
        while filled < k:
            best = -1
            for group in groups:
                if start[group] < end[group] and (best < 0 or arena[start[group]] < arena[start[best]]):
                    best = group
            if best < 0:
                break
            filled = _take(best, 1, start, end, arena, picked, source, filled)
        return filled
    total = 0
    for group in groups:
        total += end[group] - start[group]
    pages, owners = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    at = 0
    for group in groups:
        for i in range(start[group], end[group]):
            pages[at], owners[at] = arena[i], group
            at += 1
    for i in np.argsort(pages):
        if filled == k:
            break
        picked[filled], source[filled] = pages[i], owners[i]
        start[owners[i]] += 1
        filled += 1
    return filled


@njit(cache=True)
def select(k, order, score, last, start, end, arena, picked, source):  # type: ignore[no-untyped-def]
    """Take the k best pages; `order` holds the groups by rising score. Ties: longer unvisited, then the fixed order."""
    filled, high = 0, len(order)
    while filled < k and high > 0:
        low = high - 1
        while low > 0 and score[order[low - 1]] == score[order[high - 1]]:
            low -= 1
        if high - low == 1:
            filled = _take(order[low], k - filled, start, end, arena, picked, source, filled)
        else:
            run = order[low:high]
            run = run[np.argsort(last[run])]
            first = 0
            while first < len(run) and filled < k:
                beyond = first + 1
                while beyond < len(run) and last[run[beyond]] == last[run[first]]:
                    beyond += 1
                if beyond - first == 1:
                    filled = _take(run[first], k - filled, start, end, arena, picked, source, filled)
                else:
                    filled = _take_merged(run[first:beyond], k, start, end, arena, picked, source, filled)
                first = beyond
        high = low
    return filled


@njit(cache=True)
def _bear(old, new, changed, cycle, codes, sums):  # type: ignore[no-untyped-def]
    """The sums of a group after a visit; `ranked` needs n, which stands first when both are kept."""
    for row in range(len(codes)):
        code, value = codes[row], sums[row, old]
        if code == N:
            value += 1.0
        elif code == X:
            value += changed
        elif code == RECENT:
            value = changed
        elif code == RANKED:
            value += sums[0, new] * changed
        elif code == HALVED:
            value = (value + changed) / 2.0
        elif changed > 0.0:
            value = cycle
        sums[row, new] = value


@njit(cache=True)
def _find(new, cycle, codes, bits, table, stamp):  # type: ignore[no-untyped-def]
    """The group born in this cycle with the same sums as `new`; `new` itself if there is none yet."""
    key = np.uint64(1469598103934665603)
    for row in range(len(codes)):
        key = (key ^ np.uint64(bits[row, new])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    mask = len(table) - 1
    at = np.int64(key & np.uint64(mask))
    while stamp[at] == cycle:
        known, equal = table[at], True
        for row in range(len(codes)):
            equal = equal and bits[row, known] == bits[row, new]
        if equal:
            return known
        at = (at + 1) & mask
    stamp[at], table[at] = cycle, new
    return new


@njit(cache=True)
def advance(  # type: ignore[no-untyped-def]
    cycle,
    k,
    order,
    score,
    groups,
    used,
    outdated,
    codes,
    sums,
    bits,
    last,
    start,
    end,
    arena,
    picked,
    source,
    target,
    outdated_at,
    following,
    expiring,
    discount,
    heirs,
    table,
    stamp,
    marks,
    home,
):
    """One cycle: groups and arena places then in use, pages visited, changes found, their DCG, copies out of date."""
    filled = select(k, order, score, last, start, end, arena, picked, source)
    heirs[: 2 * groups] = -1
    born, hits, gain = groups, 0, 0.0
    for rank in range(filled):
        page, old = picked[rank], source[rank]
        changed = 1 if outdated_at[page] <= cycle else 0
        if changed:
            hits += 1
            gain += discount[rank]
            outdated -= 1
            outdated_at[page] = following[page]
            expiring[following[page]] += 1
        heir = heirs[2 * old + changed]
        if heir < 0:
            _bear(old, born, float(changed), float(cycle), codes, sums)
            heir = _find(born, cycle, codes, bits, table, stamp)
            if heir == born:
                last[born], start[born], end[born] = cycle, 0, 0
                born += 1
            heirs[2 * old + changed] = heir
        end[heir] += 1
        target[rank] = heir
    for heir in range(groups, born):
        start[heir] = used
        used += end[heir]
        end[heir] = start[heir]
    for rank in range(filled):
        page = picked[rank]
        marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
        home[page] = target[rank]
    for word in range(len(marks)):
        left = marks[word]
        while left:
            lowest = left & (~left + np.uint64(1))
            page = (word << 6) + _BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            heir = home[page]
            arena[end[heir]] = page
            end[heir] += 1
            left ^= lowest
        marks[word] = 0
    alive = 0
    for group in range(born):
        if start[group] < end[group]:
            if alive < group:
                last[alive], start[alive], end[alive] = last[group], start[group], end[group]
                for row in range(len(codes)):
                    sums[row, alive] = sums[row, group]
            alive += 1
    return alive, used, filled, hits, gain, outdated
