"""What the kernels of a replay work on: arrays that belong to others, gathered by owner, and two rows of figures.

A figure that moves while a kernel plays stands in the `Course`, one that stays in the `Rules`. Python sees both as plain
objects, a kernel as the one row of a table.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(slots=True)
class Course:
    """How far a replay is. Those marked with whose they are, are copied from there before a kernel runs, and back."""

    now: float = 0.0  # the clock's
    until: float = 0.0
    """When somebody wants to be asked, …"""
    end: float = 0.0
    """… and when everything is over."""
    fleet_spent: float = 0.0
    recrawl_spent: float = 0.0
    """Downloads of both sides."""
    fleet_rests: float = 0.0
    recrawl_rests: float = 0.0
    """Until when each side rests."""
    rest: float = 0.0
    """How long the fleet rests the next time."""
    cycle_ends: float = 0.0  # the scheduler's
    ranked: float = 0.0  # the choosing's, as the next four
    ranked_pages: int = 0
    used: int = 0
    pooled: bool = False
    under_way: bool = False
    listed: int = 0  # the short list's, as the next three: pages listed, 0 if there is no list, …
    listed_of: int = 0
    listed_late: int = 0
    listed_used: int = 0
    gathered: int = 0
    """How many of the pages that became known were looked at for the ranking of all."""
    hits: float = 0.0  # the pace's, as the next two
    downloads: float = 0.0
    age: float = 0.0
    asked: float = 0.0  # the thrift's: downloads, explored ones, rests
    explored: float = 0.0
    rests: float = 0.0
    fetched: int = 0  # the world's, as the next
    unrecorded: int = 0
    sent: int = 0  # the account's, as the next two
    fleet_accepted: int = 0
    recrawl_accepted: int = 0
    relevant: int = 0  # the scores', as the next
    worked: int = 0
    turns: int = 0  # the agent's
    alive: int = 0
    slot: int = -1
    """The forager whose turn it is; -1 for nobody's."""
    left: float = 0.0
    """Seconds of its slice."""
    free: int = 0
    """Steps in a row that cost nothing."""
    idle: int = 0
    """Turns in a row that cost nothing."""
    lucks: int = 0
    """Numbers used of the luck of the recrawl side, …"""
    changes: int = 0
    """… its visits that could see a change, …"""
    cycles: int = 0
    """… cycles that ended, …"""
    cycle_ended: float = 0.0
    cycle_began_at: int = 0
    cycle_ended_at: int = 0
    """… the last of them when, and after which changes the last two began, …"""
    accepted: int = 0
    """… and documents accepted since the kernel began."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say, as kernels need it; the names are those of the settings."""

    share: float
    every: float
    idle: float
    longest_rest: float
    usual: float
    explore: float
    memory: float
    max_age: float
    lists_too: bool
    reads_off: bool
    watches: bool
    """There is a recrawl side."""
    compiled_fleet: bool
    """The fleet is a flock; else its turns are not for kernels."""
    sweeps: bool
    """It is the baseline."""
    widest: int
    """Links of a page at most, …"""
    most_shown: int
    """… and documents that are read off one."""
    slice: float
    free_steps: int
    max_step: int
    harvest: bool
    below: float
    start_explore: float
    start_list: int
    """Start from the best so many of the weblog; 0: by chance of news."""
    weblog_step: float
    penalties: bool
    texts: bool
    pays_revealer: bool
    reward: float
    penalty: float
    relative: bool
    score_relevant: float
    score_sent: float
    multiply_at: float
    delete_below: float
    least: int
    most: int


class Watched(NamedTuple):
    """What the recrawl side keeps: its pool, and for the account of a cycle which visits saw a change. Its luck comes with
    it.

    Then three columns by rising number, whose first entry says how many follow, with room for all pages: the pages known
    when all were last ranked, those on the short list, and some that nobody has seen."""

    awake: IntArray
    resting: IntArray
    until: FloatArray
    tally: IntArray
    changed: BoolArray
    luck: FloatArray
    known: IntArray
    listed: IntArray
    unseen: IntArray


class Found(NamedTuple):
    """The books of documents: the row of each version, when each was accepted (nan: not yet), the accepted version of
    each page; and the versions accepted since the kernel began. Last, a place for what is read off a page."""

    row: IntArray
    when: FloatArray
    stored: IntArray
    stores: BoolArray
    accepted: IntArray
    shown: IntArray


class Figures(Generic[T]):
    """A dataclass of figures, and its twin: a table of one row that kernels change."""

    def __init__(self, of: type[Any]) -> None:
        names = [one.name for one in fields(of)]
        kinds: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
        self._names = names
        self._values: Callable[[T], tuple[object, ...]] = attrgetter(*names)
        self.row = np.zeros(1, dtype=[(one.name, kinds[one.type]) for one in fields(of)])

    def write(self, figures: T) -> None:
        self.row[0] = self._values(figures)

    def read(self, figures: T) -> None:
        for name, value in zip(self._names, self.row.item(), strict=True):
            setattr(figures, name, value)
