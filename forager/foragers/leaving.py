"""When to leave a path: when its best open link is worth less than what the fleet earns on average.

This is the marginal value theorem of foraging animals: leave the patch when it pays less than the average place.
"""

from forager.compiling import compiled
from forager.foragers.settings import LeavingSettings

AGES = 200
"""Documents over which their mean age is taken."""


def _after(hits: float, downloads: float, memory: float, count: float) -> tuple[float, float]:
    """Hits and downloads after so many more downloads, the old ones fading."""
    keep = (1 - 1 / memory) ** count
    return hits * keep, downloads * keep + count


def _aged(mean: float, age: float) -> float:
    """The mean age of documents after one more of this age was found."""
    return mean + (max(0.0, age) - mean) / AGES


after, aged = compiled(_after), compiled(_aged)
"""The same for kernels."""


class Pace:
    """How well the fleet does: hits per download, and how old documents are when they are found, as running means.

    Hits may come later than their downloads.
    """

    def __init__(self, memory: int, hits: float = 0.0, downloads: float = 0.0, age: float = 0.0) -> None:
        self.memory = memory
        self.hits, self.downloads, self.age = hits, downloads, age

    def __repr__(self) -> str:
        return f"<Pace {self.mean:.3f} hits per download>"

    @property
    def mean(self) -> float:
        """Hits per download; 0 before anything was downloaded."""
        return self.hits / self.downloads if self.downloads else 0.0

    def downloaded(self, count: int) -> None:
        if count:
            self.hits, self.downloads = _after(self.hits, self.downloads, float(self.memory), float(count))

    def hit(self) -> None:
        self.hits += 1

    def found(self, age: float) -> None:
        """A document of this age was found."""
        self.age = _aged(self.age, age)


def leaves(best: float, pace: Pace, settings: LeavingSettings) -> bool:
    """Whether a path whose best open link is worth `best` should be left."""
    return best < settings.below * pace.mean
