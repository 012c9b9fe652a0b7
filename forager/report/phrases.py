"""Makes text from pages safe to show, and formats times, durations and numbers."""

import math
import re
from datetime import UTC, datetime

from forager.terms import NOBODY

_TRICKS = re.compile(  # control characters, half surrogate pairs, and marks that reverse or hide text
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]+"
)
TITLE = 300
"""Characters of a title that are shown (ours)."""


def shown(text: str, most: int = TITLE) -> str:
    """A text on one line that cannot reverse the writing direction, control a terminal or fill the screen."""
    plain = " ".join(_TRICKS.sub(" ", text[: 4 * most]).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def harmless(text: str) -> str:
    """A text of several lines, each without what could do such things."""
    return "\n".join(_TRICKS.sub(" ", line) for line in text.split("\n"))


def shown_moment(time: float | None) -> str:
    """Date and time in UTC to the second; a dash if the time is out of range."""
    if time is None or not math.isfinite(time):
        return "–"
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "–"


def span(seconds: float | None) -> str:
    """A duration as people write it."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86400:.1f} d"


def amount(count: int, what: str, many: str = "") -> str:
    """A number and its thing, such as `3 pages`; `many` is the plural if it is not the thing with an s."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"


def day_only(count: int) -> str:
    """What to add to a delay if the dates of this many stories have no hour."""
    return f" (without {count:,} whose date has no hour)" if count else ""


def figure(value: float, form: str) -> str:
    """A number in this format; a dash if unknown."""
    return format(value, form) if math.isfinite(value) else "–"


def json_number(value: float, digits: int | None = None) -> float | None:
    """Rounds a number, if wanted; None for nan, which JSON lacks."""
    return None if value != value else value if digits is None else round(value, digits)


def visitor(by: int) -> str:
    return "the recrawl cycle" if by == NOBODY else f"forager {by}"
