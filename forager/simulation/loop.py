"""The main loop of a replay as one kernel: fleet and recrawl side in turn, download after download.

A step of a forager uses the kernels of `core.step`, a turn of the recrawl side the choice of `core.refill`, each with a
lookup on the tape in between. The loop runs until something is due that kernels cannot do, and returns the reason.
"""

import numpy as np

from forager.arrays import IntArray, RowArray
from forager.core.births import manage
from forager.core.choice import ALONE, RANK, Choices, Turn, rest_time, reveal, room_in
from forager.core.draws import shuffle_turns
from forager.core.exploration import PaceRow, after, allows, explores, least_of
from forager.core.fleet import BFS, FleetState, Tally, Walker
from forager.core.judge import RELEVANT, STAYS, Seen, fate_of, reward_by
from forager.core.page_row import LOOKS_APART, Mind
from forager.core.refill import next_page, rank_known
from forager.core.rules import ForagerRules
from forager.core.step import arrive, choose, send, settle
from forager.core.territory import begin_look, end_look, pays_itself, send_for
from forager.core.updates import lacks_room, note_arrived, note_going, note_shown, note_stays, record_visit
from forager.kernel import compiled, inner
from forager.recrawl.history import ADDED
from forager.simulation.bundles import (
    BORN,
    DELETED,
    Books,
    LoopRules,
    LoopState,
    write_change,
    write_document,
    write_visit,
)
from forager.tape.lookup import TapeColumns, look_up, standing_in
from forager.terms import NOBODY


@inner
def span_of(tape: TapeColumns, version: int, now: float, room: IntArray) -> tuple[int, int]:
    """Start and end of the links that a version shows now: in `room` on a tape where links wait for their pages,
    otherwise among the links of the tape.
    """
    if version < 0 or tape.gone[version]:
        return 0, 0
    begin, end = tape.link_start[tape.link_set[version]], tape.link_start[tape.link_set[version] + 1]
    if tape.waits:
        return 0, standing_in(tape.links[begin:end], now, tape.appears, room)
    return begin, end


@inner
def is_there(tape: TapeColumns, version: int) -> bool:
    """Whether this is a recorded version that does not say that the page is gone."""
    return version >= 0 and not tape.gone[version]


@inner
def visit(
    at: LoopState, tape: TapeColumns, mind: Mind, side: Choices, books: Books, by: int, page: int,
    room: IntArray, reveals: bool,
) -> tuple[int, bool, bool, int, int]:  # fmt: skip
    """Downloads a page, unless that happened a moment ago, and records what it shows.

    Returns the version, whether it is a shared copy, whether this is the first visit, and the span of its links (see
    `span_of`). With `reveals`, links that just appeared join the pool.
    """
    apart = min(tape.revisit_after, LOOKS_APART) if mind.table[page].hub else tape.revisit_after
    version, free, at.now = look_up(tape, page, at.now, apart)
    begin, end = span_of(tape, version, at.now, room)
    links = room[begin:end] if tape.waits else tape.links[begin:end]
    ok, gone = is_there(tape, version), version >= 0 and tape.gone[version]
    shows = tape.newest[version] if ok else -1
    if ok and not free and (shows > mind.held[page] or tape.waits):
        at.waiting += len(links)
        if at.waiting > at.most_waiting:
            at.until = at.now
        elif at.waiting > 0:
            at.until = min(at.until, max(at.now, at.renew_at))
    if ok and tape.state[version] >= 0:
        mind.rows[page] = tape.state[version] + 1
    if free and not gone:
        first = note_arrived(mind, page)
    else:
        hub = ok and tape.is_list[page]
        first, _ = record_visit(mind, page, at.now, shows, ok or gone, hub, not free, links)
    if not free:
        at.fetched += 1
        at.unrecorded += version < 0
        write_visit(at, books, by, page, version)
        if reveals and side.turn[0].pooled and len(links):
            reveal(mind, side.pool, links, at.now)
    return version, free, first, begin, end


@inner
def read_off(
    at: LoopState,
    rules: ForagerRules,
    tape: TapeColumns,
    mind: Mind,
    books: Books,
    page: int,
    version: int,
    first: bool,
    again: bool,
) -> int:
    """Puts the unread young documents on a page, or with `again` all young ones, into `books.shown`.

    Returns their number; they count as visited from now on.
    """
    begin, end = tape.shown_start[tape.link_set[version]], tape.shown_start[tape.link_set[version] + 1]
    count = 0
    if not first and not again:
        note_stays(mind, tape.shown[begin:end], page)
    for url in tape.shown[begin:end]:
        if (first or again or tape.held[url] < 0) and tape.appears[
            url
        ] <= at.now:  # documents read before teach nothing new
            books.shown[count] = url
            count += 1
    shown = books.shown[:count]
    note_shown(mind, shown, page, at.now, first)
    count = 0
    for url in shown:
        new, tape.held[url] = tape.held[url] < 0, tape.begin[url]
        if (new or again) and tape.published[tape.begin[url]] >= at.now - rules.max_age:
            books.shown[count] = url  # this never overwrites one that is still to be checked
            count += 1
    return count


@inner
def document_of(tape: TapeColumns, books: Books, page: int, version: int) -> Seen:
    """A version of a page as a document."""
    return Seen(
        page, tape.published[version], tape.is_list[page], True, books.sent_as[version], -1, books.known_as[version], -1
    )


@inner
def note_document(
    at: LoopState, rules: ForagerRules, books: Books, by: int, step: int, page: int, version: int, became: int
) -> None:
    """Writes the record of a judged document."""
    write_document(at, books, by, step, page, version, became, reward_by(rules, became))


DONE, NOTHING, GO_ON, RANKING, CYCLE, LESSON, MANAGE, TIME = range(8)
"""How a turn ended.

DONE: with a download; NOTHING: without, because none is worth it. In the other cases Python must first act: GO_ON: make
room and draw random numbers; RANKING: rank pages with a score function that decides alone; CYCLE: end a cycle; LESSON:
learn a score function; MANAGE: multiply or delete a forager, where newborns get pages of the link graph; TIME: the time in
`until` has come.
"""


@inner
def _end_cycle(at: LoopState, turn: Turn) -> None:
    """Ends the current cycle, if there is one, and begins the next."""
    if turn.ends > -np.inf:
        at.cycles += 1
        at.cycle_ended = at.now
        at.cycle_began_at, at.cycle_ended_at = at.cycle_ended_at, at.changes
    turn.ends = at.now + turn.every


@inner
def _send_for(
    at: LoopState, rules: ForagerRules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, slot: int, looked: int,
    page: int, version: int, first: bool, links: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Judges a document that a look of the recrawl side found, if it is young; returns whether it is new, and whether
    it earns for the page that was visited.
    """
    revealer = mind.table[page].revealer if first else page
    seen = document_of(tape, books, page, version)
    became = send_for(rules, mind, fleet, slot, looked, seen, revealer, links, at.now)
    if became:
        note_document(at, rules, books, NOBODY, -1, page, version, became)
    new = 1 if became & RELEVANT else 0
    return new, new if pays_itself(rules, looked, revealer) else 0


@inner
def look(
    at: LoopState, loop: LoopRules, rules: ForagerRules, tape: TapeColumns, mind: Mind, side: Choices, books: Books,
    fleet: FleetState,
) -> int:  # fmt: skip
    """Makes a turn of the recrawl side."""
    turn: Turn = side.turn[0]
    if at.now >= turn.ends:
        if loop.tells:
            return CYCLE
        _end_cycle(at, turn)
    if mind.log.tally[ADDED] >= at.lesson:
        return LESSON
    full = at.lucks == len(books.luck) or at.written + loop.most_records > len(books.records)
    if full or lacks_room(mind, 1) or room_in(side.pool) < loop.widest:
        return GO_ON
    if not turn.pooled:
        if turn.mode == ALONE:
            return RANKING
        rank_known(mind, side, at.now)
    pace: PaceRow = mind.pace[0]
    least = least_of(loop.usual, pace.age, rules.max_age)
    turns, luck = pace.asked + pace.rests, books.luck[at.lucks]
    page, worth = next_page(
        mind, side, tape.last, tape.revisit_after, at.now, luck, least, pace.explored, loop.explore, turns
    )
    if page == RANK:
        return RANKING
    at.lucks += 1
    if page < 0:
        rested = rest_time(mind, side, at.now, least, tape.seconds, loop.idle)
        pace.rests += rested / loop.idle
        at.recrawl_rests = at.now + rested
        return NOTHING
    note_going(mind, page, at.now)
    version, free, first, begin, end = visit(at, tape, mind, side, books, NOBODY, page, books.links, True)
    links = books.links[begin:end] if tape.waits else tape.links[begin:end]
    pace.explored += explores(worth, least)
    pace.asked += 1
    at.recrawl_spent += 1
    if mind.history.counts[0, page] > 1:
        books.changed[at.changes] = mind.history.sums[0, page] > 0
        at.changes += 1
    if free:
        return DONE
    slot, found, paid = begin_look(rules, mind, fleet, page, 1), 0, 0
    if is_there(tape, version):
        found, paid = _send_for(at, rules, tape, mind, books, fleet, slot, page, page, version, first, links)
    pace.hits, pace.downloads = after(pace.hits, pace.downloads, loop.memory, 1.0)
    if loop.reads_off and is_there(tape, version):
        for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first, False)]:
            new, own = _send_for(at, rules, tape, mind, books, fleet, slot, page, shown, tape.begin[shown], True, links)
            found, paid = found + new, paid + own
    end_look(rules, mind, fleet, slot, page, first, found, paid, links)
    return DONE


@inner
def _send(
    at: LoopState, rules: ForagerRules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """Sends a page version of the forager whose turn it is, if it is a document."""
    me: Walker = fleet.walkers[at.slot]
    revealer = mind.table[page].revealer if first else page
    became = send(rules, mind, fleet, at.slot, document_of(tape, books, page, version), revealer, links, at.now)
    if became:
        step = me.first + me.length
        note_document(at, rules, books, me.id, step, page, version, became)


@inner
def _send_shown(
    at: LoopState, rules: ForagerRules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """Sends the documents that the forager read off a page; in the paper's mode also those that others have read."""
    for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first, rules.all_links)]:
        copy = tape.begin[shown]
        if tape.state[copy] >= 0:
            mind.rows[shown] = tape.state[copy] + 1
        seen_once = note_arrived(mind, shown)
        _send(at, rules, tape, mind, books, fleet, shown, copy, seen_once, links)


@inner
def step(
    at: LoopState, loop: LoopRules, rules: ForagerRules, tape: TapeColumns, mind: Mind, side: Choices, books: Books,
    fleet: FleetState,
) -> int:  # fmt: skip
    """Makes a step of the forager whose turn it is; returns the number of downloads."""
    slot, pace = at.slot, mind.pace[0]
    me: Walker = fleet.walkers[slot]
    url, worth = choose(rules, mind, fleet, slot, at.now)
    least = least_of(loop.usual, pace.age, rules.max_age)
    if not allows(explores(worth, least), pace.explored, loop.explore, pace.asked + pace.rests):
        note_arrived(mind, url)
        arrive(rules, fleet, slot, url, books.links[:0])
        settle(rules, mind, fleet, slot, url, 0, False, books.links[:0])
        return 0
    before = at.fetched
    version, free, first, begin, end = visit(at, tape, mind, side, books, me.id, url, books.links, True)
    links = books.links[begin:end] if tape.waits else tape.links[begin:end]
    if not free:
        pace.asked += 1
        pace.explored += explores(worth, least)
    arrive(rules, fleet, slot, url, links)
    linked = len(links) if rules.all_links else 0
    for i in range(linked):
        shown, shared, new, _, _ = visit(at, tape, mind, side, books, me.id, links[i], books.others, False)
        books.versions[i], books.firsts[i] = shown, new and not shared
    downloads = at.fetched - before
    if downloads > 0:
        pace.hits, pace.downloads = after(pace.hits, pace.downloads, loop.memory, float(downloads))
    if is_there(tape, version):
        _send(at, rules, tape, mind, books, fleet, url, version, first, links)
    for i in range(linked):
        if is_there(tape, books.versions[i]):
            once = mind.table[links[i]].visits <= 1
            _send(at, rules, tape, mind, books, fleet, links[i], books.versions[i], once, links)
    if loop.reads_off and is_there(tape, version) and (linked > 0 or not free):
        _send_shown(at, rules, tape, mind, books, fleet, url, version, first, links)
        for i in range(linked):
            if is_there(tape, books.versions[i]):
                _send_shown(at, rules, tape, mind, books, fleet, links[i], books.versions[i], books.firsts[i], links)
    settle(rules, mind, fleet, slot, url, downloads, first and not free, links)
    return downloads


def recrawl_is_behind(spent: float, fleet_spent: float, share: float) -> bool:
    """Whether the recrawl side, whose share of all downloads this is, is further behind its share than the fleet."""
    return spent * (1 - share) < fleet_spent * share or share >= 1


behind = compiled(recrawl_is_behind)
"""`is_behind` for kernels."""


@inner
def _lacks_room(at: LoopState, loop: LoopRules, mind: Mind, side: Choices, books: Books, fleet: FleetState) -> bool:
    """Whether the buffers may be too small for a step of the forager whose turn it is."""
    me: Walker = fleet.walkers[at.slot]
    if loop.watches and side.turn[0].pooled and room_in(side.pool) < loop.widest:
        return True
    if me.kind != BFS and me.length >= fleet.path.shape[1]:
        return True
    if fleet.tally[0].born == len(fleet.lives):
        return True
    if lacks_room(mind, 1 + loop.widest):
        return True
    return at.written + loop.most_records > len(books.records) or me.count + loop.widest > fleet.open.shape[1]


@inner
def _manage(at: LoopState, loop: LoopRules, rules: ForagerRules, books: Books, fleet: FleetState) -> None:
    """Multiplies or deletes the forager whose turn has ended (Alg 8)."""
    parent = fleet.walkers[at.slot].id
    gone, child = manage(rules, fleet, at.slot, at.now)
    at.slot = -1
    if loop.tells and gone != NOBODY:
        write_change(at, books, DELETED, gone, NOBODY, fleet.ended[gone].score)
    if loop.tells and child != NOBODY:
        write_change(at, books, BORN, child, parent, rules.first_score)


@inner
def _forage(
    at: LoopState, loop: LoopRules, rules: ForagerRules, tape: TapeColumns, mind: Mind, side: Choices, books: Books,
    fleet: FleetState,
) -> int:  # fmt: skip
    """Runs steps of the foragers until one downloads something.

    They take turns, each for its time slice; a step that has begun is finished (Alg 9).
    """
    tally: Tally = fleet.tally[0]
    while at.idle < tally.alive:
        if at.slot < 0:
            place = tally.turns if tally.turns < tally.alive else 0
            if loop.shuffles and place == 0:
                shuffle_turns(fleet)
            tally.turns = place + 1
            at.slot, at.left, at.free = fleet.order[place], loop.slice, 0
        if _lacks_room(at, loop, mind, side, books, fleet):
            return GO_ON
        downloads = step(at, loop, rules, tape, mind, side, books, fleet)
        me: Walker = fleet.walkers[at.slot]
        at.fleet_spent += downloads
        at.left -= downloads * tape.seconds
        at.free = 0 if downloads else at.free + 1
        changes = False
        if at.left <= 0 or at.free >= loop.free_steps:
            at.idle += at.free > 0
            changes = fate_of(rules, fleet, me) != STAYS
            if not changes:
                at.slot = -1
        if downloads:
            at.idle, at.rest = 0, loop.idle
        if changes:
            if loop.suggests:
                return MANAGE
            _manage(at, loop, rules, books, fleet)
        if downloads:
            return DONE
    at.idle = 0
    if not loop.watches:  # otherwise the recrawl side counts this rest
        mind.pace[0].rests += at.rest / tape.seconds
    at.fleet_rests = at.now + at.rest
    at.rest = min(2 * at.rest, loop.longest_rest)
    return NOTHING


@compiled
def play_on(
    course: RowArray, loop_rules: RowArray, rules: RowArray, tape: TapeColumns, mind: Mind, side: Choices, books: Books,
    fleet: FleetState,
) -> int:  # fmt: skip
    """Makes one download after the other until Python must act; returns the reason."""
    at, loop, rule = course[0], loop_rules[0], rules[0]
    while at.now < at.until:
        recrawl, ended = behind(at.recrawl_spent, at.fleet_spent, loop.share), NOTHING
        for _ in range(2):  # a side that rests, or finds nothing worth a download, leaves its turn to the other
            if ended == NOTHING and at.now >= (at.recrawl_rests if recrawl else at.fleet_rests):
                if recrawl:
                    ended = look(at, loop, rule, tape, mind, side, books, fleet)
                else:
                    ended = _forage(at, loop, rule, tape, mind, side, books, fleet)
            recrawl = not recrawl
        if ended == NOTHING:
            at.now = min(at.until, max(at.now, min(at.fleet_rests, at.recrawl_rests)))
        elif ended != DONE:
            return ended
    return TIME
