"""The foragers of a fleet in arrays, a slot for each, as the kernel of a step sees them."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.simulation.course import BoolArray, FloatArray, IntArray


class Walker(Protocol):
    """One forager, as the kernels see it."""

    number: int  # of its path, the number of its first step, and how many it has made
    first: int
    length: int
    head: int  # its open links are from here …
    count: int  # … to here
    entries: int  # of its weblog
    seeds: int
    drawn: int  # of its luck
    score: float
    sent: int
    relevant: int
    downloads: int


WALKER = np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in Walker.__annotations__.items()])


class Flock(NamedTuple):
    """All foragers, a row for each slot."""

    order: IntArray
    """The slots of those alive, in the order of their turns."""
    walkers: NDArray[np.void]
    met: NDArray[np.int32]
    """The last path that had a page among its visited or open ones."""
    open: IntArray
    path: IntArray
    earned: FloatArray
    weblog: IntArray
    values: FloatArray
    seeds: IntArray
    luck: FloatArray
    sent: BoolArray
    """Which documents each has sent."""


NO_FLOCK = Flock(
    order=np.zeros(0, np.int64),
    walkers=np.zeros(0, WALKER),
    met=np.zeros((0, 0), np.int32),
    open=np.zeros((0, 0), np.int64),
    path=np.zeros((0, 0), np.int64),
    earned=np.zeros((0, 0)),
    weblog=np.zeros((0, 0), np.int64),
    values=np.zeros((0, 0)),
    seeds=np.zeros((0, 0), np.int64),
    luck=np.zeros((0, 0)),
    sent=np.zeros((0, 0), np.bool_),
)
"""Where the fleet makes its steps by itself."""
