"""Inner loops over packed links, compiled by numba: packing, transposing, adding up.

Packed links are two arrays: row i is `ends[starts[i]:starts[i + 1]]`. Each link takes one 32-bit page number; weights
of a walk are vectors over pages. Every loop gives bit-identical results on any number of cores, and releases Python's
lock, so that other threads can run.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray

_Loop = TypeVar("_Loop", bound=Callable[..., object])


def _compiled(loop: _Loop) -> _Loop:
    return cast(_Loop, numba.njit(cache=True, nogil=True)(loop))


def _compiled_parallel(loop: _Loop) -> _Loop:
    return cast(_Loop, numba.njit(cache=True, parallel=True, nogil=True)(loop))


@_compiled
def count_links(sources: Int32Array, targets: Int32Array, degrees: IntArray) -> None:
    """Adds the out-degrees of these links to `degrees`; ignores links of a page to itself."""
    for k in range(sources.size):
        if sources[k] != targets[k]:
            degrees[sources[k]] += 1


@_compiled
def count_ends(ends: Int32Array, degrees: IntArray) -> None:
    """Adds to `degrees` how often each page occurs in `ends`."""
    for k in range(ends.size):
        degrees[ends[k]] += 1


@_compiled
def place_links(sources: Int32Array, targets: Int32Array, free: IntArray, ends: Int32Array) -> None:
    """Puts each target into the next free place of its source's row; ignores links of a page to itself."""
    for k in range(sources.size):
        source = sources[k]
        if source != targets[k]:
            ends[free[source]] = targets[k]
            free[source] += 1


@_compiled
def turn_round(starts: IntArray, ends: Int32Array, free: IntArray, turned: Int32Array) -> None:
    """Transposes links: puts each row number into the next free place of the rows it points to; the result is sorted."""
    for row in range(starts.size - 1):
        for k in range(starts[row], starts[row + 1]):
            end = ends[k]
            turned[free[end]] = row
            free[end] += 1


@_compiled
def drop_repeats(starts: IntArray, ends: Int32Array) -> int:
    """Removes repeated ends from sorted rows, in place; returns the number of links left."""
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
def drop_ends(starts: IntArray, ends: Int32Array, wanted: BoolArray) -> int:
    """Removes unwanted ends from rows, in place; returns the number of links left."""
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
def share_out(starts: IntArray, wanted: BoolArray, bounds: IntArray) -> None:
    """Sets bounds of blocks of rows with about equal work: one unit per wanted row and one per end in it."""
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
    starts: IntArray,
    ends: Int32Array,
    wanted: BoolArray,
    values: FloatArray,
    base: float,
    first: int,
    end: int,
    sums: FloatArray,
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
    starts: IntArray,
    ends: Int32Array,
    wanted: BoolArray,
    values: FloatArray,
    base: float,
    bounds: IntArray,
    sums: FloatArray,
) -> None:
    """Like `add_up`, for all rows on all cores; each core takes whole blocks of `bounds`."""
    for block in numba.prange(bounds.size - 1):
        add_up(starts, ends, wanted, values, base, bounds[block], bounds[block + 1], sums)
