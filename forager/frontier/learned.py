"""ML: one ranking learned from all others (random-walk paper, section 6).

Each page is described by its scores under the other rankings; a regression on pages of known impact predicts the impact
of the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from forager.frontier.kernels import Counts, Vector
from forager.frontier.steps import Ranking
from forager.units import Count, Share


class Regression(StrEnum):
    """What predicts the impact."""

    TREE = "tree"  # the paper's choice for Wikipedia
    BOOSTING = "boosting"


@dataclass(frozen=True, slots=True)
class LearnedSettings:
    """How the learned combination is trained."""

    regression: Regression = Regression.TREE
    """`tree`, stated by the paper, or `boosting`: gradient-boosted trees, ours."""
    training_share: Share = 0.65
    """Part of the frontier whose impact is given for training, the rest is for judging; stated by the paper."""
    leaf_pages: Count = 20
    """Training pages in each leaf of a tree, at least; ours."""


def split(pages: Counts, share: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Pages at random in two: this share for training, the rest for judging; both in order of their numbers."""
    mixed = rng.permutation(pages)
    cut = round(share * pages.size)
    return np.sort(mixed[:cut]), np.sort(mixed[cut:])


def learned_rank(
    features: Sequence[Ranking], known: Counts, impact: Vector, pages: Counts, settings: LearnedSettings
) -> Ranking:
    """Predicted impact of `pages`, learned from the training pages `known`, which earned `impact`.

    A tree gives all pages of a leaf the same prediction: the last feature decides among them.
    """
    table = np.column_stack([feature.places() for feature in features])
    model = _model(settings)
    model.fit(table[known], impact)
    scores = np.zeros(len(table))
    scores[pages] = _untied(model.predict(table[pages]), features[-1].scores[pages])
    return Ranking(scores, sum(feature.iterations for feature in features))


def _model(settings: LearnedSettings) -> DecisionTreeRegressor | HistGradientBoostingRegressor:
    if settings.regression is Regression.TREE:
        return DecisionTreeRegressor(min_samples_leaf=settings.leaf_pages, random_state=0)
    return HistGradientBoostingRegressor(min_samples_leaf=settings.leaf_pages, random_state=0, early_stopping=False)


def _untied(predicted: NDArray[np.float64], decider: Vector) -> Vector:
    """Predictions moved by less than half of the smallest gap between them, so that equal ones follow `decider`."""
    levels = np.unique(predicted)
    gap = float(np.diff(levels).min()) if levels.size > 1 else 1.0
    distinct, places = np.unique(decider, return_inverse=True)
    return predicted + 0.49 * gap * places / max(1, distinct.size)
