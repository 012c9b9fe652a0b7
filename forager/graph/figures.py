"""Measures of a link graph and of its rankings.

For a graph, those of the foragers paper: degree exponents, clustering, mean path length (section 1). Links of a page to
itself and repeated links do not count.

For a ranking: the impact of its first pages, relative to the ideal ranking (random-walk paper, section 5).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from forager.arrays import FloatArray, IntArray, distinct

SOURCES = 2_048
"""Mean paths start from this many pages, drawn at random if there are more (ours)."""
_TAIL = 50
"""Minimum number of pages to fit a power law (ours)."""
_STEEPEST = 8.0
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class GraphFigures:
    """Figures of a graph; nan if it is too small."""

    pages: int
    """Pages with at least one link, in or out."""
    links: int
    clustering: float
    mean_path: float
    """Mean over ordered pairs of pages where the first reaches the second."""
    in_exponent: float
    out_exponent: float


def graph_figures(source: IntArray, target: IntArray, rng: np.random.Generator) -> GraphFigures:
    """Returns all figures of the graph with these links."""
    names, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    count = len(names)
    pair = distinct((ends[: len(source)] * count + ends[len(source) :])[source != target])
    source, target = pair // max(count, 1), pair % max(count, 1)
    return GraphFigures(
        count,
        len(pair),
        clustering(source, target, count),
        mean_path(source, target, count, rng),
        exponent(np.bincount(target, minlength=count)),
        exponent(np.bincount(source, minlength=count)),
    )


def exponent(degrees: IntArray) -> float:
    """Exponent a of the power law p(k) ~ k^-a in the tail of the degrees, fitted by maximum likelihood.

    The tail begins where the fitted law is nearest to the degrees (Kolmogorov-Smirnov distance), as in Clauset, Shalizi
    and Newman (2009). nan if the tail is too short.
    """
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    best, nearest = np.nan, np.inf
    logs = counts * np.log(values)
    for begin in range(len(values) - 1):
        tail = int(counts[begin:].sum())
        if tail < _TAIL:
            break
        fitted = _likeliest(float(logs[begin:].sum()) / tail, int(values[begin]))
        law = 1 - zeta(fitted, values[begin:] + 1) / zeta(fitted, values[begin])
        distance = float(np.abs(np.cumsum(counts[begin:]) / tail - law).max())
        if distance < nearest:
            best, nearest = fitted, distance
    return best


def _likeliest(mean_log: float, smallest: int) -> float:
    """The maximum-likelihood exponent for this mean logarithm of degrees, on the whole numbers from `smallest` on."""
    fit = minimize_scalar(
        lambda a: np.log(zeta(a, smallest)) + a * mean_log, bounds=(1.01, _STEEPEST), method="bounded"
    )
    return float(fit.x)


def clustering(source: IntArray, target: IntArray, pages: int) -> float:
    """Mean share of the pairs of a page's neighbours that are linked (Watts and Strogatz); directions do not count.

    A page with fewer than two neighbours counts as 0.
    """
    if not len(source):
        return float("nan")
    links = scipy.sparse.coo_array((np.ones(len(source), np.int64), (source, target)), (pages, pages)).tocsr()
    either = (links + links.T).tocsr()
    either.setdiag(0)
    either.eliminate_zeros()
    degree = np.diff(either.indptr)
    triangles = _triangles(either, degree)
    pairs = degree * (degree - 1) / 2
    return float(np.divide(triangles, pairs, out=np.zeros(pages), where=pairs > 0).mean())


def _triangles(either: scipy.sparse.csr_array, degree: IntArray) -> FloatArray:
    """Number of triangles at each page. Each link points to its end with more neighbours, which keeps the products
    small."""
    rank = np.empty(len(degree), np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(len(degree))
    pairs = either.tocoo()
    upward = rank[pairs.row] < rank[pairs.col]
    ends = (pairs.row[upward], pairs.col[upward])
    up = scipy.sparse.coo_array((np.ones(len(ends[0]), np.int64), ends), either.shape).tocsr()
    lowest_highest = (up @ up).multiply(up)
    middle = (up.T @ up).multiply(up)
    found = lowest_highest.sum(axis=1) + lowest_highest.sum(axis=0) + middle.sum(axis=1)
    return np.asarray(found, np.float64).reshape(-1)


def mean_path(
    source: IntArray, target: IntArray, pages: int, rng: np.random.Generator, *, sources: int = SOURCES
) -> float:
    """Mean number of clicks over the ordered pairs of connected different pages; exact up to `sources` pages.

    It runs breadth-first search from 64 pages at a time: bit i of a page's word is set once search i has reached it.
    """
    starts = np.arange(pages) if pages <= sources else np.sort(rng.choice(pages, sources, replace=False))
    order = np.argsort(target, kind="stable")
    reached_by, targets = source[order], target[order]
    heads, begins = np.unique(targets, return_index=True)
    clicks = pairs = 0
    for first in range(0, len(starts), _AT_ONCE):
        batch = starts[first : first + _AT_ONCE]
        front = np.zeros(pages, np.uint64)
        front[batch] = np.uint64(1) << np.arange(len(batch), dtype=np.uint64)
        seen, depth = front.copy(), 0
        while len(heads) and front.any():
            depth += 1
            arrived = np.bitwise_or.reduceat(front[reached_by], begins)
            front = np.zeros(pages, np.uint64)
            front[heads] = arrived & ~seen[heads]
            seen |= front
            fresh = int(np.bitwise_count(front).sum())
            clicks, pairs = clicks + depth * fresh, pairs + fresh
    return clicks / pairs if pairs else float("nan")


SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of the frontier at which rankings are compared; the paper shows 0.2% to 2% and 1% to 10%."""


def first_pages(share: float, pages: int) -> int:
    """Number of pages in the first `share` of a ranking, rounded up, so at least one."""
    return min(pages, max(1, math.ceil(share * pages - 1e-9)))


def relative_impact(ranked: FloatArray, shares: Sequence[float]) -> list[float]:
    """For each share, the summed impact of the first pages over that of the best possible order; 1 if there is none.

    `ranked` is the true impact of each page in the order of the ranking.
    """
    return [_ratio(ranked, first_pages(share, ranked.size)) for share in shares]


def chance_impact(impact: FloatArray, share: float) -> float:
    """Mean of `relative_impact` over random orders."""
    count = first_pages(share, impact.size)
    best = _best(impact, count)
    return float(impact.sum()) * count / impact.size / best if best else 1.0


def _ratio(ranked: FloatArray, count: int) -> float:
    best = _best(ranked, count)
    return float(ranked[:count].sum()) / best if best else 1.0


def _best(impact: FloatArray, count: int) -> float:
    return float(np.partition(impact, impact.size - count)[impact.size - count :].sum())
