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

N, X, RECENT, RANKED, HALVED, LAST_CHANGE = range(6)
"""Codes of the running sums a state may hold."""

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.empty(64, dtype=np.int64)
for _index in range(64):
    _BIT[((1 << _index) * int(_DE_BRUIJN) % (1 << 64)) >> 58] = _index


@njit(cache=True)
def _first_bit(word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; anything for 0."""
    return _BIT[((word & (~word + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


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
            best = home[(word << 6) + _first_bit(left)]
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
def select(k, order, score, last, start, end, arena, run_group, run_from, run_size, marks, home):  # type: ignore[no-untyped-def]
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
                tier = equals[first:beyond]
                size = min(k - filled, np.sum(end[tier] - start[tier]))
                runs = _take_merged(tier, size, start, end, arena, run_group, run_from, run_size, runs, marks, home)
                filled += size
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
def _heir(old, born, changed, cycle, codes, sums, bits, table):  # type: ignore[no-untyped-def]
    """The group of this cycle that pages of `old` join after a visit: `born` itself if there is none like it yet."""
    _bear(old, born, changed, float(cycle), codes, sums)
    key = np.uint64(0)
    for row in range(len(codes)):
        key = (key ^ bits[row, born]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)  # the high bits of a product depend on all bits of its factors
    mask = len(table) - 1
    at = np.int64((key * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)) & mask
    while table[at] >> 32 == cycle:  # an entry is its cycle and its group in one number; older ones do not count
        known, equal = table[at] & 0xFFFFFFFF, True
        for row in range(len(codes)):
            equal = equal and bits[row, known] == bits[row, born]
        if equal:
            return known
        at = (at + 1) & mask
    table[at] = (cycle << 32) | born
    return born


@njit(cache=True)
def _look(arena, first, size, since, cycle, cycles, history, flags, expiring, discount, rank):  # type: ignore[no-untyped-def]
    """Visit a run of pages last visited in the cycle `since`: how many have changed, and their DCG; `flags` says which.

    `history[w, page]` has bit b set if the page changes in cycle 64·w + b. The next change of a page found changed is
    entered in `expiring`: then its copy will be out of date again.
    """
    everything = np.uint64(0xFFFFFFFFFFFFFFFF)
    low, high, ahead = (since + 1) >> 6, cycle >> 6, (cycle + 1) >> 6
    from_low = everything << np.uint64((since + 1) & 63)
    to_high = everything >> np.uint64(63 - (cycle & 63))
    from_ahead = everything << np.uint64((cycle + 1) & 63)
    found, gain = 0, 0.0
    if low == high and len(history) == 1:
        seen = from_low & to_high
        if ahead > 0:
            from_ahead = np.uint64(0)
        for i in range(size):
            word = history[0, arena[first + i]]
            hit = 1 if word & seen else 0
            coming = word & from_ahead
            expiring[_first_bit(coming) if coming else cycles] += hit
            flags[i] = hit
            found += hit
            gain += discount[rank + i] * hit
        return found, gain
    for i in range(size):
        page, at = arena[first + i], low
        word = history[low, page] & from_low
        while at < high and not word:
            at += 1
            word = history[at, page]
        flags[i] = 1 if (word & to_high if at == high else word) else 0
        if flags[i]:
            at = ahead
            coming = history[at, page] & from_ahead if at < len(history) else np.uint64(0)
            while at + 1 < len(history) and not coming:
                at += 1
                coming = history[at, page]
            expiring[(at << 6) + _first_bit(coming) if coming else cycles] += 1
            found += 1
            gain += discount[rank + i]
    return found, gain


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
            page = (word << 6) + _first_bit(left)
            group = home[page]
            arena[end[group]] = page
            end[group] += 1
            left &= left - np.uint64(1)
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
    cycles,
    history,
    expiring,
    discount,
    heirs,
    flags,
    table,
    marks,
    home,
):
    """One cycle: groups and arena places then in use, pages visited, changes found, their DCG, copies out of date."""
    runs, filled = select(k, order, score, last, start, end, arena, run_group, run_from, run_size, marks, home)
    heirs[: 2 * groups] = -1
    born, hits, gain, rank = groups, 0, 0.0, 0
    for run in range(runs):
        old, first, length = run_group[run], run_from[run], run_size[run]
        since = np.int64(last[old])
        found, worth = _look(arena, first, length, since, cycle, cycles, history, flags, expiring, discount, rank)
        for changed in range(2):
            size = found if changed else length - found
            if size:
                if heirs[2 * old + changed] < 0:
                    heir = _heir(old, born, float(changed), cycle, codes, sums, bits, table)
                    heirs[2 * old + changed] = heir
                    if heir == born:
                        last[born], end[born] = cycle, 0
                        born += 1
                end[heirs[2 * old + changed]] += size
        quiet, busy = heirs[2 * old], heirs[2 * old + 1]
        for i in range(length):
            page = arena[first + i]
            home[page] = busy if flags[i] else quiet
            marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
        rank += length
        hits += found
        gain += worth
    used = _settle(groups, born, used, start, end, arena, marks, home)
    return _closed_up(born, codes, sums, last, start, end), used, filled, hits, gain, outdated - hits
