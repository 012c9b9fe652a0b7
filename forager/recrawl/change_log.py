"""A change log: which page changed in which cycle. Score functions are judged and learned on it.

There are compact forms too: 64 cycles in one machine word, and pages with the same changes as one pattern.

`Captured` is what an archive knows of one page: when it was captured, and which captures showed something new.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class ShownDocuments:
    """Which page shows which document from when to when; one entry per page that shows it."""

    document: IntArray
    """Document numbers, from 0 without gaps."""
    page: IntArray
    first: IntArray
    """First cycle in which the page shows it."""
    last: IntArray
    """Last cycle in which the page shows it."""

    def appeared(self) -> IntArray:
        """For every document the first cycle in which any page shows it."""
        first = np.full(int(self.document.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, self.document, self.first)
        return first

    def on(self, pages: IntArray) -> "ShownDocuments":
        """The documents on these pages; pages and documents are numbered anew."""
        new = np.full(int(max(self.page.max(initial=-1), pages.max(initial=-1))) + 1, -1, dtype=np.int64)
        new[pages] = np.arange(len(pages))
        kept = new[self.page] >= 0
        _, document = np.unique(self.document[kept], return_inverse=True)
        return ShownDocuments(document.astype(np.int64), new[self.page[kept]], self.first[kept], self.last[kept])

    def during(self, start: int, stop: int) -> "ShownDocuments":
        """The cycles from `start` to `stop`, numbered anew; what appeared before has a first cycle below 0."""
        kept = self.first < stop
        _, document = np.unique(self.document[kept], return_inverse=True)
        return ShownDocuments(
            document.astype(np.int64), self.page[kept], self.first[kept] - start, self.last[kept] - start
        )


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """`changed[page, cycle]` says whether the page changed in that cycle compared with the one before (cycle 0: never).

    A visit detects any change since the visit before. The order of the rows is the fixed random order that breaks ties,
    so shuffle a log once before use.
    """

    changed: BoolArray
    urls: tuple[str, ...] = ()
    documents: ShownDocuments | None = None
    start: float = np.nan
    """When cycle 0 begins, in seconds since the epoch; nan if unknown."""
    cycle: float = 86_400.0
    """Length of a cycle in seconds."""
    begin: int = 0
    """The number of the first cycle in the log itself."""
    hub: BoolArray | None = None
    """Which pages are lists; None: unknown."""
    inlinks: IntArray | None = None
    """How many pages of the log linked here when it began; None: not known."""

    @classmethod
    def of_visits(
        cls, page: IntArray, cycle: IntArray, changed: BoolArray, urls: tuple[str, ...] = (), cycles: int = 0
    ) -> "ChangeLog":
        """The log of these visits: a change belongs to the cycle of the visit that saw it; a cycle without a visit has
        no change.
        """
        pages = max(len(urls), int(page.max(initial=-1)) + 1)
        matrix = np.zeros((pages, max(cycles, int(cycle.max(initial=-1)) + 1)), dtype=np.bool_)
        matrix[page[changed], cycle[changed]] = True
        matrix[:, :1] = False
        return cls(matrix, urls)

    @property
    def pages(self) -> int:
        return int(self.changed.shape[0])

    @property
    def cycles(self) -> int:
        return int(self.changed.shape[1])

    def changed_share(self) -> float:
        """Share of pages that change in a cycle, over all cycles but the first."""
        return float(self.changed[:, 1:].mean()) if self.cycles > 1 and self.pages else 0.0

    def with_texts(self) -> "ChangeLog":
        """The log itself if it has documents; else with every change as a document that is shown until the next change."""
        if self.documents is not None:
            return self
        page, first = np.nonzero(self.changed)
        last = np.full(len(page), self.cycles - 1)
        last[:-1] = np.where(page[1:] == page[:-1], first[1:] - 1, last[:-1])
        return replace(self, documents=ShownDocuments(np.arange(len(page)), page, first, last))

    def next_change(self) -> NDArray[np.uint16]:
        """`[cycle, page]`: the first cycle after this one in which the page changes; `cycles` if it does not."""
        following = np.empty((self.cycles, self.pages), dtype=np.uint16)
        coming = np.full(self.pages, self.cycles, dtype=np.uint16)
        for cycle in range(self.cycles - 1, -1, -1):
            following[cycle] = coming
            coming[self.changed[:, cycle]] = cycle
        return following

    def part(self, pages: IntArray) -> "ChangeLog":
        """The log of these pages, in this order."""
        return replace(
            self,
            changed=np.ascontiguousarray(self.changed[pages]),
            urls=tuple(self.urls[page] for page in pages) if self.urls else (),
            documents=None if self.documents is None else self.documents.on(pages),
            hub=None if self.hub is None else self.hub[pages],
            inlinks=None if self.inlinks is None else self.inlinks[pages],
        )

    def span(self, start: int, stop: int) -> "ChangeLog":
        """The cycles from `start` to `stop`, as a log of its own."""
        changed = np.ascontiguousarray(self.changed[:, start:stop])
        changed[:, :1] = False
        documents = None if self.documents is None else self.documents.during(start, stop)
        began = self.start + start * self.cycle
        return replace(self, changed=changed, documents=documents, start=began, begin=self.begin + start)

    def shuffled(self, rng: np.random.Generator) -> "ChangeLog":
        return self.part(rng.permutation(self.pages))

    def folds(self, count: int) -> list["ChangeLog"]:
        """The pages, distributed over `count` logs of nearly equal size; the log should be shuffled."""
        return [self.part(np.arange(fold, self.pages, count)) for fold in range(count)]


MOST_FAILURES = 2
"""A page with more failed downloads than this is left out (GP4C, journal)."""


def imputed(log: ChangeLog, failed: BoolArray) -> ChangeLog:
    """The log without pages that have many failed downloads `[page, cycle]`; for the others, guesses whether these hid
    a change.

    As in the journal paper, by the most frequent number of cycles between changes of the page so far: the page changed
    if so many cycles have passed since its last change. Our reading: among equally frequent numbers the smallest;
    without a change so far, no change.
    """
    kept = np.flatnonzero(failed.sum(axis=1) <= MOST_FAILURES)
    part, failed = log.part(kept), failed[kept]
    changed = part.changed.copy()
    for page, cycle in zip(*np.nonzero(failed), strict=True):
        times = np.flatnonzero(changed[page, :cycle])
        lengths, counts = np.unique(np.diff(times, prepend=0), return_counts=True)
        changed[page, cycle] = len(times) > 0 and cycle - times[-1] == lengths[counts.argmax()]
    return replace(part, changed=changed)


def packed(changed: BoolArray) -> NDArray[np.uint64]:
    """The log with 64 cycles in a word: `[w, page]` has bit b set if the page changes in cycle 64·w + b."""
    pages, cycles = changed.shape
    words = np.zeros((max(1, -(-cycles // 64)), pages), dtype=np.uint64)
    for cycle in range(cycles):
        words[cycle // 64] |= changed[:, cycle].astype(np.uint64) << np.uint64(cycle % 64)
    return words


def patterns(changed: BoolArray) -> tuple[IntArray, IntArray]:
    """A number for each page, equal for pages with equal rows, and one page for each number."""
    first, *others = packed(changed)
    _, examples, number = np.unique(first, return_index=True, return_inverse=True)
    for word in others:
        distinct, place = np.unique(word, return_inverse=True)
        _, examples, number = np.unique(number * len(distinct) + place, return_index=True, return_inverse=True)
    return number, examples


@dataclass(frozen=True, slots=True)
class Captured:
    """The captures of one page, oldest first."""

    url: str
    when: FloatArray
    changed: BoolArray
    """Whether each shows something else than the one before."""


def changes(digest: NDArray[np.uint64], gone: BoolArray) -> BoolArray:
    """Which captures show other content than the last one that showed any; a digest of 0 means "as before"."""
    told = (digest != 0) & ~gone
    place = np.maximum.accumulate(np.where(told, np.arange(len(digest)), -1))
    before = np.concatenate([[-1], place[:-1]])
    return np.asarray(told & (before >= 0) & (digest != digest[before]), dtype=np.bool_)
