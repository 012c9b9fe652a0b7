"""Makes a tape of a part of another, and a tape with rescaled states."""

from dataclasses import replace

import numpy as np

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
