"""Ranks all known pages from time to time; the best form the pool from which every download is chosen.

Ranking all known pages for each download would be too expensive, and ranking them once per cycle makes newly revealed
links wait for the next one. So every download takes the currently best page of the pool, and links that it reveals join
the pool at once.

With very many known pages, most rankings use only a short list. The expected documents of a page grow with time, fast
or slowly. So the list holds the pages with the most expected documents now, and those with the most after a day without
a visit: the latter are the fast ones, including those visited a moment ago. Any other page is far from the best and
stays so for a few hundred downloads. Pages that became known since are on the list too.

A pool holds more than the pages that are best at its ranking: a list looked at a moment ago promises nothing yet, but may be
the first to do so again, long before the next ranking. So the fastest lists are always in the pool.
"""

import numpy as np

from forager.arrays import FloatArray, IntArray, RowArray
from forager.core.best_pages import most_promising
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
"""Minimum number of never-visited pages among them, if there are so many."""
FAST = ROUND
"""Number of lists that are in a pool because they will soon be among the best; between two rankings no more are needed."""
LEAST = 1024
"""Minimum length of a list; with up to twice as many pages, all are ranked every time."""
PART = 32
"""One page in this many is on the list for now, and as many for later."""
LATER = 86_400.0
"""Seconds after which the fast pages are surely among the best."""
LOOKS = 64
"""A new list is made after one download per this many known pages."""
LATE = 2
"""A new list is also made when this many times its length has joined it."""


@inner
def list_length(known: int) -> int:
    """How many of the known pages are on a list for now, and as many for later; 0: no list is needed."""
    return 0 if known <= 2 * LEAST else max(LEAST, known // PART)


@inner
def list_serves(used: int, known: int, late: int, listed: int) -> bool:
    """Whether a list may still be used: it has `listed` of `known` pages, and since then `used` downloads were made and
    `late` pages became known."""
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
    """Sets the numbers in a column, whose first entry is their count."""
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
    """The `size` pages with the most expected documents, of sorted pages; the link graph adds its weight."""
    return most_promising(mind, pages, now, mind.scratch[2, : lean_on_graph(mind, weight, pages)], False, size)


@compiled
def strangers(mind: Mind, unseen: IntArray, now: float) -> IntArray:
    """Some promising never-visited pages, so that there is always something to explore."""
    if len(unseen) <= STRANGERS:
        return unseen
    return most_promising(mind, unseen, now, np.empty(0), True, STRANGERS)


@compiled
def fast_lists(mind: Mind, pages: IntArray, now: float) -> IntArray:
    """The lists among sorted pages that will promise most if they are left alone for long."""
    lists, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        row: PageRow = mind.table[page]
        if row.hub and row.visits > 0:
            lists[count] = page
            count += 1
    return most_promising(mind, lists[:count], now + LATER, np.empty(0), False, FAST)


@compiled
def some_unseen(table: RowArray, pages: IntArray) -> IntArray:
    """Never-visited pages; only some if there are very many."""
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
    """All known pages, or a new short list if they are very many."""
    turn: Turn = side.turn[0]
    known = gather(mind, side)
    if len(known) > POOL:
        _put(side.unseen, some_unseen(mind.table, known))
    size = 0 if len(side.only) else list_length(len(known))
    if size == 0:
        turn.listed = 0
        return known
    leaning = mind.scratch[2, : lean_on_graph(mind, turn.weight, known)]
    pages = merged(
        most_promising(mind, known, now, leaning, False, size),
        most_promising(mind, known, now + LATER, leaning, False, size),
    )
    _put(side.listed, pages)
    turn.listed, turn.listed_of, turn.listed_late, turn.listed_used = len(pages), len(known), 0, 0
    return pages


@compiled
def _join_list(mind: Mind, side: Choices) -> IntArray:
    """The short list with the pages known since, and those of the pool."""
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

    Python must rank if a score function decides alone, or if there is a pool for each host. `last` and `revisit_after`
    say until when the last copy of a page serves all requests; `luck` is a random number that breaks ties.
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
