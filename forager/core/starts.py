"""Where a new path starts: the page of the weblog that promises most."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.core.kernels import best
from forager.core.promise import ranks


@compiled
def best_start(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    values: NDArray[np.float64],
    luck: float,
) -> int:
    """The page that promises most; among equals the one with the largest value."""
    promise = ranks(table, urls, means, priors, now)
    most = promise.max()
    for i in range(len(urls)):
        promise[i] = values[i] if promise[i] == most else -np.inf
    return int(urls[best(promise, luck)])
