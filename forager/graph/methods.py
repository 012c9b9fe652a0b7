"""All rankings of the frontier behind one name each, so that they can be chosen and compared.

Places in a ranking also say how much a page of the frontier appeals to a crawler, on one scale for every graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from forager.graph.graph import Graph
from forager.graph.kernels import Counts, Vector
from forager.graph.learned import OMEGAS, LearnedSettings, TuningSettings, best_omega, learned_rank
from forager.graph.queries import QuerySettings, q_hybrid
from forager.graph.walks import (
    Ranking,
    WalkSettings,
    enriched_walk,
    in_degree,
    page_rank,
    random_rank,
    random_walk,
    virtual_walk,
)


class Method(StrEnum):
    """A way to rank the frontier."""

    RANDOM = "random"
    IN_DEGREE = "indegree"
    PAGE_RANK = "pagerank"
    Q_OVERLAP = "q-overlap"
    Q_HYBRID = "q-hybrid"
    RW = "rw"
    RW_EG = "rw-eg"
    ML = "ml"

    @property
    def asks_queries(self) -> bool:
        """Does it need anchor texts and queries?"""
        return self in (Method.Q_OVERLAP, Method.Q_HYBRID)

    @property
    def learns(self) -> bool:
        """Does it need pages of known impact to train on?"""
        return self in (Method.Q_HYBRID, Method.ML)


@dataclass(frozen=True, slots=True)
class Training:
    """Pages whose impact may be learned from."""

    pages: Counts
    impact: Vector
    """True impact by page number; only that of `pages` is looked at."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known when the frontier is to be ranked."""

    graph: Graph
    impacts: Sequence[Vector]
    """Impact by page number, of one or more kinds (clicks, views); the first decides. Only that of D is looked at."""
    training: Training
    overlap: Ranking | None = None
    """Q-Overlap, if there are anchor texts and queries."""


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """The settings of all methods together."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    queries: QuerySettings = field(default_factory=QuerySettings)
    learned: LearnedSettings = field(default_factory=LearnedSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)


def rank_frontier(method: Method, evidence: Evidence, settings: RankingSettings, rng: np.random.Generator) -> Ranking:
    """The scores of all pages by this method; only those of the frontier are meant."""
    graph, walk = evidence.graph, settings.walk
    match method:
        case Method.RANDOM:
            return random_rank(graph, rng)
        case Method.IN_DEGREE:
            return in_degree(graph)
        case Method.PAGE_RANK:
            return page_rank(graph, walk)
        case Method.RW:
            return random_walk(graph, evidence.impacts[0], walk)
        case Method.RW_EG:
            return enriched_walk(graph, evidence.impacts[0], walk)
        case Method.Q_OVERLAP:
            return _overlap(evidence)
        case Method.Q_HYBRID:
            known = evidence.training
            return q_hybrid(
                _overlap(evidence), page_rank(graph, walk), known.pages, known.impact[known.pages], settings.queries
            )
        case Method.ML:
            return _learned(evidence, settings)


def tuned(evidence: Evidence, settings: RankingSettings, rng: np.random.Generator) -> RankingSettings:
    """The settings with the ω that does best on the training pages; each walk goes on from the one before."""
    rankings: dict[float, Ranking] = {}
    last: Ranking | None = None
    for omega in OMEGAS:
        last = enriched_walk(evidence.graph, evidence.impacts[0], replace(settings.walk, omega=omega), last)
        rankings[omega] = last
    known = evidence.training
    omega = best_omega(rankings, known.pages, known.impact, settings.tuning, rng)
    return replace(settings, walk=replace(settings.walk, omega=omega))


def _learned(evidence: Evidence, settings: RankingSettings) -> Ranking:
    """ML on the features of the paper's Table 4; without queries on the others. RW-EG comes last: it breaks ties."""
    graph, known, walk = evidence.graph, evidence.training, settings.walk
    by_links = page_rank(graph, walk)
    features = [in_degree(graph), by_links]
    if evidence.overlap is not None:
        hybrid = q_hybrid(evidence.overlap, by_links, known.pages, known.impact[known.pages], settings.queries)
        features += [evidence.overlap, replace(hybrid, iterations=0)]
    for impact in reversed(evidence.impacts):
        features += [step(graph, impact, walk) for step in (virtual_walk, random_walk, enriched_walk)]
    return learned_rank(features, known.pages, known.impact[known.pages], graph.frontier, settings.learned)


def _overlap(evidence: Evidence) -> Ranking:
    if evidence.overlap is None:
        raise ValueError("Q-Overlap and Q-Hybrid need anchor texts and queries")
    return evidence.overlap


def appeals(graph: Graph, ranking: Ranking) -> Vector:
    """For each page number from −1, the last of the frontier, to 1, the first; equal scores share the mean of theirs.

    Pages outside the frontier, and a frontier of equal scores, get 0: nothing speaks for or against them.
    """
    values = np.zeros(graph.pages)
    if graph.frontier.size > 1:
        _, places, counts = np.unique(ranking.scores[graph.frontier], return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        middle = (2 * ends - counts - 1) / 2
        values[graph.frontier] = 2 * middle[places] / (graph.frontier.size - 1) - 1
    return values
