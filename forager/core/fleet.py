"""The foragers of a fleet in arrays, a slot for each, and the thin objects by which others see one of them.

Weblog (Alg 1), path and open links (Alg 10, 11), the weights of long-term profit (Alg 3) and what was sent stand in rows;
kernels change them, Python reads them, saves them, and lets foragers be born (Alg 6).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.core.kernels import highest
from forager.core.parameters import ForagerKind, ForagerSettings
from forager.core.profit import random_weights
from forager.core.rules import BoolArray, FloatArray, IntArray
from forager.core.weblog import Weblog
from forager.terms import ForagerId, UrlId

WL, RL, WLRL, BFS = range(len(ForagerKind))
"""The kinds as kernels know them."""
KINDS = tuple(ForagerKind)
AHEAD = 64
"""Numbers of a forager's luck drawn at a time."""
DRAWS = 3
"""Numbers of its luck that a step takes at most."""


class Walker(Protocol):
    """One forager, as the kernels see it."""

    id: int
    kind: int
    number: int  # of its path, the number of its first step, and how many it has made
    first: int
    length: int
    head: int  # its open links are from here …
    count: int  # … to here
    entries: int  # of its weblog
    seeds: int
    drawn: int  # of its luck
    gained: float  # by the step under way
    score: float
    sent: int
    relevant: int
    downloads: int


class Tally(Protocol):
    """Figures of the whole fleet, as the kernels see them."""

    alive: int
    turns: int  # the place in the order of the one whose turn is next; past the end, it is the first one's
    relevant: int  # documents accepted from foragers, and …
    worked: int  # … their downloads, for the mean that relative scores are measured against


def _kinds(of: type[Any]) -> np.dtype[np.void]:
    return np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in of.__annotations__.items()])


WALKER, TALLY = _kinds(Walker), _kinds(Tally)


class FleetState(NamedTuple):
    """All foragers, a row for each slot."""

    order: IntArray
    """The slots of those alive, in the order of their turns."""
    walkers: NDArray[np.void]
    met: NDArray[np.int32]
    """The last path that had a page among its visited or open ones."""
    open: IntArray
    path: IntArray
    earned: FloatArray
    before: IntArray
    """For each step of the path the row of the state that it came from; -1 for the first."""
    weblog: IntArray
    values: FloatArray
    seeds: IntArray
    luck: FloatArray
    weights: FloatArray
    """Of long-term profit."""
    sent: BoolArray
    """Which documents each has sent, …"""
    accepted: BoolArray
    """… and which the agent has accepted from anybody; the two may know documents by different numbers."""
    tally: NDArray[np.void]


class PathView(NamedTuple):
    """A path as it is now: a walk from a start page."""

    number: int
    """Counts paths; the first one is 1."""
    first_step: int
    """The id of its first step; the others follow without gaps."""
    urls: list[UrlId]
    earned: list[float]
    before: list[int]
    open: IntArray
    """Links that it may follow next."""


class Flock:
    """Keeps the arrays, lets them grow, and knows who has which slot."""

    def __init__(self, settings: ForagerSettings, slots: int) -> None:
        self.settings = settings
        steps = 4 * settings.max_step
        self.state = FleetState(
            order=np.zeros(slots, np.int64),
            walkers=np.zeros(slots, WALKER),
            met=np.zeros((slots, 1024), np.int32),
            open=np.zeros((slots, 256), np.int64),
            path=np.zeros((slots, steps), np.int64),
            earned=np.zeros((slots, steps)),
            before=np.zeros((slots, steps), np.int64),
            weblog=np.zeros((slots, settings.weblog.size), np.int64),
            values=np.zeros((slots, settings.weblog.size)),
            seeds=np.zeros((slots, 1), np.int64),
            luck=np.zeros((slots, AHEAD)),
            weights=np.zeros((slots, settings.states.dimension)),
            sent=np.zeros((slots, 64), np.bool_),
            accepted=np.zeros(64, np.bool_),
            tally=np.zeros(1, TALLY),
        )
        """Do not keep it: it is replaced as it grows."""
        self.pages = 0
        """All pages that its foragers know of have lower numbers."""
        self._taken: set[int] = set()

    def __repr__(self) -> str:
        return f"<Flock of {len(self._taken)} foragers>"

    def enter(self, forager: "Forager", seeds: IntArray, weblog: Weblog, weights: FloatArray) -> int:
        """A forager comes in, with no path and nothing sent; its slot."""
        if len(self._taken) == len(self.state.walkers):
            self._grow_rows()
        slot = min(set(range(len(self.state.walkers))) - self._taken)
        self._taken.add(slot)
        self._widen(len(seeds), "seeds")
        state = self.state
        state.walkers[slot] = 0
        state.met[slot], state.sent[slot] = 0, False
        state.walkers["id"][slot], state.walkers["kind"][slot] = forager.id, KINDS.index(forager.kind)
        self.pages = max(self.pages, highest(seeds) + 1)
        state.walkers["seeds"][slot], state.seeds[slot, : len(seeds)] = len(seeds), seeds
        state.weights[slot, : len(weights)] = weights
        state.walkers["drawn"][slot] = AHEAD
        self.keep_weblog(slot, weblog)
        return slot

    def leave(self, slot: int) -> None:
        """The slot is free."""
        self._taken.remove(slot)

    def keep_weblog(self, slot: int, weblog: Weblog) -> None:
        state, count = self.state, len(weblog)
        self.pages = max(self.pages, highest(weblog.urls) + 1)
        state.weblog[slot, :count], state.values[slot, :count] = weblog.urls, weblog.values
        state.walkers["entries"][slot] = count

    def put_in_order(self, slots: Sequence[int]) -> None:
        """From now on foragers take turns in this order."""
        self.state.order[: len(slots)] = slots
        self.state.tally["alive"] = len(slots)

    def reserve(self, *, pages: int, links: int, sent: int = 0, accepted: int = 0) -> None:
        """Have room for page numbers and numbers of documents below these, and for so many more open links."""
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

    def make_steps(self, steps: int) -> None:
        """Have room for paths of so many steps."""
        self._widen(steps, "path", "earned", "before")

    def draw(self, slot: int, rng: np.random.Generator) -> None:
        """Have enough luck for a step: the same numbers in the same order as if they were drawn one by one."""
        luck, drawn = self.state.luck[slot], int(self.state.walkers["drawn"][slot])
        if drawn + DRAWS > AHEAD:
            luck[: AHEAD - drawn] = luck[drawn:].copy()
            luck[AHEAD - drawn :] = rng.random(drawn)
            self.state.walkers["drawn"][slot] = 0

    def _widen(self, columns: int, *names: str) -> None:
        """Have so many columns in these tables, or twice as many as before."""
        for name in names:
            table: NDArray[Any] = getattr(self.state, name)
            if columns > table.shape[1]:
                wider = np.zeros((len(table), max(columns, 2 * table.shape[1])), table.dtype)
                wider[:, : table.shape[1]] = table
                self.state = self.state._replace(**{name: wider})

    def _grow_rows(self) -> None:
        """Have twice as many slots."""
        grown = {
            name: np.concatenate([table, np.zeros_like(table)])
            for name, table in self.state._asdict().items()
            if name not in ("accepted", "tally")
        }
        self.state = self.state._replace(**grown)


class Forager:
    """One forager of a flock, as everybody but the kernels sees it."""

    def __init__(
        self,
        flock: Flock,
        id: ForagerId,
        kind: ForagerKind,
        seeds: IntArray,
        weblog: Weblog,
        weights: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        self.flock, self.id, self.kind, self.rng = flock, id, kind, rng
        self.slot = flock.enter(self, seeds, weblog, weights)

    @classmethod
    def born(
        cls, flock: Flock, id: ForagerId, kind: ForagerKind, seeds: IntArray, rng: np.random.Generator
    ) -> "Forager":
        """A new forager that knows nothing but the seeds (Alg 10)."""
        settings = flock.settings
        weblog = Weblog(settings.weblog, [(UrlId(int(url)), 0.0) for url in seeds])
        return cls(flock, id, kind, seeds, weblog, random_weights(settings.states.dimension, settings.profit, rng), rng)

    def __repr__(self) -> str:
        return f"<Forager {self.id} {self.kind}: path {self.path.number}, {self.weblog!r}>"

    @property
    def seeds(self) -> IntArray:
        state = self.flock.state
        return state.seeds[self.slot, : state.walkers["seeds"][self.slot]]

    @property
    def weblog(self) -> Weblog:
        """As it is now; what is changed in it must be put back."""
        state, count = self.flock.state, int(self.flock.state.walkers["entries"][self.slot])
        entries = zip(state.weblog[self.slot, :count].tolist(), state.values[self.slot, :count].tolist(), strict=True)
        return Weblog(self.flock.settings.weblog, [(UrlId(url), value) for url, value in entries])

    @weblog.setter
    def weblog(self, weblog: Weblog) -> None:
        self.flock.keep_weblog(self.slot, weblog)

    @property
    def weights(self) -> FloatArray:
        """Of long-term profit; a view."""
        weights: FloatArray = self.flock.state.weights[self.slot]
        return weights

    @property
    def path(self) -> PathView:
        """The walk that it is on; before the first one it is over, so that the first step starts a path."""
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

    def draw(self) -> None:
        """Have enough luck for a step."""
        self.flock.draw(self.slot, self.rng)

    def multiply(self, id: ForagerId, rng: np.random.Generator) -> "Forager":
        """A child with half of the weblog, and with this one's long-term profit if it learns it (Alg 6)."""
        settings, weblog = self.flock.settings, self.weblog
        if self.kind is ForagerKind.RL and not settings.weblog.split_rl:
            given = weblog.copy()
        else:
            given = weblog.split(rng)
            self.weblog = weblog
        learns = self.kind.learns_profit
        weights = self.weights.copy() if learns else random_weights(len(self.weights), settings.profit, rng)
        return Forager(self.flock, id, self.kind, self.seeds.copy(), given, weights, rng)
