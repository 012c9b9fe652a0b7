"""The compiled heart of the grouped simulation: score the groups, take the best, sort their pages into new groups.

A group is all pages with equal state; its pages lie side by side in `arena`, in the fixed order. All groups born in one
cycle were visited in that cycle, so a group only ever loses pages, from its front. Group tables have a column a group.
"""

import numpy as np
from numba import njit

from forager.recrawl.gp.bits import first_bit
from forager.recrawl.gp.choosing import select
from forager.recrawl.gp.machine import HALVED, LAST, LAST_CHANGE, RANKED, RECENT, N, X, evaluate


@njit(cache=True, inline="always")
def _bear(old, new, changed, cycle, codes, table):  # type: ignore[no-untyped-def]
    """The sums of a group after a visit; `ranked` needs n, which comes before it when both are kept."""
    table[LAST, new] = cycle
    for code in codes:
        value = table[code, old]
        if code == N:
            value += 1.0
        elif code == X:
            value += changed
        elif code == RECENT:
            value = changed
        elif code == RANKED:
            value += table[N, new] * changed
        elif code == HALVED:
            value = (value + changed) / 2.0
        elif code == LAST_CHANGE and changed > 0.0:
            value = cycle
        table[code, new] = value


@njit(cache=True, inline="always")
def _heir(old, born, changed, cycle, codes, table, bits, index):  # type: ignore[no-untyped-def]
    """The group of this cycle that pages of `old` join after a visit: `born` itself if there is none like it yet."""
    _bear(old, born, changed, float(cycle), codes, table)
    key = np.uint64(0)
    for code in codes:
        key = (key ^ bits[code, born]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)  # the high bits of a product depend on all bits of its factors
    mask = len(index) - 1
    at = np.int64((key * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)) & mask
    while index[at] >> 32 == cycle:  # an entry is its cycle and its group in one number; older ones do not count
        known, equal = index[at] & 0xFFFFFFFF, True
        for code in codes:
            equal = equal and bits[code, known] == bits[code, born]
        if equal:
            return known
        at = (at + 1) & mask
    index[at] = (cycle << 32) | born
    return born


@njit(cache=True, inline="always")
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
            expiring[first_bit(coming) if coming else cycles] += hit
            flags[rank + i] = hit
            found += hit
            gain += discount[rank + i] * hit
        return found, gain
    for i in range(size):
        page, at = arena[first + i], low
        word = history[low, page] & from_low
        while at < high and not word:
            at += 1
            word = history[at, page]
        hit = 1 if (word & to_high if at == high else word) else 0
        flags[rank + i] = hit
        if hit:
            at = ahead
            coming = history[at, page] & from_ahead if at < len(history) else np.uint64(0)
            while at + 1 < len(history) and not coming:
                at += 1
                coming = history[at, page]
            expiring[(at << 6) + first_bit(coming) if coming else cycles] += 1
            found += 1
            gain += discount[rank + i]
    return found, gain


@njit(cache=True)
def _settle(runs, run_group, run_from, run_size, heirs, sources, flags, start, end, arena, marks, home):  # type: ignore[no-untyped-def]
    """Write the visited pages into the arena, each behind the `end` of its new group, in the fixed order.

    Pages of one run are in order already; only groups fed by several runs need sorting, by marking their pages.
    """
    rank, marked = 0, False
    for run in range(runs):
        old = run_group[run]
        quiet, busy = heirs[2 * old], heirs[2 * old + 1]
        for place in range(run_from[run], run_from[run] + run_size[run]):
            page = arena[place]
            group = busy if flags[rank] else quiet
            rank += 1
            if sources[group] == 1:
                arena[end[group]] = page
                end[group] += 1
            else:
                home[page] = group
                marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
                marked = True
    if marked:
        for word in range(len(marks)):
            left = marks[word]
            while left:
                page = (word << 6) + first_bit(left)
                group = home[page]
                arena[end[group]] = page
                end[group] += 1
                left &= left - np.uint64(1)
            marks[word] = 0


@njit(cache=True)
def _closed_up(groups, born, codes, table, start, end):  # type: ignore[no-untyped-def]
    """Close the gaps that empty groups leave; the number of groups then."""
    alive = 0
    for group in range(born):
        if start[group] < end[group]:
            if alive < group:
                table[LAST, alive], start[alive], end[alive] = table[LAST, group], start[group], end[group]
                for code in codes:
                    table[code, alive] = table[code, group]
            alive += 1
    return alive


@njit(cache=True)
def simulate(  # type: ignore[no-untyped-def]
    program,
    warmup,
    cycles,
    k,
    hours,
    groups,
    codes,
    table,
    bits,
    start,
    end,
    arena,
    history,
    expiring,
    discount,
    ideal,
    room,
):
    """All cycles after the warm-up: a row each of ChangeRate, NDCG and the number of copies out of date.

    `codes` are the rows of `table` that a state holds; `expiring` counts the copies that go out of date by cycle, if
    nothing is visited.
    """
    code, left, right, number = program
    score, order, runs_of, heirs, sources, flags, index, marks, home = room
    run_group, run_from, run_size = runs_of
    pages, outdated, index[:] = end[groups - 1] if groups else 0, 0, -1
    used = pages
    rows = np.empty((max(0, cycles - warmup), 3))
    for cycle in range(warmup, cycles):
        outdated += expiring[cycle]
        best = ideal[min(k, outdated)]
        evaluate(code, left, right, number, groups, float(cycle), hours[cycle], table, score)
        runs, filled = select(
            k, groups, score, order, table[LAST], start, end, arena, run_group, run_from, run_size, marks, home
        )
        heirs[: 2 * groups] = -1
        born, hits, gain, rank = groups, 0, 0.0, 0
        for run in range(runs):
            old, first, length = run_group[run], run_from[run], run_size[run]
            since = np.int64(table[LAST, old])
            found, worth = _look(arena, first, length, since, cycle, cycles, history, flags, expiring, discount, rank)
            for changed in range(2):
                size = found if changed else length - found
                if size:
                    heir = heirs[2 * old + changed]
                    if heir < 0:
                        heir = _heir(old, born, float(changed), cycle, codes, table, bits, index)
                        heirs[2 * old + changed] = heir
                        if heir == born:
                            end[born], sources[born] = 0, 0
                            born += 1
                    end[heir] += size
                    sources[heir] += 1
            rank, hits, gain = rank + length, hits + found, gain + worth
        for group in range(groups, born):
            start[group] = used
            used += end[group]
            end[group] = start[group]
        _settle(runs, run_group, run_from, run_size, heirs, sources, flags, start, end, arena, marks, home)
        groups = _closed_up(groups, born, codes, table, start, end)
        outdated -= hits
        rows[cycle - warmup] = hits / filled, gain / best if best else 0.0, float(outdated)
    return rows
