"""What all foragers of a fleet know together: states, visit statistics and how well the fleet does."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError
from forager.foragers.expectation import ExpectationSettings
from forager.foragers.leaving import LeavingSettings, Pace
from forager.foragers.matrix import StateMatrix
from forager.foragers.sighting import Finding, Sighting, Sightings
from forager.foragers.visits import VisitStatistics


class _Saved(msgspec.Struct):
    visits: bytes
    states: bytes
    hits: float
    downloads: float


class Shared:
    """One per crawl. The recrawl cycle tells it of its visits by `note` too, and of its hits by `credit`."""

    def __init__(self, visits: VisitStatistics, states: StateMatrix, pace: Pace) -> None:
        self.visits = visits
        self.states = states
        self.pace = pace

    @classmethod
    def fresh(cls, dimension: int, expectation: ExpectationSettings, leaving: LeavingSettings) -> "Shared":
        """Before anything was seen."""
        return cls(VisitStatistics(expectation), StateMatrix(dimension), Pace(leaving.memory))

    def note(self, sighting: Sighting) -> bool:
        """Enter a visit; whether this is the page as first seen. A shared copy teaches nothing new."""
        if sighting.state_row >= 0:
            self.states.point(sighting.url, sighting.state_row)
        if sighting.free:
            return self.visits.arrived(sighting.url)
        first, new = self.visits.visit(
            sighting.url, sighting.when, ok=sighting.ok, hub=sighting.hub, links=sighting.links
        )
        if new and not first and sighting.hub:
            self.visits.signal(sighting.links, sighting.when)
        return first

    def note_many(self, sightings: Sightings) -> None:
        """Enter many visits at once, as `note` would one after the other; there must be room for them."""
        known = sightings.state_row >= 0
        self.states.rows[sightings.urls[known]] = sightings.state_row[known]
        self.visits.visit_many(sightings)

    def credit(self, finding: Finding, links: NDArray[np.int64], now: float) -> None:
        """A document was accepted on a page with these links."""
        self.visits.credit(finding)
        self.visits.signal(links, now)

    def save(self) -> bytes:
        saved = _Saved(self.visits.save(), self.states.save(), self.pace.hits, self.pace.downloads)
        return msgspec.msgpack.encode(saved)

    @classmethod
    def load(cls, saved: bytes, expectation: ExpectationSettings, leaving: LeavingSettings) -> "Shared":
        try:
            held = msgspec.msgpack.decode(saved, type=_Saved)
        except msgspec.DecodeError as trouble:
            raise InputError(f"what the fleet knew cannot be read ({trouble}); delete it and start afresh") from None
        return cls(
            VisitStatistics.load(held.visits, expectation),
            StateMatrix.load(held.states),
            Pace(leaving.memory, held.hits, held.downloads),
        )
