"""What can be tuned for: a figure of a replay, and which way is better."""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forager.errors import InputError
from forager.simulation.compare import FIGURES
from forager.simulation.replay_account import ReplayFigures

TOLERANCE = 0.01
"""Coverage that a search for something else may cost (ours)."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure to be made better."""

    name: str
    figure: str
    """Its name in `simulation.compare.FIGURES`."""
    more: bool
    """More is better; else less is."""
    worst: float
    """What a replay that has no such figure gets: it found nothing."""
    guarded: bool
    """It could be had by finding less: where it is the only goal, coverage must stay."""

    def of(self, figures: ReplayFigures) -> float:
        """The figure of a replay."""
        value = FIGURES[self.figure](figures)
        return value if math.isfinite(value) else self.worst

    def gain(self, new: float, old: float) -> float:
        """How much better the new value is, as a share of the old one; negative if it is worse."""
        difference = new - old if self.more else old - new
        return difference / max(abs(old), 1e-9)

    def better(self, low: float, high: float) -> bool:
        """Does an interval of new − old lie wholly on the good side?"""
        return low > 0 if self.more else high < 0

    def worse(self, low: float, high: float) -> bool:
        """The same for the bad side."""
        return high < 0 if self.more else low > 0


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
"""By the name that `--for` takes. `late` is the mean delay with a missed story counted as a day."""


def goals_named(names: Iterable[str]) -> tuple[Goal, ...]:
    """The goals called by these names, or by several joined with commas; none: `late`."""
    wanted = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in GOALS:
            close = difflib.get_close_matches(name, GOALS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(GOALS)}"
            raise InputError(f"--for {name}: no such goal; {hint}")
    return tuple(GOALS[name] for name in dict.fromkeys(wanted or ["late"]))


def guarded(goals: Sequence[Goal]) -> bool:
    """Must coverage be watched while these goals are sought?"""
    return all(goal.guarded for goal in goals)


def shortfall(figures: ReplayFigures, base_coverage: float) -> float:
    """Coverage lost against the settings before, beyond what may be lost; not above 0 if all is well."""
    covered = figures.delay.coverage
    return base_coverage - TOLERANCE - (covered if math.isfinite(covered) else 0.0)


def balance(goals: Sequence[Goal], new: Sequence[float], old: Sequence[float]) -> float:
    """The gain in the goal that gains least: what makes one point of several goals better than another."""
    return min(goal.gain(a, b) for goal, a, b in zip(goals, new, old, strict=True))
