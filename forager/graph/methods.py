"""All rankings of the frontier by name, so that they can be chosen and compared.

Q-Overlap and Q-Hybrid rank by past queries (random-walk paper, section 3.2). The paper gives each rule one sentence,
after Pandey and Olston; the formulas are reconstructed.

`appeals` turns places in a ranking into one scale for every graph, which a crawler uses to choose.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from forager.arrays import FloatArray, IntArray
from forager.graph.graph import Graph
from forager.graph.learned import OMEGAS, LearnedSettings, TuningSettings, best_omega, learned_rank
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
from forager.units import Count, Share

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How Q-Hybrid weighs queries against PageRank."""

    overlap_share: Share = 0.5
    """Weight of Q-Overlap in Q-Hybrid; the rest goes to the impact estimated from PageRank; ours."""
    leaf_pages: Count = 20
    """Minimum number of training pages in each leaf of the tree that maps PageRank to impact; ours."""


def query_words(text: str) -> list[str]:
    """Distinct words of a text, in lower case, in order of appearance."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


class Queries:
    """Weights of words in past queries: a query asked f times gives f/k to each of its k words."""

    def __init__(self, queries: Iterable[tuple[str, float]]) -> None:
        self._worth: dict[str, float] = {}
        for text, asked in queries:
            found = query_words(text)
            for word in found:
                self._worth[word] = self._worth.get(word, 0.0) + asked / len(found)

    def __repr__(self) -> str:
        return f"<Queries {len(self._worth)} words>"

    def worth(self, word: str) -> float:
        return self._worth.get(word, 0.0)


class Overlap:
    """Q-Overlap, collected anchor by anchor: Σ over queries of times asked × share of its words in the page's anchors.

    A word counts once for a page, however many anchors repeat it.
    """

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._seen: set[tuple[int, str]] = set()
        self._scores: dict[int, float] = {}

    def add(self, page: int, anchor: str) -> None:
        """Adds the text of a link to this page."""
        for word in query_words(anchor):
            worth = self._queries.worth(word)
            if worth and (page, word) not in self._seen:
                self._seen.add((page, word))
                self._scores[page] = self._scores.get(page, 0.0) + worth

    def ranking(self, pages: int) -> Ranking:
        """Scores of this many page numbers."""
        scores = np.zeros(pages)
        known = [page for page in self._scores if page < pages]
        scores[known] = [self._scores[page] for page in known]
        return Ranking(scores)


def q_hybrid(
    overlap: Ranking, page_rank: Ranking, known: IntArray, impact: FloatArray, settings: QuerySettings
) -> Ranking:
    """Sum of Q-Overlap and an impact estimated from PageRank by a regression tree, each scaled to [0, 1].

    `known` are the training pages, `impact` their impact.
    """
    tree = DecisionTreeRegressor(min_samples_leaf=settings.leaf_pages, random_state=0)
    places = page_rank.places()[:, None]
    tree.fit(places[known], impact)
    estimated: FloatArray = tree.predict(places)
    mixed = settings.overlap_share * _to_unit(overlap.scores) + (1 - settings.overlap_share) * _to_unit(estimated)
    return Ranking(mixed, page_rank.iterations, page_rank.residual)


def _to_unit(scores: FloatArray) -> FloatArray:
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / (high - low) if high > low else np.zeros(scores.size)


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
        """Whether it needs anchor texts and queries."""
        return self in (Method.Q_OVERLAP, Method.Q_HYBRID)

    @property
    def learns(self) -> bool:
        """Whether it needs pages of known impact to train on."""
        return self in (Method.Q_HYBRID, Method.ML)


@dataclass(frozen=True, slots=True)
class Training:
    """Pages with known impact to learn from."""

    pages: IntArray
    impact: FloatArray
    """True impact by page number; only that of `pages` is used."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known when the frontier is ranked."""

    graph: Graph
    impacts: Sequence[FloatArray]
    """Impact by page number, of one or more kinds (clicks, views); the first decides. Only that of D is used."""
    training: Training
    overlap: Ranking | None = None
    """Q-Overlap, if there are anchor texts and queries."""


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Settings of all methods."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    queries: QuerySettings = field(default_factory=QuerySettings)
    learned: LearnedSettings = field(default_factory=LearnedSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)


def rank_frontier(method: Method, evidence: Evidence, settings: RankingSettings, rng: np.random.Generator) -> Ranking:
    """Scores of all pages by this method; only those of the frontier are meaningful."""
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
    """The settings with the ω that does best on the training pages; each walk starts from the previous one's scores."""
    rankings: dict[float, Ranking] = {}
    last: Ranking | None = None
    for omega in OMEGAS:
        last = enriched_walk(evidence.graph, evidence.impacts[0], replace(settings.walk, omega=omega), last)
        rankings[omega] = last
    known = evidence.training
    omega = best_omega(rankings, known.pages, known.impact, settings.tuning, rng)
    return replace(settings, walk=replace(settings.walk, omega=omega))


def _learned(evidence: Evidence, settings: RankingSettings) -> Ranking:
    """ML on the features of the paper's Table 4, without those of queries if there are none. RW-EG is last: it breaks
    ties."""
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


def appeals(graph: Graph, ranking: Ranking) -> FloatArray:
    """Rank of each frontier page on a scale from −1 (last) to 1 (first); equal scores share the mean of their ranks.

    Pages outside the frontier, and a frontier of equal scores, get the neutral 0.
    """
    values = np.zeros(graph.pages)
    if graph.frontier.size > 1:
        _, places, counts = np.unique(ranking.scores[graph.frontier], return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        middle = (2 * ends - counts - 1) / 2
        values[graph.frontier] = 2 * middle[places] / (graph.frontier.size - 1) - 1
    return values
