"""Freshness and age of the copies we hold (Cho & Garcia-Molina), from when each copy went out of date.

`outdated_at` is when each page first changed after our copy (inf: not yet); `steady` more copies are of pages that never
change, so that nobody has to look at them.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def freshness(outdated_at: FloatArray, now: float, steady: int = 0) -> float:
    """Share of copies that are current; 1 if there are none."""
    copies = len(outdated_at) + steady
    return (float(np.count_nonzero(outdated_at > now)) + steady) / copies if copies else 1.0


def age(outdated_at: FloatArray, now: float, steady: int = 0) -> float:
    """Mean time since the copies went out of date; a current copy has age 0."""
    copies = len(outdated_at) + steady
    return float(np.maximum(0.0, now - outdated_at).sum()) / copies if copies else 0.0
