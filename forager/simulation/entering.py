"""What a download brings is entered: kernels that both sides of a replay share."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.judge import PAID, RELEVANT, Seen
from forager.core.mind import IntArray, Mind
from forager.foragers.noting import note_arrived, note_links, note_shown, note_signal, note_visit
from forager.foragers.ranking import fresh_links
from forager.recrawl.noting import enter, see
from forager.recrawl.pool import add
from forager.simulation.course import Books, Course, Rules, Watched, log_document, log_visit
from forager.world.tape.looking import look_up, standing_in
from forager.world.tape.player import Columns


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
def span_of(tape: Columns, version: int, now: float, room: IntArray) -> tuple[int, int]:
    """From where to where the links stand that a version shows now: in `room` where links wait for their pages, else in
    the links of the tape."""
    if version < 0 or tape.gone[version]:
        return 0, 0
    begin, end = tape.link_start[tape.link_set[version]], tape.link_start[tape.link_set[version] + 1]
    if tape.waits:
        return 0, standing_in(tape.links[begin:end], now, tape.appears, room)
    return begin, end


@inner
def _enter_visit(
    at: Course, tape: Columns, mind: Mind, side: Watched, page: int, version: int, links: IntArray, watches: bool,
    reveals: bool,
) -> bool:  # fmt: skip
    """A page was downloaded and showed a version and links; whether it was its first visit. As `Shared.note` does."""
    lost = version >= 0 and tape.gone[version]
    ok = version >= 0 and not lost
    hub = ok and tape.is_list[page]
    first = note_visit(mind.table, page, at.now, ok or lost, hub, mind.means, mind.priors, mind.known, mind.hubs)
    if len(links):
        new = note_links(mind.table, links, page, at.now, first, mind.means, mind.known)
        if new > 0 and not first and hub:
            note_signal(mind.table, links, at.now)
    if watches:
        changed = see(side.seen, page, version if ok else -1)
        enter(side.counts, side.times, side.sums, side.rule, page, at.now, changed, 0)
        if len(links) and at.pooled and reveals:
            _reveal(side.awake, side.resting, side.tally, mind.table, links, mind.means, mind.priors, at.now)
    return first


@inner
def is_there(tape: Columns, version: int) -> bool:
    """Whether a version is one of a page, and not the news that it is gone."""
    return version >= 0 and not tape.gone[version]


@inner
def visit(
    at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Books, by: int, page: int,
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
    ok = is_there(tape, version)
    if ok and tape.state[version] >= 0:
        mind.rows[page] = tape.state[version] + 1
    if free and (ok or version < 0):
        first = note_arrived(mind.table, page)
    else:
        first = _enter_visit(at, tape, mind, side, page, version, links, rules.watches and not free, reveals)
    if not free:
        at.fetched += 1
        at.unrecorded += version < 0
        log_visit(at, books, by, page, version, rules.watches and side.sums[0, page] > 0)
    return version, free, first, begin, end


@inner
def read_off(
    at: Course, rules: Rules, tape: Columns, mind: Mind, books: Books, page: int, version: int, first: bool, again: bool
) -> int:
    """How many young documents a page shows that nobody had read, or `again` those too; the books have a place for them.

    From now on they count as visited. As the function of that name in `reading` does.
    """
    begin, end = tape.shown_start[tape.link_set[version]], tape.shown_start[tape.link_set[version] + 1]
    shown = books.shown[: standing_in(tape.shown[begin:end], at.now, tape.appears, books.shown)]
    note_shown(mind.table, shown, page, at.now, first, mind.means, mind.known)
    count = 0
    for url in shown:
        new, tape.held[url] = tape.held[url] < 0, tape.begin[url]
        if (new or again) and tape.published[tape.begin[url]] >= at.now - rules.max_age:
            books.shown[count] = url  # never behind those still to be looked at
            count += 1
    return count


@inner
def document(tape: Columns, books: Books, page: int, version: int) -> Seen:
    """A version of a page as a document."""
    return Seen(
        page, tape.published[version], tape.is_list[page], True, books.sent_as[version], -1, books.known_as[version], -1
    )


@inner
def note_document(
    at: Course, rules: Rules, side: Watched, books: Books, by: int, step: int, page: int, version: int, source: int,
    became: int,
) -> None:  # fmt: skip
    """A document was judged: it goes to the log, and to the history of the page that is paid for it."""
    if became & PAID and rules.watches:
        side.counts[2, source] += 1
    amount = rules.reward if became & RELEVANT else rules.penalty
    log_document(at, books, by, step, page, version, source, became, amount)
