"""One step of a forager on a tape: the moves of `core.step`, with a look at the tape in the middle."""

from forager.compiling import inner
from forager.core.choice import Choices
from forager.core.exploration import allows, explores, least_of
from forager.core.fleet import FleetState, Walker
from forager.core.pace import after
from forager.core.rules import IntArray
from forager.core.step import arrive, choose, send, settle
from forager.core.updates import Mind, note_arrived
from forager.simulation.bundles import Books, LoopState, Rules
from forager.simulation.visit import document, is_there, note_document, read_off, visit
from forager.tape.world import TapeColumns


@inner
def _send(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """The forager whose turn it is sends a document, if it is one."""
    me: Walker = fleet.walkers[at.slot]
    revealer = mind.table[page].revealer if first else page
    became = send(rules, mind, fleet, at.slot, document(tape, books, page, version), revealer, links, at.now)
    if became:
        step = me.first + me.length
        note_document(at, rules, books, me.id, step, page, version, became)


@inner
def _send_shown(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, books: Books, fleet: FleetState, page: int, version: int,
    first: bool, links: IntArray,
) -> None:  # fmt: skip
    """It sends the documents that are read off a page: in the paper's mode also what somebody else has read."""
    for shown in books.shown[: read_off(at, rules, tape, mind, books, page, version, first, rules.all_links)]:
        copy = tape.begin[shown]
        if tape.state[copy] >= 0:
            mind.rows[shown] = tape.state[copy] + 1
        seen_once = note_arrived(mind.table, shown)
        _send(at, rules, tape, mind, books, fleet, shown, copy, seen_once, links)


@inner
def step(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, side: Choices, books: Books, fleet: FleetState
) -> int:
    """The forager whose turn it is makes a step; how many pages it downloaded."""
    slot, pace = at.slot, mind.pace[0]
    me: Walker = fleet.walkers[slot]
    url, worth = choose(rules, mind, fleet, slot, at.now)
    least = least_of(rules.usual, pace.age, rules.max_age)
    if not allows(worth, least, pace.explored, rules.explore, pace.asked + pace.rests):
        note_arrived(mind.table, url)
        arrive(rules, fleet, slot, url, books.links[:0])
        settle(rules, mind, fleet, slot, url, 0)
        return 0
    before = at.fetched
    version, free, first, begin, end = visit(at, rules, tape, mind, side, books, me.id, url, books.links, True)
    links = books.links[begin:end] if tape.waits else tape.links[begin:end]
    if not free:
        pace.asked += 1
        pace.explored += explores(worth, least)
    arrive(rules, fleet, slot, url, links)
    linked = len(links) if rules.all_links else 0
    for i in range(linked):
        shown, shared, new, _, _ = visit(at, rules, tape, mind, side, books, me.id, links[i], books.others, False)
        books.versions[i], books.firsts[i] = shown, new and not shared
    downloads = at.fetched - before
    if downloads > 0:
        pace.hits, pace.downloads = after(pace.hits, pace.downloads, rules.memory, float(downloads))
    if is_there(tape, version):
        _send(at, rules, tape, mind, books, fleet, url, version, first, links)
    for i in range(linked):
        if is_there(tape, books.versions[i]):
            once = mind.table[links[i]].visits <= 1
            _send(at, rules, tape, mind, books, fleet, links[i], books.versions[i], once, links)
    if rules.reads_off and is_there(tape, version) and (linked > 0 or not free):
        _send_shown(at, rules, tape, mind, books, fleet, url, version, first, links)
        for i in range(linked):
            if is_there(tape, books.versions[i]):
                _send_shown(at, rules, tape, mind, books, fleet, links[i], books.versions[i], books.firsts[i], links)
    settle(rules, mind, fleet, slot, url, downloads)
    return downloads
