"""The choice of the next page to look at again, made for every download, live and in replays alike.

By default the page goes first of which most new documents are expected. A score function may order the pages that have a
history: alone, or only those that are worth a request. No kernel needs to know the function: whenever pages are ranked, those
it may put first get numbers, the higher the sooner, and the choice reads these.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.expectation import outlook, worth_of
from forager.core.exploration import allows, owes
from forager.core.kernels import best
from forager.core.pool import AWAKE, USED, rest, wake
from forager.core.promise import pick
from forager.core.rules import FloatArray, IntArray
from forager.core.updates import Mind

BY_WORTH, REORDERED, ALONE = range(3)
"""Who decides: the documents expected; they, but among pages worth a request the score function; the function."""
NOTHING, RANK = -1, -2
"""Instead of a page: none is worth a download; pages are to be ranked first."""
TIE = 1e-9
"""How far the link graph moves a page that was visited: it only breaks ties."""

ROUND = 64
"""Downloads from one pool after which all pages are ranked anew."""
SHARE = 1000
"""No ranking before there was a download for every so many pages, …"""
LARGE = 20_000
"""… and after so many cycles more as there are so many pages: ranking must not take most of the time."""


class Turn(Protocol):
    """How far the recrawl side is, as the kernels see it."""

    every: float  # seconds of a cycle, …
    ends: float  # … and when the one under way ends
    ranked: float  # when pages were ranked, …
    known: int  # … how many were known then, …
    used: int  # … and downloads since
    mode: int
    grouped: bool  # each host has a pool of its own
    pooled: bool  # there is a pool, so that links may join it
    weight: float  # how far the link graph moves pages that nobody has visited
    seeds: int  # that come before everything else
    gathered: int  # of the pages that became known, those looked at for the ranking of all
    listed: int  # pages put on the short list, 0 if there is none; …
    listed_of: int  # … of so many known ones; …
    listed_late: int  # … pages that joined it, …
    listed_used: int  # … and downloads since


_KINDS: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
TURN = np.dtype([(name, _KINDS[kind]) for name, kind in Turn.__annotations__.items()])


class Choices(NamedTuple):
    """What the choice is made among: one pool, the numbers of pages, and what a ranking keeps for the next one."""

    awake: IntArray
    resting: IntArray
    until: FloatArray
    tally: IntArray
    turn: NDArray[np.void]
    """A table of one row, the `Turn`."""
    number: FloatArray
    """For each page its number by the score function, the highest first; 0: none."""
    wait: FloatArray
    """Until when each page is not to be had."""
    seeds: IntArray
    """The first to come last."""
    only: NDArray[np.bool_]
    """Which pages may be looked at; empty: all."""
    known: IntArray
    """By rising number, as the next two, after how many they are: the pages known when all were last ranked, …"""
    listed: IntArray
    """… those on the short list, …"""
    unseen: IntArray
    """… and some that nobody has seen."""


@inner
def enough(used: int, known: int) -> bool:
    """Whether there were downloads enough since the last ranking of so many pages for another one."""
    return used > 0 and used * SHARE >= known


@inner
def ranking_due(turn: Turn, now: float, used_of_pool: int) -> bool:
    """Whether all pages are to be ranked again: this pool was used long enough, or it is time."""
    by_time = now - turn.ranked >= turn.every * max(1.0, turn.known / LARGE)
    return by_time or (enough(turn.used, turn.known) and used_of_pool >= ROUND)


@compiled
def graph_leanings(mind: Mind, weight: float, pages: IntArray) -> FloatArray:
    """What the link graph makes of the worth of pages: a factor for each, or nothing if nobody asks it."""
    if mind.appeal_share == 0:
        return np.empty(0)
    out = np.ones(len(pages))
    for i in range(len(pages)):
        if pages[i] < len(mind.appeal):
            leaning = mind.appeal_share * mind.appeal[pages[i]]
            out[i] = 1 + leaning * (TIE if mind.table[pages[i]].visits > 0 else weight)
    return out


@inner
def _first_numbered(mind: Mind, side: Choices, pages: IntArray, now: float) -> int:
    """Where the page stands that the score function puts first, -1 for nowhere; none is looked at twice in a cycle."""
    place, top, turn = -1, 0.0, side.turn[0]
    for i in range(len(pages)):
        number = side.number[pages[i]]
        if number > top and now - mind.history.times[1, pages[i]] >= turn.every:
            place, top = i, number
    return place


@compiled
def _reordered(mind: Mind, side: Choices, pages: IntArray, now: float, least: float) -> tuple[int, float]:
    """Of the pages seen before that are worth a request the one that the score function puts first; -1 for none."""
    place, top, worth, turn = -1, 0.0, 0.0, side.turn[0]
    foreseen, prior = outlook(mind.means, mind.priors[0]), mind.priors[0]
    for i in range(len(pages)):
        page = pages[i]
        number = side.number[page]
        if number > top and now - mind.history.times[1, page] >= turn.every:
            promised, _, _ = worth_of(mind.table, page, foreseen, prior, now)
            if promised >= least:
                place, top, worth = i, number, promised
    return place, worth


@compiled
def _by_score(mind: Mind, side: Choices, pages: IntArray, now: float, luck: float, least: float) -> tuple[int, float]:
    """The page that the score function puts first; or one without history, if it promises more documents.

    What a page promises is the one measure that both kinds have. Without it, the backlog of pages never seen would keep the
    function from ever looking again at the lists that bring the news.
    """
    others, count = np.empty(len(pages), np.int64), 0
    for i in range(len(pages)):
        if mind.history.counts[0, pages[i]] == 0:
            others[count] = i
            count += 1
    best_other, worth, fresh = 0, 0.0, False
    if count:
        never = pages[others[:count]]
        leaning = graph_leanings(mind, side.turn[0].weight, never)
        index, worth, fresh, _ = pick(mind.table, never, mind.means, mind.priors, mind.glances, now, leaning, luck)
        best_other = others[index]
    if fresh and worth >= least:
        return best_other, worth
    place = _first_numbered(mind, side, pages, now)
    if place < 0:
        return best_other, worth
    if worth >= least:
        foreseen = outlook(mind.means, mind.priors[0])
        promised, _, _ = worth_of(mind.table, pages[place], foreseen, mind.priors[0], now)
        if worth >= promised:
            return best_other, worth
    return place, np.nan


@compiled
def _pick(mind: Mind, side: Choices, pages: IntArray, now: float, luck: float, least: float) -> tuple[int, float]:
    """Where the page to look at first stands and its worth in documents; nan: worth a look whatever it promises."""
    turn: Turn = side.turn[0]
    if turn.mode == ALONE:
        return _by_score(mind, side, pages, now, luck, least)
    leaning = graph_leanings(mind, turn.weight, pages)
    index, worth, _, _ = pick(mind.table, pages, mind.means, mind.priors, mind.glances, now, leaning, luck)
    if turn.mode == REORDERED and worth >= least and mind.history.counts[0, pages[index]] > 0:
        place, promised = _reordered(mind, side, pages, now, least)
        if place >= 0:
            return place, promised
    return index, worth


@compiled
def _stranger(mind: Mind, pages: IntArray, luck: float) -> int:
    """A page that nobody has seen, the first in the order of the link graph or else any; -1 if there is none."""
    unseen, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        if mind.table[page].visits == 0:
            unseen[count] = page
            count += 1
    if count == 0:
        return -1
    if mind.appeal_share == 0:
        return int(unseen[int(luck * count)])
    appeal = np.zeros(count)
    for i in range(count):
        if unseen[i] < len(mind.appeal):
            appeal[i] = mind.appeal[unseen[i]]
    return int(unseen[best(appeal, luck)])


@inner
def _free_at(mind: Mind, side: Choices, last: FloatArray, revisit_after: float, page: int) -> float:
    """Until when a page is not to be had, or its last copy serves everybody."""
    until: float = side.wait[page]
    return max(until, last[page] + revisit_after) if mind.history.counts[0, page] > 0 else until


@inner
def choose_of_pool(
    mind: Mind, side: Choices, last: FloatArray, revisit_after: float, now: float, luck: float, least: float,
    explored: float, explore: float, turns: float,
) -> tuple[int, float]:  # fmt: skip
    """The page of the pool to look at and its worth; `NOTHING` if none is worth a download.

    While too little was explored, or nothing is worth a request, a page that nobody has seen goes first. Only when there is
    none left, the best of the poor is looked at instead: before, that would only show the same pages again.
    """
    wake(side.awake, side.resting, side.until, side.tally, now)
    while side.tally[AWAKE] > 0:
        pages = side.awake[: side.tally[AWAKE]]
        index, worth = _pick(mind, side, pages, now, luck, least)
        page = pages[index]
        free = _free_at(mind, side, last, revisit_after, page)
        if free > now:
            rest(side.awake, side.resting, side.until, side.tally, index, free)
            continue
        if owes(explored, explore, turns) or not worth >= least:
            stranger = -1
            if allows(0.0, least, explored, explore, turns):
                stranger = _stranger(mind, pages, luck)
            if stranger >= 0 and _free_at(mind, side, last, revisit_after, stranger) <= now:
                return stranger, 0.0
        return (page if allows(worth, least, explored, explore, turns) else NOTHING), worth
    return NOTHING, 0.0


@inner
def next_seed(mind: Mind, side: Choices) -> int:
    """The next seed that nobody has seen, `NOTHING` if there is none: nothing is known that speaks for seeds, and without
    them a whole site may stay unknown."""
    turn: Turn = side.turn[0]
    while turn.seeds > 0:
        turn.seeds -= 1
        seed = side.seeds[turn.seeds]
        if mind.table[seed].visits == 0:
            turn.used += 1
            return int(seed)
    return NOTHING


@inner
def use_page(side: Choices) -> None:
    """A page of the pool is looked at."""
    turn: Turn = side.turn[0]
    turn.used += 1
    side.tally[USED] += 1


@compiled
def count_wanted(mind: Mind, side: Choices, now: float, least: float) -> int:
    """How many pages of the pool are worth a download."""
    turn: Turn = side.turn[0]
    foreseen, count = outlook(mind.means, mind.priors[0]), 0
    for page in side.awake[: side.tally[AWAKE]]:
        if turn.mode == ALONE and mind.history.counts[0, page] > 0:
            count += side.number[page] > 0
        else:
            worth, _, _ = worth_of(mind.table, page, foreseen, mind.priors[0], now)
            count += worth >= least
    return count
