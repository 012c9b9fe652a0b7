"""The documents of a tape: when each could first be seen, and how long it stayed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.tape.tape import Tape
from forager.tape.world import LISTS


@dataclass(frozen=True, slots=True)
class Documents:
    """One row per document, in the order of first appearance."""

    key: NDArray[np.uint64]
    """Its identity: URL number, fingerprint of the main text, or version number."""
    born: NDArray[np.float64]
    """When it could first be seen."""
    gone: NDArray[np.float64]
    """When its last copy disappeared; the end of the tape if it stayed."""
    of_version: NDArray[np.int64]
    """For each version of the tape, the row of its document; -1 if it is none."""

    def __len__(self) -> int:
        return len(self.born)


def documents(tape: Tape, *, identity: str = "", max_age: float = 86_400.0, hubs: bool = False) -> Documents:
    """The dated versions that were young when they appeared; lists of links only with `hubs`.

    `identity` says what makes a document new: `url`, `text` or `version`; by default what the tape says.
    """
    identity = identity or tape.identity
    return tape.once(("documents", identity, max_age, hubs), lambda: _documents(tape, identity, max_age, hubs))


def _documents(tape: Tape, identity: str, max_age: float, hubs: bool) -> Documents:
    owner = np.repeat(np.arange(tape.pages), np.diff(tape.version_start))
    young = (tape.time - tape.published <= max_age) & ~tape.gone  # False without a date
    if not hubs:
        young &= ~np.isin(tape.url_kind, LISTS)[owner]
    key = _keys(tape, owner, identity)
    ends = np.append(tape.time[1:], tape.end)
    ends[tape.version_start[1:][np.diff(tape.version_start) > 0] - 1] = tape.end
    chosen = np.flatnonzero(young)
    key = key[chosen]
    together = np.argsort(key, kind="stable") if identity == "text" else np.arange(len(key))  # the others are sorted
    key = key[together]
    is_first = np.append(True, key[1:] != key[:-1])[: len(key)]
    first = np.flatnonzero(is_first)
    born = _best(np.minimum, tape.time[chosen][together], first)
    gone = _best(np.maximum, ends[chosen][together], first)
    order = np.argsort(born, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of_version = np.full(tape.versions, -1, dtype=np.int64)
    of_version[chosen[together]] = place[np.cumsum(is_first) - 1]
    return Documents(key[first][order], born[order], gone[order], of_version)


def _best(better: np.ufunc, values: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """The best value of each group of neighbours; `first` has the start of each group."""
    return np.asarray(better.reduceat(values, first) if len(first) else values[:0])


def _keys(tape: Tape, owner: NDArray[np.int64], identity: str) -> NDArray[np.uint64]:
    """Identity of each version's document; a version without main text counts as a document of its own."""
    if identity in ("url", "link"):
        return owner.astype(np.uint64)
    versions = np.arange(tape.versions, dtype=np.uint64)
    return np.where(tape.text_print == 0, versions, tape.text_print) if identity == "text" else versions
