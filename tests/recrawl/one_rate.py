"""The HACS update rate of one page by another method, to compare with."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq


def likeliest_rate(changed: Sequence[float], unchanged: Sequence[float]) -> float:
    """λ of one page by Brent's method from its intervals with and without an update."""
    lengths = np.asarray(changed, dtype=np.float64)
    quiet = float(sum(unchanged))
    if not len(lengths):
        return 0.0
    if quiet <= 0.0:
        return _saturated_rate(len(lengths), float(lengths.sum()))
    low, high = len(lengths) / (quiet + lengths.sum() / 2.0), len(lengths) / quiet

    def surplus(rate: float) -> float:
        return float((lengths / np.expm1(np.minimum(rate * lengths, 700.0))).sum()) - quiet

    if surplus(low) <= 0.0 or surplus(high) >= 0.0:  # the bracket is as narrow as floating point can tell
        return float(low)
    return float(brentq(surplus, low, high, xtol=1e-15, rtol=1e-13))


def _saturated_rate(updates: int, observed: float) -> float:
    """Every interval shows an update (m = n): the likelihood has no maximum; λ = r·n/T with r = −ln(0.5/(n + 0.5))."""
    return -float(np.log(0.5 / (updates + 0.5))) * updates / observed if observed > 0.0 else 0.0
