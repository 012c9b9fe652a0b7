"""What the loop of a replay works on: arrays that belong to others, gathered by owner, two rows of figures, and the records
of what happened.

A figure that moves while the loop runs stands in the `Course`, one that stays in the `Rules`. Python sees both as plain
objects, a kernel as the one row of a table. Account and journal are fed from the records.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.compiling import inner
from forager.core.rules import BoolArray, FloatArray, ForagerRules, IntArray


@dataclass(slots=True)
class LoopState:
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
    fetched: int = 0  # the world's, as the next
    unrecorded: int = 0
    slot: int = -1
    """The forager whose turn it is; -1 for nobody's."""
    left: float = 0.0
    """Seconds of its slice."""
    free: int = 0
    """Steps in a row that cost nothing."""
    idle: int = 0
    """Turns in a row that cost nothing."""
    lesson: int = 2**62
    """Visits in the log from which on a score function is to be learned."""
    waiting: int = 0
    """Links that wait for the next scores of the link graph, …"""
    most_waiting: int = 2**62
    """… so many at most, …"""
    renew_at: float = np.inf
    """… or any from then on."""
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
    written: int = 0
    """… and records that were written."""


@dataclass(frozen=True, slots=True)
class Rules(ForagerRules):
    """What the settings say, as the loop needs it; the names are those of the settings."""

    usual: float
    explore: float
    memory: float
    share: float
    idle: float
    longest_rest: float
    slice: float
    free_steps: int
    reads_off: bool
    watches: bool
    """There is a recrawl side."""
    tells: bool
    """Somebody is told when a cycle ends."""
    widest: int
    """Links of a page at most, …"""
    most_records: int
    """… and records of a step."""


class Books(NamedTuple):
    """The documents of the tape, places for what a step sees, and the records."""

    known_as: IntArray
    """For each version the number by which the agent knows its document, …"""
    sent_as: IntArray
    """… and by which foragers know it."""
    links: IntArray
    """Places for the links of the page of a step, …"""
    others: IntArray
    """… for those of a page that is linked from it, …"""
    versions: IntArray
    """… for the versions that these pages show, …"""
    firsts: BoolArray
    """… and whether they were visited for the first time."""
    shown: IntArray
    """A place for what is read off a page."""
    luck: FloatArray
    """Of the recrawl side."""
    changed: BoolArray
    """Which of its visits, of those that could, saw a change."""
    records: NDArray[np.void]
    """See `PlainRecord`."""


VISIT = 0
"""What a record is of: a download, or else what became of a document, see `core.judge`."""


Records = NDArray[np.void]
"""Records, in the order in which things happened."""


class PlainRecord(Protocol):
    """One thing that happened."""

    at: float
    what: int
    by: int  # a forager, or -1 for the recrawl side
    step: int  # of this forager
    page: int
    version: int  # -1: none was recorded then
    amount: float  # what a forager earned for it


_TYPES = {float: np.float64, int: np.int64}
RECORD = np.dtype([(name, _TYPES[kind]) for name, kind in PlainRecord.__annotations__.items()])


@inner
def write_visit(at: LoopState, books: Books, by: int, page: int, version: int) -> None:
    """A page was downloaded."""
    record: PlainRecord = books.records[at.written]
    record.at, record.what, record.by, record.page, record.version = at.now, VISIT, by, page, version
    at.written += 1


@inner
def write_document(
    at: LoopState, books: Books, by: int, step: int, page: int, version: int, became: int, amount: float
) -> None:
    """A document was judged."""
    record: PlainRecord = books.records[at.written]
    record.at, record.what, record.by, record.step, record.page = at.now, became, by, step, page
    record.version, record.amount = version, amount
    at.written += 1
