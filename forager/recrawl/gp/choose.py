"""Which of the best individuals of all runs becomes the score function: Best, Avg or Sum (GP4C)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forager.recrawl.gp.settings import Selection
from forager.recrawl.gp.tree import Tree


@dataclass(frozen=True, slots=True)
class Candidate:
    """An individual with its fitness on training and on validation pages."""

    tree: Tree
    train: float
    validation: float

    @property
    def spread(self) -> float:
        """σ of the two figures."""
        return abs(self.train - self.validation) / 2.0


_WORTH: Mapping[Selection, Callable[[Candidate], float]] = {
    "best": lambda one: one.validation,
    "avg": lambda one: (one.train + one.validation) / 2.0 - one.spread,
    "sum": lambda one: one.train + one.validation - one.spread,
}


def choose(candidates: Sequence[Candidate], select: Selection) -> Candidate:
    """The best candidate by this rule; ties: the shorter tree, then by symbols."""
    worth = _WORTH[select]
    return min(candidates, key=lambda one: (-worth(one), len(one.tree), str(one.tree)))
