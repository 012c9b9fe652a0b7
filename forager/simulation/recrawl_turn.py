"""One download of the recrawl side on a tape: the choice of `core.ranking`, with a look at the tape after it."""

import numpy as np

from forager.compiling import inner
from forager.core.choice import BY_WORTH, RANK, Choices, Turn
from forager.core.exploration import explores, least_of
from forager.core.fleet import FleetState
from forager.core.judge import is_document, judge
from forager.core.pace import PaceRow, after
from forager.core.pool import AWAKE, RESTING
from forager.core.ranking import next_page, rank_known
from forager.core.rules import IntArray
from forager.core.updates import Mind, lacks_room, note_going
from forager.recrawl.visit_updates import ADDED
from forager.simulation.bundles import Books, LoopState, Rules
from forager.simulation.visit import document, is_there, note_document, read_off, visit
from forager.tape.world import TapeColumns
from forager.terms import NOBODY

DONE, NOTHING, GO_ON, RANKING, CYCLE, LESSON, MANAGE, TIME = range(8)
"""How a turn ended: with a download; with none, because none is worth it. Or it did not end, and something is to be done
first: make room and draw luck; rank pages by a score function; tell of a cycle that ended; learn a score function; multiply
or delete a forager. Or it is time for others."""


@inner
def _end_cycle(at: LoopState, turn: Turn) -> None:
    """A cycle has passed, unless it is the first, and the next one begins."""
    if turn.ends > -np.inf:
        at.cycles += 1
        at.cycle_ended = at.now
        at.cycle_began_at, at.cycle_ended_at = at.cycle_ended_at, at.changes
    turn.ends = at.now + turn.every


@inner
def _send(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """A document is judged, in nobody's name, if it is young."""
    seen = document(tape, books, page, version)
    if is_document(rules, seen, at.now):
        revealer = mind.table[page].revealer if first else page
        became = judge(rules, mind, fleet, seen, revealer, links, at.now)
        note_document(at, rules, books, NOBODY, -1, page, version, became)


@inner
def look(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, side: Choices, books: Books, fleet: FleetState
) -> int:
    """A turn of the recrawl side."""
    turn: Turn = side.turn[0]
    if at.now >= turn.ends:
        if rules.tells:
            return CYCLE
        _end_cycle(at, turn)
    if mind.log.tally[ADDED] >= at.lesson:
        return LESSON
    full = at.lucks == len(books.luck) or at.written + rules.most_records > len(books.records)
    if full or lacks_room(mind, 1) or len(side.awake) - side.tally[AWAKE] - side.tally[RESTING] < rules.widest:
        return GO_ON
    if not turn.pooled:
        if turn.mode != BY_WORTH:
            return RANKING
        rank_known(mind, side, at.now)
    pace: PaceRow = mind.pace[0]
    least = least_of(rules.usual, pace.age, rules.max_age)
    turns, luck = pace.asked + pace.rests, books.luck[at.lucks]
    page, worth = next_page(
        mind, side, tape.last, tape.revisit_after, at.now, luck, least, pace.explored, rules.explore, turns
    )
    if page == RANK:
        return RANKING
    at.lucks += 1
    if page < 0:
        pace.rests += 1
        at.recrawl_rests = at.now + rules.idle
        return NOTHING
    note_going(mind.table, page, at.now)
    version, free, first, begin, end = visit(at, rules, tape, mind, side, books, NOBODY, page, books.links, True)
    links = books.links[begin:end] if tape.waits else tape.links[begin:end]
    pace.explored += explores(worth, least)
    pace.asked += 1
    at.recrawl_spent += 1
    if mind.history.counts[0, page] > 1:
        books.changed[at.changes] = mind.history.sums[0, page] > 0
        at.changes += 1
    if free:
        return DONE
    if is_there(tape, version):
        _send(at, rules, tape, mind, books, fleet, page, version, first, links)
    pace.hits, pace.downloads = after(pace.hits, pace.downloads, rules.memory, 1.0)
    if rules.reads_off and is_there(tape, version):
        for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first, False)]:
            _send(at, rules, tape, mind, books, fleet, shown, tape.begin[shown], True, links)
    return DONE
