"""The moves of a step for those who make them one by one, from Python."""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.core.fleet import FleetState
from forager.core.judge import Seen, count_judged, count_work, fate_of, is_document, judge
from forager.core.rules import IntArray
from forager.core.step import arrive, choose, send, settle
from forager.core.updates import Mind

Row = NDArray[np.void]
"""The rules as a table of one row."""


@compiled
def choose_page(rules: Row, mind: Mind, fleet: FleetState, slot: int, now: float) -> tuple[int, float]:
    return choose(rules[0], mind, fleet, slot, now)


@compiled
def arrive_at(rules: Row, fleet: FleetState, slot: int, url: int, links: IntArray) -> None:
    arrive(rules[0], fleet, slot, url, links)


@compiled
def send_document(
    rules: Row, mind: Mind, fleet: FleetState, slot: int, seen: Seen, revealer: int, links: IntArray, now: float
) -> int:
    return send(rules[0], mind, fleet, slot, seen, revealer, links, now)


@compiled
def settle_step(rules: Row, mind: Mind, fleet: FleetState, slot: int, url: int, downloads: int) -> None:
    settle(rules[0], mind, fleet, slot, url, downloads)


@compiled
def judge_document(
    rules: Row, mind: Mind, fleet: FleetState, seen: Seen, revealer: int, links: IntArray, now: float
) -> int:
    """Judge a document that no forager sent; 0 if it is none."""
    return judge(rules[0], mind, fleet, seen, revealer, links, now) if is_document(rules[0], seen, now) else 0


@compiled
def score_document(rules: Row, fleet: FleetState, slot: int, relevant: bool) -> None:
    count_judged(rules[0], fleet, slot, relevant)


@compiled
def score_work(rules: Row, fleet: FleetState, slot: int, downloads: int) -> None:
    count_work(rules[0], fleet, slot, downloads)


@compiled
def decide_fate(rules: Row, fleet: FleetState, slot: int) -> int:
    return fate_of(rules[0], fleet.tally[0].alive, fleet.walkers[slot])
