"""Makes tapes of another: a part of it, one with rescaled states, and its rewired twin.

The twin has the same degrees and another graph (foragers paper, section 6). The paper permutes the list of link origins
and the list of link endpoints independently and pairs them again. As a set of pairs this is the same as giving each link
the endpoint of another, drawn at random without replacement. So each link keeps its page and its versions, and gets a
new endpoint. In a recording no link leads to a page that does not exist yet; so a link of the twin appears on its page
only once the page at its new end has appeared (`Tape.waits`).
"""

from dataclasses import replace

import numpy as np

from forager.arrays import IntArray
from forager.tape.tape import Tape

PER_VERSION = ("time", "published", "digest", "text_print", "gone", "seconds", "state", "link_set")
_EDGE = 1e-6
"""States this close to −1 or 1 cannot be distinguished any more."""


def cut_tape(tape: Tape, start: float, end: float) -> Tape:
    """The versions visible from `start` until before `end`, and nothing later.

    URLs keep their numbers, so a page that appears later counts as not recorded.
    """
    owner = np.repeat(np.arange(tape.pages), np.diff(tape.version_start))
    following = np.append(tape.time[1:], np.inf)
    following[tape.version_start[1:][np.diff(tape.version_start) > 0] - 1] = np.inf
    kept = (tape.time < end) & (following > start)
    columns = {name: getattr(tape, name)[kept] for name in PER_VERSION}
    begins = np.searchsorted(owner[kept], np.arange(tape.pages + 1)).astype(np.int64)
    return replace(tape, **columns, version_start=begins, start=max(start, tape.start), end=min(end, tape.end))


def squeezed_anew(tape: Tape, factor: float) -> Tape:
    """The tape as if its states had been made with `factor` times the scale c in tanh(c·x) (foragers paper, Alg 2)."""
    inside = np.clip(tape.states, _EDGE - 1, 1 - _EDGE)
    squeezed = replace(tape, states=np.tanh(factor * np.arctanh(inside)).astype(np.float32))
    object.__setattr__(squeezed, "derived", tape.derived)  # the other columns are unchanged
    return squeezed


_ROUNDS = 100
"""Rounds of repair; a link that is still double or leads to its own page after them stays so."""


def distinct_links(tape: Tape) -> tuple[IntArray, IntArray]:
    """Origins and targets of all links that were ever on a page, each once, sorted."""
    origin, target, _ = _slots(tape)
    return origin, target


def rewired(tape: Tape, rng: np.random.Generator) -> Tape:
    """The tape with its links paired anew; a link waits until the page that it leads to appears."""
    origin, target, slot = _slots(tape)
    target = _mended(origin, rng.permutation(target), rng)
    owner = _owners(tape)
    sets, used = np.unique(np.stack([owner, tape.link_set.astype(np.int64)]), axis=1, return_inverse=True)
    lengths = np.diff(tape.link_start)[sets[1]]
    changed = target[slot]
    row = np.repeat(np.arange(sets.shape[1]), lengths)
    links = changed[np.lexsort((changed, row))].astype(np.int32)
    return replace(
        tape,
        link_set=used.reshape(-1).astype(np.int32),
        link_start=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        links=links,
        origin=f"{tape.origin}, rewired",
        waits=True,
    )


def _owners(tape: Tape) -> IntArray:
    return np.repeat(np.arange(tape.pages, dtype=np.int64), np.diff(tape.version_start))


def _slots(tape: Tape) -> tuple[IntArray, IntArray, IntArray]:
    """The distinct links, and for each link of each distinct (page, link set), in order, the index of its distinct
    link."""
    pages = max(tape.pages, 1)
    sets = np.unique(np.stack([_owners(tape), tape.link_set.astype(np.int64)]), axis=1)
    begin, lengths = tape.link_start[sets[1]], np.diff(tape.link_start)[sets[1]]
    place = np.arange(lengths.sum()) + np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    pair = np.repeat(sets[0], lengths) * pages + tape.links[place]
    distinct, slot = np.unique(pair, return_inverse=True)
    return distinct // pages, distinct % pages, np.asarray(slot, np.int64)


def _mended(origin: IntArray, target: IntArray, rng: np.random.Generator) -> IntArray:
    """The pairing without double links and links of a page to itself; each of these swaps its endpoint with a random
    link.

    A swap that does not help is undone and tried again with another link.
    """
    for _ in range(_ROUNDS):
        wrong = _wrong(origin, target)
        if not len(wrong):
            break
        sound = np.setdiff1d(np.arange(len(target)), wrong, assume_unique=True)
        others = rng.permutation(sound)[: len(wrong)]
        wrong = rng.permutation(wrong)[: len(others)]
        swapped = target.copy()
        swapped[wrong], swapped[others] = target[others], target[wrong]
        still = np.isin(np.stack([wrong, others]), _wrong(origin, swapped)).any(axis=0)
        undone = np.concatenate([wrong[still], others[still]])
        swapped[undone] = target[undone]
        target = swapped
    return target


def _wrong(origin: IntArray, target: IntArray) -> IntArray:
    """Links of a page to itself, and all but the first of equal links."""
    pair = np.stack([origin, target])
    _, first = np.unique(pair[0] * (int(pair.max(initial=0)) + 1) + pair[1], return_index=True)
    double = np.ones(len(origin), np.bool_)
    double[first] = False
    return np.flatnonzero(double | (origin == target))
