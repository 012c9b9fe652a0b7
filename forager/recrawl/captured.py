"""What an archive knows of one page: when it was captured, and when that showed something new."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Captured:
    """The captures of one page, oldest first."""

    url: str
    when: NDArray[np.float64]
    changed: NDArray[np.bool_]
    """Whether each shows something else than the one before."""


def changes(digest: NDArray[np.uint64], gone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which captures show other content than the last one that showed any; a digest of 0 says "as before"."""
    told = (digest != 0) & ~gone
    place = np.maximum.accumulate(np.where(told, np.arange(len(digest)), -1))
    before = np.concatenate([[-1], place[:-1]])
    return np.asarray(told & (before >= 0) & (digest != digest[before]), dtype=np.bool_)
