"""Input and output of the replay loop: arrays grouped by owner, the changing state, the fixed rules, and the records.

`LoopState` holds what changes while the loop runs, `LoopRules` what stays fixed. Python sees both as plain objects, a
kernel sees each as a table with a single row. The records say what happened; account and journal read them.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray
from forager.kernel import inner


@dataclass(slots=True)
class LoopState:
    """The state of a replay. Fields with an owner are copied from it before the kernel runs, and back afterwards."""

    now: float = 0.0  # owner: the clock
    until: float = 0.0
    """When the loop must return to Python."""
    end: float = 0.0
    """When the replay ends."""
    fleet_spent: float = 0.0
    recrawl_spent: float = 0.0
    """Downloads of the fleet and of the recrawl side."""
    fleet_rests: float = 0.0
    recrawl_rests: float = 0.0
    """Until when the fleet and the recrawl side rest."""
    rest: float = 0.0
    """Length of the fleet's next rest in seconds."""
    fetched: int = 0  # owner of this and the next: the world
    unrecorded: int = 0
    slot: int = -1
    """The forager whose turn it is; -1 if none."""
    left: float = 0.0
    """Seconds left of its time slice."""
    free: int = 0
    """Consecutive steps without a download."""
    idle: int = 0
    """Consecutive turns without a download."""
    lesson: int = 2**62
    """Number of visits in the log at which to learn a score function."""
    waiting: int = 0
    """Links added since the link graph was last scored."""
    most_waiting: int = 2**62
    """Maximum of `waiting`; above it, the link graph is scored again."""
    renew_at: float = np.inf
    """When the link graph is scored again if any links wait."""
    lucks: int = 0
    """Random numbers that the recrawl side has used."""
    changes: int = 0
    """Visits of the recrawl side that could find a change."""
    cycles: int = 0
    """Recrawl cycles that ended."""
    cycle_ended: float = 0.0
    cycle_began_at: int = 0
    cycle_ended_at: int = 0
    """When the last cycle ended, and the values of `changes` at its beginning and end."""
    written: int = 0
    """Number of records written."""


@dataclass(frozen=True, slots=True)
class LoopRules:
    """The settings that the loop needs besides those of foragers, under the same names."""

    usual: float
    explore: float
    memory: float
    share: float
    idle: float
    longest_rest: float
    slice: float
    shuffles: bool
    """Whether every round of time slices has an order of its own."""
    free_steps: int
    reads_off: bool
    watches: bool
    """Whether there is a recrawl side."""
    tells: bool
    """Whether events are written, so that the loop must return when a cycle ends."""
    suggests: bool
    """Whether newborn foragers get pages of the link graph, so that the loop must return at births."""
    widest: int
    """Maximum number of links of a page."""
    most_records: int
    """Maximum number of records of a step."""


class Books(NamedTuple):
    """The documents of the tape, buffers for a step, and the records."""

    known_as: IntArray
    """For each version, the agent's number of its document."""
    sent_as: IntArray
    """For each version, the foragers' number of its document."""
    links: IntArray
    """Buffer for the links of the page that a step visits."""
    others: IntArray
    """Buffer for the links of a page that is linked from it."""
    versions: IntArray
    """Buffer for the versions of the linked pages."""
    firsts: BoolArray
    """Buffer: whether each linked page was visited for the first time."""
    shown: IntArray
    """Buffer for the documents read off a page."""
    luck: FloatArray
    """Random numbers for the recrawl side."""
    changed: BoolArray
    """For each visit of the recrawl side counted in `changes`, whether it found a change."""
    records: RowArray
    """Records, see `PlainRecord`."""


VISIT, BORN, DELETED = 0, -1, -2
"""Values of `what` for a download, a birth and a death; others say what became of a document, see `core.judge`."""


Records = RowArray
"""Records in order of time."""


class PlainRecord(Protocol):
    """A download, the judgement of a document, or the birth or deletion of a forager."""

    at: float
    what: int
    by: int  # a forager, or -1 for the recrawl side; for a birth the child
    step: int  # the step of this forager
    page: int  # for a birth the parent
    version: int  # -1: not recorded at that time
    amount: float  # what a forager earned for it; for a deletion its score


_TYPES = {float: np.float64, int: np.int64}
RECORD = np.dtype([(name, _TYPES[kind]) for name, kind in PlainRecord.__annotations__.items()])


@inner
def write_visit(at: LoopState, books: Books, by: int, page: int, version: int) -> None:
    """Records the download of a page."""
    record: PlainRecord = books.records[at.written]
    record.at, record.what, record.by, record.page, record.version = at.now, VISIT, by, page, version
    at.written += 1


@inner
def write_document(
    at: LoopState, books: Books, by: int, step: int, page: int, version: int, became: int, amount: float
) -> None:
    """Records the judgement of a document."""
    record: PlainRecord = books.records[at.written]
    record.at, record.what, record.by, record.step, record.page = at.now, became, by, step, page
    record.version, record.amount = version, amount
    at.written += 1


@inner
def write_change(at: LoopState, books: Books, what: int, who: int, parent: int, score: float) -> None:
    """Records the birth or deletion of a forager."""
    record: PlainRecord = books.records[at.written]
    record.at, record.what, record.by, record.page, record.version = at.now, what, who, parent, -1
    record.amount = score
    at.written += 1
