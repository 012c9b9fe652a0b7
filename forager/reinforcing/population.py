"""What happens in a population: foragers multiply and are deleted (Alg 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from forager.reinforcing.scores import Record
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


def poorest(records: Sequence[Record], but: ForagerId) -> Record:
    """The one with the lowest score, not counting `but`; the oldest if equal."""
    return min((record for record in records if record.id != but), key=lambda record: record.score)
