"""How good a revisit schedule was: ChangeRate and NDCG of one cycle (GP4C)."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def change_rate(changed: NDArray[np.bool_]) -> float:
    """Downloaded pages that had changed / downloaded pages; `changed` is one entry per download."""
    return float(np.count_nonzero(changed)) / len(changed) if len(changed) else 0.0


def discounts(k: int) -> FloatArray:
    """The worth of ranks 1 … k: 1 / max(1, ln i). Ranks below the log base are not discounted (our reading)."""
    return 1.0 / np.maximum(1.0, np.log(np.arange(1, k + 1, dtype=np.float64)))


def dcg(relevant: NDArray[np.bool_]) -> float:
    """Discounted cumulative gain of a ranking, best rank first."""
    return float(discounts(len(relevant))[relevant].sum())


def ndcg(relevant: NDArray[np.bool_], relevant_in_all: int) -> float:
    """DCG over that of the ideal, which puts min(k, `relevant_in_all`) ones first; 0 if nothing was relevant.

    The ideal is drawn from all pages, not from the downloaded ones (our reading of the papers' figures for Rand).
    """
    ideal = discounts(min(len(relevant), relevant_in_all)).sum()
    return dcg(relevant) / float(ideal) if ideal else 0.0
