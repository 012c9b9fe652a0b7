"""Kernels that look pages up on a tape: the version that a download at some time shows, and its links."""

from typing import NamedTuple

import numpy as np

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray
from forager.kernel import compiled, inner


class TapeColumns(NamedTuple):
    """Everything needed to look up pages."""

    seconds: float
    revisit_after: float
    last: FloatArray
    current: IntArray
    held: IntArray
    begin: IntArray
    time: FloatArray
    gone: BoolArray
    state: Int32Array
    link_set: Int32Array
    link_start: IntArray
    is_list: BoolArray
    newest: IntArray
    """The number that has risen when a visit finds a page changed: that of the version, but for lists."""
    links: IntArray
    published: FloatArray
    waits: bool
    appears: FloatArray
    shown_start: IntArray
    shown: Int32Array
    """For each link set the documents that are read off the page, on tapes of such documents."""


@inner
def look_up(tape: TapeColumns, url: int, now: float, apart: float) -> tuple[int, bool, float]:
    """Download a page, unless that happened less than `apart` seconds ago: the version it shows, whether that was free, and
    the time after it. Time never runs backwards, so each version is passed once; -1 before the first."""
    free = now - tape.last[url] < apart
    if not free:
        tape.last[url] = now
        now += tape.seconds
    version = tape.current[url]
    while version + 1 < tape.begin[url + 1] and tape.time[version + 1] <= now:
        version += 1
    tape.current[url] = version
    version = version if version >= tape.begin[url] else -1
    if not free:
        tape.held[url] = version
    return version, free, now


@inner
def standing_in(links: IntArray, when: float, appears: FloatArray, out: IntArray) -> int:
    """Copies to `out` the links that lead to pages existing at that time; returns their number."""
    count = 0
    for link in links:
        if appears[link] <= when:
            out[count] = link
            count += 1
    return count


@compiled
def standing_links(links: IntArray, when: float, appears: FloatArray) -> IntArray:
    """The links that lead to pages existing at that time."""
    out = np.empty(len(links), np.int64)
    return out[: standing_in(links, when, appears, out)]


@compiled
def parted(start: IntArray, links: Int32Array, read: BoolArray) -> tuple[IntArray, Int32Array, IntArray, IntArray]:
    """Splits the link sets in two: links to pages that are read off, and the others; each with the starts of its sets."""
    count = 0
    for link in links:
        count += read[link]
    if count == len(links):  # as where articles alone are listed
        return start, links, np.zeros_like(start), np.empty(0, np.int64)
    shown, others = np.empty(count, np.int32), np.empty(len(links) - count, np.int64)
    shown_start, other_start = np.zeros_like(start), np.zeros_like(start)
    for i in range(len(start) - 1):
        place, other = shown_start[i], other_start[i]
        for link in links[start[i] : start[i + 1]]:
            if read[link]:
                shown[place] = link
                place += 1
            else:
                others[other] = link
                other += 1
        shown_start[i + 1], other_start[i + 1] = place, other
    return shown_start, shown, other_start, others


@compiled
def newest_links(
    begin: IntArray,
    gone: BoolArray,
    link_set: Int32Array,
    link_start: IntArray,
    links: Int32Array,
    is_list: BoolArray,
) -> IntArray:
    """For each version of a list the one that first had the newest of its links; for any other version itself.

    So a list has changed, as one that shows a link it never showed before, if this number has risen. A link that came,
    went and returned between two visits does not count.
    """
    newest = np.arange(len(link_set))
    owner, first = np.full(len(is_list), -1), np.empty(len(is_list), np.int64)
    for page in range(len(is_list)):
        if not is_list[page]:
            continue
        for version in range(begin[page], begin[page + 1]):
            if gone[version]:
                continue
            newest[version] = begin[page]
            for link in links[link_start[link_set[version]] : link_start[link_set[version] + 1]]:
                if owner[link] != page:
                    owner[link], first[link] = page, version
                newest[version] = max(newest[version], first[link])
    return newest


@compiled
def reach(
    pages: IntArray,
    begin: IntArray,
    link_set: Int32Array,
    link_start: IntArray,
    links: Int32Array,
    reached: BoolArray,
    read: BoolArray,
    waiting: IntArray,
) -> None:
    """Marks these pages as reached, and all pages that links ever on a reached page lead to; reads each set once."""
    count = 0
    for page in pages:
        if not reached[page]:
            reached[page] = True
            waiting[count] = page
            count += 1
    while count:
        count -= 1
        page = waiting[count]
        for chosen in link_set[begin[page] : begin[page + 1]]:
            if read[chosen]:
                continue
            read[chosen] = True
            for link in links[link_start[chosen] : link_start[chosen + 1]]:
                if not reached[link]:
                    reached[link] = True
                    waiting[count] = link
                    count += 1
