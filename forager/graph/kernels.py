"""The inner loops over packed links, compiled by numba: packing, turning round, adding up.

A packed set of links is two arrays: row i is `ends[starts[i]:starts[i + 1]]`. Nothing is stored per link but one
32-bit page number; weights of a walk are vectors over pages. Every loop gives the same bits on any number of cores, and
lets other threads of Python run meanwhile.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Vector = NDArray[np.float64]

_Loop = TypeVar("_Loop", bound=Callable[..., object])


def _compiled(loop: _Loop) -> _Loop:
    return cast(_Loop, numba.njit(cache=True, nogil=True)(loop))


def _compiled_parallel(loop: _Loop) -> _Loop:
    return cast(_Loop, numba.njit(cache=True, parallel=True, nogil=True)(loop))


@_compiled
def count_links(sources: Ids, targets: Ids, degrees: Counts) -> None:
    """Add the out-degrees of these links to `degrees`; links of a page to itself do not count."""
    for k in range(sources.size):
        if sources[k] != targets[k]:
            degrees[sources[k]] += 1


@_compiled
def count_ends(ends: Ids, degrees: Counts) -> None:
    """Add to `degrees` how often each page occurs in `ends`."""
    for k in range(ends.size):
        degrees[ends[k]] += 1


@_compiled
def place_links(sources: Ids, targets: Ids, free: Counts, ends: Ids) -> None:
    """Put each target into the next free place of its source's row; links of a page to itself are left out."""
    for k in range(sources.size):
        source = sources[k]
        if source != targets[k]:
            ends[free[source]] = targets[k]
            free[source] += 1


@_compiled
def turn_round(starts: Counts, ends: Ids, free: Counts, turned: Ids) -> None:
    """Put each row number into the next free place of the rows it points to; the turned rows come out sorted."""
    for row in range(starts.size - 1):
        for k in range(starts[row], starts[row + 1]):
            end = ends[k]
            turned[free[end]] = row
            free[end] += 1


@_compiled
def drop_repeats(starts: Counts, ends: Ids) -> int:
    """Close up sorted rows so that no end occurs twice in a row, in place; the number of links left."""
    kept = 0
    begin = starts[0]
    for row in range(starts.size - 1):
        stop = starts[row + 1]
        first = kept
        for k in range(begin, stop):
            if kept == first or ends[kept - 1] != ends[k]:
                ends[kept] = ends[k]
                kept += 1
        begin = stop
        starts[row + 1] = kept
    return kept


@_compiled
def drop_ends(starts: Counts, ends: Ids, wanted: Flags) -> int:
    """Close up rows so that only wanted ends remain, in place; the number of links left."""
    kept = 0
    begin = starts[0]
    for row in range(starts.size - 1):
        stop = starts[row + 1]
        for k in range(begin, stop):
            if wanted[ends[k]]:
                ends[kept] = ends[k]
                kept += 1
        begin = stop
        starts[row + 1] = kept
    return kept


@_compiled
def share_out(starts: Counts, wanted: Flags, bounds: Counts) -> None:
    """Set bounds of blocks of rows, all about the same work: one unit for a wanted row and one for each of its ends."""
    work = 0
    for row in range(wanted.size):
        if wanted[row]:
            work += starts[row + 1] - starts[row] + 1
    blocks, block, done = bounds.size - 1, 1, 0
    bounds[0], bounds[1:] = 0, wanted.size
    for row in range(wanted.size):
        if wanted[row]:
            done += starts[row + 1] - starts[row] + 1
        while block < blocks and done * blocks >= work * block:
            bounds[block] = row + 1
            block += 1


@_compiled
def add_up(
    starts: Counts, ends: Ids, wanted: Flags, values: Vector, base: float, first: int, end: int, sums: Vector
) -> None:
    """For each wanted row from `first` to before `end`: `base` plus the sum of `values` at its ends."""
    for row in range(first, end):
        if wanted[row]:
            total = base
            for k in range(starts[row], starts[row + 1]):
                total += values[ends[k]]
            sums[row] = total


@_compiled_parallel
def add_up_on_all_cores(
    starts: Counts, ends: Ids, wanted: Flags, values: Vector, base: float, bounds: Counts, sums: Vector
) -> None:
    """The same for all rows; cores take whole blocks of `bounds`."""
    for block in numba.prange(bounds.size - 1):
        add_up(starts, ends, wanted, values, base, bounds[block], bounds[block + 1], sums)
