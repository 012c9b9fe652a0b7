"""One step of a forager of the default mode, or of the baseline, as one kernel: what `Forager` and `take_step` do.

For foragers that learn no long-term profit and see one page a step; see `flock` for how they stand in arrays.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.updates import Mind, note_arrived, note_going
from forager.foragers.expectation import returning, worth_of_one
from forager.foragers.leaving import after
from forager.foragers.path import admitted
from forager.foragers.ranking import NO_LEANING, pick
from forager.foragers.starts import best_start
from forager.foragers.thrift import allows, explores, least_of
from forager.foragers.weblog import learned
from forager.simulation.course import Course, FloatArray, Found, IntArray, Rules, Watched
from forager.simulation.entering import accept, enter_visit, is_document, read_off, span_of
from forager.simulation.flock import Flock, Walker
from forager.world.tape.looking import look_up
from forager.world.tape.player import Columns


@compiled
def _learn_path(
    table: NDArray[np.void], weblog: IntArray, values: FloatArray, path: IntArray, earned: FloatArray, known: int,
    texts: bool, step: float,
) -> int:  # fmt: skip
    """The weblog learns from a path (Alg 1); how many entries it has then."""
    entries = np.ones(len(path), np.bool_) if texts else returning(table, path)
    urls, worth, _ = learned(weblog[:known], values[:known], path, earned, entries, step)
    count = min(len(urls), len(weblog))
    weblog[:count], values[:count] = urls[:count], worth[:count]
    return count


@inner
def _draw(flock: Flock, me: Walker, slot: int) -> float:
    """The next number of a forager's luck."""
    me.drawn += 1
    number: float = flock.luck[slot, me.drawn - 1]
    return number


@inner
def _start(at: Course, rules: Rules, mind: Mind, flock: Flock, me: Walker, slot: int) -> int:
    """Where a new path starts, as `start_page` says."""
    weblog = flock.weblog[slot, : me.entries]
    if rules.start_explore > 0 and _draw(flock, me, slot) < rules.start_explore and mind.hubs[0] > 0:
        return int(mind.hubs[1 + int(_draw(flock, me, slot) * mind.hubs[0])])
    if me.entries == 0:
        return int(flock.seeds[slot, int(_draw(flock, me, slot) * me.seeds)])
    if rules.start_list > 0:
        return int(weblog[int(_draw(flock, me, slot) * min(rules.start_list, me.entries))])
    values = flock.values[slot, : me.entries]
    return best_start(mind.table, weblog, mind.means, mind.priors, at.now, values, _draw(flock, me, slot))


@inner
def _begin(me: Walker) -> None:
    me.number += 1
    me.first += me.length
    me.length = me.head = me.count = 0


@inner
def _take(flock: Flock, me: Walker, slot: int, index: int) -> int:
    """Remove an open link, as `Path.take` does."""
    url = flock.open[slot, me.head + index]
    if index == 0:
        me.head += 1
    else:
        me.count -= 1
        flock.open[slot, me.head + index] = flock.open[slot, me.count]
    return int(url)


@inner
def _choose(at: Course, rules: Rules, mind: Mind, flock: Flock, me: Walker, slot: int) -> tuple[int, float]:
    """The next page and what it promises, as `Forager.choose` says."""
    if rules.sweeps:
        if me.head == me.count:
            _begin(me)
            me.count = admitted(flock.seeds[slot, : me.seeds], flock.met[slot], me.number, flock.open[slot], 0)
        return _take(flock, me, slot, 0), np.nan
    links = flock.open[slot, me.head : me.count]
    if len(links):
        luck = _draw(flock, me, slot)
        index, worth, fresh, most = pick(
            mind.table, links, mind.means, mind.priors, mind.glances, at.now, NO_LEANING, luck
        )
        mean = at.hits / at.downloads if at.downloads > 0 else 0.0
        if (me.length < rules.max_step or (rules.harvest and fresh)) and not most < rules.below * mean:
            return _take(flock, me, slot, index), worth
    if me.length > 0:
        path, earned = flock.path[slot, : me.length], flock.earned[slot, : me.length]
        weblog, values = flock.weblog[slot], flock.values[slot]
        me.entries = _learn_path(mind.table, weblog, values, path, earned, me.entries, rules.texts, rules.weblog_step)
    url = _start(at, rules, mind, flock, me, slot)
    _begin(me)
    return url, worth_of_one(mind.table, url, mind.means, mind.priors, at.now)


@inner
def _paid(rules: Rules, flock: Flock, me: Walker, slot: int, revealer: int) -> int:
    """The step of the path that is paid for a document: the one that showed its link, or the latest."""
    if rules.pays_revealer and revealer >= 0:
        for place in range(me.length):
            if flock.path[slot, place] == revealer:
                return place
    return int(me.length - 1)


@inner
def _is_unsent(flock: Flock, slot: int, document: int) -> bool:
    """Whether a forager has not sent a document; from now on it has. One that is in no book, -1, it never has."""
    if document < 0:
        return True
    if flock.sent[slot, document]:
        return False
    flock.sent[slot, document] = True
    return True


@inner
def _send(
    at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Found, flock: Flock, me: Walker,
    slot: int, url: int, version: int, first: bool, links: IntArray,
) -> None:  # fmt: skip
    """A document that this forager sends for the first time: it is judged, and the forager learns what it earned."""
    revealer = mind.table[url].revealer if first else url
    relevant = accept(at, rules, tape, mind, side, books, url, version, revealer, links)
    me.sent += 1
    me.relevant += relevant
    at.relevant += relevant
    at.fleet_accepted += relevant
    me.score += 1.0 * relevant if rules.relative else rules.score_relevant * relevant - rules.score_sent
    amount = rules.reward if relevant else rules.penalty
    if not rules.sweeps and (amount >= 0 or rules.penalties):
        flock.earned[slot, _paid(rules, flock, me, slot, revealer)] += amount


@inner
def step(
    at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Found, flock: Flock, room: IntArray
) -> int:
    """The forager whose turn it is makes a step; how many pages it downloaded: one or none."""
    slot = at.slot
    me: Walker = flock.walkers[slot]
    url, worth = _choose(at, rules, mind, flock, me, slot)
    flock.met[slot, url] = me.number
    if not rules.sweeps:
        flock.path[slot, me.length], flock.earned[slot, me.length] = url, 0.0
    me.length += 1
    note_going(mind.table, url, at.now)
    least = least_of(rules.usual, at.age, rules.max_age)
    if not allows(worth, least, at.explored, rules.explore, at.asked + at.rests):
        note_arrived(mind.table, url)
        return 0
    version, free, at.now = look_up(
        url, at.now, tape.seconds, tape.revisit_after, tape.last, tape.current, tape.held, tape.begin, tape.time
    )
    lost = version >= 0 and tape.gone[version]
    ok = version >= 0 and not lost
    begin, end = span_of(tape, version, at.now, room)
    links = room[begin:end] if tape.waits else tape.links[begin:end]
    if free and not lost:
        if ok and tape.state[version] >= 0:
            mind.rows[url] = tape.state[version] + 1
        first = note_arrived(mind.table, url)
    else:
        first = enter_visit(at, tape, mind, side, url, version, links, not free)
    read = 0
    if ok and rules.reads_off and not free:
        read = read_off(at, rules, tape, mind, books, url, version, first)
    if not free:
        at.asked += 1
        at.explored += explores(worth, least)
        at.fetched += 1
        at.unrecorded += version < 0
        at.hits, at.downloads = after(at.hits, at.downloads, rules.memory, 1.0)
        me.downloads += 1
        at.worked += 1
    if len(links):
        me.count = admitted(links, flock.met[slot], me.number, flock.open[slot], me.count)
    if ok and is_document(at, rules, tape, url, version) and _is_unsent(flock, slot, books.row[version]):
        _send(at, rules, tape, mind, side, books, flock, me, slot, url, version, first, links)
    for shown in books.shown[:read]:
        copy = tape.begin[shown]
        if _is_unsent(flock, slot, books.row[copy]):
            _send(at, rules, tape, mind, side, books, flock, me, slot, shown, copy, True, links)
    if rules.relative and not free:
        me.score -= at.relevant / max(1, at.worked)
    return 0 if free else 1
