"""The goals of tuning: figures of a replay, and whether more or less is better."""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forager.errors import InputError
from forager.simulation.fleet_rows import FIGURES
from forager.simulation.replay_account import ReplayFigures

TOLERANCE = 0.01
"""Coverage that a search for another goal may cost (ours)."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure to improve."""

    name: str
    figure: str
    """Name of the figure in `simulation.fleet_rows.FIGURES`."""
    more: bool
    """True if more is better, False if less is."""
    worst: float
    """Value for a replay that found nothing and so lacks the figure."""
    guarded: bool
    """Whether finding fewer stories could improve the figure; if so, coverage must not fall."""

    def of(self, figures: ReplayFigures) -> float:
        value = FIGURES[self.figure](figures)
        return value if math.isfinite(value) else self.worst

    def gain(self, new: float, old: float) -> float:
        """Improvement as a share of the old value; negative if worse."""
        difference = new - old if self.more else old - new
        return difference / max(abs(old), 1e-9)


GOALS: Mapping[str, Goal] = {
    goal.name: goal
    for goal in (
        Goal("late", "late_hours", more=False, worst=24.0, guarded=False),
        Goal("delay", "delay_median_s", more=False, worst=86_400.0, guarded=True),
        Goal("p90", "delay_p90_s", more=False, worst=86_400.0, guarded=True),
        Goal("coverage", "coverage", more=True, worst=0.0, guarded=False),
        Goal("lasting", "lasting", more=True, worst=0.0, guarded=False),
        Goal("requests", "requests_per_story", more=False, worst=1000.0, guarded=True),
        Goal("freshness", "freshness", more=True, worst=0.0, guarded=True),
        Goal("age", "age_hours", more=False, worst=240.0, guarded=True),
    )
}
"""Goals by the name that `--for` takes. `late` is the mean delay, where a missed story counts as a day."""


def goals_named(names: Iterable[str]) -> tuple[Goal, ...]:
    """Goals by name; several names may be joined with commas; without any, `late`."""
    wanted = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in GOALS:
            close = difflib.get_close_matches(name, GOALS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(GOALS)}"
            raise InputError(f"--for {name}: no such goal; {hint}")
    return tuple(GOALS[name] for name in dict.fromkeys(wanted or ["late"]))


def guarded(goals: Sequence[Goal]) -> bool:
    """Whether coverage must not fall while these goals are sought."""
    return all(goal.guarded for goal in goals)


def shortfall(figures: ReplayFigures, base_coverage: float) -> float:
    """Coverage lost against the original settings beyond the tolerance; at most 0 if acceptable."""
    covered = figures.delay.coverage
    return base_coverage - TOLERANCE - (covered if math.isfinite(covered) else 0.0)


def balance(goals: Sequence[Goal], new: Sequence[float], old: Sequence[float]) -> float:
    """The gain of the goal that gains least, which ranks trials with several goals."""
    return min(goal.gain(a, b) for goal, a, b in zip(goals, new, old, strict=True))
