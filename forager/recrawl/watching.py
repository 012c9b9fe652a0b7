"""The history of all pages of a crawl, kept up by its visits.

A version has a number of its own, and a page gets a new version when it changes in the sense of the settings
(`visits.change`: a new link for lists, another text for the rest). So a change is another version than at the visit
before, live and on a tape alike.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.history import History
from forager.recrawl.noting import see
from forager.recrawl.visit_log import VisitLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Watch:
    """Turns visits into histories; with a log, it remembers the visits themselves, to learn from."""

    def __init__(self, history: History, log: VisitLog | None = None) -> None:
        self.history, self.log = history, log
        self._held = np.full(64, -1, dtype=np.int64)

    def __repr__(self) -> str:
        return f"<Watch {self.history!r}>"

    @property
    def held(self) -> IntArray:
        """For kernels: the version that each page showed last, -1 for none. Do not keep it."""
        return self._held

    def grow(self, pages: int) -> None:
        """Make room for page numbers below `pages`, also in the history."""
        self._grow(pages)
        self.history.grow(pages)

    def saw(self, page: int, when: float, version: int) -> None:
        """A visit; `version` is -1 if no page could be had."""
        self._grow(page + 1)
        changed = see(self._held, page, version)
        self.history.note(page, when, changed)
        if self.log is not None:
            self.log.add(np.array([page]), np.array([when]), np.array([changed]))

    def saw_all(self, pages: IntArray, when: FloatArray, version: IntArray) -> None:
        """Visits of distinct pages."""
        if not len(pages):
            return
        self._grow(int(pages.max()) + 1)
        held = self._held[pages]
        changed = (version >= 0) & (held >= 0) & (version != held)
        self._held[pages] = np.where(version >= 0, version, held)
        self.enter(pages, when, changed)

    def enter(self, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
        """Visits of distinct pages of which is known whether they saw a change, from wherever."""
        self.history.note_all(pages, when, changed)
        if self.log is not None:
            self.log.add(pages, when, changed)

    def credit(self, page: int) -> None:
        """A page revealed a new document, which did not stand there before the first visit."""
        self.history.credit(page)
        if self.log is not None:
            self.log.credit(page)

    def holds(self, page: int, version: int) -> None:
        """Our copy of a page is of this version, as the store says."""
        self._grow(page + 1)
        self._held[page] = version

    def copied(self) -> "Watch":
        """As it is now, without the log, to be saved by another thread."""
        other = Watch(self.history.copied())
        other._held = self._held.copy()
        return other

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """What is to be saved; the log is not: the store has all visits."""
        return self.history.columns() | {"held": self._held}

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Take up what `columns` gave."""
        self.history.restore(columns)
        self._held = np.array(columns["held"], dtype=np.int64)

    def _grow(self, pages: int) -> None:
        if pages > len(self._held):
            more = max(pages, 2 * len(self._held)) - len(self._held)
            self._held = np.concatenate([self._held, np.full(more, -1, dtype=np.int64)])
