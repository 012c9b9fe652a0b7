"""Policies side by side on one change log: folds over pages, 95% intervals, victories and losses per cycle (GP4C).

Documents are searched for on all pages together, because several pages show the same document, and because a budget of
six pages a cycle cannot be divided among five folds.

The evaluation of HACS asks at time t which pages will change within the horizon e, for several thresholds and windows.
It takes a change log as a collection of captures, one per cycle. At each t the update rates come from the captures of
the last w cycles; pages with p ≥ θ are predicted to change; the truth is which pages change in (t, t + e]. Pages with
equal p are in the order of the log.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.chance import stream
from forager.recrawl.change_log import ChangeLog, patterns
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update
from forager.recrawl.policies import ScoreFunction
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.simulate import Curves, Discovery, Greedy, Oracle, simulate

MakeScore = Callable[[np.random.Generator], ScoreFunction]
Figure = Literal["change_rate", "ndcg", "freshness", "age"]
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A policy and what it achieved on each fold; and the documents it found on all pages together."""

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
    """Judges every policy on every fold of the shuffled log, and last the oracle; `begin` is called with the name of
    each policy.
    """
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
    """The number of cycles in which `one` is significantly better than `other`, and worse, by a paired t-test over the
    folds.
    """
    difference = one.curves(figure) - other.curves(figure)
    if len(difference) < 2:
        return 0, 0
    mean, spread = difference.mean(axis=0), difference.std(axis=0, ddof=1)
    limit = float(stats.t.ppf(1.0 - _SIGNIFICANT / 2.0, len(difference) - 1)) * spread / np.sqrt(len(difference))
    sure = np.abs(mean) > limit
    return int(np.count_nonzero(sure & (mean > 0.0))), int(np.count_nonzero(sure & (mean < 0.0)))


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Quality:
    """Precision, recall and F1, over all times together (micro) or as a mean over times (macro)."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class WindowJudged:
    """How well the captures of the last `window` cycles predict updates."""

    window: int
    micro: tuple[Quality, ...]
    """One per threshold."""
    macro: tuple[Quality, ...]
    random: tuple[Quality, ...]
    """As many pages predicted as HACS does, drawn at random: what is to be expected of that, micro, by threshold."""
    brute: Quality
    """Every page predicted, micro."""
    weighted_precision: float
    """Weighted P@K of the ranking by p, mean over times."""
    weighted_precision_last_seen: float
    """The same for Last-Obs: the longest since its last update first."""
    weighted_precision_random: float
    """The same for pages in any order."""


def quality(predicted: float, right: float, relevant: float) -> Quality:
    precision = right / predicted if predicted else 0.0
    recall = right / relevant if relevant else 0.0
    return Quality(precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0)


def weighted_precision(relevant: BoolArray) -> float:
    """Mean of P@K over all K with weights 1 / log2(K + 1); `relevant` is in the order of the ranking."""
    ranks = np.arange(1, len(relevant) + 1, dtype=np.float64)
    weights = 1.0 / np.log2(ranks + 1.0)
    return float((np.cumsum(relevant) / ranks * weights).sum() / weights.sum()) if len(relevant) else 0.0


def judge_window(
    log: ChangeLog, window: int, horizon: int = 1, thresholds: Sequence[float] = THRESHOLDS
) -> WindowJudged:
    """Predicts at every cycle that has a full window behind it and a full horizon ahead."""
    counts, relevant_counts, precisions, last_seen = [], [], [], []
    for now in range(window, log.cycles - horizon):
        rate, update = _model(log, now, window)
        chance = chance_of_update(rate, update, float(now), float(horizon))
        truth: BoolArray = np.logical_or.reduce(log.changed[:, now + 1 : now + horizon + 1], axis=1)
        predicted = [chance >= threshold for threshold in thresholds]
        counts.append([(int(one.sum()), int((one & truth).sum())) for one in predicted])
        relevant_counts.append(int(truth.sum()))
        precisions.append(weighted_precision(truth[np.argsort(-chance, kind="stable")]))
        last_seen.append(weighted_precision(truth[np.argsort(update, kind="stable")]))
    table = np.array(counts, dtype=np.int64).reshape(-1, len(thresholds), 2)
    relevant = sum(relevant_counts)
    micro = tuple(
        quality(int(column[:, 0].sum()), int(column[:, 1].sum()), relevant) for column in table.swapaxes(0, 1)
    )
    macro = tuple(_macro(column, relevant_counts) for column in table.swapaxes(0, 1))
    brute = quality(log.pages * len(table), relevant, relevant)
    shares = np.array(relevant_counts) / max(1, log.pages)
    random = tuple(
        quality(float(made.sum()), float((made * shares).sum()), relevant) for made in table[:, :, 0].swapaxes(0, 1)
    )
    means = [float(np.mean(values)) if len(values) else 0.0 for values in (precisions, last_seen, shares)]
    return WindowJudged(window, micro, macro, random, brute, means[0], means[1], means[2])


def _macro(counts: IntArray, relevant: Sequence[int]) -> Quality:
    each = [quality(int(made), int(right), truth) for (made, right), truth in zip(counts, relevant, strict=True)]
    if not each:
        return Quality(0.0, 0.0, 0.0)
    figures = np.mean([(one.precision, one.recall, one.f1) for one in each], axis=0)
    return Quality(float(figures[0]), float(figures[1]), float(figures[2]))


def _model(log: ChangeLog, now: int, window: int) -> tuple[FloatArray, FloatArray]:
    """f: captures → (λ, τ), from the captures in [now − window, now]; computed once for all pages with the same
    captures.
    """
    seen = log.changed[:, now - window + 1 : now + 1]
    number, examples = patterns(seen)
    different = np.arange(len(examples))
    history = History(trail=Trail())
    history.note_all(different, float(now - window), np.zeros(len(examples), np.bool_))
    for cycle, changed in enumerate(seen[examples].T, now - window + 1):
        history.note_all(different, float(cycle), changed)
    states = history.states(float(now), different)
    return states.rate[number], states.update[number]
