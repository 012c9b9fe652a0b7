"""Q-Overlap and Q-Hybrid: frontier pages by what people asked for (random-walk paper, section 3.2).

The paper gives each rule one sentence, after Pandey and Olston; the formulas are reconstructed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from forager.graph.kernels import Counts, Vector
from forager.graph.walks import Ranking
from forager.units import Count, Share

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How queries and PageRank are weighed against each other in Q-Hybrid."""

    overlap_share: Share = 0.5
    """Weight of Q-Overlap in Q-Hybrid; the rest goes to the impact estimated from PageRank; ours."""
    leaf_pages: Count = 20
    """Training pages in each leaf of the tree that maps PageRank to impact, at least; ours."""


def query_words(text: str) -> list[str]:
    """The different words of a text, in lower case, in order of appearance."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


class Queries:
    """Past queries, boiled down to what each word is worth: a query asked f times gives f/k to each of its k words."""

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
    """Q-Overlap, gathered anchor by anchor: Σ over queries of times asked × share of its words in the page's anchors.

    A word counts once for a page, however many anchors repeat it.
    """

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._seen: set[tuple[int, str]] = set()
        self._scores: dict[int, float] = {}

    def add(self, page: int, anchor: str) -> None:
        """A link to this page bears this text."""
        for word in query_words(anchor):
            worth = self._queries.worth(word)
            if worth and (page, word) not in self._seen:
                self._seen.add((page, word))
                self._scores[page] = self._scores.get(page, 0.0) + worth

    def ranking(self, pages: int) -> Ranking:
        """The scores of this many page numbers."""
        scores = np.zeros(pages)
        known = [page for page in self._scores if page < pages]
        scores[known] = [self._scores[page] for page in known]
        return Ranking(scores)


def q_hybrid(overlap: Ranking, page_rank: Ranking, known: Counts, impact: Vector, settings: QuerySettings) -> Ranking:
    """Q-Overlap and an impact estimated from PageRank by a regression tree, each brought to [0, 1] and added up.

    `known` are the training pages, `impact` what each of them earned.
    """
    tree = DecisionTreeRegressor(min_samples_leaf=settings.leaf_pages, random_state=0)
    places = page_rank.places()[:, None]
    tree.fit(places[known], impact)
    estimated: Vector = tree.predict(places)
    mixed = settings.overlap_share * _to_unit(overlap.scores) + (1 - settings.overlap_share) * _to_unit(estimated)
    return Ranking(mixed, page_rank.iterations, page_rank.residual)


def _to_unit(scores: Vector) -> Vector:
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / (high - low) if high > low else np.zeros(scores.size)
