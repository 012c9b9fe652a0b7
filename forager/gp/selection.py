"""Which of the best individuals of all runs becomes the score function, and whether it is better than known rules.

The individual is chosen by Best, Avg or Sum (GP4C). It replaces the rules that people found only if it is better beyond
chance. The best of many functions on the validation pages is partly the luckiest. So it is held against the best known
rule on these pages, page by page: what a page contributes under the one less what it contributes under the other.
Pages, not cycles, are what luck is measured by: a function that suits the pages at hand is ahead in every cycle and
need not be on others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.gp.evolve import Measurer
from forager.gp.gp_settings import Selection
from forager.gp.trees import Tree


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


def choose_individual(candidates: Sequence[Candidate], select: Selection) -> Candidate:
    """The best candidate by this rule; ties: the shorter tree, then by symbols."""
    worth = _WORTH[select]
    return min(candidates, key=lambda one: (-worth(one), len(one.tree), str(one.tree)))


BEYOND_CHANCE = 1.645
"""Standard errors by which a function must be ahead: less than one in twenty is so by chance."""

ByPage = Callable[[Tree], NDArray[np.float64]]
"""What each page contributes to the fitness of a tree; their mean is the fitness."""


@dataclass(frozen=True, slots=True)
class CarefulChoice:
    """The function that was chosen, and how the evolved one did against the best known rule."""

    chosen: Candidate
    evolved: Candidate
    known: Candidate | None = None
    """The best known rule on training and validation pages together; None: nobody asked for one."""
    gain: float = 0.0
    """Fitness of the evolved function less that of the rule on the validation pages, …"""
    error: float = 0.0
    """… and the standard error of this difference, from page to page."""

    @property
    def is_evolved(self) -> bool:
        return self.chosen is self.evolved


def paired_difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """By how much the first is better, page by page, in the mean; and the standard error of that."""
    gains = one - other
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
    return float(gains.mean()) if len(gains) else 0.0, float(error)


def is_beyond_chance(gain: float, error: float, errors: float = BEYOND_CHANCE) -> bool:
    """Whether a gain is more than so many times its standard error."""
    return gain > 0.0 and gain > errors * error


def choose_carefully(
    evolved: Candidate, rules: Sequence[Tree], train: Measurer, validate: Measurer, by_page: ByPage
) -> CarefulChoice:
    """The evolved function, or the best of these rules; `by_page` tells of the validation pages."""
    if not rules:
        return CarefulChoice(evolved, evolved)
    judged = [Candidate(*one) for one in zip(rules, train(rules), validate(rules), strict=True)]
    known = max(judged, key=lambda one: (one.train + one.validation, -len(one.tree)))
    gain, error = paired_difference(by_page(evolved.tree), by_page(known.tree))
    better = is_beyond_chance(gain, error) and evolved.train >= known.train
    return CarefulChoice(evolved if better else known, evolved, known, gain, error)
