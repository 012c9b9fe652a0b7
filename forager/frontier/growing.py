"""A link graph that grows: links are appended, and packed together with what was packed before when the graph is wanted.

Packing costs about as much as two looks at every link. Who packs whenever the links waiting are a fixed share of those
packed pays a constant for each link, however large the graph becomes.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from forager.frontier import kernels
from forager.frontier.graph import Graph, Links
from forager.frontier.kernels import Counts, Flags, Ids

Chunk = tuple[Ids, Ids]
"""Sources and targets of some links."""


@dataclass(frozen=True, slots=True)
class Packing:
    """All that is needed to pack a graph; nobody else touches it, so that it can be done in another thread."""

    earlier: Graph | None
    chunks: list[Chunk]
    downloaded: Flags

    def done(self) -> Graph:
        """The graph; at most 12 bytes per link are held at a time. Can be asked for once: the chunks are used up."""
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
        """Links added since the graph was last packed, with repeats."""
        return len(self._sources) + sum(sources.size for sources, _ in self._chunks)

    def add_page(self, page: int, links: Sequence[int] | Counts) -> None:
        """A page was downloaded and showed these links; links it showed earlier stay."""
        targets = np.asarray(links, dtype=np.int32)
        self._reach(max(page, int(targets.max(initial=0))))
        self._downloaded[page] = self._new = True
        self._sources.extend(array("i", [page]) * targets.size)
        self._targets.frombytes(targets.tobytes())

    def add_links(self, sources: Ids, targets: Ids) -> None:
        """Many links at once; every source counts as downloaded."""
        if not sources.size:
            return
        self._reach(int(max(sources.max(), targets.max())))
        self._downloaded[sources] = self._new = True
        self._chunks.append((sources, targets))

    def mark_downloaded(self, pages: Counts) -> None:
        """These pages were downloaded, whether or not they have links."""
        if pages.size:
            self._reach(int(pages.max()))
            self._new = self._new or not self._downloaded[pages].all()
            self._downloaded[pages] = True

    def graph(self) -> Graph:
        """The graph of everything added so far; the same object as long as nothing new came."""
        if self._packed is None or self._new:
            self.keep(self.packing().done())
        assert self._packed is not None
        return self._packed

    def packing(self) -> Packing:
        """The work that `graph` would do now, to be done elsewhere; give its result to `keep` before asking again."""
        if self._sources:
            self._chunks.append((np.array(self._sources, dtype=np.int32), np.array(self._targets, dtype=np.int32)))
            self._sources, self._targets = array("i"), array("i")
        chunks, self._chunks = self._chunks, []
        earlier, self._packed, self._new = self._packed, None, False
        return Packing(earlier, chunks, self._downloaded[: self._pages].copy())

    def keep(self, graph: Graph) -> None:
        """The packed graph, from which to go on."""
        self._packed = graph

    def _reach(self, page: int) -> None:
        self._pages = max(self._pages, page + 1)
        if self._pages > self._downloaded.size:
            longer = np.zeros(max(1024, self._pages, self._downloaded.size * 3 // 2), dtype=np.bool_)
            longer[: self._downloaded.size] = self._downloaded
            self._downloaded = longer


def _packed(pages: int, earlier: Graph | None, read: Callable[[], Iterable[Chunk]]) -> Links:
    """Links by target, of an earlier graph and of chunks that are read twice.

    Sorting comes free: links put in rows by source and then turned round stand in order, repeats side by side.
    """
    degrees = np.zeros(pages, dtype=np.int64)
    if earlier is not None:
        kernels.count_ends(earlier.into.ends, degrees)
    for sources, targets in read():
        kernels.count_links(sources, targets, degrees)
    out = Links.roomy(degrees)
    free = out.starts[:-1].copy()
    if earlier is not None:
        kernels.turn_round(earlier.into.starts, earlier.into.ends, free, out.ends)
    for sources, targets in read():
        kernels.place_links(sources, targets, free, out.ends)
    del degrees, free  # large, and turning needs as much again
    into = out.turned()
    into.ends.resize(kernels.drop_repeats(into.starts, into.ends), refcheck=False)
    return into


def _used_up(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Each chunk, forgotten before the next is given."""
    while chunks:
        yield chunks.pop()
