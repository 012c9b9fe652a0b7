"""Both sides of a replay in turn, download after download, as one kernel: what `Replay.run` does, without leaving it.

It goes on until something is to be done that kernels cannot do, and says what. A test holds it equal to `Replay.run`
without it.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.updates import Mind
from forager.recrawl.pool import AWAKE, RESTING
from forager.simulation.course import Course, Found, IntArray, Rules, Watched
from forager.simulation.flock import Flock, Walker
from forager.simulation.looking import DONE, FLEET, GO_ON, MANAGE, NOTHING, TIME, look
from forager.simulation.stepping import step
from forager.world.tape.player import Columns

DRAWS = 3
"""Numbers of its luck that a step takes at most."""


def is_behind(spent: float, fleet_spent: float, share: float) -> bool:
    """Whether the recrawl side, which is to make this share of all downloads, is further behind it than the fleet."""
    return spent * (1 - share) < fleet_spent * share or share >= 1


behind = compiled(is_behind)
"""The same for kernels."""


@inner
def _lacks_room(at: Course, rules: Rules, side: Watched, books: Found, flock: Flock) -> bool:
    """Whether the forager whose turn it is might find no luck left, or no place for what a step brings."""
    me: Walker = flock.walkers[at.slot]
    if rules.watches and len(side.awake) - side.tally[AWAKE] - side.tally[RESTING] < rules.widest:
        return True
    if not rules.sweeps and (me.length >= flock.path.shape[1] or me.drawn + DRAWS > flock.luck.shape[1]):
        return True
    return at.accepted + rules.most_shown >= len(books.accepted) or me.count + rules.widest > flock.open.shape[1]


@inner
def _changes_fleet(at: Course, rules: Rules, me: Walker) -> bool:
    """Whether a forager multiplies or is deleted after its turn, as `population.fate` says."""
    if rules.sweeps:
        return False
    if me.score >= rules.multiply_at:
        return at.alive < rules.most or (rules.relative and at.alive > 1)
    return me.score < rules.delete_below and at.alive > rules.least


@inner
def _forage(
    at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Found, flock: Flock, room: IntArray
) -> int:
    """Steps of the foragers whose turn it is until something was downloaded, as `Replay` has them made."""
    while at.idle < at.alive:
        if at.slot < 0:
            place = at.turns if at.turns < at.alive else 0
            at.turns, at.slot, at.left, at.free = place + 1, flock.order[place], rules.slice, 0
        if _lacks_room(at, rules, side, books, flock):
            return GO_ON
        downloads = step(at, rules, tape, mind, side, books, flock, room)
        me: Walker = flock.walkers[at.slot]
        at.fleet_spent += downloads
        at.left -= downloads * tape.seconds
        at.free = 0 if downloads else at.free + 1
        changes = False
        if at.left <= 0 or at.free >= rules.free_steps:
            at.idle += at.free > 0
            changes = _changes_fleet(at, rules, me)
            if not changes:
                at.slot = -1
        if downloads:
            at.idle, at.rest = 0, rules.idle
        if changes:
            return MANAGE
        if downloads:
            return DONE
    at.idle = 0
    if not rules.watches:
        at.rests += at.rest / tape.seconds
    at.fleet_rests = at.now + at.rest
    at.rest = min(2 * at.rest, rules.longest_rest)
    return NOTHING


@inner
def _turn(
    recrawl: bool, at: Course, rules: Rules, tape: Columns, mind: Mind, side: Watched, books: Found, flock: Flock,
    room: IntArray,
) -> int:  # fmt: skip
    """A turn of one side, unless it rests."""
    if at.now < (at.recrawl_rests if recrawl else at.fleet_rests):
        return NOTHING
    if recrawl:
        return look(at, rules, tape, mind, side, books, room)
    if not rules.compiled_fleet:
        return FLEET
    return _forage(at, rules, tape, mind, side, books, flock, room)


@compiled
def play_on(
    course: NDArray[np.void], rules: NDArray[np.void], tape: Columns, mind: Mind, side: Watched, books: Found,
    flock: Flock, room: IntArray,
) -> int:  # fmt: skip
    """Download after download; why it stopped. In `room` there is place for the links of any page."""
    at, rule = course[0], rules[0]
    while at.now < at.until:
        first = behind(at.recrawl_spent, at.fleet_spent, rule.share)
        ended = _turn(first, at, rule, tape, mind, side, books, flock, room)
        if ended == NOTHING:
            ended = _turn(not first, at, rule, tape, mind, side, books, flock, room)
        if ended == NOTHING:
            at.now = min(at.end, max(at.now, min(at.fleet_rests, at.recrawl_rests)))
        elif ended != DONE:
            return ended
    return TIME
