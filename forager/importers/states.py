"""States for the versions of a tape, from their texts, as a live crawl works them out (Alg 2).

Texts come one by one and are not all kept: when there are enough of them, clusters are learned from the first ones, as a
crawl does once; with too few, states are hashed words. A crawl that has learned its own hands these over.
"""

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.core.states import States
from forager.errors import InputError

BATCH = 1024
"""Texts whose states are worked out in one product."""
TEXTS_PER_CLUSTER = 10
"""So many texts for each component of a state, and clusters are learned from them; with fewer they would say little."""


class Stating:
    """Takes texts and numbers their states; equal texts share one."""

    def __init__(self, states: States) -> None:
        self.states = states
        self._settled = states.trained
        """Nothing more is learned: states of different versions cannot be compared."""
        self._rows: dict[int, int] = {}
        self._waiting: list[str] = []
        self._done: list[NDArray[np.float32]] = []

    def __repr__(self) -> str:
        return f"<Stating of {len(self._rows):,} texts: {self.states!r}>"

    def row(self, text: str) -> int:
        """The row of a text's state in what `finish` gives; -1 for no text."""
        if not text.strip():
            return -1
        count = len(self._rows)
        row = self._rows.setdefault(xxh3_64_intdigest(text.encode("utf-8", "replace")), count)
        if row == count:
            self._waiting.append(text)
            if len(self._waiting) >= (BATCH if self._settled else self.states.settings.train_pages):
                self._drain(learn=True)
        return row

    def finish(self) -> NDArray[np.float32]:
        """The states of all texts, by row."""
        self._drain(learn=len(self._rows) >= TEXTS_PER_CLUSTER * self.states.settings.dimension)
        return np.concatenate([np.empty((0, self.states.settings.dimension), np.float32), *self._done])

    def _drain(self, *, learn: bool) -> None:
        """Work out the states of all that waits, with clusters learned from it if none were learned before."""
        if learn and not self._settled:
            with suppress(InputError):  # texts that share no words: their states stay hashed words
                self.states = self.states.train(self._waiting)
        self._settled = True
        for first in range(0, len(self._waiting), BATCH):
            self._done.append(self.states.of(self._waiting[first : first + BATCH]))
        self._waiting.clear()
