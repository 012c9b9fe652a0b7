"""What all foragers of a fleet know together: states, visit statistics and how well the fleet does."""

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.core.leanings import NOTHING, LinkOrder
from forager.core.pace import Pace
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerSettings
from forager.core.sighting import Sighting
from forager.core.state_matrix import StateMatrix
from forager.core.updates import Mind
from forager.errors import InputError


class _Saved(msgspec.Struct):
    visits: bytes
    states: bytes
    hits: float
    downloads: float
    age: float = 0.0


class Shared:
    """One per crawl. The recrawl cycle tells it of its visits by `note` too."""

    def __init__(self, visits: PageTable, states: StateMatrix, pace: Pace) -> None:
        self.visits = visits
        self.states = states
        self.pace = pace
        self.order: LinkOrder | None = None
        """What the link graph says of never-visited pages; None if nobody asks it."""
        self.reveal: Callable[[NDArray[np.int64], float], None] | None = None
        """Told of the links that a visit showed, and when: the recrawl side may want to follow them at once."""

    @classmethod
    def fresh(cls, settings: ForagerSettings) -> "Shared":
        """Before anything was seen."""
        visits = PageTable(settings.expectation, settings.max_age)
        return cls(visits, StateMatrix(settings.states.dimension), Pace(settings.leaving.memory))

    def note(self, sighting: Sighting) -> bool:
        """Enter a visit; whether this is the page as first seen. A shared copy teaches nothing new, if there is one."""
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
        """Have room for page numbers below `pages` in all tables."""
        self.visits.reserve(pages)
        self.states.reserve(len(self.visits.mind().table))

    def mind(self) -> Mind:
        """For kernels. Do not keep it: arrays are replaced as they grow."""
        appeal, share = (NOTHING, 0.0) if self.order is None else (self.order.scores, self.order.share)
        return self.visits.mind(self.states.rows, self.states.vectors, appeal, share, self.pace.row)

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
            PageTable.load(held.visits, settings.expectation, settings.max_age),
            StateMatrix.load(held.states),
            Pace(settings.leaving.memory, held.hits, held.downloads, held.age),
        )
