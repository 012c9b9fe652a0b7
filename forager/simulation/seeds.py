"""Default start pages of a replay.

They are the page with most links of every site that existed at the start, and every page that changes and cannot be
reached from these.
"""

from urllib.parse import urlsplit

import numpy as np

from forager.arrays import IntArray
from forager.errors import InputError
from forager.tape.lookup import reach
from forager.tape.tape import SETTLING, Tape
from forager.terms import UrlId

Ids = IntArray


def default_seeds(tape: Tape) -> tuple[UrlId, ...]:
    """One page of each site, and what it does not reach; on a tape without links, all pages that exist at the start."""
    count = np.diff(tape.version_start)
    shown = np.flatnonzero(count > 0)
    first = tape.version_start[shown]
    there = shown[(tape.time[first] <= tape.start + SETTLING) & ~tape.gone[first]]
    if not len(there):
        there = shown[np.argsort(tape.time[first], kind="stable")][:1]
    if not len(there):
        raise InputError(f"{tape.origin}: the tape has no pages")
    if not len(tape.links):
        return tuple(UrlId(url) for url in there.tolist())
    best: dict[str, UrlId] = {}
    for url in _by_links(tape, there).tolist():
        best.setdefault(urlsplit(tape.url(UrlId(url))).netloc, UrlId(url))
    seeds = list(best.values())
    paths = _Paths(tape)
    paths.follow(np.asarray(seeds, np.int64))
    changing = shown[count[shown] > 1]
    for url in _by_links(tape, changing[~paths.reached[changing]]).tolist():
        if not paths.reached[url]:
            seeds.append(UrlId(url))
            paths.follow(np.asarray([url]))
    return tuple(seeds)


def _by_links(tape: Tape, pages: Ids) -> Ids:
    """The pages, ordered by the number of links in their first version, most first."""
    sets = tape.link_set[tape.version_start[pages]]
    degree = tape.link_start[sets + 1] - tape.link_start[sets]
    return pages[np.argsort(-degree, kind="stable")]


class _Paths:
    """Which pages can be reached over all links that were ever on pages."""

    def __init__(self, tape: Tape) -> None:
        self._begin, self._link_set = np.asarray(tape.version_start), np.asarray(tape.link_set)
        self._link_start, self._links = np.asarray(tape.link_start), np.asarray(tape.links)
        self.reached = np.zeros(tape.pages, np.bool_)
        self._read = np.zeros(len(tape.link_start) - 1, np.bool_)
        self._waiting = np.empty(tape.pages, np.int64)

    def follow(self, pages: Ids) -> None:
        """Marks these pages, and all that they lead to, as reached."""
        columns = self._begin, self._link_set, self._link_start, self._links
        reach(pages, *columns, self.reached, self._read, self._waiting)
