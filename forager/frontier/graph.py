"""The link graph of a crawl: who links to whom, which pages were downloaded (D), which only seen (F, the frontier).

Links are kept by target ("who links here?"), packed, sorted, without repeats and without links of a page to itself.
Only downloaded pages have links, as nobody knows those of the others. Pages are numbered as the store numbers URLs;
numbers that occur nowhere cost a few bytes and take no part.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from forager.frontier import kernels
from forager.frontier.kernels import Counts, Flags, Ids, Vector

_BLOCKS = 256
WORTH_SHARING = 200_000
"""Links from which on a product is shared out: below, waiting for each other takes longer, above all on a busy machine."""

Cores = Literal["all", "one"]
"""Whether a product over all links is shared out between the cores of the machine."""


@dataclass(frozen=True, slots=True)
class Links:
    """Packed rows of page numbers: row i is `ends[starts[i]:starts[i + 1]]`."""

    starts: Counts
    ends: Ids

    @classmethod
    def roomy(cls, degrees: Counts) -> "Links":
        """Rows of these lengths, still to be filled."""
        starts = np.zeros(degrees.size + 1, dtype=np.int64)
        np.cumsum(degrees, out=starts[1:])
        return cls(starts, np.empty(int(starts[-1]), dtype=np.int32))

    def row(self, page: int) -> Ids:
        return self.ends[self.starts[page] : self.starts[page + 1]]

    def degrees(self) -> Counts:
        return np.diff(self.starts)

    def turned(self) -> "Links":
        """The same links kept by their other end."""
        degrees = np.zeros(self.starts.size - 1, dtype=np.int64)
        kernels.count_ends(self.ends, degrees)
        turned = Links.roomy(degrees)
        kernels.turn_round(self.starts, self.ends, turned.starts[:-1].copy(), turned.ends)
        return turned


class Sums:
    """Sums over the rows of packed links, for some of the rows; the work is shared out evenly between the cores."""

    def __init__(self, links: Links, wanted: Flags, cores: Cores) -> None:
        self._links, self._wanted = links, wanted
        self._bounds: Counts | None = None
        if cores == "all" and links.ends.size >= WORTH_SHARING:
            self._bounds = np.empty(_BLOCKS + 1, dtype=np.int64)
            kernels.share_out(links.starts, wanted, self._bounds)

    def of(self, values: Vector, out: Vector, base: float = 0.0) -> None:
        """Write to `out`, for each wanted row, `base` plus the sum of `values` at its ends; other rows stay."""
        links, wanted = self._links, self._wanted
        if self._bounds is None:
            kernels.add_up(links.starts, links.ends, wanted, values, base, 0, wanted.size, out)
        else:
            kernels.add_up_on_all_cores(links.starts, links.ends, wanted, values, base, self._bounds, out)


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
