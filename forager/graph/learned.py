"""Learned rankings: ML, which combines all others, and the best ω of a walk (random-walk paper).

ML (section 6) describes each page by its scores under the other rankings; a regression on pages of known impact
predicts the impact of the rest.

ω is chosen by the .632+ bootstrap (Efron and Tibshirani 1997; random-walk paper, section 5.1). The error on the pages
used for the choice is too low, the error on pages left out too high; .632+ combines both, with more weight on the
second the stronger the overfitting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from forager.arrays import FloatArray, IntArray
from forager.graph.figures import chance_impact, relative_impact
from forager.graph.walks import Ranking
from forager.units import Count, Share


class Regression(StrEnum):
    """The model that predicts impact."""

    TREE = "tree"  # the paper's choice for Wikipedia
    BOOSTING = "boosting"
    ONLINE = "online"  # linear, learned from one page after the other, as the paper also has it


class OnlineRegression:
    """Linear least squares, learned from one row after the other (recursive least squares)."""

    def fit(self, table: FloatArray | IntArray, wanted: FloatArray) -> None:
        rows = np.column_stack([table, np.ones(len(table))])
        self._weights, spread = np.zeros(rows.shape[1]), 1e6 * np.eye(rows.shape[1])
        for row, value in zip(rows, wanted.tolist(), strict=True):
            towards = spread @ row
            gain = towards / (1 + row @ towards)
            self._weights += gain * (value - row @ self._weights)
            spread -= np.outer(gain, towards)

    def predict(self, table: FloatArray | IntArray) -> FloatArray:
        predicted: FloatArray = table @ self._weights[:-1] + self._weights[-1]
        return predicted


@dataclass(frozen=True, slots=True)
class LearnedSettings:
    """How ML is trained."""

    regression: Regression = Regression.TREE
    """`tree`, stated by the paper, `online`: a linear regression that sees each
    training page once, named by the paper too; `boosting`: gradient-boosted trees, ours."""
    training_share: Share = 0.65
    """Share of the frontier with known impact for training; the rest is for judging; stated by the paper."""
    leaf_pages: Count = 20
    """Minimum number of training pages in each leaf of a tree; ours."""


def split_pages(pages: IntArray, share: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Splits pages at random: this share for training, the rest for judging; both in order of their numbers."""
    mixed = rng.permutation(pages)
    cut = round(share * pages.size)
    return np.sort(mixed[:cut]), np.sort(mixed[cut:])


def learned_rank(
    features: Sequence[Ranking], known: IntArray, impact: FloatArray, pages: IntArray, settings: LearnedSettings
) -> Ranking:
    """Predicts the impact of `pages` from the training pages `known`, which have `impact`.

    A tree predicts the same value for all pages of a leaf; the last feature breaks such ties.
    """
    table = np.column_stack([feature.places() for feature in features])
    model = _model(settings)
    model.fit(table[known], impact)
    scores = np.zeros(len(table))
    scores[pages] = _untied(model.predict(table[pages]), features[-1].scores[pages])
    return Ranking(scores, sum(feature.iterations for feature in features))


def _model(settings: LearnedSettings) -> DecisionTreeRegressor | HistGradientBoostingRegressor | OnlineRegression:
    if settings.regression is Regression.TREE:
        return DecisionTreeRegressor(min_samples_leaf=settings.leaf_pages, random_state=0)
    if settings.regression is Regression.ONLINE:
        return OnlineRegression()
    return HistGradientBoostingRegressor(min_samples_leaf=settings.leaf_pages, random_state=0, early_stopping=False)


def _untied(predicted: FloatArray, decider: FloatArray) -> FloatArray:
    """Shifts predictions by less than half of the smallest gap between them, so that equal ones follow `decider`."""
    levels = np.unique(predicted)
    gap = float(np.diff(levels).min()) if levels.size > 1 else 1.0
    distinct, places = np.unique(decider, return_inverse=True)
    return predicted + 0.49 * gap * places / max(1, distinct.size)


OMEGAS = tuple(tenth / 10 for tenth in range(11))
"""The values of ω to try: steps of 0.1, stated by the paper."""


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """How ω is chosen."""

    share: Share = 0.1
    """Impact is compared on this first part of the frontier; the paper shows 5% and 10%."""
    samples: Count = 50
    """Number of bootstrap samples; ours."""


def error_632_plus(apparent: float, left_out: float, no_information: float) -> float:
    """The .632+ estimate from the error on training pages, the error on pages left out, and that of a rule that knows
    nothing."""
    left_out = min(left_out, no_information)
    overfit = 0.0
    if left_out > apparent and no_information > apparent:
        overfit = (left_out - apparent) / (no_information - apparent)
    weight = 0.632 / (1 - 0.368 * overfit)
    return (1 - weight) * apparent + weight * left_out


def ranking_errors(
    rankings: Sequence[Ranking], pages: IntArray, impact: FloatArray, settings: TuningSettings, rng: np.random.Generator
) -> list[float]:
    """Returns the .632+ error of each ranking on training pages: 1 − impact relative to the ideal.

    `impact` covers all page numbers. All rankings use the same bootstrap samples.
    """
    orders = [ranking.order(pages) for ranking in rankings]
    errors: list[list[float]] = [[] for _ in rankings]
    left_out = np.empty(impact.size, dtype=np.bool_)
    for _ in range(settings.samples):
        left_out[:] = True
        left_out[rng.choice(pages, pages.size)] = False
        for order, found in zip(orders, errors, strict=True):
            rest = order[left_out[order]]
            if rest.size:
                found.append(_error(impact[rest], settings))
    chance = 1 - chance_impact(impact[pages], settings.share)
    apparent = [_error(impact[order], settings) for order in orders]
    return [
        error_632_plus(own, float(np.mean(found)) if found else own, chance)
        for own, found in zip(apparent, errors, strict=True)
    ]


def best_omega(
    rankings: Mapping[float, Ranking],
    pages: IntArray,
    impact: FloatArray,
    settings: TuningSettings,
    rng: np.random.Generator,
) -> float:
    """The ω whose ranking has the lowest error on the training pages; of equally good ones the largest, nearest to RW."""
    errors = ranking_errors(list(rankings.values()), pages, impact, settings, rng)
    return min(zip(errors, rankings, strict=True), key=lambda found: (found[0], -found[1]))[1]


def _error(ranked: FloatArray, settings: TuningSettings) -> float:
    return 1 - relative_impact(ranked, [settings.share])[0]
