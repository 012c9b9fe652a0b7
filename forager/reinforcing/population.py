"""Who multiplies and who is deleted (Alg 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from forager.foragers.settings import ForagerKind
from forager.reinforcing.scores import Record
from forager.reinforcing.settings import PopulationSettings, ScoreSettings
from forager.terms import ForagerId


@dataclass(frozen=True, slots=True)
class Multiplied:
    """A forager has a child."""

    parent: ForagerId
    child: ForagerId
    at: float


@dataclass(frozen=True, slots=True)
class Deleted:
    """A forager is gone."""

    forager: ForagerId
    at: float
    score: float


class Fate(Enum):
    """What becomes of a forager after its turn."""

    STAYS = auto()
    MULTIPLIES = auto()
    REPLACES = auto()  # multiplies, and the poorest other one is deleted to make room
    GOES = auto()


def fate(record: Record, alive: int, population: PopulationSettings, scores: ScoreSettings) -> Fate:
    """What the score of a forager means when so many are alive. The baseline always stays as it is."""
    if record.kind is ForagerKind.BFS:
        return Fate.STAYS
    multiply_at = scores.relative_gain if scores.relative else scores.multiply_at
    delete_below = -scores.relative_gain if scores.relative else scores.delete_below
    if record.score >= multiply_at:
        if alive < population.most:
            return Fate.MULTIPLIES
        return Fate.REPLACES if scores.relative and alive > 1 else Fate.STAYS
    return Fate.GOES if record.score < delete_below and alive > population.least else Fate.STAYS


def poorest(records: Sequence[Record], but: ForagerId) -> Record:
    """The one with the lowest score, not counting `but`; the oldest if equal."""
    return min((record for record in records if record.id != but), key=lambda record: record.score)
