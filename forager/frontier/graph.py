"""The link graph of a crawl: who links to whom, which pages were downloaded (D), which only seen (F, the frontier).

Links are kept by target ("who links here?"), packed, sorted, without repeats and without links of a page to itself.
Only downloaded pages have links, as nobody knows those of the others. Pages are numbered as the store numbers URLs;
numbers that occur nowhere cost a few bytes and take no part.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forager.frontier import kernels
from forager.frontier.kernels import Counts, Flags, Ids, Vector

_BLOCKS = 256


@dataclass(frozen=True, slots=True)
class Links:
    """Packed rows of page numbers: row i is `ends[starts[i]:starts[i + 1]]`."""

    starts: Counts
    ends: Ids

    def row(self, page: int) -> Ids:
        return self.ends[self.starts[page] : self.starts[page + 1]]

    def degrees(self) -> Counts:
        return np.diff(self.starts)

    def turned(self) -> "Links":
        """The same links kept by their other end."""
        degrees = np.zeros(self.starts.size - 1, dtype=np.int64)
        kernels.count_ends(self.ends, degrees)
        starts = _starts(degrees)
        ends = np.empty(self.ends.size, dtype=np.int32)
        kernels.turn_round(self.starts, self.ends, starts[:-1].copy(), ends)
        return Links(starts, ends)


class Sums:
    """Sums over the rows of packed links, for some of the rows; the work is shared out evenly between the cores."""

    def __init__(self, links: Links, wanted: Flags) -> None:
        self._links, self._wanted = links, wanted
        work = np.cumsum(np.where(wanted, links.degrees() + 1, 0))
        shares = np.linspace(0, work[-1] if work.size else 0, _BLOCKS + 1)
        inner = np.searchsorted(work, shares[1:-1], side="right")
        self._bounds = np.concatenate(([0], inner, [wanted.size])).astype(np.int64)

    def of(self, values: Vector, out: Vector, base: float = 0.0) -> None:
        """Write to `out`, for each wanted row, `base` plus the sum of `values` at its ends; other rows stay."""
        kernels.add_up(self._links.starts, self._links.ends, self._wanted, self._bounds, values, base, out)


class Graph:
    """A link graph at one moment; never changed once made."""

    def __init__(self, into: Links, downloaded: Flags) -> None:
        self.into = into
        """Row j: the pages that link to j."""
        self.downloaded = downloaded
        """One flag per page number: is it in D?"""

    def __repr__(self) -> str:
        return f"<Graph {self.size - self.frontier.size} downloaded, {self.frontier.size} frontier, {self.links} links>"

    @property
    def pages(self) -> int:
        """How many page numbers there are, used or not: the length of every vector over pages."""
        return self.downloaded.size

    @property
    def links(self) -> int:
        return self.into.ends.size

    @cached_property
    def in_degree(self) -> Counts:
        return self.into.degrees()

    @cached_property
    def out_degree(self) -> Counts:
        degrees = np.zeros(self.pages, dtype=np.int64)
        kernels.count_ends(self.into.ends, degrees)
        return degrees

    @cached_property
    def out(self) -> Links:
        """Row i: the pages that i links to; made when first asked for."""
        return self.into.turned()

    @cached_property
    def frontier(self) -> Counts:
        """The pages of F: linked from D but not downloaded, in order of their numbers."""
        return np.flatnonzero(~self.downloaded & (self.in_degree > 0))

    @cached_property
    def size(self) -> int:
        """n = |D ∪ F|."""
        return int(np.count_nonzero(self.downloaded)) + self.frontier.size

    def without(self, hidden: Counts) -> "Graph":
        """The graph as it would be, had these pages never been downloaded."""
        downloaded = self.downloaded.copy()
        downloaded[hidden] = False
        starts, ends = self.into.starts.copy(), self.into.ends.copy()
        ends.resize(kernels.drop_ends(starts, ends, downloaded), refcheck=False)
        return Graph(Links(starts, ends), downloaded)


class GrowingGraph:
    """Collects the links of downloaded pages; what was added is packed only when the graph is asked for."""

    def __init__(self) -> None:
        self._sources, self._targets = array("i"), array("i")
        self._chunks: list[tuple[Ids, Ids]] = []
        self._downloaded = np.zeros(0, dtype=np.bool_)
        self._pages = 0
        self._packed: Graph | None = None

    def add_page(self, page: int, links: Sequence[int]) -> None:
        """A page was downloaded and showed these links; links it showed earlier stay."""
        self._reach(max(page, max(links, default=0)))
        self._downloaded[page] = True
        self._sources.extend([page] * len(links))
        self._targets.extend(links)

    def add_links(self, sources: Ids, targets: Ids) -> None:
        """Many links at once; every source counts as downloaded."""
        if not sources.size:
            return
        self._reach(int(max(sources.max(), targets.max())))
        self._downloaded[sources] = True
        self._chunks.append((sources, targets))

    def mark_downloaded(self, pages: Counts) -> None:
        """These pages were downloaded, whether or not they have links."""
        if pages.size:
            self._reach(int(pages.max()))
            self._downloaded[pages] = True

    def graph(self) -> Graph:
        """The graph of everything added so far; the same object as long as nothing new came."""
        if self._sources:
            self._chunks.append((np.array(self._sources, dtype=np.int32), np.array(self._targets, dtype=np.int32)))
            self._sources, self._targets = array("i"), array("i")
        downloaded = self._downloaded[: self._pages]
        if self._packed is None or self._chunks or not np.array_equal(self._packed.downloaded, downloaded):
            earlier = None if self._packed is None else self._packed.into
            self._packed = None
            self._packed = Graph(_pack(self._pages, earlier, self._chunks), downloaded.copy())
        return self._packed

    def _reach(self, page: int) -> None:
        self._pages = max(self._pages, page + 1)
        if self._pages > self._downloaded.size:
            longer = np.zeros(max(1024, self._pages, self._downloaded.size * 3 // 2), dtype=np.bool_)
            longer[: self._downloaded.size] = self._downloaded
            self._downloaded = longer


def _starts(degrees: Counts) -> Counts:
    starts = np.zeros(degrees.size + 1, dtype=np.int64)
    np.cumsum(degrees, out=starts[1:])
    return starts


def _pack(pages: int, earlier: Links | None, chunks: list[tuple[Ids, Ids]]) -> Links:
    """Links by target, of earlier packed ones and of chunks, which are used up: at most 12 bytes per link at a time.

    Sorting comes free: links put in rows by source and then turned round stand in order, repeats side by side.
    """
    degrees = np.zeros(pages, dtype=np.int64)
    if earlier is not None:
        kernels.count_ends(earlier.ends, degrees)
    for sources, targets in chunks:
        kernels.count_links(sources, targets, degrees)
    starts = _starts(degrees)
    free, ends = starts[:-1].copy(), np.empty(int(starts[-1]), dtype=np.int32)
    if earlier is not None:
        kernels.turn_round(earlier.starts, earlier.ends, free, ends)
    while chunks:
        kernels.place_links(*chunks.pop(), free, ends)
    into = Links(starts, ends).turned()
    into.ends.resize(kernels.drop_repeats(into.starts, into.ends), refcheck=False)
    return into
