"""The link graph of a crawl: who links to whom, which pages are downloaded (D), which are only known (F, the frontier).

Links are stored by target ("who links here?"), packed and sorted, without repeats and without links of a page to
itself. Only downloaded pages have links, because those of other pages are unknown. Page numbers are the URL numbers of
the store; unused numbers cost a few bytes and do not count as pages.

An edge list reads links in chunks, as pairs of page numbers or of names such as URLs. A growing graph appends links,
and packs them together with the earlier ones when the graph is requested. Packing reads every link about twice. If you
pack whenever the new links are a fixed share of the packed ones, the cost per link stays constant however large the
graph becomes.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray
from forager.graph import kernels

_BLOCKS = 256
WORTH_SHARING = 200_000
"""Number of links from which on a product uses all cores; below, synchronization takes longer, above all on a busy
machine."""

Cores = Literal["all", "one"]
"""Whether a product over all links uses all cores of the machine."""


@dataclass(frozen=True, slots=True)
class PackedLinks:
    """Packed rows of page numbers: row i is `ends[starts[i]:starts[i + 1]]`."""

    starts: IntArray
    ends: Int32Array

    @classmethod
    def roomy(cls, degrees: IntArray) -> "PackedLinks":
        """Empty rows with room for these lengths."""
        starts = np.zeros(degrees.size + 1, dtype=np.int64)
        np.cumsum(degrees, out=starts[1:])
        return cls(starts, np.empty(int(starts[-1]), dtype=np.int32))

    def row(self, page: int) -> Int32Array:
        return self.ends[self.starts[page] : self.starts[page + 1]]

    def degrees(self) -> IntArray:
        return np.diff(self.starts)

    def turned(self) -> "PackedLinks":
        """The same links, stored by their other end."""
        degrees = np.zeros(self.starts.size - 1, dtype=np.int64)
        kernels.count_ends(self.ends, degrees)
        turned = PackedLinks.roomy(degrees)
        kernels.turn_round(self.starts, self.ends, turned.starts[:-1].copy(), turned.ends)
        return turned


class Sums:
    """Sums over some rows of packed links; splits the work evenly between the cores."""

    def __init__(self, links: PackedLinks, wanted: BoolArray, cores: Cores) -> None:
        self._links, self._wanted = links, wanted
        self._bounds: IntArray | None = None
        if cores == "all" and links.ends.size >= WORTH_SHARING:
            self._bounds = np.empty(_BLOCKS + 1, dtype=np.int64)
            kernels.share_out(links.starts, wanted, self._bounds)

    def of(self, values: FloatArray, out: FloatArray, base: float = 0.0) -> None:
        """Writes to `out`, for each wanted row, `base` plus the sum of `values` at its ends; leaves other rows
        unchanged."""
        links, wanted = self._links, self._wanted
        if self._bounds is None:
            kernels.add_up(links.starts, links.ends, wanted, values, base, 0, wanted.size, out)
        else:
            kernels.add_up_on_all_cores(links.starts, links.ends, wanted, values, base, self._bounds, out)


class Graph:
    """An immutable link graph."""

    def __init__(self, into: PackedLinks, downloaded: BoolArray) -> None:
        self.into = into
        """Row j: the pages that link to j."""
        self.downloaded = downloaded
        """For each page number, whether it is in D."""

    def __repr__(self) -> str:
        return f"<Graph {self.size - self.frontier.size} downloaded, {self.frontier.size} frontier, {self.links} links>"

    @property
    def pages(self) -> int:
        """Number of page numbers, used or not: the length of every vector over pages."""
        return self.downloaded.size

    @property
    def links(self) -> int:
        return self.into.ends.size

    @cached_property
    def in_degree(self) -> IntArray:
        return self.into.degrees()

    @cached_property
    def out_degree(self) -> IntArray:
        degrees = np.zeros(self.pages, dtype=np.int64)
        kernels.count_ends(self.into.ends, degrees)
        return degrees

    @cached_property
    def out(self) -> PackedLinks:
        """Row i: the pages that i links to; built at first use."""
        return self.into.turned()

    @cached_property
    def frontier(self) -> IntArray:
        """The pages of F: linked from D but not downloaded, in order of their numbers."""
        return np.flatnonzero(~self.downloaded & (self.in_degree > 0))

    @cached_property
    def size(self) -> int:
        """n = |D ∪ F|."""
        return int(np.count_nonzero(self.downloaded)) + self.frontier.size

    def without(self, hidden: IntArray) -> "Graph":
        """The graph as if these pages had never been downloaded."""
        downloaded = self.downloaded.copy()
        downloaded[hidden] = False
        starts, ends = self.into.starts.copy(), self.into.ends.copy()
        ends.resize(kernels.drop_ends(starts, ends, downloaded), refcheck=False)
        return Graph(PackedLinks(starts, ends), downloaded)


Chunk = tuple[Int32Array, Int32Array]
"""Sources and targets of some links."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Input for packing a graph; it shares no data, so packing can run in another thread."""

    earlier: Graph | None
    chunks: list[Chunk]
    downloaded: BoolArray

    def done(self) -> Graph:
        """Packs the graph; needs at most 12 bytes per link. It works once, because it consumes the chunks."""
        readings = iter((self.chunks, _used_up(self.chunks)))
        return Graph(_packed(self.downloaded.size, self.earlier, lambda: next(readings)), self.downloaded)


class GrowingGraph:
    """Collects the links of downloaded pages."""

    def __init__(self) -> None:
        self._sources, self._targets = array("i"), array("i")
        self._chunks: list[Chunk] = []
        self._downloaded = np.zeros(0, dtype=np.bool_)
        self._pages = 0
        self._packed: Graph | None = None
        self._new = True

    def __repr__(self) -> str:
        return f"<GrowingGraph {self._pages} pages, {self.waiting} links waiting>"

    @property
    def waiting(self) -> int:
        """Number of links added since the last packing, with repeats."""
        return len(self._sources) + sum(sources.size for sources, _ in self._chunks)

    def add_page(self, page: int, links: Sequence[int] | IntArray) -> None:
        """Adds a downloaded page with its links; keeps the links that it had earlier."""
        targets = np.asarray(links, dtype=np.int32)
        self._reach(max(page, int(targets.max(initial=0))))
        self._downloaded[page] = self._new = True
        self._sources.extend(array("i", [page]) * targets.size)
        self._targets.frombytes(targets.tobytes())

    def add_links(self, sources: Int32Array, targets: Int32Array) -> None:
        """Adds many links at once; every source counts as downloaded."""
        if not sources.size:
            return
        self._reach(int(max(sources.max(), targets.max())))
        self._downloaded[sources] = self._new = True
        self._chunks.append((sources, targets))

    def mark_downloaded(self, pages: IntArray) -> None:
        """Marks pages as downloaded, with or without links."""
        if pages.size:
            self._reach(int(pages.max()))
            self._new = self._new or not self._downloaded[pages].all()
            self._downloaded[pages] = True

    def graph(self) -> Graph:
        """The graph of everything added so far; the same object until something new is added."""
        if self._packed is None or self._new:
            self.keep(self.packing().done())
        assert self._packed is not None
        return self._packed

    def packing(self) -> Packing:
        """The work that `graph` would do now, for another thread; pass its result to `keep` before the next call."""
        if self._sources:
            self._chunks.append((np.array(self._sources, dtype=np.int32), np.array(self._targets, dtype=np.int32)))
            self._sources, self._targets = array("i"), array("i")
        chunks, self._chunks = self._chunks, []
        earlier, self._packed, self._new = self._packed, None, False
        return Packing(earlier, chunks, self._downloaded[: self._pages].copy())

    def keep(self, graph: Graph) -> None:
        """Stores the packed graph, to which later links are added."""
        self._packed = graph

    def _reach(self, page: int) -> None:
        self._pages = max(self._pages, page + 1)
        if self._pages > self._downloaded.size:
            longer = np.zeros(max(1024, self._pages, self._downloaded.size * 3 // 2), dtype=np.bool_)
            longer[: self._downloaded.size] = self._downloaded
            self._downloaded = longer


def _packed(pages: int, earlier: Graph | None, read: Callable[[], Iterable[Chunk]]) -> PackedLinks:
    """Packs the links of an earlier graph and of chunks, which are read twice, by target.

    This needs no sort: links placed in rows by source and then transposed are in order, with repeats side by side.
    """
    degrees = np.zeros(pages, dtype=np.int64)
    if earlier is not None:
        kernels.count_ends(earlier.into.ends, degrees)
    for sources, targets in read():
        kernels.count_links(sources, targets, degrees)
    out = PackedLinks.roomy(degrees)
    free = out.starts[:-1].copy()
    if earlier is not None:
        kernels.turn_round(earlier.into.starts, earlier.into.ends, free, out.ends)
    for sources, targets in read():
        kernels.place_links(sources, targets, free, out.ends)
    del degrees, free  # large, and transposing needs as much again
    into = out.turned()
    into.ends.resize(kernels.drop_repeats(into.starts, into.ends), refcheck=False)
    return into


def _used_up(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Yields each chunk and drops it before the next."""
    while chunks:
        yield chunks.pop()


UNKNOWN = -1
"""Stands for a page that is not in the edge list."""
HIGHEST = 2**31 - 2
"""The highest page number a graph can hold."""


class Names:
    """Numbers names in the order of their first occurrence."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    def number(self, names: Iterable[str]) -> Int32Array:
        """Numbers of these names; adds new ones."""
        return np.fromiter((self._enter(name) for name in names), dtype=np.int32)

    def find(self, names: Iterable[str]) -> IntArray:
        """Numbers of these names; UNKNOWN for new ones."""
        return np.fromiter((self._numbers.get(name, UNKNOWN) for name in names), dtype=np.int64)

    def name(self, page: int) -> str:
        return self._names[page]

    def _enter(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number


class EdgeList:
    """A graph under construction, with the names of its pages unless they are numbers."""

    def __init__(self, names: Names | None) -> None:
        self.growing = GrowingGraph()
        self.names = names
        self.rows = 0
        """Number of links read, with repeats and links of pages to themselves."""
        self.highest = -1

    def add(self, sources: Int32Array, targets: Int32Array) -> None:
        """Adds one chunk."""
        self.growing.add_links(sources, targets)
        self.rows += sources.size
        if sources.size:
            self.highest = max(self.highest, int(sources.max()), int(targets.max()))

    def sparse(self) -> bool:
        """Whether the page numbers are so far apart that renumbering saves memory."""
        return self.highest > 10_000_000 + 20 * self.rows

    def name(self, page: int) -> str:
        """Name of this page in the edge list."""
        return str(page) if self.names is None else self.names.name(page)
