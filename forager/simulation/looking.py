"""One download of the recrawl side, as one kernel: choose the best page of the pool, look it up, enter what it shows.

It is put together from the kernels that each part uses for itself.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import inner
from forager.core.fleet import FleetState
from forager.core.judge import is_document, judge
from forager.core.rules import IntArray
from forager.core.updates import Mind, note_going
from forager.foragers.leaving import PaceRow, after
from forager.foragers.ranking import NO_LEANING, pick
from forager.foragers.thrift import allows, explores, least_of, owes
from forager.recrawl.choosing import enough, ranking_due
from forager.recrawl.pool import AWAKE, RESTING, USED, rest, wake
from forager.simulation.course import Books, Course, Rules, Watched
from forager.simulation.entering import document, is_there, note_document, read_off, visit
from forager.simulation.ranking import rank_known
from forager.terms import NOBODY
from forager.world.tape.player import Columns

DONE, NOTHING, GO_ON, RECRAWL, CYCLE, MANAGE, TIME = range(7)
"""How a turn ended: with a download; with none, because none is worth it. Or it did not end, and something is to be done
first: make room and draw luck; let the recrawl side make one download by itself; tell of a cycle that ended; multiply or
delete a forager. Or it is time for others."""


@inner
def _unseen(table: NDArray[np.void], pages: IntArray, luck: float) -> int:
    """Any page that nobody has seen; -1 if there is none."""
    count = 0
    for page in pages:
        count += table[page].visits == 0
    wanted = int(luck * count)
    for page in pages:
        if table[page].visits == 0:
            if wanted == 0:
                return int(page)
            wanted -= 1
    return -1


@inner
def _choose(
    at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, least: float, luck: float
) -> tuple[int, float]:
    """The page to look at and its worth, as `Choosing.choose` says by worth; -1 for none."""
    pace: PaceRow = mind.pace[0]
    turns = pace.asked + pace.rests
    wake(side.awake, side.resting, side.until, side.tally, at.now)
    while side.tally[AWAKE] > 0:
        pages = side.awake[: side.tally[AWAKE]]
        index, worth, _, _ = pick(mind.table, pages, mind.means, mind.priors, mind.glances, at.now, NO_LEANING, luck)
        page = pages[index]
        free = tape.last[page] + tape.revisit_after
        if free > at.now:
            rest(side.awake, side.resting, side.until, side.tally, index, free)
            continue
        if owes(pace.explored, rules.explore, turns) or not worth >= least:
            stranger = -1
            if allows(0.0, least, pace.explored, rules.explore, turns):
                stranger = _unseen(mind.table, pages, luck)
            if stranger >= 0 and tape.last[stranger] + tape.revisit_after <= at.now:
                return stranger, 0.0
        return (page if allows(worth, least, pace.explored, rules.explore, turns) else -1), worth
    return -1, 0.0


@inner
def _end_cycle(at: Course, rules: Rules) -> None:
    """A cycle has passed, and the next one begins."""
    at.cycles += 1
    at.cycle_ended, at.cycle_ends = at.now, at.now + rules.every
    at.cycle_began_at, at.cycle_ended_at = at.cycle_ended_at, at.changes


@inner
def _send(
    at: Course, rules: Rules, tape: Columns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """A document is judged, in nobody's name, if it is young."""
    seen = document(tape, books, page, version)
    if is_document(rules, seen, at.now):
        revealer = mind.table[page].revealer if first else page
        became = judge(rules, mind, fleet, seen, revealer, links, at.now)
        note_document(at, rules, books, NOBODY, -1, page, version, became)


@inner
def look(at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Books, fleet: FleetState) -> int:
    """A turn of the recrawl side, as `Replay` makes it."""
    if not at.under_way or not rules.looks:
        return RECRAWL
    if at.now >= at.cycle_ends:
        if rules.tells:
            return CYCLE
        _end_cycle(at, rules)
    if ranking_due(at.now, at.ranked, rules.every, at.ranked_pages, at.used, side.tally[USED]):
        rank_known(at, rules, tape, mind, side)
    full = at.lucks == len(side.luck) or at.written + rules.most_records > len(books.records)
    if full or len(side.awake) - side.tally[AWAKE] - side.tally[RESTING] < rules.widest:
        return GO_ON
    pace: PaceRow = mind.pace[0]
    least = least_of(rules.usual, pace.age, rules.max_age)
    page, worth = _choose(at, rules, tape, mind, side, least, side.luck[at.lucks])
    if page < 0 and enough(at.used, at.ranked_pages):
        rank_known(at, rules, tape, mind, side)
        page, worth = _choose(at, rules, tape, mind, side, least, side.luck[at.lucks])
    if page < 0:
        at.lucks += 1
        pace.rests += 1
        at.recrawl_rests = at.now + rules.idle
        return NOTHING
    if at.now - tape.last[page] < tape.revisit_after:
        return RECRAWL
    note_going(mind.table, page, at.now)
    version, _, first, begin, end = visit(at, rules, tape, mind, side, books, NOBODY, page, books.links, True)
    links = books.links[begin:end] if tape.waits else tape.links[begin:end]
    at.lucks += 1
    pace.explored += explores(worth, least)
    pace.asked += 1
    at.recrawl_spent += 1
    at.used += 1
    side.tally[USED] += 1
    if mind.history.counts[0, page] > 1:
        side.changed[at.changes] = mind.history.sums[0, page] > 0
        at.changes += 1
    if is_there(tape, version):
        _send(at, rules, tape, mind, books, fleet, page, version, first, links)
    pace.hits, pace.downloads = after(pace.hits, pace.downloads, rules.memory, 1.0)
    if rules.reads_off and is_there(tape, version):
        for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first, False)]:
            _send(at, rules, tape, mind, books, fleet, shown, tape.begin[shown], True, links)
    return DONE
