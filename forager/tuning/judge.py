"""Old against new on the held-out part: the same luck for both, paired differences with 95% intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from forager.settings import Settings
from forager.simulation.compare import FleetRow, rows_of
from forager.simulation.jobs import Job, Played
from forager.tuning.goals import GOALS, Goal, guarded
from forager.tuning.split import Part

Replays = Callable[[str, Sequence[Job]], list[Played | None]]
"""Replays jobs for a purpose that people are told, and gives what came of them in their order; None: there was no time."""
FIGURES = tuple(goal.figure for goal in GOALS.values())
"""What is shown of both, whatever was tuned for."""


@dataclass(frozen=True, slots=True)
class Difference:
    """New − old in one figure over all seeds, with its 95% interval; nan where it cannot be said."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.4g} [{self.low:+.4g}, {self.high:+.4g}]"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Both fleets on the held-out part."""

    goals: tuple[Goal, ...]
    before: FleetRow
    after: FleetRow

    def difference(self, figure: str) -> Difference:
        """New − old."""
        return paired_interval(self.after.values(figure), self.before.values(figure))

    @property
    def improved(self) -> tuple[Goal, ...]:
        """The goals that are better beyond the interval."""
        return tuple(goal for goal in self.goals if goal.better(*_bounds(self.difference(goal.figure))))

    @property
    def harmed(self) -> tuple[Goal, ...]:
        """The goals that are worse beyond the interval, and coverage if it had to stay."""
        watched = (*self.goals, GOALS["coverage"]) if guarded(self.goals) else self.goals
        return tuple(goal for goal in watched if goal.worse(*_bounds(self.difference(goal.figure))))

    @property
    def better(self) -> bool:
        """Something was gained and nothing that was sought was lost."""
        return bool(self.improved) and not self.harmed


def judge(
    part: Part, goals: tuple[Goal, ...], old: Settings, new: Settings, lucks: Sequence[int], replays: Replays
) -> Judgement | None:
    """Replay both settings with each luck; None if there was no time for both with two lucks at least."""
    pair = (old,) if old == new else (old, new)
    played = replays("judging on the held-out part", [part.job(settings, luck) for luck in lucks for settings in pair])
    groups = [played[begin : begin + len(pair)] for begin in range(0, len(played), len(pair))]
    whole = [group for group in groups if None not in group]
    if len(whole) < min(2, len(lucks)):
        return None
    rows = rows_of([one for side in zip(*whole, strict=True) for one in side if one], len(whole), lambda one: False)
    return Judgement(goals, rows[0], rows[-1])


def paired_interval(new: Sequence[float], old: Sequence[float]) -> Difference:
    """The mean of the paired differences and its 95% interval by Student's t."""
    differences = np.subtract(new, old)
    known = differences[np.isfinite(differences)]
    if len(known) < 2:
        mean = float(known.mean()) if len(known) else float("nan")
        return Difference(mean, float("nan"), float("nan"))
    mean = float(known.mean())
    wide = float(scipy.stats.t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return Difference(mean, mean - wide, mean + wide)


def _bounds(difference: Difference) -> tuple[float, float]:
    return difference.low, difference.high


def judged_lucks(seed: int, count: int) -> tuple[int, ...]:
    """The luck of the held-out replays."""
    return tuple(range(seed, seed + count))


def trial_lucks(seed: int, count: int) -> tuple[int, ...]:
    """The luck of the replays of a trial; no held-out replay has it."""
    return tuple(range(seed + 10_000, seed + 10_000 + count))


def checking_lucks(seed: int, count: int) -> tuple[int, ...]:
    """The luck of the replays among which the best trial is chosen; no trial has it."""
    return tuple(range(seed + 20_000, seed + 20_000 + count))
