"""The last choice: an evolved function replaces the rules that people found only if it is better beyond chance.

The best of many functions on the validation pages is partly the luckiest. So it is held against the best known rule on
these pages, page by page: what a page contributes under the one less what it contributes under the other. Pages, not
cycles, are what luck is measured by: a function that suits the pages at hand is ahead in every cycle and need not be on
others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.gp.choose import Candidate
from forager.recrawl.gp.evolve import Measurer
from forager.recrawl.gp.tree import Tree

BEYOND_CHANCE = 1.645
"""Standard errors by which a function must be ahead: less than one in twenty is so by chance."""

ByPage = Callable[[Tree], NDArray[np.float64]]
"""What each page contributes to the fitness of a tree; their mean is the fitness."""


@dataclass(frozen=True, slots=True)
class Choice:
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


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """By how much the first is better, page by page, in the mean; and the standard error of that."""
    gains = one - other
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
    return float(gains.mean()) if len(gains) else 0.0, float(error)


def is_beyond_chance(gain: float, error: float, errors: float = BEYOND_CHANCE) -> bool:
    """Whether a gain is more than so many times its standard error."""
    return gain > 0.0 and gain > errors * error


def choose_carefully(
    evolved: Candidate, rules: Sequence[Tree], train: Measurer, validate: Measurer, by_page: ByPage
) -> Choice:
    """The evolved function, or the best of these rules; `by_page` tells of the validation pages."""
    if not rules:
        return Choice(evolved, evolved)
    judged = [Candidate(*one) for one in zip(rules, train(rules), validate(rules), strict=True)]
    known = max(judged, key=lambda one: (one.train + one.validation, -len(one.tree)))
    gain, error = difference(by_page(evolved.tree), by_page(known.tree))
    better = is_beyond_chance(gain, error) and evolved.train >= known.train
    return Choice(evolved if better else known, evolved, known, gain, error)
