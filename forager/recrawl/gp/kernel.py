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
def _take_merged(groups, k, start, end, arena, run_group, run_from, run_size, runs, filled):  # type: ignore[no-untyped-def]
    """Take from several groups of one rank, page by page in the fixed order."""
    total = 0
    for group in groups:
        total += end[group] - start[group]
    if len(groups) <= 8:
        for _ in range(min(total, k - filled)):
            best = -1
            for group in groups:
                if start[group] < end[group] and (best < 0 or arena[start[group]] < arena[start[best]]):
                    best = group
            run_group[runs], run_from[runs], run_size[runs] = best, start[best], 1
            start[best] += 1
            runs += 1
        return runs, filled + min(total, k - filled)
    pages, owners = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    at = 0
    for group in groups:
        for i in range(start[group], end[group]):
            pages[at], owners[at] = arena[i], group
            at += 1
    for i in np.argsort(pages)[: k - filled]:
        run_group[runs], run_from[runs], run_size[runs] = owners[i], start[owners[i]], 1
        start[owners[i]] += 1
        runs += 1
    return runs, filled + min(total, k - filled)


@njit(cache=True)
def select(k, order, score, last, start, end, arena, run_group, run_from, run_size):  # type: ignore[no-untyped-def]
    """Take the k best pages off the front of their groups, as runs in the order of their ranks.

    `order` holds the groups by rising score. Ties: longer unvisited first, then the fixed order.
    """
    runs, filled, high = 0, 0, len(order)
    while filled < k and high > 0:
        low = high - 1
        while low > 0 and score[order[low - 1]] == score[order[high - 1]]:
            low -= 1
        equals = order[low:high]
        if len(equals) > 1:
            equals = equals[np.argsort(last[equals])]
        first = 0
        while first < len(equals) and filled < k:
            group, beyond = equals[first], first + 1
            while beyond < len(equals) and last[equals[beyond]] == last[group]:
                beyond += 1
            if beyond - first == 1:
                size = min(k - filled, end[group] - start[group])
                run_group[runs], run_from[runs], run_size[runs] = group, start[group], size
                start[group] += size
                runs, filled = runs + 1, filled + size
            else:
                runs, filled = _take_merged(
                    equals[first:beyond], k, start, end, arena, run_group, run_from, run_size, runs, filled
                )
            first = beyond
        high = low
    return runs, filled


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
def _heir(old, born, changed, cycle, codes, sums, bits, table, stamp):  # type: ignore[no-untyped-def]
    """The group of this cycle that pages of `old` join after a visit: `born` itself if there is none like it yet."""
    _bear(old, born, changed, float(cycle), codes, sums)
    key = np.uint64(1469598103934665603)
    for row in range(len(codes)):
        key = (key ^ np.uint64(bits[row, born])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    mask = len(table) - 1
    at = np.int64(key & np.uint64(mask))
    while stamp[at] == cycle:
        known, equal = table[at], True
        for row in range(len(codes)):
            equal = equal and bits[row, known] == bits[row, born]
        if equal:
            return known
        at = (at + 1) & mask
    stamp[at], table[at] = cycle, born
    return born


@njit(cache=True)
def _settle(groups, born, used, start, end, arena, marks, home):  # type: ignore[no-untyped-def]
    """Write the marked pages into the arena, each into its new home, in the fixed order; `end` holds the sizes."""
    for group in range(groups, born):
        start[group] = used
        used += end[group]
        end[group] = start[group]
    for word in range(len(marks)):
        left = marks[word]
        while left:
            lowest = left & (~left + np.uint64(1))
            page = (word << 6) + _BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            group = home[page]
            arena[end[group]] = page
            end[group] += 1
            left ^= lowest
        marks[word] = 0
    return used


@njit(cache=True)
def _closed_up(born, codes, sums, last, start, end):  # type: ignore[no-untyped-def]
    """Close the gaps that empty groups leave; the number of groups then."""
    alive = 0
    for group in range(born):
        if start[group] < end[group]:
            if alive < group:
                last[alive], start[alive], end[alive] = last[group], start[group], end[group]
                for row in range(len(codes)):
                    sums[row, alive] = sums[row, group]
            alive += 1
    return alive


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
    run_group,
    run_from,
    run_size,
    outdated_at,
    following,
    expiring,
    discount,
    heirs,
    flags,
    table,
    stamp,
    marks,
    home,
):
    """One cycle: groups and arena places then in use, pages visited, changes found, their DCG, copies out of date.

    A page that has not changed goes out of date when it would have without the visit, so that may be written for all.
    """
    runs, filled = select(k, order, score, last, start, end, arena, run_group, run_from, run_size)
    heirs[: 2 * groups] = -1
    born, hits, gain, rank = groups, 0, 0.0, 0
    for run in range(runs):
        old, pages = run_group[run], arena[run_from[run] : run_from[run] + run_size[run]]
        found = 0
        for i in range(len(pages)):
            page = pages[i]
            hit = 1 if outdated_at[page] <= cycle else 0
            flags[i] = hit
            found += hit
            gain += discount[rank + i] * hit
            outdated_at[page] = following[page]
            expiring[following[page]] += hit
            marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
        for changed in range(2):
            size = found if changed else len(pages) - found
            if size:
                if heirs[2 * old + changed] < 0:
                    heir = _heir(old, born, float(changed), cycle, codes, sums, bits, table, stamp)
                    heirs[2 * old + changed] = heir
                    if heir == born:
                        last[born], end[born] = cycle, 0
                        born += 1
                end[heirs[2 * old + changed]] += size
        quiet, busy = heirs[2 * old], heirs[2 * old + 1]
        for i in range(len(pages)):
            home[pages[i]] = busy if flags[i] else quiet
        rank += len(pages)
        hits += found
    used = _settle(groups, born, used, start, end, arena, marks, home)
    return _closed_up(born, codes, sums, last, start, end), used, filled, hits, gain, outdated - hits
