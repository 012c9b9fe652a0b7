"""Random numbers of foragers: the n-th number of a forager follows from the seed of the fleet, the id of the forager
and n.

So no generator is kept for each forager, a kernel can draw as many numbers as it needs, and a saved forager goes on
with the same numbers. The numbers are those of SplitMix64 (Steele, Lea, Flood 2014), one stream per forager.
"""

import math

import numpy as np

from forager.core.fleet import FleetState, Tally, Walker
from forager.kernel import inlined, inner

_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

NO_FORAGER = 1 << 40
"""An id that no forager has."""


@inlined
def _mixed(bits: np.uint64) -> np.uint64:
    """Mixes bits, so that each bit of the result depends on all given bits."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


@inner
def nth_number(key: int, who: int, count: int) -> float:
    """The random number in [0, 1) at this place in the stream of a forager."""
    stream = _mixed(np.uint64(key) + np.uint64(who) * _STRIDE)
    bits = _mixed(stream + np.uint64(count) * _STRIDE)
    return float(np.int64(bits >> np.uint64(11))) * 2.0**-53


@inner
def draw(fleet: FleetState, slot: int) -> float:
    """The next random number in [0, 1) of a forager."""
    me: Walker = fleet.walkers[slot]
    me.drawn += 1
    return nth_number(fleet.tally[0].key, me.id, me.drawn)


@inner
def shuffle_turns(fleet: FleetState) -> None:
    """Puts the foragers alive into a random order (Fisher and Yates)."""
    tally: Tally = fleet.tally[0]
    for last in range(tally.alive - 1, 0, -1):
        tally.shuffled += 1
        other = int((last + 1) * nth_number(tally.key, NO_FORAGER, tally.shuffled))
        fleet.order[last], fleet.order[other] = fleet.order[other], fleet.order[last]


@inner
def draw_normal(fleet: FleetState, slot: int) -> float:
    """The next normally distributed number of a forager (Box and Muller 1958); it uses two numbers of the stream."""
    length = math.sqrt(-2 * math.log(1 - draw(fleet, slot)))
    return length * math.cos(2 * math.pi * draw(fleet, slot))


@inner
def draw_weights(fleet: FleetState, slot: int, size: int, spread: float) -> None:
    """Random weights of long-term profit, one for each component of a state, evenly distributed from −spread to spread."""
    for k in range(size):
        fleet.weights[slot, k] = spread * (2 * draw(fleet, slot) - 1)
