"""RW and RW-EG: random walks in which pages of high impact have the say (random-walk paper, sections 4.2 and 4.3).

The paper leaves two things open on virtual edges; reconstructed here:

- Frontier pages do not vote over virtual edges. Their impact is unknown, the paper's Figure 2 draws no such edge,
  and only so can scores be carried over to the frontier in one last step. As receivers they count: Σ_k w_ik runs
  over D ∪ F.
- d' in the impact factor F' of virtual edges, needed for γ > 0, is Σ_k w_ik over its maximum: the weighted degree,
  as the plain number of virtual neighbours cannot be had without building the edges.
"""

from dataclasses import replace

import numpy as np

from forager.frontier.graph import Cores, Graph, Sums
from forager.frontier.kernels import Vector
from forager.frontier.ranks import reciprocal
from forager.frontier.steps import Ranking, WalkSettings, settle


def random_walk(graph: Graph, impact: Vector, settings: WalkSettings, start: Ranking | None = None) -> Ranking:
    """RW: x(j) = α Σ F_i M_ij x(i) + (1 − α)/n, M_ij = 1/outdegree(i). Impact outside D is not looked at."""
    return settle(graph, _votes(graph, impact, settings), None, settings, start=start)


def enriched_walk(graph: Graph, impact: Vector, settings: WalkSettings, start: Ranking | None = None) -> Ranking:
    """RW-EG: a share ω of the votes along links, the rest over virtual edges between pages cited together."""
    along = settings.omega * _votes(graph, impact, settings)
    across = (1 - settings.omega) * _virtual_votes(graph, impact, settings)
    return settle(graph, along, across if settings.omega < 1 else None, settings, start=start)


def virtual_walk(graph: Graph, impact: Vector, settings: WalkSettings, start: Ranking | None = None) -> Ranking:
    """RW on virtual edges alone: RW-EG with ω = 0."""
    return enriched_walk(graph, impact, replace(settings, omega=0.0), start)


def impact_factor(graph: Graph, impact: Vector, degree: Vector, settings: WalkSettings) -> Vector:
    """F_i = (I_i / max I) · (d_i)^γ on D, d_i the degree over its maximum; 0 elsewhere. Negative impact counts as 0."""
    smoothed = np.where(graph.downloaded, np.maximum(impact, 0.0) + settings.epsilon, 0.0)
    factor = smoothed / (smoothed.max(initial=0.0) or 1.0)
    if settings.gamma:
        factor *= (degree / (degree.max(initial=0.0) or 1.0)) ** settings.gamma
    return factor


def virtual_degree(graph: Graph, cores: Cores = "all") -> Vector:
    """Σ_k w_ik of each downloaded page: Aᵀ(A·1) − indegree; 0 elsewhere."""
    degree = np.zeros(graph.pages)
    Sums(graph.into, graph.downloaded, cores).of(graph.out_degree.astype(np.float64), degree)
    return degree - np.where(graph.downloaded, graph.in_degree, 0)


def _votes(graph: Graph, impact: Vector, settings: WalkSettings) -> Vector:
    """α F_i / outdegree(i): what a page hands to each of its links."""
    degree = graph.out_degree.astype(np.float64)
    return settings.alpha * impact_factor(graph, impact, degree, settings) * reciprocal(degree)


def _virtual_votes(graph: Graph, impact: Vector, settings: WalkSettings) -> Vector:
    """α F'_i / Σ_k w_ik: what a page hands over each virtual edge of weight 1."""
    degree = virtual_degree(graph, settings.cores)
    return settings.alpha * impact_factor(graph, impact, degree, settings) * reciprocal(degree)
