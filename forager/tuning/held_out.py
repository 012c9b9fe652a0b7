"""Picks the best trial, and tests whether it beats the original settings.

The best of many noisy trials looks better than it is. So the first few are replayed on the training part with random
seeds that no trial used, and changes that matter little are undone, because few changes are easier to trust. Then old
and new settings are replayed on the held-out part with the same seeds: paired differences with 95% intervals.

In this package, "luck" is the random seed of a replay.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from forager.recrawl.compare import half_interval
from forager.settings import Settings, changed_keys
from forager.simulation.fleet_rows import FleetRow, rows_of
from forager.simulation.jobs import Job, Played
from forager.tuning.goals import GOALS, Goal, balance, guarded, shortfall
from forager.tuning.space import Point
from forager.tuning.study import Orders, Study, TapePart, Trial

Replays = Callable[[str, Sequence[Job]], list[Played | None]]
"""Replays jobs under a phase name that is shown to the user; returns results in order, None if there was no time."""
FIGURES = tuple(goal.figure for goal in GOALS.values())
"""Figures shown for old and new settings, whatever the goals."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of new − old in one figure over all seeds, with its 95% interval; nan if unknown."""

    mean: float
    low: float = float("nan")
    high: float = float("nan")

    def __str__(self) -> str:
        return f"{self.mean:+.4g} [{self.low:+.4g}, {self.high:+.4g}]"

    def favours(self, goal: Goal, *, old: bool = False) -> bool:
        """Whether the whole interval lies on the side that is better for a goal, or better for the old settings."""
        return self.low > 0 if goal.more is not old else self.high < 0


@dataclass(frozen=True, slots=True)
class HeldOutResult:
    """Old and new settings on the held-out part."""

    goals: tuple[Goal, ...]
    before: FleetRow
    after: FleetRow

    def difference(self, figure: str) -> Difference:
        """New − old in this figure."""
        return paired_interval(self.after.values(figure), self.before.values(figure))

    @property
    def improved(self) -> tuple[Goal, ...]:
        """Goals that are better by more than the interval."""
        return tuple(goal for goal in self.goals if self.difference(goal.figure).favours(goal))

    @property
    def harmed(self) -> tuple[Goal, ...]:
        """Goals that are worse by more than the interval, including coverage if it must not fall."""
        watched = (*self.goals, GOALS["coverage"]) if guarded(self.goals) else self.goals
        return tuple(goal for goal in watched if self.difference(goal.figure).favours(goal, old=True))

    @property
    def better(self) -> bool:
        """Whether a goal improved and none got worse."""
        return bool(self.improved) and not self.harmed


def judge_held_out(
    part: TapePart, goals: tuple[Goal, ...], old: Settings, new: Settings, lucks: Sequence[int], replays: Replays
) -> HeldOutResult | None:
    """Replays both settings with each seed; None if there was time for fewer than two seeds."""
    pair = (old,) if old == new else (old, new)
    played = replays("judging on the held-out part", [part.job(settings, luck) for luck in lucks for settings in pair])
    groups = [played[begin : begin + len(pair)] for begin in range(0, len(played), len(pair))]
    whole = [group for group in groups if None not in group]
    if len(whole) < min(2, len(lucks)):
        return None
    rows = rows_of([one for side in zip(*whole, strict=True) for one in side if one], len(whole), lambda one: False)
    return HeldOutResult(goals, rows[0], rows[-1])


def paired_interval(new: Sequence[float], old: Sequence[float]) -> Difference:
    """Mean of the paired differences and its 95% interval by Student's t."""
    differences = np.subtract(new, old)
    known = differences[np.isfinite(differences)]
    mean = float(known.mean()) if len(known) else float("nan")
    if len(known) < 2:
        return Difference(mean)
    wide = half_interval(known)
    return Difference(mean, mean - wide, mean + wide)


LUCKS = {"judge": 0, "trial": 10_000, "check": 20_000}
"""Where the random seeds of replays begin: on the held-out part, of trials, and to choose the best trial."""


def lucks_to(use: str, seed: int, count: int) -> tuple[int, ...]:
    """Random seeds of replays for one use; no other use has them."""
    return tuple(range(seed + LUCKS[use], seed + LUCKS[use] + count))


SHORTLIST = 6
"""Number of trials that are replayed with other seeds (ours)."""
KEPT = 0.95
"""Share of the gain that must remain when changes are undone (ours)."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings that the search chose."""

    changes: Point
    """Changes to the original settings; empty if nothing was better on the training part."""
    trial: int | None
    """Number of the trial that they come from."""
    before: tuple[float, ...]
    after: tuple[float, ...]
    """Values by goal on the training part, with seeds that no trial used."""
    taken_back: tuple[str, ...] = ()
    """Changes of the trial that made no difference and were undone."""


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """Means over replays of the training parts."""

    values: tuple[float, ...]
    """Values by goal."""
    coverage: float
    shortfall: float
    seconds: float
    """Seconds of the fastest replay; the others may have loaded or compiled code first."""


def shortlist(trials: Iterable[Trial], orders: Orders, base: Sequence[float]) -> list[Trial]:
    """The best valid trials, best first."""
    counted = [one for one in trials if not one.pruned and one.shortfall <= 0 and one.changes]
    ranked = sorted(counted, key=lambda one: -balance(orders.goals, one.values, base))
    distinct = {tuple(sorted(one.changes.items())): one for one in reversed(ranked)}
    return [one for one in ranked if one in distinct.values()][:SHORTLIST]


def choose_trial(
    orders: Orders, trials: Iterable[Trial], base: Sequence[float], lucks: Sequence[int], *, replays: Replays
) -> Chosen:
    """Chooses the settings to judge; `base` has the values, by goal, against which trials are ranked.

    Without time to replay the best trials, it takes the first as it is; without time to undo changes, it keeps them
    all.
    """
    listed = shortlist(trials, orders, base)
    phase = f"replaying the best {len(listed)} trials with other luck"
    start, *replayed = measured(orders, [{}, *(one.changes for one in listed)], lucks, replays, phase)
    if start is None:
        if not listed:
            return Chosen({}, None, tuple(base), tuple(base))
        return Chosen(listed[0].changes, listed[0].ticket, tuple(base), listed[0].values)

    def worth(one: TrialFigures | None) -> float:
        return -np.inf if one is None or one.shortfall > 0 else balance(orders.goals, one.values, start.values)

    best = max(range(len(listed)), key=lambda place: worth(replayed[place]), default=None)
    found = None if best is None else replayed[best]
    if best is None or found is None or worth(found) <= 0:
        return Chosen({}, None, start.values, start.values)
    trial, top = listed[best], worth(found)
    movable = [key for key in trial.changes if key not in orders.space.fixed]

    def without(keys: Sequence[str]) -> Point:
        return orders.space.changes({key: trial.changes[key] for key in movable if key not in keys})

    phase = f"taking back each of {len(movable)} changes"
    alone = measured(orders, [without([key]) for key in movable], lucks[:1], replays, phase)
    harmless = [key for _, key in sorted(zip(map(worth, alone), movable, strict=True), key=lambda pair: -pair[0])]
    taken, low, high = 0, 1, len(harmless)
    while low <= high:  # binary search: how many of the most harmless changes can go together
        middle = (low + high) // 2
        phase = f"taking back {middle} changes together"
        (fewer,) = measured(orders, [without(harmless[:middle])], lucks, replays, phase)
        if fewer is not None and worth(fewer) >= KEPT * top:
            found, taken, low = fewer, middle, middle + 1
        else:
            high = middle - 1
    gone = harmless[:taken]
    return Chosen(without(gone), trial.ticket, start.values, found.values, tuple(sorted(gone)))


def measured(
    orders: Orders, candidates: Sequence[Point], lucks: Sequence[int], replays: Replays, phase: str
) -> list[TrialFigures | None]:
    """Replays each candidate on every training part with each seed; None for candidates without time for all replays."""
    places = [(part, luck) for luck in lucks for part in orders.parts]
    settings = [changed_keys(orders.space.base, changes) for changes in candidates]
    played = replays(phase, [part.job(one, luck) for one in settings for part, luck in places])
    return [_mean(orders, played[begin : begin + len(places)]) for begin in range(0, len(played), len(places))]


def _mean(orders: Orders, group: Sequence[Played | None]) -> TrialFigures | None:
    whole = [one for one in group if one is not None]
    if len(whole) < len(group):
        return None
    values = np.mean([[goal.of(one.figures) for goal in orders.goals] for one in whole], axis=0)
    covered = float(np.mean([one.figures.delay.coverage for one in whole]))
    lost = np.mean([shortfall(one.figures, orders.base_coverage) for one in whole])
    seconds = min(one.seconds for one in whole)
    return TrialFigures(tuple(values.tolist()), covered, float(lost) if guarded(orders.goals) else 0.0, seconds)


LEAST = 25
"""Finished trials needed to estimate importances (ours)."""


def importances(study: Study) -> Mapping[str, float]:
    """Importance of each setting for the first goal, as a share of 1, largest first; empty if there are too few trials."""
    trials = study.kept.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = np.array([trial.values[0] for trial in trials])
    if len(trials) < LEAST or np.ptp(values) == 0:
        return {}
    places = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    rank = {trial.number: float(place) for trial, place in zip(trials, places, strict=True)}

    moved = [key for key in trials[0].params if len({trial.params.get(key) for trial in trials}) > 1]

    def target(trial: FrozenTrial) -> float:
        return rank[trial.number]

    return get_param_importances(study.kept, evaluator=FanovaImportanceEvaluator(seed=1), target=target, params=moved)
