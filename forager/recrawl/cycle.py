"""One recrawl cycle: ranks all known pages, takes the top k, and says why.

Ties go to the page that was visited longest ago, then to a fixed random order of pages (ours). Pages are scored in
parts, so ten million pages need little more memory than their history.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.gp.trees import terminals_of
from forager.recrawl.formula import formula_text
from forager.recrawl.history import History
from forager.recrawl.policies import ByKind, Formula, ScoreFunction
from forager.recrawl.terminals import PageStates

PART = 1 << 16
"""Pages scored at a time: the columns of a part stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The pages of a cycle, best first."""

    pages: IntArray
    scores: FloatArray
    known: int
    """Pages that were ranked."""


def _fixed_order(pages: IntArray) -> NDArray[np.uint64]:
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
    eligible: Callable[[IntArray], BoolArray] | None = None,
    groups: IntArray | None = None,
) -> Ranked:
    """The k visited pages with the highest scores; `eligible` may exclude some, such as those of blocked hosts.

    `groups`, such as the host of every page, gives the k best of each group instead.
    """
    pages, scores, last = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    floor, most, visited = -np.inf, k, history.visited_pages
    if eligible is not None:
        visited = visited[eligible(visited)]
    for start in range(0, len(visited), PART):
        part = visited[start : start + PART]
        states = history.states(now, part)
        worth = score.scores(states)
        found = np.flatnonzero((worth >= floor) & (worth > -np.inf))
        pages = np.concatenate([pages, part[found]])
        scores, last = np.concatenate([scores, worth[found]]), np.concatenate([last, states.last[found]])
        if len(pages) > 2 * most + PART:
            kept = _best(scores, last, pages, k, groups)
            pages, scores, last, most = pages[kept], scores[kept], last[kept], max(k, len(kept))
            if groups is None:
                floor = float(scores.min()) if k else np.inf
    kept = _best(scores, last, pages, k, groups)
    pages, scores, last = pages[kept], scores[kept], last[kept]
    order = np.lexsort((_fixed_order(pages), last, -scores))
    return Ranked(pages[order], scores[order], len(visited))


def of_each(groups: IntArray, order: IntArray, k: int) -> IntArray:
    """The first k of each group in `order`, in which the groups follow each other."""
    sorted_groups = groups[order]
    begins = np.flatnonzero(np.diff(sorted_groups, prepend=-1))
    place = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return order[place < k]


def _best(scores: FloatArray, last: FloatArray, pages: IntArray, k: int, groups: IntArray | None) -> IntArray:
    """The indices of the k best, of all or of each group, in no particular order."""
    if groups is not None:
        own = groups[pages]
        return of_each(own, np.lexsort((_fixed_order(pages), last, -scores, own)), k)
    if len(scores) <= k:
        return np.arange(len(scores))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > threshold)
    ties = np.flatnonzero(scores == threshold)
    order = np.lexsort((_fixed_order(pages[ties]), last[ties]))
    return np.concatenate([above, ties[order[: k - len(above)]]])


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page is visited in a cycle, or not."""

    read: tuple[tuple[str, float], ...]
    """What the score function reads of the page."""
    score: float
    rank: int
    known: int
    rule: str = ""
    """The function for pages of its kind, if lists and texts have different ones."""

    def __str__(self) -> str:
        plain = self.score == 0.0 or 0.01 <= abs(self.score) < 1e6
        score = f"{self.score:.2f}" if plain else f"{self.score:.3g}"
        return f"{_named(self.read)} → {score}, rank {self.rank:,} of {self.known:,}"


def explain(history: History, score: ScoreFunction, now: float, page: int) -> Explanation:
    """The score of a page now, and its rank among all visited pages, or among those of its kind (the best rank among
    equals).
    """
    own = history.states(now, slice(page, page + 1))
    names: Sequence[str] = ("n", "X", "t")
    kind, rule = None, ""
    if isinstance(score, ByKind):
        kind = bool(own.hub[0])
        score = score.of_kind(kind)
        rule = formula_text(score.tree)
    if isinstance(score, Formula):
        names = [*names, *sorted(terminals_of(score.tree) - set(names))]
        own = replace(own, rhythm=score.rhythm) if score.rhythm else own
    worth, better, known = float(score.scores(own)[0]), 0, 0
    for start in range(0, len(history), PART):
        states = history.states(now, slice(start, start + PART))
        visited = states.n > 0
        if kind is not None:
            visited &= (states.hub > 0) == kind
        known += int(np.count_nonzero(visited))
        better += int(np.count_nonzero(visited & (score.scores(states) > worth)))
    return Explanation(tuple((name, _value(own, name)) for name in names), worth, better + 1, known, rule)


def facts(history: History, now: float, page: int) -> str:
    """Visits, changes seen, and cycles since the last visit of a page."""
    own = history.states(now, slice(page, page + 1))
    return _named([(name, _value(own, name)) for name in ("n", "X", "t")])


def _named(values: Sequence[tuple[str, float]]) -> str:
    return " ".join(f"{name}={value:.4g}" for name, value in values)


def _value(states: PageStates, name: str) -> float:
    return float(Formula.of((name,)).scores(states)[0])
