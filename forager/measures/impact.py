"""Impact of the first pages of a ranked frontier, relative to the ideal ranking (random-walk paper, section 5)."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of the frontier at which rankings are compared; the paper shows 0.2% to 2% and 1% to 10%."""


def first_pages(share: float, pages: int) -> int:
    """How many pages the first `share` of a ranking is: rounded up, so at least one."""
    return min(pages, max(1, math.ceil(share * pages - 1e-9)))


def relative_impact(ranked: Vector, shares: Sequence[float]) -> list[float]:
    """For each share, the summed impact of the first pages over that of the best possible order; 1 if there is none.

    `ranked` is the true impact of each page in the order of the ranking.
    """
    return [_ratio(ranked, first_pages(share, ranked.size)) for share in shares]


def chance_impact(impact: Vector, share: float) -> float:
    """What `relative_impact` is on average if the order is pure chance."""
    count = first_pages(share, impact.size)
    best = _best(impact, count)
    return float(impact.sum()) * count / impact.size / best if best else 1.0


def _ratio(ranked: Vector, count: int) -> float:
    best = _best(ranked, count)
    return float(ranked[:count].sum()) / best if best else 1.0


def _best(impact: Vector, count: int) -> float:
    return float(np.partition(impact, impact.size - count)[impact.size - count :].sum())
