"""The foragers of a fleet in arrays, a slot for each, and thin objects for single foragers.

Rows hold the weblog (Alg 1), path and open links (Alg 10, 11), the weights of long-term profit (Alg 3) and the
documents sent. Kernels change them; Python reads and saves them, and creates foragers (Alg 6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray, RowArray
from forager.core.addresses import SHAPES
from forager.core.page_row import highest
from forager.core.parameters import INHERITED, Bounds, ForagerKind, ForagerSettings
from forager.core.profit import first_weights
from forager.core.weblog import Weblog
from forager.terms import ForagerId, UrlId


@dataclass(slots=True)
class ForagerRecord:
    """The life of a forager; kept after its deletion."""

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
    """Documents that the fleet's mean would have found with its downloads, since its score began."""
    recent: float = 0.0
    """Its latest downloads, fading with every document that the fleet finds."""
    genes: dict[str, float] = field(default_factory=dict)
    """Its own parameters, see `INHERITED`."""

    def follow(self, walker: Any) -> None:
        """Copies score and counts from the flock."""
        self.score, self.sent = float(walker["score"]), int(walker["sent"])
        self.relevant, self.downloads = int(walker["relevant"]), int(walker["downloads"])
        self.expected, self.recent = float(walker["expected"]), float(walker["recent"])

    def own(self, usual: Mapping[str, float]) -> dict[str, float]:
        """Its parameters as far as they differ from those of the settings."""
        return {key: round(value, 4) for key, value in self.genes.items() if value != usual.get(key)}

    def lead(self, walker: NDArray[Any]) -> None:
        """Copies score and counts to the flock."""
        walker["score"], walker["sent"] = self.score, self.sent
        walker["relevant"], walker["downloads"] = self.relevant, self.downloads
        walker["expected"], walker["recent"] = self.expected, self.recent


WL, RL, WLRL, BFS = range(len(ForagerKind))
"""The kinds as numbers for kernels."""
KINDS = tuple(ForagerKind)
AHEAD = 64
"""Random numbers of a forager drawn at a time."""
DRAWS = 3
"""Maximum number of random numbers that a step uses."""


class Walker(Protocol):
    """One forager, for kernels."""

    id: int
    kind: int
    number: int  # number of its path, number of that path's first step, and its length in steps
    first: int
    length: int
    mark: int  # what `met` holds for the pages of its path; other than that of any earlier path in this slot
    head: int  # start of its open links
    count: int  # end of its open links
    entries: int  # number of entries in its weblog
    seeds: int
    drawn: int  # number of its random numbers used
    gained: float  # what the current step earned
    score: float
    sent: int
    relevant: int
    downloads: int
    expected: float  # documents that the fleet's mean would have found since the score began
    recent: float  # its latest downloads, fading with every document that the fleet finds
    typical: float  # long-term profit of the pages that it saw for the first time, a running mean
    max_step: float  # its own parameters, in the order of `INHERITED`
    weblog_size: float
    weblog_step: float
    explore: float
    below: float
    breadth: float
    text_breadth: float
    profit_weight: float
    discount: float
    rate: float


class Tally(Protocol):
    """Figures of the whole fleet, for kernels."""

    alive: int
    turns: int  # the place in the order of the one whose turn is next; past the end, it is the first one's
    steps: int  # steps along open links, and …
    decided: int  # … those that long-term profit led elsewhere than expected documents would have


def _kinds(of: type[Any]) -> np.dtype[np.void]:
    return np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in of.__annotations__.items()])


WALKER, TALLY = _kinds(Walker), _kinds(Tally)
GENES = dict(zip(INHERITED, list(Walker.__annotations__)[-len(INHERITED) :], strict=True))
"""The columns of each forager's own parameters, by their settings."""
HOMEWARD = 0.1
"""Share of the way back to the settings that the parameters of a child are drawn."""


def usual_genes(settings: ForagerSettings) -> dict[str, float]:
    """The parameters that the settings give every forager."""
    return {key: float(reduce(getattr, key.split("."), settings)) for key in INHERITED}  # type: ignore[arg-type]


def mutated(
    genes: Mapping[str, float], usual: Mapping[str, float], share: float, rng: np.random.Generator
) -> dict[str, float]:
    """The parameters of a child: those of its parent, each changed a little within its bounds; 0: the usual ones."""
    if share <= 0:
        return dict(usual)
    return {key: _moved(genes[key], usual[key], bounds, share, rng) for key, bounds in INHERITED.items()}


def _moved(value: float, usual: float, bounds: Bounds, share: float, rng: np.random.Generator) -> float:
    """A value drawn towards the usual one, and moved by chance; one that is switched off stays so."""
    if value == usual == 0:
        return 0.0
    if bounds.log:
        moved = value * (usual / value) ** HOMEWARD * float(np.exp(share * rng.standard_normal()))
    else:
        wide = (bounds.high - bounds.low) / 4
        moved = value + HOMEWARD * (usual - value) + share * wide * float(rng.standard_normal())
    low, high = min(bounds.low, usual), max(bounds.high, usual)
    moved = min(max(moved, low), high)
    return float(round(moved)) if bounds.whole else moved


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
    """For each step of the path the row of the state that it came from; -1 for the first."""
    weblog: IntArray
    values: FloatArray
    seeds: IntArray
    luck: FloatArray
    weights: FloatArray
    """Weights of long-term profit."""
    sent: BoolArray
    """Which documents each forager has sent."""
    accepted: BoolArray
    """Which documents the agent has accepted from any forager, possibly under other numbers than in `sent`."""
    tally: RowArray


class PathView(NamedTuple):
    """The current path: a walk from a start page."""

    number: int
    """Number of the path, from 1."""
    first_step: int
    """Number of its first step; the others follow without gaps."""
    urls: list[UrlId]
    earned: list[float]
    before: list[int]
    open: IntArray
    """Links that it may follow next."""


class Flock:
    """Keeps the arrays, grows them, and assigns slots."""

    def __init__(self, settings: ForagerSettings, slots: int) -> None:
        self.settings, self.usual = settings, usual_genes(settings)
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
            weights=np.zeros((slots, settings.states.dimension + SHAPES)),
            sent=np.zeros((slots, 64), np.bool_),
            accepted=np.zeros(64, np.bool_),
            tally=np.zeros(1, TALLY),
        )
        """Do not keep it: it is replaced as it grows."""
        self.pages = 0
        """Upper limit of the page numbers that its foragers know."""
        self._taken: set[int] = set()

    def __repr__(self) -> str:
        return f"<Flock of {len(self._taken)} foragers>"

    def enter(
        self, forager: "Forager", seeds: IntArray, weblog: Weblog, weights: FloatArray, genes: Mapping[str, float]
    ) -> int:
        """A forager comes in, with no path and nothing sent; its slot."""
        if len(self._taken) == len(self.state.walkers):
            self._grow_rows()
        slot = min(set(range(len(self.state.walkers))) - self._taken)
        self._taken.add(slot)
        self._widen(len(seeds), "seeds")
        state = self.state
        mark = state.walkers["mark"][slot]
        state.walkers[slot] = 0
        state.walkers["mark"][slot], state.sent[slot] = mark + 1, False
        state.walkers["id"][slot], state.walkers["kind"][slot] = forager.id, KINDS.index(forager.kind)
        self.pages = max(self.pages, highest(seeds) + 1)
        state.walkers["seeds"][slot], state.seeds[slot, : len(seeds)] = len(seeds), seeds
        state.weights[slot, : len(weights)] = weights
        state.walkers["drawn"][slot] = AHEAD
        for key, value in genes.items():
            state.walkers[GENES[key]][slot] = value
        self.keep_weblog(slot, weblog)
        return slot

    def leave(self, slot: int) -> None:
        """Frees the slot."""
        self._taken.remove(slot)

    def keep_weblog(self, slot: int, weblog: Weblog) -> None:
        self._widen(weblog.settings.size, "weblog", "values")
        state, count = self.state, len(weblog)
        self.pages = max(self.pages, highest(weblog.urls) + 1)
        state.weblog[slot, :count], state.values[slot, :count] = weblog.urls, weblog.values
        state.walkers["entries"][slot] = count

    def put_in_order(self, slots: Sequence[int]) -> None:
        """Sets the order of turns."""
        self.state.order[: len(slots)] = slots
        self.state.tally["alive"] = len(slots)

    def reserve(self, *, pages: int, links: int, sent: int = 0, accepted: int = 0) -> None:
        """Makes room for page numbers and document numbers below these, and for so many more open links."""
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
        """Makes room for paths of so many steps."""
        self._widen(steps, "path", "earned", "before")

    def draw(self, slot: int, rng: np.random.Generator) -> None:
        """Draws enough random numbers for a step: the same ones in the same order as if drawn one by one."""
        luck, drawn = self.state.luck[slot], int(self.state.walkers["drawn"][slot])
        if drawn + DRAWS > AHEAD:
            luck[: AHEAD - drawn] = luck[drawn:].copy()
            luck[AHEAD - drawn :] = rng.random(drawn)
            self.state.walkers["drawn"][slot] = 0

    def _widen(self, columns: int, *names: str) -> None:
        """Widens these tables to so many columns, or to twice as many as before."""
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
            if name not in ("accepted", "tally")
        }
        self.state = self.state._replace(**grown)


class Forager:
    """One forager of a flock, for Python code."""

    def __init__(
        self,
        flock: Flock,
        id: ForagerId,
        kind: ForagerKind,
        seeds: IntArray,
        weblog: Weblog,
        weights: FloatArray,
        rng: np.random.Generator,
        genes: Mapping[str, float] | None = None,
    ) -> None:
        """`genes` are its own parameters; None: as the settings say."""
        self.flock, self.id, self.kind, self.rng = flock, id, kind, rng
        self.slot = flock.enter(self, seeds, weblog, weights, genes or flock.usual)

    @classmethod
    def born(
        cls, flock: Flock, id: ForagerId, kind: ForagerKind, seeds: IntArray, rng: np.random.Generator
    ) -> "Forager":
        """Creates a forager that knows only the seeds (Alg 10)."""
        settings = flock.settings
        weblog = Weblog(settings.weblog, [(UrlId(int(url)), 0.0) for url in seeds])
        return cls(flock, id, kind, seeds, weblog, first_weights(settings.states.dimension, settings.profit, rng), rng)

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
        """Its own parameters, by their settings."""
        walkers = self.flock.state.walkers
        return {key: float(walkers[column][self.slot]) for key, column in GENES.items()}

    @property
    def weights(self) -> FloatArray:
        """Weights of long-term profit; a view."""
        weights: FloatArray = self.flock.state.weights[self.slot]
        return weights

    @property
    def path(self) -> PathView:
        """The current path; before the first one it counts as finished, so that the first step starts a path."""
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
        """Draws enough random numbers for a step."""
        self.flock.draw(self.slot, self.rng)

    def multiply(self, id: ForagerId, rng: np.random.Generator, mutation: float = 0.0) -> "Forager":
        """A child with half of the weblog, and with this one's long-term profit if it learns it (Alg 6)."""
        settings, weblog = self.flock.settings, self.weblog
        if self.kind is ForagerKind.RL and not settings.weblog.split_rl:
            given = weblog.copy()
        else:
            given = weblog.split(rng)
            self.weblog = weblog
        learns = self.kind.learns_profit
        weights = self.weights.copy() if learns else first_weights(settings.states.dimension, settings.profit, rng)
        genes = mutated(self.genes, self.flock.usual, mutation, rng)
        child = Forager(self.flock, id, self.kind, self.seeds.copy(), given, weights, rng, genes)
        walkers = self.flock.state.walkers
        walkers["typical"][child.slot] = walkers["typical"][self.slot] if learns else 0.0
        return child
