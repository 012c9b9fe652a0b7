"""The foragers of a fleet in arrays, one slot each, and objects that give access to single foragers.

The rows hold the weblog (Alg 1), the path and its open links (Alg 10, 11), the weights of long-term profit (Alg 3) and
the documents sent. Kernels change them; Python reads and saves them, and creates the first foragers.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray, RowArray, widened
from forager.core.addresses import SHAPES
from forager.core.page_row import highest
from forager.core.parameters import INHERITED, ForagerKind, ForagerSettings
from forager.core.weblog import Weblog
from forager.kernel import inner
from forager.terms import ForagerId, UrlId


@dataclass(slots=True)
class ForagerRecord:
    """The life of a forager; it is kept after the forager was deleted."""

    id: ForagerId
    kind: ForagerKind
    parent: ForagerId | None
    born: float
    score: float
    deleted: float | None = None
    sent: int = 0
    relevant: int = 0
    downloads: int = 0
    expected: float = 0.0
    """Documents that the fleet would have found, on average, with the downloads of this forager since its score began."""
    recent: float = 0.0
    """Its latest downloads; they decay with every document that the fleet finds."""
    genes: dict[str, float] = field(default_factory=dict)
    """Its own parameters; see `INHERITED`."""

    def follow(self, walker: Any) -> None:
        """Copies score and counts from the flock."""
        self.score, self.sent = float(walker["score"]), int(walker["sent"])
        self.relevant, self.downloads = int(walker["relevant"]), int(walker["downloads"])
        self.expected, self.recent = float(walker["expected"]), float(walker["recent"])

    def own(self, usual: Mapping[str, float]) -> dict[str, float]:
        """Its parameters as far as they differ from the settings."""
        return {key: round(value, 4) for key, value in self.genes.items() if value != usual.get(key)}

    def lead(self, walker: NDArray[Any]) -> None:
        """Copies score and counts to the flock."""
        walker["score"], walker["sent"] = self.score, self.sent
        walker["relevant"], walker["downloads"] = self.relevant, self.downloads
        walker["expected"], walker["recent"] = self.expected, self.recent


WL, RL, WLRL, BFS = range(len(ForagerKind))
"""The kinds as numbers for kernels."""
KINDS = tuple(ForagerKind)


class Walker(Protocol):
    """One forager, for kernels."""

    id: int
    kind: int
    number: int  # number of its path, number of that path's first step, and its length in steps
    first: int
    length: int
    mark: int  # what `met` holds for the pages of its path; no earlier path in this slot had the same
    head: int  # start of its open links
    count: int  # end of its open links
    entries: int  # number of entries in its weblog
    seeds: int
    drawn: int  # number of its random numbers used, see `draws`
    gained: float  # what the current step earned
    batch: int  # new documents that its latest download has brought so far
    score: float
    sent: int
    relevant: int
    downloads: int
    expected: float  # documents that the fleet would have found, on average, since the score began
    recent: float  # its latest downloads; they decay with every document that the fleet finds
    typical: float  # long-term profit of the pages that it saw for the first time, a running mean
    max_step: float  # its own parameters, in the order of `INHERITED`
    weblog_size: float
    weblog_step: float
    explore: float
    below: float
    profit_weight: float
    discount: float
    rate: float


class Tally(Protocol):
    """Figures of the whole fleet, for kernels."""

    alive: int
    born: int  # foragers that ever lived; the id of the next one
    key: int  # all random numbers of foragers follow from it
    turns: int  # the place of the next turn in the order; past the end: the first
    shuffled: int  # number of random numbers used for the order
    steps: int  # steps along open links
    decided: int  # steps for which long-term profit changed the choice
    found: int  # new documents of all foragers
    squares: int  # sum of the squares of the new documents of each download


class LifeSpan(Protocol):
    """When a forager lived, for kernels."""

    parent: int  # -1 for none
    born: float
    deleted: float  # nan: it is alive


def _kinds(of: type[Any]) -> np.dtype[np.void]:
    return np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in of.__annotations__.items()])


WALKER, TALLY, LIFE = _kinds(Walker), _kinds(Tally), _kinds(LifeSpan)
GENES = dict(zip(INHERITED, list(Walker.__annotations__)[-len(INHERITED) :], strict=True))
"""The columns of each forager's own parameters, by the names of their settings."""


def usual_genes(settings: ForagerSettings) -> dict[str, float]:
    """The parameters that the settings give to every forager."""
    return {key: float(reduce(getattr, key.split("."), settings)) for key in INHERITED}  # type: ignore[arg-type]


def _genes_of(walkers: RowArray) -> FloatArray:
    """The parameters that foragers have of their own, one row per forager; a view."""
    whole: FloatArray = walkers.view(np.float64).reshape(len(walkers), -1)
    return whole[:, -len(INHERITED) :]


class FleetState(NamedTuple):
    """All foragers, one row per slot."""

    order: IntArray
    """The slots of the foragers alive, in the order of their turns."""
    walkers: RowArray
    met: Int32Array
    """For each page, the mark of the last path that visited it or had it among its open links."""
    open: IntArray
    path: IntArray
    earned: FloatArray
    before: IntArray
    """For each step of the path, the row of the state that it came from; -1 for the first step."""
    weblog: IntArray
    values: FloatArray
    seeds: IntArray
    weights: FloatArray
    """Weights of long-term profit."""
    sent: Int32Array
    """For each document, 1 + id of the last forager in this slot that sent it; 0: none."""
    accepted: BoolArray
    """Which documents the agent has accepted from any forager; they may have other numbers than in `sent`."""
    tally: RowArray
    genes: FloatArray
    """Each forager's own parameters, in the order of `INHERITED`: a view of the last columns of `walkers`."""
    usual: FloatArray
    """The parameters in the settings."""
    lives: RowArray
    """When the foragers lived, by id."""
    ended: RowArray
    """The deleted foragers as they were at their end, by id."""


@inner
def seat(fleet: FleetState, id: int, kind: int) -> int:
    """Puts a forager into the first free slot, of which there must be one. It has no path yet, and its turn comes last."""
    tally: Tally = fleet.tally[0]
    slot, place = 0, 0
    while place < tally.alive:
        place += 1
        if fleet.order[place - 1] == slot:
            slot, place = slot + 1, 0
    me: Walker = fleet.walkers[slot]
    me.id, me.kind, me.mark = id, kind, me.mark + 1
    me.number = me.first = me.length = me.head = me.count = me.entries = me.seeds = me.drawn = 0
    me.sent = me.relevant = me.downloads = 0
    me.gained = me.score = me.expected = me.recent = me.typical = 0.0
    fleet.order[tally.alive] = slot
    tally.alive += 1
    return slot


@inner
def note_birth(fleet: FleetState, parent: int, now: float) -> None:
    """Records the birth of the next forager."""
    tally: Tally = fleet.tally[0]
    life: LifeSpan = fleet.lives[tally.born]
    life.parent, life.born, life.deleted = parent, now, np.nan
    tally.born += 1


class PathView(NamedTuple):
    """The current path: a walk from a start page."""

    number: int
    """The number of the path, from 1."""
    first_step: int
    """The number of its first step; the others follow without gaps."""
    urls: list[UrlId]
    earned: list[float]
    before: list[int]
    open: IntArray
    """The links that it may follow next."""


class Flock:
    """Keeps the arrays, grows them, and assigns slots."""

    def __init__(self, settings: ForagerSettings, slots: int, key: int = 0) -> None:
        """All random numbers of its foragers follow from `key`."""
        self.settings, self.usual = settings, usual_genes(settings)
        steps, entries = 4 * settings.max_step, max(settings.weblog.size, int(INHERITED["weblog.size"].high))
        self.state = FleetState(
            order=np.zeros(slots, np.int64),
            walkers=(walkers := np.zeros(slots, WALKER)),
            met=np.zeros((slots, 1024), np.int32),
            open=np.zeros((slots, 256), np.int64),
            path=np.zeros((slots, steps), np.int64),
            earned=np.zeros((slots, steps)),
            before=np.zeros((slots, steps), np.int64),
            weblog=np.zeros((slots, entries), np.int64),
            values=np.zeros((slots, entries)),
            seeds=np.zeros((slots, 1), np.int64),
            weights=np.zeros((slots, settings.states.dimension + SHAPES)),
            sent=np.zeros((slots, 64), np.int32),
            accepted=np.zeros(64, np.bool_),
            tally=np.zeros(1, TALLY),
            genes=_genes_of(walkers),
            usual=np.array(list(self.usual.values())),
            lives=np.zeros(2 * slots, LIFE),
            ended=np.zeros(2 * slots, WALKER),
        )
        """Do not keep it: it is replaced as it grows."""
        self.state.tally["key"] = key
        self.pages = 0
        """Upper limit of the page numbers that its foragers know."""

    def __repr__(self) -> str:
        return f"<Flock of {len(self.slots)} foragers>"

    @property
    def slots(self) -> list[int]:
        """The slots of the foragers alive, in the order of their turns."""
        slots: list[int] = self.state.order[: self.state.tally["alive"][0]].tolist()
        return slots

    @property
    def born(self) -> int:
        """Number of foragers that ever lived."""
        return int(self.state.tally["born"][0])

    def enter(
        self,
        id: int,
        kind: ForagerKind,
        seeds: IntArray,
        weblog: Weblog,
        weights: FloatArray,
        genes: Mapping[str, float],
    ) -> int:
        """Adds a forager that has no path and has sent nothing, and whose turn comes last; returns its slot."""
        if len(self.slots) == len(self.state.walkers):
            self._grow_rows()
        self._widen(len(seeds), "seeds")
        state = self.state
        slot = seat(state, id, KINDS.index(kind))
        self.pages = max(self.pages, highest(seeds) + 1)
        state.walkers["seeds"][slot], state.seeds[slot, : len(seeds)] = len(seeds), seeds
        state.weights[slot, : len(weights)] = weights
        self._give_genes(state.walkers[slot : slot + 1], genes)
        self.keep_weblog(slot, weblog)
        return slot

    def note_birth(self, parent: int, now: float, deleted: float = np.nan) -> None:
        """Records the birth of the next forager, and possibly its deletion since."""
        self.reserve(pages=0, links=0)
        note_birth(self.state, parent, now)
        self.state.lives["deleted"][self.born - 1] = deleted

    def _give_genes(self, walkers: RowArray, genes: Mapping[str, float]) -> None:
        for key, value in genes.items():
            walkers[GENES[key]] = value

    def keep_weblog(self, slot: int, weblog: Weblog) -> None:
        self._widen(weblog.settings.size, "weblog", "values")
        state, count = self.state, len(weblog)
        self.pages = max(self.pages, highest(weblog.urls) + 1)
        state.weblog[slot, :count], state.values[slot, :count] = weblog.urls, weblog.values
        state.walkers["entries"][slot] = count

    def reserve(self, *, pages: int, links: int, sent: int = 0, accepted: int = 0) -> None:
        """Makes room for page and document numbers below these, for this many more open links, and for one birth."""
        walkers = self.state.walkers
        self._widen(pages, "met")
        self._widen(int(walkers["count"].max()) + links, "open")
        if walkers["length"][walkers["kind"] != BFS].max(initial=0) >= self.state.path.shape[1]:
            self.make_steps(2 * self.state.path.shape[1])
        self._widen(sent, "sent")
        if accepted > len(self.state.accepted):
            wider = np.zeros(max(accepted, 2 * len(self.state.accepted)), np.bool_)
            wider[: len(self.state.accepted)] = self.state.accepted
            self.state = self.state._replace(accepted=wider)
        if self.born == len(self.state.lives):
            lives, ended = (widened(table, 2 * self.born) for table in (self.state.lives, self.state.ended))
            self.state = self.state._replace(lives=lives, ended=ended)

    @contextmanager
    def latest(self, slot: int, most: int) -> Iterator[None]:
        """Hides all but the latest `most` open links of a path until a step is chosen; not in a breadth-first sweep."""
        me, links = self.state.walkers[slot : slot + 1], self.state.open[slot]
        first, shown, path = int(me["head"][0]), int(me["count"][0]) - most, int(me["mark"][0])
        if shown <= first or me["kind"][0] == BFS:
            yield
            return
        me["head"] = shown
        yield
        if me["mark"][0] == path:  # the path goes on; the place of the first link is free if it was taken
            taken = int(me["head"][0]) - shown
            links[shown : shown + taken] = links[first : first + taken]
            me["head"] = first + taken

    def make_steps(self, steps: int) -> None:
        """Makes room for paths of this many steps."""
        self._widen(steps, "path", "earned", "before")

    def _widen(self, columns: int, *names: str) -> None:
        """Widens these tables to `columns`, or to twice as many columns as before."""
        for name in names:
            table: NDArray[Any] = getattr(self.state, name)
            if columns > table.shape[1]:
                wider = np.zeros((len(table), max(columns, 2 * table.shape[1])), table.dtype)
                wider[:, : table.shape[1]] = table
                self.state = self.state._replace(**{name: wider})

    def _grow_rows(self) -> None:
        """Doubles the number of slots."""
        grown = {
            name: np.concatenate([table, np.zeros_like(table)])
            for name, table in self.state._asdict().items()
            if name not in ("accepted", "tally", "genes", "usual", "lives", "ended")
        }
        self.state = self.state._replace(**grown, genes=_genes_of(grown["walkers"]))


class Forager:
    """One forager of a flock, for Python code."""

    def __init__(self, flock: Flock, slot: int) -> None:
        """Refers to the forager that has this slot now."""
        self.flock, self.slot = flock, slot
        self.id = ForagerId(int(flock.state.walkers["id"][slot]))
        self.kind = KINDS[int(flock.state.walkers["kind"][slot])]

    def __repr__(self) -> str:
        return f"<Forager {self.id} {self.kind}: path {self.path.number}, {self.weblog!r}>"

    @property
    def seeds(self) -> IntArray:
        state = self.flock.state
        return state.seeds[self.slot, : state.walkers["seeds"][self.slot]]

    @property
    def weblog(self) -> Weblog:
        """A copy of its weblog; assign it back after changes."""
        state, count = self.flock.state, int(self.flock.state.walkers["entries"][self.slot])
        entries = zip(state.weblog[self.slot, :count].tolist(), state.values[self.slot, :count].tolist(), strict=True)
        size = int(state.walkers["weblog_size"][self.slot])
        settings = replace(self.flock.settings.weblog, size=max(1, size))
        return Weblog(settings, [(UrlId(url), value) for url, value in entries])

    @weblog.setter
    def weblog(self, weblog: Weblog) -> None:
        self.flock.keep_weblog(self.slot, weblog)

    @property
    def genes(self) -> dict[str, float]:
        """Its own parameters, by the names of their settings."""
        walkers = self.flock.state.walkers
        return {key: float(walkers[column][self.slot]) for key, column in GENES.items()}

    @property
    def weights(self) -> FloatArray:
        """Its weights of long-term profit; a view."""
        weights: FloatArray = self.flock.state.weights[self.slot]
        return weights

    @property
    def path(self) -> PathView:
        """The current path. Before the first one it counts as finished, so that the first step starts a path."""
        state, me = self.flock.state, self.flock.state.walkers[self.slot]
        steps = slice(0, 0 if self.kind is ForagerKind.BFS else int(me["length"]))
        return PathView(
            int(me["number"]),
            int(me["first"]),
            [UrlId(url) for url in state.path[self.slot, steps].tolist()],
            state.earned[self.slot, steps].tolist(),
            state.before[self.slot, steps].tolist(),
            state.open[self.slot, me["head"] : me["count"]].copy(),
        )
