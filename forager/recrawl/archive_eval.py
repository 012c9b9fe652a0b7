"""The evaluation of HACS: at time t, which pages will change within the horizon e? Judged over thresholds and windows.

Input is a change log read as a collection of captures, one per cycle. At each t the update rates come from the captures
of the last w cycles; pages with p ≥ θ are predicted; truth are the pages that change in (t, t + e]. Pages with equal p
stand in the order of the log.

`Captured` is what an archive knows of one page: when it was captured, and when that showed something new.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.recrawl.change_log import ChangeLog, patterns
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Quality:
    """Precision, recall and F1, over all times together (micro) or as a mean over times (macro)."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class WindowJudged:
    """How well the captures of the last `window` cycles foretell updates."""

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
    log: ChangeLog,
    window: int,
    horizon: int = 1,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    interpolated: bool = True,
) -> WindowJudged:
    """Predict at every cycle that has a full window behind and a full horizon ahead."""
    counts, relevant_counts, precisions, last_seen = [], [], [], []
    for now in range(window, log.cycles - horizon):
        rate, update = _model(log, now, window, interpolated)
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


def _model(log: ChangeLog, now: int, window: int, interpolated: bool) -> tuple[FloatArray, FloatArray]:
    """f: captures → (λ, τ), from the captures in [now − window, now]; once for all pages with the same captures."""
    seen = log.changed[:, now - window + 1 : now + 1]
    number, examples = patterns(seen)
    different = np.arange(len(examples))
    history = History(trail=Trail(interpolated=interpolated))
    history.note_all(different, float(now - window), np.zeros(len(examples), np.bool_))
    for cycle, changed in enumerate(seen[examples].T, now - window + 1):
        history.note_all(different, float(cycle), changed)
    states = history.states(float(now), different)
    return states.rate[number], states.update[number]


@dataclass(frozen=True, slots=True)
class Captured:
    """The captures of one page, oldest first."""

    url: str
    when: FloatArray
    changed: BoolArray
    """Whether each shows something else than the one before."""


def changes(digest: NDArray[np.uint64], gone: BoolArray) -> BoolArray:
    """Which captures show other content than the last one that showed any; a digest of 0 says "as before"."""
    told = (digest != 0) & ~gone
    place = np.maximum.accumulate(np.where(told, np.arange(len(digest)), -1))
    before = np.concatenate([[-1], place[:-1]])
    return np.asarray(told & (before >= 0) & (digest != digest[before]), dtype=np.bool_)
