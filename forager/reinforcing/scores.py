"""Scores: a forager's credit with the reinforcing agent, and the record of its life (Alg 7)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.foragers.settings import ForagerKind
from forager.terms import ForagerId


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """The economy of the fleet."""

    initial: float = 100.0
    """The score of a new forager, and of parent and child after multiplication (reconstructed)."""
    sent: Annotated[float, Field(ge=0)] = 0.05
    """Taken for every document sent, relevant or not (reconstructed)."""
    relevant: Annotated[float, Field(gt=0)] = 1.0
    """Given for a relevant one (reconstructed)."""
    multiply_at: float = 200.0
    """A forager that reaches this score multiplies (reconstructed)."""
    delete_below: float = 0.0
    """A forager whose score falls below this is deleted (reconstructed)."""
    relative: bool = False
    """Count documents against what the whole fleet finds with as many downloads, and let a good forager take the place
    of the poorest when the fleet is full. Ours, off: with the paper's rule nobody is ever deleted, but relative scores
    gained nothing in replays and hurt on list pages."""
    relative_gain: Annotated[float, Field(gt=0)] = 20.0
    """Documents above the fleet's mean at which a forager multiplies, and below it at which it is deleted (ours)."""


@dataclass(slots=True)
class Record:
    """The life of a forager; kept after its end."""

    id: ForagerId
    kind: ForagerKind
    parent: ForagerId | None
    born: float
    score: float
    deleted: float | None = None
    sent: int = 0
    relevant: int = 0
    downloads: int = 0


class Scores:
    """Changes the scores in records, by either rule."""

    def __init__(self, settings: ScoreSettings) -> None:
        self.settings = settings
        self.relevant = 0
        self.downloads = 0
        """Of the whole fleet, for the mean that relative scores are measured against."""

    @property
    def first(self) -> float:
        """The score to begin with."""
        return 0.0 if self.settings.relative else self.settings.initial

    def judged(self, record: Record, relevant: bool) -> None:
        """A document of this forager was judged."""
        settings = self.settings
        record.sent += 1
        record.relevant += relevant
        self.relevant += relevant
        if settings.relative:
            record.score += float(relevant)
        else:
            record.score += settings.relevant * relevant - settings.sent

    def worked(self, record: Record, downloads: int) -> None:
        """This forager has downloaded so many pages; shared copies are not work."""
        record.downloads += downloads
        self.downloads += downloads
        if self.settings.relative:
            record.score -= downloads * self.relevant / max(1, self.downloads)
