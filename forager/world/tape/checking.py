"""Whether the columns of a tape can be trusted: nothing may lead outside an array, and no replay may run for ever."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forager.terms import Kind

if TYPE_CHECKING:
    from forager.world.tape.columns import Tape

TYPES = {
    "url_text": "u1",
    "url_start": "i8",
    "url_kind": "u1",
    "version_start": "i8",
    "time": "f8",
    "published": "f8",
    "digest": "u8",
    "text_print": "u8",
    "gone": "b1",
    "seconds": "f4",
    "state": "i4",
    "link_set": "i4",
    "link_start": "i8",
    "links": "i4",
    "states": "f4",
}
IDENTITIES = ("url", "text", "version", "link")
LONGEST = 100 * 366 * 86_400.0
"""Seconds that a tape may span."""


def objection(tape: "Tape") -> str:
    """Why a tape is not to be used; empty if nothing speaks against it."""
    for name, type in TYPES.items():
        values = getattr(tape, name)
        if values.dtype != np.dtype(type) or values.ndim != (2 if name == "states" else 1):
            return f"{name} is of another type"
    if not (isinstance(tape.origin, str) and isinstance(tape.identity, str) and isinstance(tape.waits, bool)):
        return "its origin or identity is no text"
    if tape.identity not in IDENTITIES:
        return f"its documents are told apart by {tape.identity[:20]!r}, not by {', '.join(IDENTITIES)}"
    if not _fits(tape):
        return "its columns do not fit together"
    if not _spans(tape):
        return "its times are out of order"
    try:
        tape.url_text.tobytes().decode()
    except UnicodeDecodeError:
        return "its addresses are no UTF-8"
    return ""


def _fits(tape: "Tape") -> bool:
    per_version = ("published", "digest", "text_print", "gone", "seconds", "state", "link_set")
    return (
        all(len(getattr(tape, name)) == tape.versions for name in per_version)
        and len(tape.url_kind) == tape.pages == len(tape.version_start) - 1
        and _is_index(tape.url_start, len(tape.url_text))
        and _is_index(tape.version_start, tape.versions)
        and _is_index(tape.link_start, len(tape.links))
        and _within(tape.link_set, 0, len(tape.link_start) - 1)
        and _within(tape.links, 0, tape.pages)
        and _within(tape.state, -1, len(tape.states))
        and _within(tape.url_kind, 0, len(Kind))
        and bool(np.isfinite(tape.states).all())
    )


def _spans(tape: "Tape") -> bool:
    """Whether start, end and the times of each page's versions are finite and in order."""
    times = tape.time
    if not all(isinstance(fact, int | float) for fact in (tape.start, tape.end)):
        return False
    if not (abs(tape.start) < np.inf and 0 <= tape.end - tape.start <= LONGEST and np.isfinite(times).all()):
        return False
    falls = np.flatnonzero(np.diff(times) < 0) + 1  # only where another page begins
    return bool(np.isin(falls, tape.version_start).all())


def _is_index(starts: NDArray[np.int64], total: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == total and (np.diff(starts) >= 0).all())


def _within(values: NDArray[np.generic], low: int, high: int) -> bool:
    return not values.size or bool(values.min() >= low and values.max() < high)
