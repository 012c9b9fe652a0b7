"""The record of a forager's life, with its credit with the reinforcing agent (Alg 7)."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from forager.core.parameters import ForagerKind
from forager.terms import ForagerId


@dataclass(slots=True)
class ForagerRecord:
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

    def follow(self, walker: Any) -> None:
        """Score and counts are what they are in the flock."""
        self.score, self.sent = float(walker["score"]), int(walker["sent"])
        self.relevant, self.downloads = int(walker["relevant"]), int(walker["downloads"])

    def lead(self, walker: NDArray[Any]) -> None:
        """Score and counts in the flock become what they are here."""
        walker["score"], walker["sent"] = self.score, self.sent
        walker["relevant"], walker["downloads"] = self.relevant, self.downloads
