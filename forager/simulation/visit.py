"""What a download brings is entered: kernels that both sides of a replay share."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.choice import Choices
from forager.core.judge import RELEVANT, Seen
from forager.core.pool import add
from forager.core.promise import fresh_links
from forager.core.rules import IntArray
from forager.core.updates import Mind, note_arrived, note_shown, record_visit
from forager.simulation.bundles import Books, LoopState, Rules, write_document, write_visit
from forager.tape.lookup import look_up, standing_in
from forager.tape.world import TapeColumns


@compiled
def _reveal(
    awake: IntArray,
    resting: IntArray,
    tally: IntArray,
    table: NDArray[np.void],
    links: IntArray,
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
) -> None:
    """Links that just appeared join the pool."""
    add(awake, resting, tally, fresh_links(table, links, means, priors, now))


@inner
def span_of(tape: TapeColumns, version: int, now: float, room: IntArray) -> tuple[int, int]:
    """From where to where the links stand that a version shows now: in `room` where links wait for their pages, else in
    the links of the tape."""
    if version < 0 or tape.gone[version]:
        return 0, 0
    begin, end = tape.link_start[tape.link_set[version]], tape.link_start[tape.link_set[version] + 1]
    if tape.waits:
        return 0, standing_in(tape.links[begin:end], now, tape.appears, room)
    return begin, end


@inner
def is_there(tape: TapeColumns, version: int) -> bool:
    """Whether a version is one of a page, and not the news that it is gone."""
    return version >= 0 and not tape.gone[version]


@inner
def visit(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, side: Choices, books: Books, by: int, page: int,
    room: IntArray, reveals: bool,
) -> tuple[int, bool, bool, int, int]:  # fmt: skip
    """Download a page, unless that happened a moment ago, and record what it shows.

    The version, whether it is a shared copy, whether it is the page as first seen, and the span of its links, see
    `span_of`. `reveals`: links that just appeared join the pool.
    """
    version, free, at.now = look_up(
        page, at.now, tape.seconds, tape.revisit_after, tape.last, tape.current, tape.held, tape.begin, tape.time
    )
    begin, end = span_of(tape, version, at.now, room)
    links = room[begin:end] if tape.waits else tape.links[begin:end]
    ok, gone = is_there(tape, version), version >= 0 and tape.gone[version]
    if ok and not free and (version != mind.held[page] or tape.waits):
        at.waiting += len(links)
        if at.waiting > at.most_waiting or (at.waiting > 0 and at.now >= at.renew_at):
            at.until = at.now
    if ok and tape.state[version] >= 0:
        mind.rows[page] = tape.state[version] + 1
    if free and not gone:
        first = note_arrived(mind.table, page)
    else:
        hub = ok and tape.is_list[page]
        first, _ = record_visit(mind, page, at.now, version if ok else -1, ok or gone, hub, not free, links)
    if not free:
        at.fetched += 1
        at.unrecorded += version < 0
        write_visit(at, books, by, page, version)
        if reveals and side.turn[0].pooled and len(links):
            _reveal(side.awake, side.resting, side.tally, mind.table, links, mind.means, mind.priors, at.now)
    return version, free, first, begin, end


@inner
def read_off(
    at: LoopState,
    rules: Rules,
    tape: TapeColumns,
    mind: Mind,
    books: Books,
    page: int,
    version: int,
    first: bool,
    again: bool,
) -> int:
    """How many young documents a page shows that nobody had read, or `again` those too; the books have a place for them.

    From now on they count as visited.
    """
    begin, end = tape.shown_start[tape.link_set[version]], tape.shown_start[tape.link_set[version] + 1]
    count = 0
    for url in tape.shown[begin:end]:
        if (first or again or tape.held[url] < 0) and tape.appears[
            url
        ] <= at.now:  # what was read before teaches nothing
            books.shown[count] = url
            count += 1
    shown = books.shown[:count]
    note_shown(mind.table, shown, page, at.now, first, mind.means, mind.known)
    count = 0
    for url in shown:
        new, tape.held[url] = tape.held[url] < 0, tape.begin[url]
        if (new or again) and tape.published[tape.begin[url]] >= at.now - rules.max_age:
            books.shown[count] = url  # never behind those still to be looked at
            count += 1
    return count


@inner
def document(tape: TapeColumns, books: Books, page: int, version: int) -> Seen:
    """A version of a page as a document."""
    return Seen(
        page, tape.published[version], tape.is_list[page], True, books.sent_as[version], -1, books.known_as[version], -1
    )


@inner
def note_document(
    at: LoopState, rules: Rules, books: Books, by: int, step: int, page: int, version: int, became: int
) -> None:
    """A document was judged: it goes to the log."""
    amount = rules.reward if became & RELEVANT else rules.penalty
    write_document(at, books, by, step, page, version, became, amount)
