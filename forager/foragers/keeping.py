"""Saves a complete forager and brings it back: it then makes the same next decisions."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError
from forager.foragers.forager import Finished, Forager
from forager.foragers.saving import luck_text, text_luck
from forager.foragers.settings import ForagerKind, ForagerSettings
from forager.foragers.td import Profit
from forager.foragers.weblog import Weblog
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
    page_links: bytes
    memory: bytes
    finished: list[tuple[int, list[int], list[int], list[float]]]


def save_forager(forager: Forager) -> bytes:
    """Weblog, weights, path, open links, memory, counters and chance."""
    path = forager.path
    memory = np.array(sorted(forager.memory), dtype=np.uint64).reshape(-1, 2)
    saved = _Saved(
        form=_FORM,
        id=forager.id,
        kind=forager.kind,
        seeds=_bytes(forager.seeds),
        weblog=[(int(url), value) for url, value in forager.weblog.entries],
        weights=forager.profit.weights.tobytes(),
        luck=luck_text(forager.rng),
        path=path.number,
        first_step=path.first_step,
        steps=[*zip(path.urls, path.earned, path.before, strict=True)],
        open=_bytes(path.open),
        page_links=_bytes(forager.page_links),
        memory=memory.tobytes(),
        finished=[(first, [*urls], before, shares) for first, urls, before, shares in forager.finished],
    )
    return msgspec.msgpack.encode(saved)


def load_forager(saved: bytes, settings: ForagerSettings) -> Forager:
    """The forager as it was; an `InputError` if these bytes are none."""
    try:
        held = msgspec.msgpack.decode(saved, type=_Saved)
    except msgspec.DecodeError as trouble:
        raise InputError(f"a saved forager cannot be read ({trouble}); delete it and start afresh") from None
    if held.form != _FORM:
        raise InputError(f"a saved forager has format {held.form}, this program reads {_FORM}; start afresh")
    forager = Forager(
        ForagerId(held.id),
        ForagerKind(held.kind),
        settings,
        _urls(held.seeds),
        Weblog(settings.weblog, [(UrlId(url), value) for url, value in held.weblog]),
        Profit(np.frombuffer(held.weights, dtype=np.float64).copy(), settings.profit),
        text_luck(held.luck),
    )
    steps = [(UrlId(url), earned, before) for url, earned, before in held.steps]
    forager.path.restore(held.path, held.first_step, steps, _urls(held.open))
    forager.page_links = _urls(held.page_links)
    pairs = np.frombuffer(held.memory, dtype=np.uint64).reshape(-1, 2).tolist()
    forager.memory = {(kind, value) for kind, value in pairs}
    finished: list[Finished] = [
        (first, [UrlId(url) for url in urls], before, shares) for first, urls, before, shares in held.finished
    ]
    forager.finished.extend(finished)
    return forager


def _bytes(urls: NDArray[np.int64]) -> bytes:
    return np.ascontiguousarray(urls, dtype=np.int64).tobytes()


def _urls(saved: bytes) -> NDArray[np.int64]:
    return np.frombuffer(saved, dtype=np.int64).copy()
