"""What a download brings is entered: kernels that both sides of a replay share."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.updates import Mind, note_shown, note_signal, record_credit, record_visit
from forager.foragers.leaving import aged
from forager.foragers.ranking import fresh_links
from forager.recrawl.pool import add
from forager.simulation.course import Course, Found, IntArray, Rules, Watched
from forager.world.tape.looking import standing_in
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
def enter_visit(
    at: Course, tape: Columns, mind: Mind, side: Watched, page: int, version: int, links: IntArray, made: bool
) -> bool:
    """A page was downloaded and showed a version and links; whether it was its first visit. As `Shared.note` does.

    Not `made`: a copy is shared that shows no page.
    """
    lost = version >= 0 and tape.gone[version]
    ok = version >= 0 and not lost
    hub = ok and tape.is_list[page]
    if ok and tape.state[version] >= 0:
        mind.rows[page] = tape.state[version] + 1
    first, _ = record_visit(mind, page, at.now, version if ok else -1, ok or lost, hub, made, links)
    if made and len(links) and at.pooled:
        _reveal(side.awake, side.resting, side.tally, mind.table, links, mind.means, mind.priors, at.now)
    return first


@inner
def is_document(at: Course, rules: Rules, tape: Columns, page: int, version: int) -> bool:
    """Whether this version is one that may be sent: young, and no list unless these count too."""
    return at.now - tape.published[version] <= rules.max_age and (rules.lists_too or not tape.is_list[page])


@inner
def read_off(
    at: Course, rules: Rules, tape: Columns, mind: Mind, books: Found, page: int, version: int, first: bool
) -> int:
    """How many young documents a page just downloaded shows that nobody had read; the books have a place for them.

    From now on they count as visited. As the function of that name in `reading` does.
    """
    begin, end = tape.shown_start[tape.link_set[version]], tape.shown_start[tape.link_set[version] + 1]
    shown = books.shown[: standing_in(tape.shown[begin:end], at.now, tape.appears, books.shown)]
    note_shown(mind.table, shown, page, at.now, first, mind.means, mind.known)
    count = 0
    for url in shown:
        new, tape.held[url] = tape.held[url] < 0, tape.begin[url]
        if new and tape.published[tape.begin[url]] >= at.now - rules.max_age:
            books.shown[count] = url  # never behind those still to be looked at
            count += 1
    return count


@inner
def accept(
    at: Course,
    rules: Rules,
    tape: Columns,
    mind: Mind,
    side: Watched,
    books: Found,
    page: int,
    version: int,
    revealer: int,
    links: IntArray,
) -> bool:
    """Judge a young document (Alg 7), and if nobody had found it, enter what it teaches; whether that was so.

    As `Relevancy.judge`, `Account.note` and `Shared.credit` do.
    """
    at.sent += 1
    row = books.row[version]
    if row >= 0:
        if not np.isnan(books.when[row]):
            return False
        books.when[row] = at.now
    books.stored[page], books.stores[page] = version, True
    books.accepted[at.accepted, 0], books.accepted[at.accepted, 1] = page, version
    at.accepted += 1
    at.hits += 1
    if revealer >= 0 and record_credit(mind, page, revealer):
        at.age = aged(at.age, at.now - tape.published[version])
    note_signal(mind.table, links, at.now)
    return True
