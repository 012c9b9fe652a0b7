"""Ranks all known pages from time to time; the best form the pool from which every download is chosen.

Ranking all known pages for each download would be too expensive, and ranking them once per cycle would make newly
revealed links wait for the next cycle. So every download takes the best page of the pool at that moment, and links that
it reveals join the pool at once.

If there are very many pages, most rankings use only a *short list*. The worth of a page grows with time, quickly or
slowly. So the short list holds the pages with the most worth now, and those with the most worth after a day without a
visit, which are the quick ones, including those visited a moment ago. Any other page is far from the best, and stays so
for a few hundred downloads. Pages that became known since are on the list too.

A pool holds more than the best pages at the ranking: a list that was visited a moment ago is worth nothing yet, but may
be the first to be worth a visit again, long before the next ranking. So the quickest lists are always in the pool.
"""

import numpy as np

from forager.arrays import FloatArray, IntArray, RowArray
from forager.core.best_pages import most_promising, now_and_later
from forager.core.choice import (
    ALONE,
    AWAKE,
    NOTHING,
    RANK,
    RESTING,
    ROUND,
    USED,
    Choices,
    Turn,
    choose_of_pool,
    enough,
    lean_on_graph,
    next_seed,
    ranking_due,
    use_page,
)
from forager.core.page_row import Mind, PageRow
from forager.kernel import compiled, inner

POOL = 256
"""Number of pages in a pool after a ranking."""
STRANGERS = 32
"""Minimum number of never-visited pages in a pool, if there are as many."""
FAST = ROUND
"""Number of lists in a pool because they will soon be among the best; no more are needed between two rankings."""
LEAST = 1024
"""Minimum length of each half of the short list. Up to twice as many pages are all ranked every time."""
PART = 32
"""One page in this many is on the short list because of its worth now, and as many because of their worth later."""
LATER = 86_400.0
"""Seconds after which the quick pages are surely among the best."""
LOOKS = 64
"""A new short list is made after one download per this many known pages."""
LATE = 2
"""A new short list is also made when this many times its length has joined it."""


@inner
def list_length(known: int) -> int:
    """Length of each half of the short list; 0: none is needed."""
    return 0 if known <= 2 * LEAST else max(LEAST, known // PART)


@inner
def list_serves(used: int, known: int, late: int, listed: int) -> bool:
    """Whether the short list can still be used: it has `listed` of `known` pages, and since it was made there were
    `used` downloads and `late` new pages.
    """
    return used * LOOKS < known and late <= LATE * listed


@compiled
def merged(one: IntArray, other: IntArray) -> IntArray:
    """The numbers of two sorted columns, sorted, each once."""
    out, count, i, j = np.empty(len(one) + len(other), np.int64), 0, 0, 0
    while i < len(one) or j < len(other):
        first = j == len(other) or (i < len(one) and one[i] <= other[j])
        number = one[i] if first else other[j]
        i += i < len(one) and one[i] == number
        j += j < len(other) and other[j] == number
        out[count] = number
        count += 1
    return out[:count]


@compiled
def _put(column: IntArray, pages: IntArray) -> None:
    """Stores numbers in a column, whose first entry is their count."""
    column[0] = len(pages)
    column[1 : 1 + len(pages)] = pages


@compiled
def _unseen(table: RowArray, pages: IntArray) -> IntArray:
    """The pages that were never visited."""
    out, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        if table[page].visits == 0:
            out[count] = page
            count += 1
    return out[:count]


@compiled
def promising(mind: Mind, weight: float, pages: IntArray, now: float, size: int) -> IntArray:
    """The `size` pages with the most worth, of sorted pages; `weight` is that of the link graph."""
    return most_promising(mind, pages, now, mind.scratch[2, : lean_on_graph(mind, weight, pages)], False, size)


@compiled
def strangers(mind: Mind, unseen: IntArray, now: float) -> IntArray:
    """Some promising never-visited pages, so that there is always something to explore."""
    if len(unseen) <= STRANGERS:
        return unseen
    return most_promising(mind, unseen, now, np.empty(0), True, STRANGERS)


@compiled
def fast_lists(mind: Mind, pages: IntArray, now: float) -> IntArray:
    """Of the sorted pages, the lists that will be worth most if they are not visited for long."""
    lists, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        row: PageRow = mind.table[page]
        if row.hub and row.visits > 0:
            lists[count] = page
            count += 1
    return most_promising(mind, lists[:count], now + LATER, np.empty(0), False, FAST)


@compiled
def some_unseen(table: RowArray, pages: IntArray) -> IntArray:
    """Never-visited pages; only some of them if there are very many."""
    unseen = _unseen(table, pages)
    return unseen[:: 1 + len(unseen) // POOL].copy() if len(unseen) > STRANGERS else unseen


@compiled
def gather(mind: Mind, side: Choices) -> IntArray:
    """All known pages that may be visited, sorted by number."""
    turn: Turn = side.turn[0]
    lately = mind.known[1 + turn.gathered : 1 + mind.known[0]]
    if len(side.only):
        lately = lately[side.only[lately]]
    if len(lately):
        _put(side.known, merged(side.known[1 : 1 + side.known[0]], np.sort(lately)))
    turn.gathered = mind.known[0]
    return side.known[1 : 1 + side.known[0]]


@compiled
def _list_anew(mind: Mind, side: Choices, now: float) -> IntArray:
    """All known pages, or a new short list if there are very many."""
    turn: Turn = side.turn[0]
    known = gather(mind, side)
    if len(known) > POOL:
        _put(side.unseen, some_unseen(mind.table, known))
    size = 0 if len(side.only) else list_length(len(known))
    if size == 0:
        turn.listed = 0
        return known
    leaning = mind.scratch[2, : lean_on_graph(mind, turn.weight, known)]
    soon, late = now_and_later(mind, known, now, now + LATER, leaning, size)
    pages = merged(soon, late)
    _put(side.listed, pages)
    turn.listed, turn.listed_of, turn.listed_late, turn.listed_used = len(pages), len(known), 0, 0
    return pages


@compiled
def _join_list(mind: Mind, side: Choices) -> IntArray:
    """The short list, the pages known since it was made, and those of the pool."""
    turn: Turn = side.turn[0]
    late = np.sort(mind.known[1 + turn.listed_of + turn.listed_late : 1 + mind.known[0]])
    _put(side.listed, merged(side.listed[1 : 1 + side.listed[0]], late))
    _put(side.unseen, _unseen(mind.table, merged(side.unseen[1 : 1 + side.unseen[0]], late)))
    turn.listed_late += len(late)
    pool = np.concatenate((side.pool.awake[: side.pool.tally[AWAKE]], side.pool.resting[: side.pool.tally[RESTING]]))
    return merged(side.listed[1 : 1 + side.listed[0]], np.sort(pool))


@compiled
def rank_known(mind: Mind, side: Choices, now: float) -> None:
    """Ranks all known pages, or a short list; the best form the pool, which must have room."""
    turn: Turn = side.turn[0]
    turn.listed_used += turn.used
    late = mind.known[0] - turn.listed_of
    if turn.listed > 0 and list_serves(turn.listed_used, turn.listed_of, late, turn.listed):
        pages = _join_list(mind, side)
    else:
        pages = _list_anew(mind, side, now)
    best = pages
    if len(pages) > POOL:
        some = strangers(mind, side.unseen[1 : 1 + side.unseen[0]], now)
        best = merged(merged(promising(mind, turn.weight, pages, now, POOL), some), fast_lists(mind, pages, now))
    side.pool.awake[: len(best)] = best
    side.pool.tally[AWAKE], side.pool.tally[RESTING], side.pool.tally[USED] = len(best), 0, 0
    turn.known = side.known[0] if turn.listed == 0 else mind.known[0]
    turn.used, turn.ranked, turn.pooled = 0, now, True


@inner
def next_page(
    mind: Mind, side: Choices, last: FloatArray, revisit_after: float, now: float, luck: float, least: float,
    explored: float, explore: float, turns: float,
) -> tuple[int, float]:  # fmt: skip
    """The next page to visit and its worth; `NOTHING` if none is worth a download, `RANK` if Python must rank first.

    Python must rank if a score function decides alone, or if each host has a pool. `last` and `revisit_after` say until
    when the last copy of a page serves all requests; `luck` breaks ties.
    """
    seed = next_seed(mind, side)
    if seed >= 0:
        return seed, np.nan
    turn: Turn = side.turn[0]
    by_itself = turn.mode != ALONE and not turn.grouped
    if ranking_due(turn, now, side.pool.tally[USED]):
        if not by_itself:
            return RANK, 0.0
        rank_known(mind, side, now)
    page, worth = choose_of_pool(mind, side, last, revisit_after, now, luck, least, explored, explore, turns)
    if page < 0 and enough(turn.used, turn.known):
        if not by_itself:
            return RANK, 0.0
        rank_known(mind, side, now)
        page, worth = choose_of_pool(mind, side, last, revisit_after, now, luck, least, explored, explore, turns)
    if page < 0:
        return NOTHING, 0.0
    use_page(side)
    return page, worth
