"""Freshness and age of the copies we hold (Cho & Garcia-Molina), from when each copy went out of date."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def freshness(outdated_at: FloatArray, now: float) -> float:
    """Share of copies that are current; `outdated_at` is when each page first changed after our copy (inf: not yet)."""
    return float(np.count_nonzero(outdated_at > now)) / len(outdated_at) if len(outdated_at) else 1.0


def age(outdated_at: FloatArray, now: float) -> float:
    """Mean time since the copies went out of date; a current copy has age 0."""
    return float(np.maximum(0.0, now - outdated_at).mean()) if len(outdated_at) else 0.0
