"""How likely has a page changed? CG (Cho & Garcia-Molina) and NAD SAD AAD GAD (Tan & Mitra), as GP4C uses them.

All work on columns and need no list of visits: the four rates come from running sums kept by `history`.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def cg(n: FloatArray, X: FloatArray) -> FloatArray:
    """−ln((n − X + 0.5) / (n + 0.5)), the expected changes per visit interval."""
    return -np.log((n - X + 0.5) / (n + 0.5))


def nad_rate(n: FloatArray, X: FloatArray) -> FloatArray:
    """All visits weigh the same: X / n; 0 before the first visit."""
    return X / np.maximum(n, 1.0)


def aad_rate(n: FloatArray, ranked: FloatArray) -> FloatArray:
    """Visit i weighs i / (1 + … + n); `ranked` is the sum of i · I_i."""
    return 2.0 * ranked / np.maximum(n * (n + 1.0), 1.0)


def gad_rate(n: FloatArray, halved: FloatArray) -> FloatArray:
    """Visit i weighs 2^(i−1) / (2^n − 1); `halved` is the running G ← G/2 + I_n/2."""
    return halved / (1.0 - np.exp2(-np.maximum(n, 1.0)))


def changed_since(rate: FloatArray, t: FloatArray) -> FloatArray:
    """φ = 1 − exp(−λ t), the chance of a change within `t` at the given rate."""
    return 1.0 - np.exp(-rate * t)


def observed_rate(X: FloatArray, T: FloatArray, prior: float, hope: float = 1.0) -> FloatArray:
    """λ = (X + a) / (T + b) from the *time* observed: the rate the index of Azar et al. wants.

    The prior is `prior` changes (a) in a time `hope` (b).
    """
    return (X + prior) / (T + hope)


def index_gain(rate: FloatArray, t: FloatArray) -> FloatArray:
    """g = 1 − e^(−λt)(1 + λt) of Azar et al. (PNAS 2018); the freshness index is g / λ, its rate-weighted form g."""
    expected = rate * t
    return 1.0 - np.exp(-expected) * (1.0 + expected)
