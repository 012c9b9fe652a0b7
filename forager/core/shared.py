"""What all foragers of a fleet share: the page table, the states of pages in one growing matrix, what the link graph
says of unvisited pages, and the success of the fleet.
"""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.arrays import ByteArray, Float32Array, FloatArray, Int32Array, IntArray, widened
from forager.core.addresses import MARKS
from forager.core.exploration import Pace
from forager.core.findings import Sighting
from forager.core.packed import packing, unpack
from forager.core.page_row import Mind, highest
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerSettings
from forager.errors import InputError
from forager.terms import UrlId

NOTHING: FloatArray = np.empty(0)


class LinkOrder(Protocol):
    """What the link graph says of unvisited pages."""

    share: float
    """Its weight: with 1 it decides alone, with 0.5 it counts as much as long-term profit."""
    scores: FloatArray
    """By page number, how promising each page is, from −1 to 1; it may be shorter than the number of pages."""

    def saw(self, url: UrlId, links: IntArray) -> None:
        """Adds the links of a visited page."""


class StateMatrix:
    """States by row, and for every URL the row of its state. Row 0 is the zero state of unknown pages.

    A live crawl puts the state of each page into a row of its own. A replay first adds the states of all recorded
    versions, and then only assigns rows to URLs.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.vectors: Float32Array = np.zeros((64, dimension), dtype=np.float32)
        """Do not keep it: it is replaced as it grows."""
        self.rows: Int32Array = np.zeros(1024, dtype=np.int32)
        """For each URL its row; 0 if nothing is known. Do not keep it either."""
        self.marks: ByteArray = np.zeros((0, MARKS), dtype=np.uint8)
        """For each URL the marks of its address; empty if nobody asks for them. Nor this one."""
        self.count = 1

    def __repr__(self) -> str:
        return f"<StateMatrix {self.count - 1} states of {self.dimension} components>"

    def add(self, states: Float32Array) -> Int32Array:
        """Adds rows; returns their numbers."""
        rows = np.arange(self.count, self.count + len(states), dtype=np.int32)
        self.count += len(states)
        if self.count > len(self.vectors):
            grown = np.zeros((max(self.count, 2 * len(self.vectors)), self.dimension), dtype=np.float32)
            grown[: len(self.vectors)] = self.vectors
            self.vectors = grown
        self.vectors[rows] = states
        return rows

    def point(self, url: UrlId, row: int) -> None:
        """Assigns a row to a URL."""
        self.reserve(url + 1)
        self.rows[url] = row

    def put(self, urls: IntArray, states: Float32Array) -> None:
        """Sets the states of distinct URLs, each in a row of its own."""
        self.reserve(highest(urls) + 1)
        known = self.rows[urls] > 0
        self.vectors[self.rows[urls[known]]] = states[known]
        self.rows[urls[~known]] = self.add(states[~known])

    def mark(self, urls: IntArray, marks: ByteArray) -> None:
        """Sets the marks of the addresses of these URLs."""
        room = max(highest(urls) + 1, len(self.rows))
        if room > len(self.marks):
            grown = np.zeros((room, MARKS), np.uint8)
            grown[: len(self.marks)] = self.marks
            self.marks = grown
        self.marks[urls] = marks

    def row(self, url: UrlId) -> int:
        """The row of a URL; 0 if unknown."""
        return int(self.rows[url]) if url < len(self.rows) else 0

    def of(self, urls: IntArray) -> Float32Array:
        """Copies of the states of URLs; unknown ones are zero."""
        self.reserve(highest(urls) + 1)
        return self.vectors[self.rows[urls]]

    def reserve(self, urls: int) -> None:
        """Makes room for URL numbers below `urls`."""
        if urls > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros(max(urls, len(self.rows)), dtype=np.int32)])

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """The work of `save`, for the present state; another thread may do it later."""
        used = int(np.flatnonzero(self.rows).max(initial=-1)) + 1
        arrays: dict[str, NDArray[Any]] = {
            "vectors": self.vectors[: self.count],
            "rows": self.rows[:used],
            "marks": self.marks,
        }
        return packing("state matrix", 1, arrays)

    @classmethod
    def load(cls, saved: bytes) -> "StateMatrix":
        held = unpack("state matrix", 1, saved)
        vectors = np.asarray(held["vectors"], dtype=np.float32)
        matrix = cls(vectors.shape[1])
        matrix.add(vectors[1:])
        rows = np.asarray(held["rows"], dtype=np.int32)
        matrix.reserve(len(rows))
        matrix.rows[: len(rows)] = rows
        if "marks" in held:
            matrix.marks = np.array(held["marks"], dtype=np.uint8)
        return matrix


class _Saved(msgspec.Struct):
    visits: bytes
    states: bytes
    hits: float
    downloads: float
    age: float = 0.0
    prospects: bytes = b""
    ages: float = 0.0


class Shared:
    """One per crawl. The recrawl cycle reports its visits with `note`, too."""

    def __init__(self, visits: PageTable, states: StateMatrix, pace: Pace) -> None:
        self.visits = visits
        self.states = states
        self.pace = pace
        self.prospects: FloatArray | None = None
        """What long-term profit says of links never followed, from −1 to 1; None if nobody learns it."""
        self.order: LinkOrder | None = None
        """What the link graph says about never-visited pages; None if it is not used."""
        self.reveal: Callable[[IntArray, float], None] | None = None
        """Called with the links that a visit showed, and when: the recrawl side may want to follow them at once."""

    @classmethod
    def fresh(cls, settings: ForagerSettings) -> "Shared":
        """The state before the first visit."""
        visits = PageTable(settings.expectation, settings.max_age)
        shared = cls(visits, StateMatrix(settings.states.dimension), Pace(settings.leaving.memory))
        shared.prospects = np.zeros(0) if settings.foresees else None
        return shared

    def note(self, sighting: Sighting) -> bool:
        """Records a visit; returns whether it showed the page for the first time. A shared copy adds nothing new."""
        if sighting.state_row >= 0:
            self.states.point(sighting.url, sighting.state_row)
        if sighting.free and not sighting.gone:
            return self.visits.arrived(sighting.url)
        first, _ = self.visits.record(
            sighting.url,
            sighting.when,
            version=sighting.version if sighting.ok else -1,
            ok=sighting.ok or sighting.gone,
            hub=sighting.hub,
            made=not sighting.free,
            links=sighting.links,
        )
        if self.order is not None and sighting.ok:
            self.order.saw(sighting.url, sighting.links)
        if self.reveal is not None and not sighting.free:
            self.reveal(sighting.links, sighting.when)
        return first

    def reserve(self, pages: int) -> None:
        """Makes room for page numbers below `pages` in all tables."""
        self.visits.reserve(pages)
        room = self.visits.size
        self.states.reserve(room)
        if self.prospects is not None and room > len(self.prospects):
            self.prospects = widened(self.prospects, room)

    def mind(self) -> Mind:
        """The input of the kernels. Do not keep it: the arrays are replaced as they grow."""
        appeal, share = (NOTHING, 0.0) if self.order is None else (self.order.scores, self.order.share)
        prospects = NOTHING if self.prospects is None else self.prospects
        states = self.states
        return self.visits.mind(states.rows, states.vectors, appeal, share, self.pace.row, states.marks, prospects)

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """The work of `save`, for the present state; another thread may do it later."""
        visits, states = self.visits.saving(), self.states.saving()
        pace, ages = (self.pace.hits, self.pace.downloads, self.pace.age), self.pace.ages
        prospects = b"" if self.prospects is None else self.prospects.tobytes()
        return lambda: msgspec.msgpack.encode(_Saved(visits(), states(), *pace, prospects, ages))

    @classmethod
    def load(cls, saved: bytes, settings: ForagerSettings) -> "Shared":
        try:
            held = msgspec.msgpack.decode(saved, type=_Saved)
        except msgspec.DecodeError as trouble:
            raise InputError(f"what the fleet knew cannot be read ({trouble}); delete it and start afresh") from None
        shared = cls(
            PageTable.load(held.visits, settings.expectation, settings.max_age),
            StateMatrix.load(held.states),
            Pace(settings.leaving.memory, held.hits, held.downloads, held.age, held.ages),
        )
        if settings.foresees:
            shared.prospects = np.frombuffer(held.prospects, np.float64).copy()
        return shared
