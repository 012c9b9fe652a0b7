"""One recrawl cycle: rank all known pages, take the top k, and say why.

Among equal scores the page longer unvisited goes first, then a fixed random order of pages (ours). Pages are scored in
parts, so ten million pages need little more memory than their history.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.gp.tree import terminals_of
from forager.recrawl.history import History
from forager.recrawl.policies import Formula, ScoreFunction
from forager.recrawl.states import TERMINALS, States

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PART = 1 << 16
"""Pages scored at a time: the columns of a part stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pages of a cycle, best first."""

    pages: IntArray
    scores: FloatArray
    known: int
    """Pages that were ranked."""


def fixed_order(pages: IntArray) -> NDArray[np.uint64]:
    """A random-looking number per page, always the same (the mixing steps of splitmix64)."""
    z = (pages.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def top(
    history: History,
    score: ScoreFunction,
    now: float,
    k: int,
    eligible: Callable[[slice], NDArray[np.bool_]] | None = None,
) -> Schedule:
    """The k visited pages with the highest scores; `eligible` may rule out pages of a part, say of blocked hosts."""
    pages, scores, last = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    known, floor = 0, -np.inf
    for start in range(0, len(history), PART):
        part = slice(start, min(start + PART, len(history)))
        states = history.states(now, part)
        worth = score.scores(states)
        may = states.n > 0
        if eligible is not None:
            may &= eligible(part)
        known += int(np.count_nonzero(may))
        found = np.flatnonzero(may & (worth >= floor) & (worth > -np.inf))
        pages = np.concatenate([pages, found + start])
        scores, last = np.concatenate([scores, worth[found]]), np.concatenate([last, states.last[found]])
        if len(pages) > 2 * k + PART:
            kept = _best(scores, last, pages, k)
            pages, scores, last = pages[kept], scores[kept], last[kept]
            floor = float(scores.min()) if k else np.inf
    kept = _best(scores, last, pages, k)
    pages, scores, last = pages[kept], scores[kept], last[kept]
    order = _ranked(scores, last, pages)
    return Schedule(pages[order], scores[order], known)


def _best(scores: FloatArray, last: FloatArray, pages: IntArray, k: int) -> IntArray:
    """Where the k best stand, in no order."""
    if len(scores) <= k:
        return np.arange(len(scores))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > threshold)
    ties = np.flatnonzero(scores == threshold)
    order = np.lexsort((fixed_order(pages[ties]), last[ties]))
    return np.concatenate([above, ties[order[: k - len(above)]]])


def _ranked(scores: FloatArray, last: FloatArray, pages: IntArray) -> IntArray:
    return np.lexsort((fixed_order(pages), last, -scores))


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page is visited in a cycle, or not."""

    read: tuple[tuple[str, float], ...]
    """What the score function reads of the page."""
    score: float
    rank: int
    known: int

    def __str__(self) -> str:
        facts = " ".join(f"{name}={value:.4g}" for name, value in self.read)
        return f"{facts} → {self.score:.2f}, rank {self.rank:,} of {self.known:,}"


def explain(history: History, score: ScoreFunction, now: float, page: int) -> Explanation:
    """The score of a page now and its place among all visited pages (the best of its equals)."""
    own = history.states(now, slice(page, page + 1))
    names: Sequence[str] = ("n", "X", "t")
    if isinstance(score, Formula):
        names = [*names, *sorted(terminals_of(score.tree) - set(names))]
    worth, better, known = float(score.scores(own)[0]), 0, 0
    for start in range(0, len(history), PART):
        states = history.states(now, slice(start, start + PART))
        visited = states.n > 0
        known += int(np.count_nonzero(visited))
        better += int(np.count_nonzero(visited & (score.scores(states) > worth)))
    return Explanation(tuple((name, _value(own, name)) for name in names), worth, better + 1, known)


def _value(states: States, name: str) -> float:
    return float(TERMINALS[name](states)[0])
