"""What all foragers of a fleet know together: states, visit statistics and how well the fleet does."""

from collections.abc import Callable
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError
from forager.foragers.leaving import Pace
from forager.foragers.matrix import StateMatrix
from forager.foragers.ordering import NOTHING, LinkOrder, leanings
from forager.foragers.settings import ForagerSettings
from forager.foragers.sighting import Sighting
from forager.foragers.visits import VisitStatistics


class _Saved(msgspec.Struct):
    visits: bytes
    states: bytes
    hits: float
    downloads: float
    age: float = 0.0


class Watcher(Protocol):
    """Who wants to know of every visit that was really made: the recrawl side, for its histories."""

    def saw(self, page: int, when: float, version: int, links: NDArray[np.int64]) -> None:
        """A page was visited; version -1: it could not be had."""

    def credit(self, page: int) -> None:
        """A page revealed a new document, which did not stand there before the first visit."""


class Shared:
    """One per crawl. The recrawl cycle tells it of its visits by `note` too."""

    def __init__(self, visits: VisitStatistics, states: StateMatrix, pace: Pace) -> None:
        self.visits = visits
        self.states = states
        self.pace = pace
        self.order: LinkOrder | None = None
        """What the link graph says of never-visited pages; None if nobody asks it."""
        self.watcher: Watcher | None = None

    @classmethod
    def fresh(cls, settings: ForagerSettings) -> "Shared":
        """Before anything was seen."""
        visits = VisitStatistics(settings.expectation, settings.max_age)
        return cls(visits, StateMatrix(settings.states.dimension), Pace(settings.leaving.memory))

    def note(self, sighting: Sighting) -> bool:
        """Enter a visit; whether this is the page as first seen. A shared copy teaches nothing new, if there is one."""
        if sighting.state_row >= 0:
            self.states.point(sighting.url, sighting.state_row)
        if sighting.free and not sighting.gone:
            return self.visits.arrived(sighting.url)
        first, new = self.visits.visit(
            sighting.url, sighting.when, ok=sighting.ok or sighting.gone, hub=sighting.hub, links=sighting.links
        )
        if new and not first and sighting.hub:
            self.visits.signal(sighting.links, sighting.when)
        if self.order is not None and sighting.ok:
            self.order.saw(sighting.url, sighting.links)
        if self.watcher is not None and not sighting.free:
            self.watcher.saw(sighting.url, sighting.when, sighting.version if sighting.ok else -1, sighting.links)
        return first

    def reserve(self, pages: int) -> None:
        """Have room for page numbers below `pages` in all tables."""
        self.visits.reserve(pages)
        self.states.reserve(len(self.visits.columns[0]))

    def leaning(self, urls: NDArray[np.int64], profit: NDArray[np.float64] = NOTHING) -> NDArray[np.float64]:
        """What long-term profit, from −1 to 1, and the link graph make of the worth of pages: a factor for each.

        Nothing if neither has a say.
        """
        if self.order is None and not len(profit):
            return NOTHING
        weight = self.visits.settings.profit_weight
        return leanings(urls, profit, self.order, self.visits.visited(urls), weight)

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """What `save` gives, as of now; it may be packed later, by another thread."""
        visits, states = self.visits.saving(), self.states.saving()
        pace = self.pace.hits, self.pace.downloads, self.pace.age
        return lambda: msgspec.msgpack.encode(_Saved(visits(), states(), *pace))

    @classmethod
    def load(cls, saved: bytes, settings: ForagerSettings) -> "Shared":
        try:
            held = msgspec.msgpack.decode(saved, type=_Saved)
        except msgspec.DecodeError as trouble:
            raise InputError(f"what the fleet knew cannot be read ({trouble}); delete it and start afresh") from None
        return cls(
            VisitStatistics.load(held.visits, settings.expectation, settings.max_age),
            StateMatrix.load(held.states),
            Pace(settings.leaving.memory, held.hits, held.downloads, held.age),
        )
