"""Counting what could not be used, so that a broken record is named and never fatal."""

from collections import Counter
from dataclasses import dataclass, field

NAMED = 3
"""So many broken records of each kind are named."""
_SHOWN = 60
"""Characters shown of what stood there."""


@dataclass(slots=True)
class Tally:
    """What was read, what was left out on purpose, and what was broken."""

    records: int = 0
    """Captures taken."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Sound records that show no version of a page: redirects, failed requests, other schemes."""
    broken: Counter[str] = field(default_factory=Counter)
    """By kind."""
    named: list[str] = field(default_factory=list)
    """The first few of each kind, with their places."""

    def note(self, kind: str, place: str, line: int | None = None, shown: object = "", *, count: int = 1) -> None:
        """Count a broken record; `line` counts from 1, `shown` is what stood there."""
        self.broken[kind] += count
        if self.broken[kind] - count < NAMED:
            text = shown.decode("utf-8", "backslashreplace") if isinstance(shown, bytes) else str(shown)
            where = place if line is None else f"{place}:{line}"
            self.named.append(f"{where}: {kind}" + (f": {_tidy(text)}" if text else ""))


def _tidy(text: str) -> str:
    """Fit for a terminal: one line, no control characters, not long."""
    return "".join(letter if letter.isprintable() else "·" for letter in text[:_SHOWN])
