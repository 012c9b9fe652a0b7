"""All known pages are ranked from time to time, and the best make the pool: what is chosen for every download is one of them.

Ranking all known pages for each download would be too dear, and ranking them once a cycle lets links just revealed wait for
the next one. So every download takes the best of the pool as of now, and what it reveals joins the pool at once.

Of very many known pages, most of the time only a short list is ranked. What a page promises grows with time, fast or slowly.
So the list holds those that promise most now, and those that will after a day without a visit: that are the quick ones, also
those looked at a moment ago. Any other page is far from the best and stays so for a few hundred downloads. Pages that
became known since are on the list too.
"""

import numpy as np

from forager.compiling import compiled, inner
from forager.core.choice import (
    BY_WORTH,
    NOTHING,
    RANK,
    Choices,
    Turn,
    choose_of_pool,
    enough,
    graph_leanings,
    next_seed,
    ranking_due,
    use_page,
)
from forager.core.kernels import merged
from forager.core.pool import AWAKE, RESTING, USED
from forager.core.promise import most_promising, now_and_later
from forager.core.rules import FloatArray, IntArray
from forager.core.updates import Mind

POOL = 256
"""Pages in a pool after a ranking."""
STRANGERS = 32
"""Pages that nobody has seen among them, or more, if there are so many."""
LEAST = 1024
"""No list is shorter; of twice as many pages, or fewer, all are ranked every time."""
PART = 32
"""Else one page of so many is on it for what it promises now, as many for later, …"""
LATER = 86_400.0
"""Seconds after which the quick pages are surely among the best."""
LOOKS = 64
"""… and a new one is made after one download for so many known pages, …"""
LATE = 2
"""… or when so many times as many pages as were listed have joined it."""


@inner
def list_length(known: int) -> int:
    """How many of so many known pages are on a list for now, and for later; 0: none is needed."""
    return 0 if known <= 2 * LEAST else max(LEAST, known // PART)


@inner
def list_serves(used: int, known: int, late: int, listed: int) -> bool:
    """Whether a list may still be used: `listed` of `known` pages are on it, `used` downloads were made since, and `late`
    pages became known."""
    return used * LOOKS < known and late <= LATE * listed


@compiled
def _put(column: IntArray, pages: IntArray) -> None:
    """Make these the numbers in a column, whose first entry says how many they are."""
    column[0] = len(pages)
    column[1 : 1 + len(pages)] = pages


@compiled
def _unseen(mind: Mind, pages: IntArray) -> IntArray:
    """Those that nobody has seen."""
    out, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        if mind.table[page].visits == 0:
            out[count] = page
            count += 1
    return out[:count]


@compiled
def promising(mind: Mind, weight: float, pages: IntArray, now: float, size: int) -> IntArray:
    """So many of these pages, which rise by number, that promise most; the link graph has its say."""
    leaning = graph_leanings(mind, weight, pages)
    return most_promising(mind.table, pages, mind.means, mind.priors, mind.glances, now, leaning, False, size)


@compiled
def strangers(mind: Mind, unseen: IntArray, now: float) -> IntArray:
    """Some pages that nobody has seen, promising ones, so that there is always something to explore."""
    if len(unseen) <= STRANGERS:
        return unseen
    leaning = np.empty(0)
    return most_promising(mind.table, unseen, mind.means, mind.priors, mind.glances, now, leaning, True, STRANGERS)


@compiled
def some_unseen(mind: Mind, pages: IntArray) -> IntArray:
    """Pages that nobody has seen; of very many, some."""
    unseen = _unseen(mind, pages)
    return unseen[:: 1 + len(unseen) // POOL].copy() if len(unseen) > STRANGERS else unseen


@compiled
def gather(mind: Mind, side: Choices) -> IntArray:
    """All known pages that may be looked at, by rising number."""
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
    _put(side.unseen, some_unseen(mind, known))
    size = 0 if len(side.only) else list_length(len(known))
    if size == 0:
        turn.listed = 0
        return known
    leaning = graph_leanings(mind, turn.weight, known)
    first, later = now_and_later(
        mind.table, known, mind.means, mind.priors, mind.glances, now, now + LATER, leaning, size
    )
    pages = merged(first, later)
    _put(side.listed, pages)
    turn.listed, turn.listed_of, turn.listed_late, turn.listed_used = len(pages), len(known), 0, 0
    return pages


@compiled
def _join_list(mind: Mind, side: Choices) -> IntArray:
    """The short list with the pages known since, and those of the pool."""
    turn: Turn = side.turn[0]
    late = np.sort(mind.known[1 + turn.listed_of + turn.listed_late : 1 + mind.known[0]])
    _put(side.listed, merged(side.listed[1 : 1 + side.listed[0]], late))
    _put(side.unseen, _unseen(mind, merged(side.unseen[1 : 1 + side.unseen[0]], late)))
    turn.listed_late += len(late)
    pool = np.concatenate((side.awake[: side.tally[AWAKE]], side.resting[: side.tally[RESTING]]))
    return merged(side.listed[1 : 1 + side.listed[0]], np.sort(pool))


@compiled
def rank_known(mind: Mind, side: Choices, now: float) -> None:
    """Rank all known pages, or a short list of them; the best make the pool, in which there must be room."""
    turn: Turn = side.turn[0]
    turn.listed_used += turn.used
    late = mind.known[0] - turn.listed_of
    if turn.listed > 0 and list_serves(turn.listed_used, turn.listed_of, late, turn.listed):
        pages = _join_list(mind, side)
    else:
        pages = _list_anew(mind, side, now)
    some = strangers(mind, side.unseen[1 : 1 + side.unseen[0]], now)
    best = merged(promising(mind, turn.weight, pages, now, POOL), some)
    side.awake[: len(best)] = best
    side.tally[AWAKE], side.tally[RESTING], side.tally[USED] = len(best), 0, 0
    turn.known = side.known[0] if turn.listed == 0 else mind.known[0]
    turn.used, turn.ranked, turn.pooled = 0, now, True


@inner
def next_page(
    mind: Mind, side: Choices, last: FloatArray, revisit_after: float, now: float, luck: float, least: float,
    explored: float, explore: float, turns: float,
) -> tuple[int, float]:  # fmt: skip
    """The next page to look at and its worth; `NOTHING` if none is worth a download, `RANK` if pages must be ranked first by
    somebody who can ask a score function, or has a pool for each host.

    `last` and `revisit_after` say until when the last copy of a page serves everybody; `luck` breaks ties.
    """
    seed = next_seed(mind, side)
    if seed >= 0:
        return seed, np.nan
    turn: Turn = side.turn[0]
    by_itself = turn.mode == BY_WORTH and not turn.grouped
    if ranking_due(turn, now, side.tally[USED]):
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


@compiled
def choose_next(
    mind: Mind, side: Choices, last: FloatArray, revisit_after: float, now: float, luck: float, least: float,
    explored: float, explore: float, turns: float,
) -> tuple[int, float]:  # fmt: skip
    """`next_page` for callers outside kernels."""
    return next_page(mind, side, last, revisit_after, now, luck, least, explored, explore, turns)
