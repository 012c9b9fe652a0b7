"""Rankings of the frontier by links: RW and RW-EG, and the plain Random, InDegree and PageRank (random-walk paper).

RW and RW-EG (sections 4.2 and 4.3) give pages of high impact more votes; the plain ones are from section 3.2. The paper
leaves two points open on virtual edges; reconstructed here:

- Frontier pages do not vote over virtual edges. Their impact is unknown, the paper's Figure 2 draws no such edge,
  and only then can one last step carry scores over to the frontier. As receivers they count: Σ_k w_ik runs over
  D ∪ F.
- d' in the impact factor F' of virtual edges, needed for γ > 0, is Σ_k w_ik over its maximum: the weighted degree,
  because counting virtual neighbours would require building the edges.

All walks use one iteration: votes along links and between co-cited pages, until the scores converge. One step is
x ← Aᵀ(a∘x + A(b∘x)) − indegree∘b∘x + (1 − α)/n with A the 0/1 matrix of links (rows link to columns): `a` is what a
page gives to each of its links, `b` what it gives over each virtual edge. AᵀA minus its diagonal, the in-degrees, is
the matrix of virtual edges; it is never built. Both kinds of votes share the outer product, so RW-EG takes two products
per step.

Only downloaded pages vote: `a` and `b` are 0 elsewhere. So the iteration runs on D alone, and one last step carries
the scores over to the frontier.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field

from forager.arrays import FloatArray, IntArray
from forager.graph.graph import Graph
from forager.units import Count, Share


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How pages vote, and when to stop."""

    alpha: Annotated[float, Field(ge=0, lt=1)] = 0.85
    """α, share of a score that is passed on; the rest is spread evenly over all pages; stated by the paper."""
    gamma: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """γ, how strongly a high out-degree adds to a page's votes; the paper takes 0 for web pages, 1 for Wikipedia."""
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.001
    """ε, added to every impact so that pages without impact still vote a little; stated by the paper."""
    omega: Share = 0.8
    """ω, share of the votes in RW-EG that follow real links; the paper's web crawl was best at 0.8 to 0.9, tune it."""
    tolerance: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e-9
    """Stop when the scores of D, which sum to at most 1, change by no more than this in total (L1); ours."""
    max_iterations: Count = 500
    """Maximum number of steps; ours."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A score for every page number; 0 for numbers outside D ∪ F."""

    scores: FloatArray
    iterations: int = 0
    """Number of steps on D, without the last step to the frontier; 0 for scores that need none."""
    residual: float = 0.0
    """L1 distance between the last two steps."""

    def places(self) -> IntArray:
        """Returns the place of each page in the order of scores, from 0 for the lowest; equal scores share a place.

        Trees learn from places instead of scores, because scikit-learn treats values that differ by less than 1e-7 as
        equal.
        """
        places: IntArray = np.unique(self.scores, return_inverse=True)[1]
        return places

    def order(self, pages: IntArray) -> IntArray:
        """These pages, best first; equal scores by page number."""
        pages = np.sort(pages)
        return pages[np.argsort(-self.scores[pages], kind="stable")]


def converge(
    graph: Graph,
    a: FloatArray,
    b: FloatArray | None,
    settings: WalkSettings,
    *,
    start: Ranking | None = None,
    lossless: bool = False,
) -> Ranking:
    """Iterates until the scores converge; `start` is an earlier ranking to start from, of a smaller graph.

    If `lossless`, what is not passed along links is spread evenly, so that the scores sum to 1.
    """
    share = 1 / max(1, graph.size)
    handed_on = a * graph.out_degree if lossless else None
    itself = 0.0 if b is None else b * graph.in_degree
    """What a page gives itself: a page has no virtual edge to itself."""

    def restart(x: FloatArray) -> float:
        """Returns what every page gets besides votes."""
        if handed_on is None:
            return (1 - settings.alpha) * share
        return (1 - float(np.einsum("i,i->", handed_on, x))) * share  # not @: its result depends on the number of cores

    def votes(x: FloatArray) -> FloatArray:
        """a∘x + A(b∘x): the second part passes on what the pages that a page links to give each other."""
        return a * x if b is None else a * x + graph.out @ (b * x)

    x = _first(graph, share if lossless else (1 - settings.alpha) * share, start)
    iterations, residual = 0, np.inf
    while residual > settings.tolerance and iterations < settings.max_iterations:
        y = np.where(graph.downloaded, graph.into @ votes(x) + restart(x) - itself * x, 0.0)
        residual = float(np.abs(y - x).sum())
        x = y
        iterations += 1
    scores = graph.into @ votes(x) + restart(x)
    x[graph.frontier] = scores[graph.frontier]  # one last step, as pages of the frontier do not vote
    return Ranking(x, iterations, residual)


def _first(graph: Graph, fresh: float, start: Ranking | None) -> FloatArray:
    """Initial scores, 0 outside D: earlier ones where known."""
    x = np.where(graph.downloaded, fresh, 0.0)
    if start is not None:
        known = min(x.size, start.scores.size)
        x[:known] = np.where(graph.downloaded[:known] & (start.scores[:known] > 0), start.scores[:known], x[:known])
    return x


def random_rank(graph: Graph, rng: np.random.Generator) -> Ranking:
    return Ranking(rng.random(graph.pages))


def in_degree(graph: Graph) -> Ranking:
    """Ranks pages by the number of downloaded pages that link to them."""
    return Ranking(graph.in_degree.astype(np.float64))


def page_rank(graph: Graph, settings: WalkSettings) -> Ranking:
    """PageRank on D ∪ F, summing to 1; a page without known links, such as the frontier, votes for all pages equally."""
    votes = settings.alpha * reciprocal(graph.out_degree)
    return converge(graph, votes, None, settings, lossless=True)


def reciprocal(numbers: IntArray | FloatArray) -> FloatArray:
    """1/number; 0 for 0."""
    values = np.zeros(numbers.size)
    return np.divide(1.0, numbers, out=values, where=numbers > 0)


def random_walk(graph: Graph, impact: FloatArray, settings: WalkSettings) -> Ranking:
    """RW: x(j) = α Σ F_i M_ij x(i) + (1 − α)/n, M_ij = 1/outdegree(i). Impact outside D is not used."""
    return converge(graph, _votes(graph, impact, settings), None, settings)


def enriched_walk(graph: Graph, impact: FloatArray, settings: WalkSettings, start: Ranking | None = None) -> Ranking:
    """RW-EG: a share ω of the votes goes along links, the rest over virtual edges between pages cited together."""
    along = settings.omega * _votes(graph, impact, settings)
    across = (1 - settings.omega) * _virtual_votes(graph, impact, settings)
    return converge(graph, along, across if settings.omega < 1 else None, settings, start=start)


def virtual_walk(graph: Graph, impact: FloatArray, settings: WalkSettings) -> Ranking:
    """RW on virtual edges alone: RW-EG with ω = 0."""
    return enriched_walk(graph, impact, replace(settings, omega=0.0))


def impact_factor(graph: Graph, impact: FloatArray, degree: FloatArray, settings: WalkSettings) -> FloatArray:
    """F_i = (I_i / max I) · (d_i)^γ on D, d_i the degree over its maximum; 0 elsewhere. Negative impact counts as 0."""
    smoothed = np.where(graph.downloaded, np.maximum(impact, 0.0) + settings.epsilon, 0.0)
    factor = smoothed / (smoothed.max(initial=0.0) or 1.0)
    if settings.gamma:
        factor *= (degree / (degree.max(initial=0.0) or 1.0)) ** settings.gamma
    return factor


def virtual_degree(graph: Graph) -> FloatArray:
    """Σ_k w_ik of each downloaded page: Aᵀ(A·1) − indegree; 0 elsewhere."""
    return np.where(graph.downloaded, graph.into @ graph.out_degree - graph.in_degree, 0.0)


def _votes(graph: Graph, impact: FloatArray, settings: WalkSettings) -> FloatArray:
    """α F_i / outdegree(i): what a page gives to each of its links."""
    degree = graph.out_degree.astype(np.float64)
    return settings.alpha * impact_factor(graph, impact, degree, settings) * reciprocal(degree)


def _virtual_votes(graph: Graph, impact: FloatArray, settings: WalkSettings) -> FloatArray:
    """α F'_i / Σ_k w_ik: what a page gives over each virtual edge of weight 1."""
    degree = virtual_degree(graph)
    return settings.alpha * impact_factor(graph, impact, degree, settings) * reciprocal(degree)
