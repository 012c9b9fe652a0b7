"""Policies side by side on one change log: folds over pages, 95% intervals, victories and losses per cycle (GP4C).

Documents are looked for on all pages together: several pages show the same, and a budget of six pages a cycle cannot be
dealt out to five folds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from forager.arrays import FloatArray
from forager.chance import stream
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.policies import ScoreFunction
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.simulate import Curves, Discovery, Greedy, Oracle, simulate

MakeScore = Callable[[np.random.Generator], ScoreFunction]
Figure = Literal["change_rate", "ndcg", "freshness", "age"]
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A policy and what it achieved on each fold; and, on all pages together, the documents it found."""

    name: str
    folds: tuple[Curves, ...]
    discovery: Discovery | None = None

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
        """ChangeRate and NDCG of the best 1/5 … 5/5 of the schedule, a row each."""
        return np.asarray(np.mean([fold.top.mean(axis=0) for fold in self.folds], axis=0))


def half_interval(values: FloatArray) -> float:
    """Half the 95% confidence interval of the mean (Student's t)."""
    if len(values) < 2:
        return 0.0
    return float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def judge_policies(
    log: ChangeLog,
    policies: Sequence[tuple[str, MakeScore]],
    settings: RecrawlSettings,
    *,
    folds: int = 5,
    seed: int = 0,
    young: float = 24.0,
    begin: Callable[[str], None] = lambda name: None,
) -> list[Judged]:
    """Every policy on every fold of the shuffled log, and last the oracle; `begin` is told whose turn it is."""
    whole = log.shuffled(stream(seed, "compare: order of pages"))
    parts = whole.folds(folds)

    def judge(name: str, of_parts: Sequence[ScoreFunction], of_all: ScoreFunction) -> Judged:
        begin(name)
        curves = [simulate(part, score, settings, young=young) for part, score in zip(parts, of_parts, strict=True)]
        found = None if whole.documents is None else simulate(whole, of_all, settings, young=young).discovery
        return Judged(name, tuple(curves), found)

    judged = []
    for name, make in policies:
        each = [make(stream(seed, f"policy {name}")) for _ in range(folds + 1)]
        judged.append(judge(name, each[:-1], each[-1]))
    return [*judged, judge("oracle", [Oracle(part) for part in parts], Greedy())]


def victories(one: Judged, other: Judged, figure: Figure) -> tuple[int, int]:
    """Cycles in which `one` is significantly better, and worse, than `other` by a paired t-test over the folds."""
    difference = one.curves(figure) - other.curves(figure)
    if len(difference) < 2:
        return 0, 0
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1)
    limit = float(stats.t.ppf(1.0 - SIGNIFICANT / 2.0, len(difference) - 1)) * spread / np.sqrt(len(difference))
    sure = np.abs(mean) > limit
    return int(np.count_nonzero(sure & (mean > 0.0))), int(np.count_nonzero(sure & (mean < 0.0)))
