"""Both sides of a replay in turn, download after download, as one kernel.

It goes on until something is to be done that kernels cannot do, and says what.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.choice import Choices
from forager.core.fleet import BFS, DRAWS, FleetState, Tally, Walker
from forager.core.judge import STAYS, fate_of
from forager.core.pool import AWAKE, RESTING
from forager.core.updates import Mind, lacks_room
from forager.simulation.bundles import Books, LoopState, Rules
from forager.simulation.fleet_turn import step
from forager.simulation.recrawl_turn import DONE, GO_ON, MANAGE, NOTHING, TIME, look
from forager.tape.world import TapeColumns


def is_behind(spent: float, fleet_spent: float, share: float) -> bool:
    """Whether the recrawl side, which is to make this share of all downloads, is further behind it than the fleet."""
    return spent * (1 - share) < fleet_spent * share or share >= 1


behind = compiled(is_behind)
"""The same for kernels."""


@inner
def _lacks_room(at: LoopState, rules: Rules, mind: Mind, side: Choices, books: Books, fleet: FleetState) -> bool:
    """Whether the forager whose turn it is might find no luck left, or no place for what a step brings."""
    me: Walker = fleet.walkers[at.slot]
    if (
        rules.watches
        and side.turn[0].pooled
        and len(side.awake) - side.tally[AWAKE] - side.tally[RESTING] < rules.widest
    ):
        return True
    if me.kind != BFS and (me.length >= fleet.path.shape[1] or me.drawn + DRAWS > fleet.luck.shape[1]):
        return True
    if lacks_room(mind, 1 + rules.widest):
        return True
    return at.written + rules.most_records > len(books.records) or me.count + rules.widest > fleet.open.shape[1]


@inner
def _forage(
    at: LoopState, rules: Rules, tape: TapeColumns, mind: Mind, side: Choices, books: Books, fleet: FleetState
) -> int:
    """Steps of the foragers whose turn it is until something was downloaded. They take turns, each has its slice of the
    time, and a step once begun is finished (Alg 9)."""
    tally: Tally = fleet.tally[0]
    while at.idle < tally.alive:
        if at.slot < 0:
            place = tally.turns if tally.turns < tally.alive else 0
            tally.turns = place + 1
            at.slot, at.left, at.free = fleet.order[place], rules.slice, 0
        if _lacks_room(at, rules, mind, side, books, fleet):
            return GO_ON
        downloads = step(at, rules, tape, mind, side, books, fleet)
        me: Walker = fleet.walkers[at.slot]
        at.fleet_spent += downloads
        at.left -= downloads * tape.seconds
        at.free = 0 if downloads else at.free + 1
        changes = False
        if at.left <= 0 or at.free >= rules.free_steps:
            at.idle += at.free > 0
            changes = fate_of(rules, tally.alive, me) != STAYS
            if not changes:
                at.slot = -1
        if downloads:
            at.idle, at.rest = 0, rules.idle
        if changes:
            return MANAGE
        if downloads:
            return DONE
    at.idle = 0
    if not rules.watches:  # nobody else says that nothing was worth a download
        mind.pace[0].rests += at.rest / tape.seconds
    at.fleet_rests = at.now + at.rest
    at.rest = min(2 * at.rest, rules.longest_rest)
    return NOTHING


@inner
def _turn(
    recrawl: bool,
    at: LoopState,
    rules: Rules,
    tape: TapeColumns,
    mind: Mind,
    side: Choices,
    books: Books,
    fleet: FleetState,
) -> int:
    """A turn of one side, unless it rests."""
    if at.now < (at.recrawl_rests if recrawl else at.fleet_rests):
        return NOTHING
    if recrawl:
        return look(at, rules, tape, mind, side, books, fleet)
    return _forage(at, rules, tape, mind, side, books, fleet)


@compiled
def play_on(
    course: NDArray[np.void], rules: NDArray[np.void], tape: TapeColumns, mind: Mind, side: Choices, books: Books,
    fleet: FleetState,
) -> int:  # fmt: skip
    """Download after download; why it stopped."""
    at, rule = course[0], rules[0]
    while at.now < at.until:
        first = behind(at.recrawl_spent, at.fleet_spent, rule.share)
        ended = _turn(first, at, rule, tape, mind, side, books, fleet)
        if ended == NOTHING:
            ended = _turn(not first, at, rule, tape, mind, side, books, fleet)
        if ended == NOTHING:
            at.now = min(at.end, max(at.now, min(at.fleet_rests, at.recrawl_rests)))
        elif ended != DONE:
            return ended
    return TIME
