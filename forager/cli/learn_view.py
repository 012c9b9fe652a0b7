"""What `forager learn` shows: how far it is, and how the evolved function did against the rules that people found."""

import sys
import time
from math import isfinite

from forager.recrawl.formula import text_of
from forager.recrawl.gp import learning
from forager.recrawl.gp.careful import Choice
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.gp.simplify import canonical

_QUIET_SECONDS = 60.0
"""Without a terminal, one line of progress in this time."""


class Display:
    """Progress on standard error: in place on a terminal, one line a minute elsewhere."""

    def __init__(self, settings: GPSettings, progress: learning.Progress | None) -> None:
        self.settings = settings
        self.total = settings.seeds * settings.generations
        self.before = self._generations(progress) if progress else 0
        self.begun = self.shown = time.monotonic()

    def show(self, progress: learning.Progress) -> None:
        now, current = time.monotonic(), progress.current
        if current is None or not (sys.stderr.isatty() or now - self.shown >= _QUIET_SECONDS):
            return
        self.shown = now
        done = self._generations(progress)
        left = (now - self.begun) / (done - self.before) * (self.total - done)
        line = (
            f"run {len(progress.finished) + 1}/{self.settings.seeds} generation {current.number + 1}/"
            f"{self.settings.generations} best {current.best[0][1]:.4f} mean {current.mean:.4f} {left:.0f} s left"
        )
        sys.stderr.write(f"\r\x1b[K{line}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")

    def _generations(self, progress: learning.Progress) -> int:
        under_way = progress.current.number + 1 if progress.current else 0
        return len(progress.finished) * self.settings.generations + under_way


def rivalry(choice: Choice) -> dict[str, object]:
    """How the evolved function did against the best known rule."""
    assert choice.known is not None
    return {
        "rule": text_of(choice.known.tree),
        "function": text_of(choice.evolved.tree),
        "gain": choice.gain,
        "error": choice.error if isfinite(choice.error) else None,
    }


def told(choice: Choice) -> list[str]:
    """The same in words; nothing if there was no rule to compare with."""
    if choice.known is None:
        return []
    gained = f"{choice.gain:+.4f} ± {choice.error:.4f} (standard error) on validation pages"
    if choice.is_evolved:
        return [f"better than the best known rule, {text_of(choice.known.tree)}, beyond chance: {gained}"]
    if canonical(choice.evolved.tree) == canonical(choice.known.tree):
        return ["a known rule: evolution found nothing better"]
    return [f"a known rule: what was evolved is not better beyond chance, {gained}: {text_of(choice.evolved.tree)}"]
