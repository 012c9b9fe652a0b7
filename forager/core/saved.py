"""Saves and loads a forager, and the reinforcing agent with its whole fleet. Once loaded, they make the same decisions."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np

from forager.arrays import IntArray
from forager.core.addresses import SHAPES
from forager.core.agent import ReinforcingAgent
from forager.core.fleet import Flock, Forager, ForagerRecord
from forager.core.judge import KeyNumbers
from forager.core.parameters import ForagerKind, ForagerSettings, ReinforcingSettings
from forager.core.weblog import Weblog
from forager.errors import InputError
from forager.terms import UrlId

_FORM = 1


class _Saved(msgspec.Struct):
    form: int
    id: int
    kind: str
    seeds: bytes
    weblog: list[tuple[int, float]]
    weights: bytes
    path: int
    first_step: int
    steps: list[tuple[int, float, int]]
    open: bytes
    memory: bytes
    drawn: int = 0
    """How many of its random numbers were used."""
    genes: dict[str, float] = {}
    typical: float = 0.0


def save_forager(forager: Forager, sent_as: KeyNumbers) -> bytes:
    """Encodes weblog, weights, path, open links, memory and counters."""
    path, state = forager.path, forager.flock.state
    sent = state.sent[forager.slot] == forager.id + 1
    saved = _Saved(
        form=_FORM,
        id=forager.id,
        kind=forager.kind,
        seeds=_bytes(forager.seeds),
        weblog=[(int(url), value) for url, value in forager.weblog.entries],
        weights=forager.weights.tobytes(),
        path=path.number,
        first_step=path.first_step,
        steps=_steps(forager),
        open=_bytes(path.open),
        memory=np.array(sent_as.marked(sent), dtype=np.uint64).reshape(-1, 2).tobytes(),
        drawn=int(state.walkers["drawn"][forager.slot]),
        genes=forager.genes,
        typical=float(state.walkers["typical"][forager.slot]),
    )
    return msgspec.msgpack.encode(saved)


def load_forager(saved: bytes, flock: Flock, sent_as: KeyNumbers) -> Forager:
    """Loads a forager into this flock; raises an `InputError` for other bytes."""
    try:
        held = msgspec.msgpack.decode(saved, type=_Saved)
    except msgspec.DecodeError as trouble:
        raise InputError(f"a saved forager cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FORM:
        raise InputError(f"a saved forager has format {held.form}, this program reads {_FORM}; start afresh")
    settings, kind = flock.settings, ForagerKind(held.kind)
    weights, components = np.frombuffer(held.weights, dtype=np.float64), settings.states.dimension
    if len(weights) != components + SHAPES:
        if kind.learns_profit or settings.order == "profit":
            raise InputError(
                f"a saved forager has learned from states of {len(weights) - SHAPES} components, settings want "
                f"{components}: set forager.states.dimension accordingly or start afresh"
            )
        weights = np.zeros(components + SHAPES)
    genes = flock.usual | {key: value for key, value in held.genes.items() if key in flock.usual}
    own = replace(settings.weblog, size=max(1, int(genes["weblog.size"])))
    weblog = Weblog(own, [(UrlId(url), value) for url, value in held.weblog])
    forager = Forager(flock, flock.enter(held.id, kind, _urls(held.seeds), weblog, weights, genes))
    flock.state.walkers["typical"][forager.slot] = held.typical
    flock.state.walkers["drawn"][forager.slot] = held.drawn
    _restore_path(forager, held)
    pairs = np.frombuffer(held.memory, dtype=np.uint64).reshape(-1, 2).tolist()
    sent = [sent_as.number((kind, value)) for kind, value in pairs]
    flock.reserve(pages=0, links=0, sent=len(sent_as))
    flock.state.sent[forager.slot, sent] = forager.id + 1
    return forager


def _steps(forager: Forager) -> list[tuple[int, float, int]]:
    """The pages of the path, what each earned, and the state it came from; of a sweep only the pages, by number."""
    path, state = forager.path, forager.flock.state
    if forager.kind is not ForagerKind.BFS:
        return [*zip(path.urls, path.earned, path.before, strict=True)]
    mark = state.walkers["mark"][forager.slot]
    visited = np.flatnonzero(state.met[forager.slot] == mark) if path.number else path.open[:0]
    return [(url, 0.0, -1) for url in np.setdiff1d(visited, path.open).tolist()]


def _restore_path(forager: Forager, held: _Saved) -> None:
    """Restores the path."""
    flock, slot = forager.flock, forager.slot
    waiting, steps = _urls(held.open), len(held.steps)
    pages = [url for url, _, _ in held.steps]
    if forager.kind is not ForagerKind.BFS:
        flock.make_steps(steps)
    flock.pages = max(flock.pages, 1 + max([*pages, *waiting.tolist()], default=-1))
    flock.reserve(pages=flock.pages, links=len(waiting))
    state = flock.state
    if steps and forager.kind is not ForagerKind.BFS:
        columns = zip(*held.steps, strict=True)
        state.path[slot, :steps], state.earned[slot, :steps], state.before[slot, :steps] = columns
    state.open[slot, : len(waiting)] = waiting
    walkers = state.walkers
    state.met[slot, pages] = state.met[slot, waiting] = walkers["mark"][slot]
    walkers["number"][slot], walkers["first"][slot], walkers["length"][slot] = held.path, held.first_step, steps
    walkers["count"][slot] = len(waiting)


def _bytes(urls: IntArray) -> bytes:
    return np.ascontiguousarray(urls, dtype=np.int64).tobytes()


def _urls(saved: bytes) -> IntArray:
    return np.frombuffer(saved, dtype=np.int64).copy()


_FLEET_FORM = 1


class _SavedFleet(msgspec.Struct):
    form: int
    seed: int
    turns: int
    accepted: bytes
    records: list[ForagerRecord]
    foragers: list[bytes]
    steps: int = 0
    decided: int = 0
    found: int = 0
    squares: int = 0


def save_agent(agent: ReinforcingAgent) -> bytes:
    """Encodes all foragers alive, all records, every accepted document, and whose turn it is."""
    sent_as, known_as, state = agent.sent_as, agent.known_as, agent.flock.state
    assert isinstance(sent_as, KeyNumbers) and isinstance(known_as, KeyNumbers)
    tally = state.tally[0]
    saved = _SavedFleet(
        form=_FLEET_FORM,
        seed=agent.seed,
        turns=int(tally["turns"]),
        accepted=np.array(known_as.marked(state.accepted), dtype=np.uint64).tobytes(),
        records=list(agent.records.values()),
        foragers=[save_forager(forager, sent_as) for forager in agent.foragers.values()],
        steps=int(tally["steps"]),
        decided=int(tally["decided"]),
        found=int(tally["found"]),
        squares=int(tally["squares"]),
    )
    return msgspec.msgpack.encode(saved)


def load_agent(
    saved: bytes,
    settings: ReinforcingSettings,
    foragers: ForagerSettings,
    on_topic: Callable[[int], bool] | None = None,
) -> ReinforcingAgent:
    """Loads the agent; raises an `InputError` for other bytes."""
    try:
        held = msgspec.msgpack.decode(saved, type=_SavedFleet)
    except msgspec.DecodeError as trouble:
        raise InputError(f"the saved fleet cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FLEET_FORM:
        raise InputError(f"the saved fleet has format {held.form}, this program reads {_FLEET_FORM}; start afresh")
    agent = ReinforcingAgent(settings, foragers, held.seed, on_topic)
    sent_as, known_as, flock = agent.sent_as, agent.known_as, agent.flock
    assert isinstance(sent_as, KeyNumbers) and isinstance(known_as, KeyNumbers)
    pairs = np.frombuffer(held.accepted, dtype=np.uint64).reshape(-1, 2).tolist()
    accepted = [known_as.number((kind, value)) for kind, value in pairs]
    flock.reserve(pages=0, links=0, accepted=len(known_as))
    flock.state.accepted[accepted] = True
    records = {record.id: record for record in held.records}
    agent.remember(held.records)
    for each in held.foragers:
        forager = load_forager(each, flock, sent_as)
        agent.enter(forager, records[forager.id])
    tally = flock.state.tally
    tally["turns"], tally["steps"], tally["decided"] = held.turns, held.steps, held.decided
    tally["found"], tally["squares"] = held.found, held.squares
    return agent
