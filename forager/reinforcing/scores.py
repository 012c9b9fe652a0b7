"""Scores: a forager's credit with the reinforcing agent, and the record of its life (Alg 7)."""

from dataclasses import dataclass

from forager.foragers.settings import ForagerKind
from forager.reinforcing.settings import ScoreSettings
from forager.terms import ForagerId


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
