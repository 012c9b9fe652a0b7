"""Which page showed which link from when to when, read off the link sets of a tape, page by page (compiled)."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from forager.world.tape.columns import Tape

IntArray = NDArray[np.int64]


@njit(cache=True)
def _stays(pages, version_start, link_set, link_start, links, gone, urls):  # type: ignore[no-untyped-def]
    """Rows of page, link, first version and last version; and for each version whether it has a link new to its page."""
    rows, room = 0, 1024
    table = np.empty((4, room), dtype=np.int64)
    fresh = np.zeros(len(link_set), dtype=np.bool_)
    owner, first, last = np.full(urls, -1), np.empty(urls, dtype=np.int64), np.empty(urls, dtype=np.int64)
    met = np.empty(urls, dtype=np.int64)
    for page in pages:
        count = 0
        for version in range(version_start[page], version_start[page + 1]):
            if gone[version]:
                continue
            chosen = link_set[version]
            for place in range(link_start[chosen], link_start[chosen + 1]):
                link = np.int64(links[place])
                if owner[link] != page:
                    owner[link], first[link], last[link] = page, version, version
                    met[count] = link
                    count += 1
                    fresh[version] = version > version_start[page]
                elif last[link] >= version - 1:
                    last[link] = version
                else:
                    if rows == room:
                        table, room = _wider(table), 2 * room
                    table[:, rows] = page, link, first[link], last[link]
                    rows += 1
                    first[link] = last[link] = version
        for place in range(count):
            if rows == room:
                table, room = _wider(table), 2 * room
            table[:, rows] = page, met[place], first[met[place]], last[met[place]]
            rows += 1
    return table[:, :rows].copy(), fresh


@njit(cache=True)
def _wider(table):  # type: ignore[no-untyped-def]
    wide = np.empty((4, 2 * table.shape[1]), dtype=np.int64)
    wide[:, : table.shape[1]] = table
    return wide


def stays_of(tape: Tape, pages: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Four rows (page, link, first and last version that shows it), and which versions have a link new to their page."""
    table, fresh = _stays(
        pages,
        np.asarray(tape.version_start),
        np.asarray(tape.link_set),
        np.asarray(tape.link_start),
        np.asarray(tape.links),
        np.asarray(tape.gone),
        tape.pages,
    )
    return table, fresh
