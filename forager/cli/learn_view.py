"""What `forager learn` shows: how far it is, and how the evolved function did against the rules that people found."""

import time
from math import isfinite

from forager.cli.progress_line import ProgressLine
from forager.recrawl.formula import text_of
from forager.recrawl.gp import learning
from forager.recrawl.gp.careful import Choice
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.gp.simplify import canonical


class Display:
    """Progress: generation, best, mean, time left."""

    def __init__(self, settings: GPSettings, progress: learning.Progress | None) -> None:
        self.settings = settings
        self.total = settings.seeds * settings.generations
        self.before = self._generations(progress) if progress else 0
        self.begun, self.line = time.monotonic(), ProgressLine()

    def show(self, progress: learning.Progress) -> None:
        current, done = progress.current, self._generations(progress)
        if current is None:
            return
        left = (time.monotonic() - self.begun) / (done - self.before) * (self.total - done)
        self.line.show(
            f"run {len(progress.finished) + 1}/{self.settings.seeds} generation {current.number + 1}/"
            f"{self.settings.generations} best {current.best[0][1]:.4f} mean {current.mean:.4f} {left:.0f} s left"
        )

    def end(self) -> None:
        self.line.end()

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
