"""The comparison of rankings: frontiers drawn or given, every method judged on the same held-out pages."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.stats

from forager.chance import stream
from forager.errors import InputError
from forager.frontier.graph import Graph
from forager.frontier.kernels import Counts, Vector
from forager.frontier.learned import split
from forager.frontier.methods import Evidence, Method, RankingSettings, Training, rank, tuned
from forager.frontier.ranks import page_rank
from forager.frontier.steps import Ranking
from forager.measures.impact import SHARES, relative_impact

CURVE = tuple(sorted({*SHARES, *(step / 500 for step in range(1, 51))}))
"""Shares of the frontier at which the curves of the report are drawn: 0.2% to 10%."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the rankings are asked: a graph with all pages downloaded, the truth, and what else may be known."""

    graph: Graph
    impacts: Sequence[Vector]
    """True impact by page number, of one or more kinds; rankings are judged by the first."""
    click_rate: Vector | None = None
    """Clicks per view by page number, if both were given."""
    overlap: Ranking | None = None


@dataclass(slots=True)
class Judged:
    """How one method did; each list has one entry per split."""

    method: Method
    impact: list[list[float]] = field(default_factory=list)
    """Impact relative to the ideal at each share of CURVE."""
    page_rank: list[list[float]] = field(default_factory=list)
    click_rate: list[list[float]] = field(default_factory=list)
    """Summed PageRank and click rate of the first pages, relative to the highest possible."""
    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)

    def at(self, share: float) -> tuple[float, float]:
        """Mean over splits of the impact at this share of CURVE, and half the width of its 95% interval (0 for one)."""
        return interval([curve[CURVE.index(share)] for curve in self.impact])


@dataclass(slots=True)
class Comparison:
    """All methods on the same splits."""

    downloaded: int = 0
    frontier: int = 0
    links: int = 0
    """Sizes in the first split."""
    omegas: list[float] = field(default_factory=list)
    """The ω of each split."""
    judged: list[Judged] = field(default_factory=list)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of its 95% interval by Student's t; 0 wide for a single value."""
    if len(values) < 2:
        return values[0], 0.0
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values), float(scipy.stats.t.ppf(0.975, len(values) - 1)) * spread


def compare(
    question: Question,
    draw: Callable[[np.random.Generator], Counts],
    methods: Sequence[Method],
    settings: RankingSettings,
    *,
    tune: bool = True,
    splits: int = 1,
    seed: int = 0,
) -> Comparison:
    """Judge methods on frontiers that `draw` gives; with `tune`, ω is chosen on the training part of each."""
    comparison = Comparison(judged=[Judged(method) for method in methods])
    for number in range(splits):
        rng = stream(seed, f"split {number}")
        _judge(comparison, question, question.graph.without(draw(rng)), settings, tune, rng)
    return comparison


def _judge(
    comparison: Comparison,
    question: Question,
    graph: Graph,
    settings: RankingSettings,
    tune: bool,
    rng: np.random.Generator,
) -> None:
    """Judge all methods on one frontier: trained on one part of it, judged on the rest."""
    known, asked = split(graph.frontier, settings.learned.training_share, rng)
    truth = question.impacts[0]
    if not (known.size and asked.size and truth[asked].any()):
        raise InputError(
            "the held-out part of the frontier has no page with impact; give more impact or a larger frontier"
        )
    evidence = Evidence(graph, question.impacts, Training(known, truth), question.overlap)
    if tune:
        settings = tuned(evidence, settings, rng)
    if not comparison.omegas:
        comparison.frontier, comparison.links = graph.frontier.size, graph.links
        comparison.downloaded = graph.size - graph.frontier.size
    comparison.omegas.append(settings.walk.omega)
    by_links = page_rank(graph, settings.walk)
    for judged in comparison.judged:
        began = time.perf_counter()
        ranking = rank(judged.method, evidence, settings, rng)
        judged.seconds.append(time.perf_counter() - began)
        judged.iterations.append(ranking.iterations)
        order = ranking.order(asked)
        judged.impact.append(relative_impact(truth[order], CURVE))
        judged.page_rank.append(relative_impact(by_links.scores[order], CURVE))
        if question.click_rate is not None:
            judged.click_rate.append(relative_impact(question.click_rate[order], CURVE))
