"""One download of the recrawl side, as one kernel: choose the best page of the pool, look it up, enter what it shows.

It is put together from the kernels that each part uses for itself.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import inner
from forager.core.updates import Mind, note_going
from forager.foragers.leaving import after
from forager.foragers.ranking import NO_LEANING, pick
from forager.foragers.thrift import allows, explores, least_of, owes
from forager.recrawl.choosing import enough, ranking_due
from forager.recrawl.pool import AWAKE, RESTING, USED, rest, wake
from forager.simulation.course import Course, Found, IntArray, Rules, Watched
from forager.simulation.entering import accept, enter_visit, is_document, read_off, span_of
from forager.simulation.ranking import rank_known
from forager.world.tape.looking import look_up
from forager.world.tape.player import Columns

DONE, NOTHING, GO_ON, RECRAWL, FLEET, MANAGE, TIME = range(7)
"""How a turn ended: with a download; with none, because none is worth it. Or it did not end, and something is to be done
first: make room and draw luck; let the recrawl side or the fleet make one download by itself; multiply or delete a
forager. Or it is time for others."""


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
    turns = at.asked + at.rests
    wake(side.awake, side.resting, side.until, side.tally, at.now)
    while side.tally[AWAKE] > 0:
        pages = side.awake[: side.tally[AWAKE]]
        index, worth, _, _ = pick(mind.table, pages, mind.means, mind.priors, mind.glances, at.now, NO_LEANING, luck)
        page = pages[index]
        free = tape.last[page] + tape.revisit_after
        if free > at.now:
            rest(side.awake, side.resting, side.until, side.tally, index, free)
            continue
        if owes(at.explored, rules.explore, turns) or not worth >= least:
            stranger = -1
            if allows(0.0, least, at.explored, rules.explore, turns):
                stranger = _unseen(mind.table, pages, luck)
            if stranger >= 0 and tape.last[stranger] + tape.revisit_after <= at.now:
                return stranger, 0.0
        return (page if allows(worth, least, at.explored, rules.explore, turns) else -1), worth
    return -1, 0.0


@inner
def _end_cycle(at: Course, rules: Rules) -> None:
    """A cycle has passed, and the next one begins."""
    at.cycles += 1
    at.cycle_ended, at.cycle_ends = at.now, at.now + rules.every
    at.cycle_began_at, at.cycle_ended_at = at.cycle_ended_at, at.changes


@inner
def look(at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Found, room: IntArray) -> int:
    """A turn of the recrawl side, as `Replay` makes it."""
    if not at.under_way:
        return RECRAWL
    if at.now >= at.cycle_ends:
        _end_cycle(at, rules)
    if ranking_due(at.now, at.ranked, rules.every, at.ranked_pages, at.used, side.tally[USED]):
        rank_known(at, rules, tape, mind, side)
    full = at.lucks == len(side.luck) or at.accepted + rules.most_shown >= len(books.accepted)
    if full or len(side.awake) - side.tally[AWAKE] - side.tally[RESTING] < rules.widest:
        return GO_ON
    least = least_of(rules.usual, at.age, rules.max_age)
    page, worth = _choose(at, rules, tape, mind, side, least, side.luck[at.lucks])
    if page < 0 and enough(at.used, at.ranked_pages):
        rank_known(at, rules, tape, mind, side)
        page, worth = _choose(at, rules, tape, mind, side, least, side.luck[at.lucks])
    if page < 0:
        at.lucks += 1
        at.rests += 1
        at.recrawl_rests = at.now + rules.idle
        return NOTHING
    if at.now - tape.last[page] < tape.revisit_after:
        return RECRAWL
    note_going(mind.table, page, at.now)
    version, _, at.now = look_up(
        page,
        at.now,
        tape.seconds,
        tape.revisit_after,
        tape.last,
        tape.current,
        tape.held,
        tape.begin,
        tape.time,
    )
    at.lucks += 1
    at.explored += explores(worth, least)
    at.asked += 1
    at.recrawl_spent += 1
    at.used += 1
    side.tally[USED] += 1
    at.fetched += 1
    at.unrecorded += version < 0
    ok = version >= 0 and not tape.gone[version]
    begin, end = span_of(tape, version, at.now, room)
    links = room[begin:end] if tape.waits else tape.links[begin:end]
    first = enter_visit(at, tape, mind, side, page, version, links, True)
    if mind.history.counts[0, page] > 1:
        side.changed[at.changes] = mind.history.sums[0, page] > 0
        at.changes += 1
    if ok and is_document(at, rules, tape, page, version):
        revealer = mind.table[page].revealer if first else page
        at.recrawl_accepted += accept(at, rules, tape, mind, side, books, page, version, revealer, links)
    at.hits, at.downloads = after(at.hits, at.downloads, rules.memory, 1.0)
    if ok and rules.reads_off:
        for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first)]:
            revealer, version = mind.table[shown].revealer, tape.begin[shown]
            at.recrawl_accepted += accept(at, rules, tape, mind, side, books, shown, version, revealer, links)
    return DONE
