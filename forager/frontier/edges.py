"""Edge lists: links given as pairs of page numbers or of names such as URLs, taken up chunk by chunk."""

from collections.abc import Iterable

import numpy as np

from forager.frontier.growing import GrowingGraph
from forager.frontier.kernels import Counts, Ids

UNKNOWN = -1
"""Stands for a page that does not occur in the edge list."""
HIGHEST = 2**31 - 2
"""The highest page number a graph can hold."""


class Names:
    """Numbers names in the order in which they are met first."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    def number(self, names: Iterable[str]) -> Ids:
        """The numbers of these names; new ones are entered."""
        return np.fromiter((self._enter(name) for name in names), dtype=np.int32)

    def find(self, names: Iterable[str]) -> Counts:
        """The numbers of these names; UNKNOWN for those never met."""
        return np.fromiter((self._numbers.get(name, UNKNOWN) for name in names), dtype=np.int64)

    def name(self, page: int) -> str:
        return self._names[page]

    def _enter(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number


class EdgeList:
    """A graph under construction, with the names of its pages unless they are numbers already."""

    def __init__(self, names: Names | None) -> None:
        self.growing = GrowingGraph()
        self.names = names
        self.rows = 0
        """Links read, with repeats and links of pages to themselves."""
        self.highest = -1

    def add(self, sources: Ids, targets: Ids) -> None:
        """Take up one chunk."""
        self.growing.add_links(sources, targets)
        self.rows += sources.size
        if sources.size:
            self.highest = max(self.highest, int(sources.max()), int(targets.max()))

    def sparse(self) -> bool:
        """Are the page numbers so far apart that numbering them anew saves memory?"""
        return self.highest > 10_000_000 + 20 * self.rows

    def name(self, page: int) -> str:
        """How the edge list calls this page."""
        return str(page) if self.names is None else self.names.name(page)
