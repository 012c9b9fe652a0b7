"""Births and deletions of foragers, as kernels (Alg 6, 8).

    gone, child = manage(rules, fleet, slot, now)      at the end of a turn: who was deleted, who was born

A live crawl calls this through the agent, a replay from its loop. The caller makes sure that there is a free slot, and
room in `lives`.
"""

import math

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.core.addresses import SHAPES
from forager.core.draws import draw, draw_normal, draw_weights
from forager.core.fleet import RL, WL, FleetState, Tally, Walker, note_birth, seat
from forager.core.judge import GOES, MULTIPLIES, REPLACES, fate_of
from forager.core.parameters import INHERITED
from forager.core.rules import ForagerRules
from forager.core.territory import hand_over
from forager.kernel import inner
from forager.terms import NOBODY

HOMEWARD = 0.1
"""How far the parameters of a child are drawn back to the settings, as a share of the distance."""
BOUNDS = np.array(list(INHERITED.values()), np.float64)
"""For each parameter that a forager has of its own: lowest and highest value, whether it changes by factors, whether it
is a whole number.
"""


@inner
def moved(value: float, usual: float, which: int, share: float, luck: float) -> float:
    """A parameter of a child: that of its parent, drawn towards the usual value, then changed at random within its
    bounds.

    `luck` is normally distributed here. A parameter that is switched off stays off. With a share of 0 the child has the
    usual value.
    """
    if share <= 0 or (value == 0 and usual == 0):
        return usual
    low, high = min(BOUNDS[which, 0], usual), max(BOUNDS[which, 1], usual)
    if BOUNDS[which, 2]:
        value *= (usual / value) ** HOMEWARD * math.exp(share * luck)
    else:
        wide = (BOUNDS[which, 1] - BOUNDS[which, 0]) / 4
        value += HOMEWARD * (usual - value) + share * wide * luck
    value = min(max(value, low), high)
    return float(math.floor(value + 0.5)) if BOUNDS[which, 3] else value


@inner
def _inherit(fleet: FleetState, parent: int, child: int, share: float) -> None:
    """Gives a child the parameters of its parent, each changed a little."""
    for which in range(len(BOUNDS)):
        luck, usual = draw_normal(fleet, child), fleet.usual[which]
        fleet.genes[child, which] = moved(fleet.genes[parent, which], usual, which, share, luck)


@inner
def _copy(rows: FloatArray | IntArray, source: int, target: int, count: int) -> None:
    """Copies the first entries of one row to another; with an assignment numba would allocate memory."""
    for i in range(count):
        rows[target, i] = rows[source, i]


@inner
def _halve(fleet: FleetState, parent: int, child: int) -> None:
    """Moves a random half of the weblog, with its values, to a child; an odd entry stays (Alg 6)."""
    me: Walker = fleet.walkers[parent]
    one: Walker = fleet.walkers[child]
    wanted, kept = me.entries // 2, 0
    for i in range(me.entries):
        url, value = fleet.weblog[parent, i], fleet.values[parent, i]
        if draw(fleet, child) * (me.entries - i) < wanted - one.entries:
            fleet.weblog[child, one.entries], fleet.values[child, one.entries] = url, value
            one.entries += 1
        else:
            fleet.weblog[parent, kept], fleet.values[parent, kept] = url, value
            kept += 1
    me.entries = kept


@inner
def bear_child(rules: ForagerRules, fleet: FleetState, slot: int, now: float) -> int:
    """Creates a child with half of the weblog, and with the long-term profit of its parent if that learns it (Alg 6);
    returns its slot.
    """
    me: Walker = fleet.walkers[slot]
    tally: Tally = fleet.tally[0]
    child = seat(fleet, tally.born, me.kind)
    one: Walker = fleet.walkers[child]
    note_birth(fleet, me.id, now)
    one.seeds = me.seeds
    _copy(fleet.seeds, slot, child, me.seeds)
    if me.kind == RL and not rules.split_rl:
        one.entries = me.entries
        _copy(fleet.weblog, slot, child, me.entries)
        _copy(fleet.values, slot, child, me.entries)
    else:
        _halve(fleet, slot, child)
    _inherit(fleet, slot, child, rules.mutation)
    one.entries = min(one.entries, max(1, int(one.weblog_size)))
    if me.kind == WL:
        draw_weights(fleet, child, fleet.weights.shape[1] - SHAPES, rules.weights_spread)
        for k in range(fleet.weights.shape[1] - SHAPES, fleet.weights.shape[1]):
            fleet.weights[child, k] = 0.0
    else:
        _copy(fleet.weights, slot, child, fleet.weights.shape[1])
        one.typical = me.typical
    me.score = one.score = rules.first_score
    me.expected = 0.0
    return child


@inner
def delete(rules: ForagerRules, fleet: FleetState, slot: int, now: float) -> None:
    """Deletes a forager; with relative scores, the others take over its weblog."""
    me: Walker = fleet.walkers[slot]
    tally: Tally = fleet.tally[0]
    fleet.lives[me.id].deleted = now
    fleet.ended[me.id] = fleet.walkers[slot]
    place = 0
    while fleet.order[place] != slot:
        place += 1
    tally.alive -= 1
    tally.turns -= place < tally.turns
    for i in range(place, tally.alive):
        fleet.order[i] = fleet.order[i + 1]
    if me.kind != RL and rules.relative:
        hand_over(fleet, fleet.weblog[slot, : me.entries], fleet.values[slot, : me.entries])


@inner
def poorest(fleet: FleetState, but: int) -> int:
    """The slot of the forager with the lowest score, other than `but`; the oldest among equals."""
    slot, least = -1, np.inf
    for one in fleet.order[: fleet.tally[0].alive]:
        if one != but and fleet.walkers[one].score < least:
            slot, least = one, fleet.walkers[one].score
    return slot


@inner
def manage(rules: ForagerRules, fleet: FleetState, slot: int, now: float) -> tuple[int, int]:
    """Multiplies or deletes a forager according to its score (Alg 8); returns who was deleted and who was born, or
    `NOBODY`.
    """
    decided, gone, child = fate_of(rules, fleet, fleet.walkers[slot]), NOBODY, NOBODY
    if decided in (GOES, REPLACES):
        out = slot if decided == GOES else poorest(fleet, slot)
        gone = fleet.walkers[out].id
        delete(rules, fleet, out, now)
    if decided in (MULTIPLIES, REPLACES):
        child = fleet.walkers[bear_child(rules, fleet, slot, now)].id
    return gone, child
