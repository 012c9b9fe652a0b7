"""What `forager tune` tells: progress while it searches, old against new at the end."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from forager.clock import Clock
from forager.reports.showing import span
from forager.simulation.compare import Row
from forager.tuning.judging import FIGURES, Judgement
from forager.tuning.study import Trial
from forager.tuning.tuning import Outcome, Tuning

EVERY = 60.0
"""Seconds between two lines of progress where there is no terminal."""


class Progress:
    """What is being done, how far it is and the time left: in place on a terminal, one line a minute elsewhere."""

    def __init__(self, limit: float | None, clock: Clock, *, quiet: bool) -> None:
        self.limit, self.clock, self.quiet = math.inf if limit is None else limit, clock, quiet
        self.began = self.searching = self.shown = clock.now()
        self.done, self.pruned, self.best = 0, 0, "nothing to choose from yet"
        self._phase = ""

    def left(self) -> float:
        """Seconds of the time limit that are left."""
        return self.limit - (self.clock.now() - self.began)

    def phase(self, name: str, done: int, count: int) -> None:
        """So many of the replays of a phase are done."""
        if name != self._phase:
            self._phase, self.shown = name, -math.inf
        self._show(f"{name}: {done} of {count} replays", self.left())

    def begin(self, tuning: Tuning) -> None:
        """The search begins."""
        self.done, self.searching = tuning.resumed, self.clock.now()
        self._rank(tuning)
        if not self.quiet and tuning.resumed:
            self._line(f"going on after {tuning.resumed} trials in {tuning.folder}")

    def tell(self, tuning: Tuning, trial: Trial | None) -> None:
        """A trial came to its end, or nothing happened for a while."""
        if trial is not None:
            self.done += 1
            self.pruned += trial.pruned
            if not trial.pruned:
                self._rank(tuning)
        counts = f"{self.done} of {tuning.wishes.trials} trials, {self.pruned} given up early"
        made, spent = self.done - tuning.resumed, self.clock.now() - self.searching
        guess = spent / made * (tuning.wishes.trials - self.done) + tuning.kept if made else math.inf
        self._show(f"{counts}; {self.best}", min(guess, self.left()))

    def end(self) -> None:
        if not self.quiet and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")

    def _rank(self, tuning: Tuning) -> None:
        best = tuning.best()
        if best is not None:
            self.best = "best " + training(tuning, best.values)

    def _show(self, text: str, left: float) -> None:
        """Show it, if it is time for that."""
        now = self.clock.now()
        if not self.quiet and (sys.stderr.isatty() or now - self.shown >= EVERY):
            self.shown = now
            self._line(f"{text}; {span(max(0.0, left))} left" if left < math.inf else text)

    def _line(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}" if sys.stderr.isatty() else f"forager: {text}\n")
        sys.stderr.flush()


def training(tuning: Tuning, values: Sequence[float]) -> str:
    """Values on the training part beside those of the settings as they were."""
    goals, start = tuning.wishes.goals, tuning.start
    return ", ".join(
        f"{goal.figure} {new:.4g} (was {old:.4g})" for goal, new, old in zip(goals, values, start, strict=True)
    )


def say(tuning: Tuning, outcome: Outcome | None, outputs: Sequence[Path], end: str = "Stopped") -> None:
    """The summary for people; `end` says why there is no outcome."""
    console = Console()
    if outcome is None:
        best = tuning.best()
        kept = f"{len(tuning.study.trials())} trials are kept in {tuning.folder}" if outputs else "nothing was kept"
        typer.echo(f"{end}; {kept}, the same command goes on." if outputs else f"{end}; {kept}.")
        if best is not None:
            typer.echo(f"Best so far on the training part: {training(tuning, best.values)}, with")
            for key, value in best.changes.items():
                typer.echo(f"  {key}: {value}")
        typer.echo("Nothing was judged on the held-out part, so nothing was written.")
        return
    chosen, judged = outcome.chosen, outcome.judged
    console.print(table(judged, outcome.tuning.judged))
    typer.echo(verdict(outcome))
    for key, value in chosen.changes.items():
        typer.echo(f"  {key}: {value}")
    if outputs:
        typer.echo(f"Written: {', '.join(map(str, outputs))}; trials in {tuning.folder}.")


def verdict(outcome: Outcome) -> str:
    """In a sentence."""
    judged = outcome.judged
    if not outcome.chosen.changes:
        return "The settings as they are are as good as anything that was tried; nothing to change."
    if judged.better:
        gains = "; ".join(
            f"{goal.figure} {judged.before.mean(goal.figure):.4g} → {judged.after.mean(goal.figure):.4g}"
            for goal in judged.improved
        )
        return f"Better on the held-out part beyond the 95% interval: {gains}. The changes:"
    if judged.harmed:
        names = ", ".join(goal.figure for goal in judged.harmed)
        return f"Worse on the held-out part in {names}: the settings as they are stay. Tried:"
    return "No better than the settings as they are on the held-out part, which stay. Tried:"


def table(judged: Judgement, times: int) -> Table:
    """Old against new."""
    again = "" if times == 1 else f"; the held-out part was looked at {times} times, so this is no fresh evidence"
    shown = Table(
        title="On the held-out part",
        caption=f"means over {len(judged.before.repeats)} seeds; new − old paired, 95% interval; * sought{again}",
    )
    sought = {goal.figure for goal in judged.goals}
    shown.add_column("figure")
    for name in ("before", "after", "difference"):
        shown.add_column(name, justify="right")
    for figure in FIGURES:
        cells = [f"{row.mean(figure):.4g}" for row in (judged.before, judged.after)]
        shown.add_row(f"{figure}{' *' if figure in sought else ''}", *cells, str(judged.difference(figure)))
    return shown


def machine_readable(tuning: Tuning, outcome: Outcome | None) -> dict[str, Any]:
    """The outcome as plain values; `held_out` is null if the search was stopped before it was judged."""
    trials, best = tuning.study.trials(), tuning.best()
    changes = (dict(best.changes) if best else {}) if outcome is None else dict(outcome.changes)
    return {
        "trials": len(trials),
        "pruned": sum(one.pruned for one in trials),
        "goals": [goal.name for goal in tuning.wishes.goals],
        "budget": tuning.wishes.budget,
        "best": changes,
        "better": outcome is not None and outcome.judged.better,
        "held_out": None if outcome is None else _held_out(outcome.judged),
        "folder": str(tuning.folder),
    }


def _held_out(judged: Judgement) -> dict[str, Any]:
    def means(row: Row) -> dict[str, float | None]:
        return {figure: _plain(row.mean(figure)) for figure in FIGURES}

    differences = {figure: judged.difference(figure) for figure in FIGURES}
    return {
        "before": means(judged.before),
        "after": means(judged.after),
        "difference": {figure: _plain(one.mean) for figure, one in differences.items()},
        "difference_ci": {figure: [_plain(one.low), _plain(one.high)] for figure, one in differences.items()},
        "seeds": len(judged.before.repeats),
    }


def _plain(value: float) -> float | None:
    """JSON knows no nan."""
    return None if value != value else value
