"""Saves a complete forager and brings it back: it then makes the same next decisions."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.core.fleet import AHEAD, Flock, Forager
from forager.core.judge import KeyNumbers
from forager.core.packed import luck_text, text_luck
from forager.core.parameters import ForagerKind
from forager.core.weblog import Weblog
from forager.errors import InputError
from forager.terms import ForagerId, UrlId

_FORM = 1


class _Saved(msgspec.Struct):
    form: int
    id: int
    kind: str
    seeds: bytes
    weblog: list[tuple[int, float]]
    weights: bytes
    luck: str
    path: int
    first_step: int
    steps: list[tuple[int, float, int]]
    open: bytes
    memory: bytes
    ahead: list[float] = []
    """Luck that was drawn, but not used yet."""


def save_forager(forager: Forager, sent_as: KeyNumbers) -> bytes:
    """Weblog, weights, path, open links, memory, counters and chance."""
    path, state = forager.path, forager.flock.state
    saved = _Saved(
        form=_FORM,
        id=forager.id,
        kind=forager.kind,
        seeds=_bytes(forager.seeds),
        weblog=[(int(url), value) for url, value in forager.weblog.entries],
        weights=forager.weights.tobytes(),
        luck=luck_text(forager.rng),
        path=path.number,
        first_step=path.first_step,
        steps=_steps(forager),
        open=_bytes(path.open),
        memory=np.array(sent_as.marked(state.sent[forager.slot]), dtype=np.uint64).reshape(-1, 2).tobytes(),
        ahead=state.luck[forager.slot, state.walkers["drawn"][forager.slot] :].tolist(),
    )
    return msgspec.msgpack.encode(saved)


def load_forager(saved: bytes, flock: Flock, sent_as: KeyNumbers) -> Forager:
    """The forager as it was, now in this flock; an `InputError` if these bytes are none."""
    try:
        held = msgspec.msgpack.decode(saved, type=_Saved)
    except msgspec.DecodeError as trouble:
        raise InputError(f"a saved forager cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FORM:
        raise InputError(f"a saved forager has format {held.form}, this program reads {_FORM}; start afresh")
    settings, kind = flock.settings, ForagerKind(held.kind)
    weights = np.frombuffer(held.weights, dtype=np.float64)
    if len(weights) != settings.states.dimension:
        if kind.learns_profit or settings.order == "profit":
            raise InputError(
                f"a saved forager has learned from states of {len(weights)} components, settings want "
                f"{settings.states.dimension}: set forager.states.dimension accordingly or start afresh"
            )
        weights = np.zeros(settings.states.dimension)
    weblog = Weblog(settings.weblog, [(UrlId(url), value) for url, value in held.weblog])
    forager = Forager(flock, ForagerId(held.id), kind, _urls(held.seeds), weblog, weights, text_luck(held.luck))
    _restore_path(forager, held)
    pairs = np.frombuffer(held.memory, dtype=np.uint64).reshape(-1, 2).tolist()
    sent = [sent_as.number((kind, value)) for kind, value in pairs]
    flock.reserve(pages=0, links=0, sent=len(sent_as))
    flock.state.sent[forager.slot, sent] = True
    return forager


def _steps(forager: Forager) -> list[tuple[int, float, int]]:
    """The pages of the path, what each earned and the state it came from; of a sweep the pages alone, by number."""
    path, state = forager.path, forager.flock.state
    if forager.kind is not ForagerKind.BFS:
        return [*zip(path.urls, path.earned, path.before, strict=True)]
    visited = np.flatnonzero(state.met[forager.slot] == path.number) if path.number else path.open[:0]
    return [(url, 0.0, -1) for url in np.setdiff1d(visited, path.open).tolist()]


def _restore_path(forager: Forager, held: _Saved) -> None:
    """The forager stands where it stood."""
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
    state.met[slot, pages] = state.met[slot, waiting] = held.path
    walkers = state.walkers
    walkers["number"][slot], walkers["first"][slot], walkers["length"][slot] = held.path, held.first_step, steps
    walkers["count"][slot] = len(waiting)
    state.luck[slot, AHEAD - len(held.ahead) :] = held.ahead
    walkers["drawn"][slot] = AHEAD - len(held.ahead)


def _bytes(urls: NDArray[np.int64]) -> bytes:
    return np.ascontiguousarray(urls, dtype=np.int64).tobytes()


def _urls(saved: bytes) -> NDArray[np.int64]:
    return np.frombuffer(saved, dtype=np.int64).copy()
