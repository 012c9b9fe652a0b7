"""Policies side by side on one change log: folds over pages, 95% intervals, victories and losses per cycle (GP4C)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from forager.chance import stream
from forager.recrawl.log import ChangeLog
from forager.recrawl.policies import ScoreFunction
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.simulate import Curves, Greedy, Oracle, simulate

FloatArray = NDArray[np.float64]
MakeScore = Callable[[np.random.Generator], ScoreFunction]
Figure = Literal["change_rate", "ndcg", "freshness", "age"]
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A policy and what it achieved on each fold."""

    name: str
    folds: tuple[Curves, ...]

    def curves(self, figure: Figure) -> FloatArray:
        """One row per fold, one column per cycle after the warm-up."""
        return np.array([getattr(fold, figure) for fold in self.folds])

    def mean(self, figure: Figure) -> float:
        curves = self.curves(figure)
        return float(curves.mean()) if curves.size else 0.0

    def interval(self, figure: Figure) -> float:
        """Half the 95% confidence interval of the mean over folds; 0 for a single fold."""
        curves = self.curves(figure)
        return half_interval(curves.mean(axis=1)) if curves.size else 0.0

    def top(self) -> FloatArray:
        """ChangeRate of the best 1/5 … 5/5 of the schedule."""
        return np.asarray(np.mean([fold.top.mean(axis=0) for fold in self.folds], axis=0))

    def delays(self) -> FloatArray:
        found = [fold.discovery.delays for fold in self.folds if fold.discovery is not None]
        return np.concatenate(found) if found else np.empty(0)

    def coverage(self) -> float:
        found = [fold.discovery for fold in self.folds if fold.discovery is not None]
        documents = sum(one.documents for one in found)
        return sum(len(one.delays) for one in found) / documents if documents else 0.0


def half_interval(values: FloatArray) -> float:
    """Half the 95% confidence interval of the mean (Student's t)."""
    if len(values) < 2:
        return 0.0
    return float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def compare(
    log: ChangeLog,
    policies: Sequence[tuple[str, MakeScore]],
    settings: RecrawlSettings,
    *,
    folds: int = 5,
    seed: int = 0,
    young: float = 24.0,
) -> list[Judged]:
    """Every policy on every fold of the shuffled log, and last the oracle."""
    parts = log.shuffled(stream(seed, "compare: order of pages")).folds(folds)
    judged = [
        Judged(
            name, tuple(simulate(part, make(stream(seed, f"policy {name}")), settings, young=young) for part in parts)
        )
        for name, make in policies
    ]
    return [*judged, Judged("oracle", tuple(_oracle(part, settings, young) for part in parts))]


def _oracle(log: ChangeLog, settings: RecrawlSettings, young: float) -> Curves:
    """What an oracle of changes achieves; the documents are found by another, which knows what pages show."""
    curves = simulate(log, Oracle(log), settings, young=young)
    if log.documents is None:
        return curves
    return replace(curves, discovery=simulate(log, Greedy(), settings, young=young).discovery)


def victories(one: Judged, other: Judged, figure: Figure) -> tuple[int, int]:
    """Cycles in which `one` is significantly better, and worse, than `other` by a paired t-test over the folds."""
    difference = one.curves(figure) - other.curves(figure)
    if len(difference) < 2:
        return 0, 0
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1)
    limit = float(stats.t.ppf(1.0 - SIGNIFICANT / 2.0, len(difference) - 1)) * spread / np.sqrt(len(difference))
    sure = np.abs(mean) > limit
    return int(np.count_nonzero(sure & (mean > 0.0))), int(np.count_nonzero(sure & (mean < 0.0)))
