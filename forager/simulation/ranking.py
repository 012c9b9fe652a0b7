"""All known pages are ranked and the best make the pool, as one kernel: what `Choosing.rank` does by worth.

Here, too, most of the time only a short list of very many pages is ranked; see `recrawl.shortlist`.
"""

import numpy as np

from forager.compiling import compiled
from forager.core.rules import IntArray
from forager.core.updates import Mind
from forager.foragers.kernels import merged
from forager.foragers.ranking import NO_LEANING, most_promising, now_and_later
from forager.recrawl.choosing import POOL, STRANGERS
from forager.recrawl.pool import AWAKE, RESTING, USED
from forager.recrawl.shortlist import LATER, list_length, list_serves
from forager.simulation.course import Course, Rules, Watched
from forager.world.tape.player import Columns


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
def _best(mind: Mind, pages: IntArray, now: float, size: int, plain: bool) -> IntArray:
    return most_promising(mind.table, pages, mind.means, mind.priors, mind.glances, now, NO_LEANING, plain, size)


@compiled
def _gather(at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched) -> IntArray:
    """All known pages that may be downloaded, by rising number."""
    lately = mind.known[1 + at.gathered : 1 + mind.known[0]]
    if rules.reads_off:
        lately = lately[tape.is_list[lately]]
    _put(side.known, merged(side.known[1 : 1 + side.known[0]], np.sort(lately)))
    at.gathered = mind.known[0]
    return side.known[1 : 1 + side.known[0]]


@compiled
def _list_anew(at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched) -> IntArray:
    """All known pages, or a new short list if they are very many; as `Choosing._all` does."""
    known = _gather(at, rules, tape, mind, side)
    unseen = _unseen(mind, known)
    _put(side.unseen, unseen[:: 1 + len(unseen) // POOL] if len(unseen) > STRANGERS else unseen)
    size = 0 if rules.reads_off else list_length(len(known))
    if size == 0:
        at.listed = 0
        return known
    now, later = now_and_later(mind.table, known, mind.means, mind.priors, mind.glances, at.now, at.now + LATER, size)
    pages = merged(now, later)
    _put(side.listed, pages)
    at.listed, at.listed_of, at.listed_late, at.listed_used = len(pages), len(known), 0, 0
    return pages


@compiled
def _join_list(at: Course, mind: Mind, side: Watched) -> IntArray:
    """The short list with the pages known since, and those of the pool; as `Choosing._listed` does."""
    late = np.sort(mind.known[1 + at.listed_of + at.listed_late : 1 + mind.known[0]])
    _put(side.listed, merged(side.listed[1 : 1 + side.listed[0]], late))
    _put(side.unseen, _unseen(mind, merged(side.unseen[1 : 1 + side.unseen[0]], late)))
    at.listed_late += len(late)
    pool = np.concatenate((side.awake[: side.tally[AWAKE]], side.resting[: side.tally[RESTING]]))
    return merged(side.listed[1 : 1 + side.listed[0]], np.sort(pool))


@compiled
def rank_known(at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched) -> None:
    """Rank all known pages, or a short list of them; the best make the pool, in which there must be room."""
    at.listed_used += at.used
    late = mind.known[0] - at.listed_of
    if at.listed > 0 and list_serves(at.listed_used, at.listed_of, late, at.listed):
        pages = _join_list(at, mind, side)
    else:
        pages = _list_anew(at, rules, tape, mind, side)
    unseen = side.unseen[1 : 1 + side.unseen[0]]
    strangers = unseen if len(unseen) <= STRANGERS else _best(mind, unseen, at.now, STRANGERS, True)
    best = merged(_best(mind, pages, at.now, POOL, False), strangers)
    side.awake[: len(best)] = best
    side.tally[AWAKE], side.tally[RESTING], side.tally[USED] = len(best), 0, 0
    at.used, at.ranked = 0, at.now
    at.ranked_pages = side.known[0] if at.listed == 0 else mind.known[0]
