"""How much the pages of the frontier appeal to a crawler: their places in a ranking, on one scale for every graph."""

import numpy as np

from forager.frontier.graph import Graph
from forager.frontier.kernels import Vector
from forager.frontier.steps import Ranking


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
