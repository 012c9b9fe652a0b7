"""The update rate λ of a page by maximum likelihood from visits at irregular times (HACS).

With t_c the lengths of the intervals in which an update was seen and t_u those without, λ solves

    Σ t_c / (exp(λ t_c) − 1) = Σ t_u

Since 1/λ − t/2 ≤ t/(exp(λt) − 1) ≤ 1/λ, the root lies between m/(Σ t_u + Σ t_c/2) and m/Σ t_u for m updates.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEWTON_STEPS = 60
"""More than is ever needed; from below the root of a falling convex function Newton only climbs."""


def likeliest_rates(pages: int, page: IntArray, length: FloatArray, changed: NDArray[np.bool_]) -> FloatArray:
    """λ of many pages by Newton's method, from columns with one entry per interval; 0 for pages without updates.

    Where every interval shows an update (m = n) the likelihood has no maximum; λ = r·n/T with r = −ln(0.5/(n + 0.5)).
    """
    length = np.maximum(length, 0.0)
    quiet = np.bincount(page[~changed], weights=length[~changed], minlength=pages)
    page, length = page[changed], length[changed]
    updates = np.bincount(page, minlength=pages)
    busy = np.bincount(page, weights=length, minlength=pages)
    rates = np.zeros(pages)
    saturated = (updates > 0) & (quiet <= 0.0) & (busy > 0.0)
    rates[saturated] = -np.log(0.5 / (updates[saturated] + 0.5)) * updates[saturated] / busy[saturated]
    open_ = (updates > 0) & (quiet > 0.0)
    rates[open_] = updates[open_] / (quiet[open_] + busy[open_] / 2.0)
    kept = open_[page] & (length > 0.0)
    page, length = page[kept], length[kept]
    for _ in range(NEWTON_STEPS):
        exponent = np.minimum(rates[page] * length, 700.0)
        term = length / np.expm1(exponent)
        surplus = np.bincount(page, weights=term, minlength=pages) - quiet
        slope = np.bincount(page, weights=term * (length + term), minlength=pages)
        step = np.where(open_, surplus / np.maximum(slope, 1e-300), 0.0)
        rates += step
        moving = np.abs(step) > 1e-13 * rates
        if not moving.any():
            break
        kept = moving[page]
        page, length, open_ = page[kept], length[kept], open_ & moving
    return rates


def chance_of_update(rate: FloatArray, update: FloatArray, now: float, horizon: float) -> FloatArray:
    """p = 1 − exp(−λ (now + e − τ)), the probability of an update by `horizon` from now."""
    return 1.0 - np.exp(-rate * (now + horizon - update))
