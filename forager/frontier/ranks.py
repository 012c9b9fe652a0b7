"""The plain rankings of the frontier: Random, InDegree and PageRank (random-walk paper, section 3.2)."""

import numpy as np

from forager.frontier.graph import Graph
from forager.frontier.kernels import Counts, Vector
from forager.frontier.steps import Ranking, WalkSettings, settle


def random_rank(graph: Graph, rng: np.random.Generator) -> Ranking:
    """Any order is as good as another."""
    return Ranking(rng.random(graph.pages))


def in_degree(graph: Graph) -> Ranking:
    """Pages by the number of downloaded pages that link to them."""
    return Ranking(graph.in_degree.astype(np.float64))


def page_rank(graph: Graph, settings: WalkSettings, start: Ranking | None = None) -> Ranking:
    """PageRank on D ∪ F, summing to 1: a page without links, as all of the frontier, votes for every page alike."""
    votes = settings.alpha * reciprocal(graph.out_degree)
    return settle(graph, votes, None, settings, start=start, lossless=True)


def reciprocal(numbers: Counts | Vector) -> Vector:
    """1/number, and 0 for 0."""
    values = np.zeros(numbers.size)
    return np.divide(1.0, numbers, out=values, where=numbers > 0)
