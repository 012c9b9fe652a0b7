"""The link graph of a crawl: who links to whom, which pages are downloaded (D), which are only known (F, the frontier).

Links are a sparse matrix of ones, stored by target ("who links here?"), without repeats and without links of a page to
itself. Only downloaded pages have links, because those of other pages are unknown. Page numbers are the URL numbers of
the store; unused numbers cost a few bytes and do not count as pages.

An edge list reads links in chunks, as pairs of page numbers or of names such as URLs. A growing graph appends links,
and packs them together with the earlier ones when the graph is requested. If you pack whenever the new links are a fixed
share of the packed ones, the cost per link stays constant however large the graph becomes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from forager.arrays import BoolArray, Int32Array, IntArray, widened


class Graph:
    """An immutable link graph."""

    def __init__(self, into: csr_array, downloaded: BoolArray) -> None:
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
        return int(self.into.nnz)

    @cached_property
    def in_degree(self) -> IntArray:
        return np.asarray(np.diff(self.into.indptr), np.int64)

    @cached_property
    def out_degree(self) -> IntArray:
        return np.bincount(self.into.indices, minlength=self.pages)

    @cached_property
    def out(self) -> csr_array:
        """Row i: the pages that i links to; built at first use."""
        return self.into.T.tocsr()

    @cached_property
    def frontier(self) -> IntArray:
        """The pages of F: linked from D but not downloaded, in order of their numbers."""
        return np.flatnonzero(~self.downloaded & (self.in_degree > 0))

    @cached_property
    def size(self) -> int:
        """n = |D ∪ F|."""
        return int(np.count_nonzero(self.downloaded)) + self.frontier.size

    def without(self, hidden: IntArray) -> "Graph":
        """Returns the graph as if these pages had never been downloaded."""
        downloaded, into = self.downloaded.copy(), self.into
        downloaded[hidden] = False
        kept = downloaded[into.indices]
        starts = np.append(0, np.cumsum(kept))[into.indptr]
        return Graph(csr_array((into.data[kept], into.indices[kept], starts), into.shape), downloaded)


Chunk = tuple[Int32Array, Int32Array]
"""Sources and targets of some links."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Input for packing a graph; it shares no data that changes, so packing can run in another thread."""

    earlier: Graph | None
    chunks: list[Chunk]
    downloaded: BoolArray

    def done(self) -> Graph:
        nothing = np.empty(0, dtype=np.int32)
        sources, targets = (
            np.concatenate([nothing, *ends]) for ends in zip((nothing, nothing), *self.chunks, strict=True)
        )
        other = np.flatnonzero(sources != targets)
        shape = (self.downloaded.size, self.downloaded.size)
        into = csr_array((np.ones(other.size), (targets[other], sources[other])), shape)
        if self.earlier is not None:
            known = self.earlier.into.copy()
            known.resize(shape)
            into = into + known
        into.data[:] = 1.0  # repeats were added up
        return Graph(into, self.downloaded)


class GrowingGraph:
    """Collects the links of downloaded pages."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self.waiting = 0
        """Number of links added since the last packing, with repeats."""
        self._downloaded = np.zeros(0, dtype=np.bool_)
        self.pages = 0
        """One more than the highest page number."""
        self._packed: Graph | None = None
        self._new = True

    def __repr__(self) -> str:
        return f"<GrowingGraph {self.pages} pages, {self.waiting} links waiting>"

    def add_page(self, page: int, links: Sequence[int] | IntArray) -> None:
        """Adds a downloaded page with its links; keeps the links that it had earlier."""
        targets = np.array(links, dtype=np.int32)
        self.mark_downloaded(np.array([page]))
        self.add_links(np.full(targets.size, page, dtype=np.int32), targets)

    def add_links(self, sources: Int32Array, targets: Int32Array) -> None:
        """Adds many links at once; every source counts as downloaded."""
        if not sources.size:
            return
        self._reach(int(max(sources.max(), targets.max())))
        self._downloaded[sources] = self._new = True
        self._chunks.append((sources, targets))
        self.waiting += sources.size

    def mark_downloaded(self, pages: IntArray) -> None:
        """Marks pages as downloaded, with or without links."""
        if pages.size:
            self._reach(int(pages.max()))
            self._new = self._new or not self._downloaded[pages].all()
            self._downloaded[pages] = True

    def graph(self) -> Graph:
        """Returns the graph of everything added so far; the same object until something new is added."""
        if self._packed is None or self._new:
            self.keep(self.packing().done())
        assert self._packed is not None
        return self._packed

    def packing(self) -> Packing:
        """The work that `graph` would do now, for another thread; pass its result to `keep` before the next call."""
        chunks, self._chunks, self.waiting = self._chunks, [], 0
        earlier, self._packed, self._new = self._packed, None, False
        return Packing(earlier, chunks, self._downloaded[: self.pages].copy())

    def keep(self, graph: Graph) -> None:
        """Stores the packed graph, to which later links are added."""
        self._packed = graph

    def _reach(self, page: int) -> None:
        self.pages = max(self.pages, page + 1)
        if self.pages > self._downloaded.size:
            self._downloaded = widened(self._downloaded, max(1024, self.pages, self._downloaded.size * 3 // 2))


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

    def add(self, sources: Int32Array, targets: Int32Array) -> None:
        self.growing.add_links(sources, targets)
        self.rows += sources.size

    def sparse(self) -> bool:
        """Whether the page numbers are so far apart that renumbering saves memory."""
        return self.growing.pages > 10_000_000 + 20 * self.rows

    def name(self, page: int) -> str:
        return str(page) if self.names is None else self.names.name(page)
