"""The best of the trials, and which of its changes matter; all of it on the training part.

The best of many noisy trials looks better than it is. So the first few are replayed with luck that no trial had, beside the
settings as they were. Then changes that matter little are taken back: few are easier to trust than many.

How much each setting matters for a goal is told by fANOVA on the ranks of the trials: ranks, because a few hopeless
trials would otherwise explain everything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from forager.simulation.jobs import Played
from forager.tuning.goals import balance, guarded, shortfall
from forager.tuning.judge import Replays
from forager.tuning.space import Point, changed_keys
from forager.tuning.study import Orders, Study, Trial

SHORTLIST = 6
"""Trials that are replayed with other luck (ours)."""
KEPT = 0.95
"""Share of the gain that must stay when changes are taken back (ours)."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the search found."""

    changes: Point
    """Against the settings as they were; empty if nothing was better on the training part."""
    trial: int | None
    """Where it came from."""
    before: tuple[float, ...]
    after: tuple[float, ...]
    """By goal, on the training part with luck that no trial had."""
    taken_back: tuple[str, ...] = ()
    """Changes of the trial that made no difference."""


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """Means over replays of the training parts."""

    values: tuple[float, ...]
    """By goal."""
    coverage: float
    shortfall: float
    seconds: float
    """What the quickest of them took: the others may have had to load or compile something first."""


def shortlist(trials: Iterable[Trial], orders: Orders, base: Sequence[float]) -> list[Trial]:
    """The best trials that count, best first."""
    counted = [one for one in trials if not one.pruned and one.shortfall <= 0 and one.changes]
    ranked = sorted(counted, key=lambda one: -balance(orders.goals, one.values, base))
    distinct = {tuple(sorted(one.changes.items())): one for one in reversed(ranked)}
    return [one for one in ranked if one in distinct.values()][:SHORTLIST]


def choose_trial(
    orders: Orders, trials: Iterable[Trial], base: Sequence[float], lucks: Sequence[int], *, replays: Replays
) -> Chosen:
    """The settings to be judged; `base` is what the trials are ranked against, by goal.

    Where there is no time to replay the best trials, the best is taken as it came out; where there is none to take changes
    back, all of them stay.
    """
    listed = shortlist(trials, orders, base)
    phase = f"replaying the best {len(listed)} trials with other luck"
    start, *replayed = measured(orders, [{}, *(one.changes for one in listed)], lucks, replays, phase)
    if start is None:
        return _as_it_came(listed[0], base) if listed else Chosen({}, None, tuple(base), tuple(base))

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
    while low <= high:  # how many of the most harmless changes can go together
        middle = (low + high) // 2
        phase = f"taking back {middle} changes together"
        (fewer,) = measured(orders, [without(harmless[:middle])], lucks, replays, phase)
        if fewer is not None and worth(fewer) >= KEPT * top:
            found, taken, low = fewer, middle, middle + 1
        else:
            high = middle - 1
    gone = harmless[:taken]
    return Chosen(without(gone), trial.ticket, start.values, found.values, tuple(sorted(gone)))


def _as_it_came(trial: Trial, base: Sequence[float]) -> Chosen:
    return Chosen(trial.changes, trial.ticket, tuple(base), trial.values)


def measured(
    orders: Orders, candidates: Sequence[Point], lucks: Sequence[int], replays: Replays, phase: str
) -> list[TrialFigures | None]:
    """Each candidate replayed on every training part, once with each luck; None if there was no time for all of that."""
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
"""Finished trials without which nothing can be said (ours)."""


def importances(study: Study, goal: int = 0) -> Mapping[str, float]:
    """The share of each setting, largest first; they add up to 1. Empty if there are too few trials."""
    trials = study.kept.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = np.array([trial.values[goal] for trial in trials])
    if len(trials) < LEAST or np.ptp(values) == 0:
        return {}
    places = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    rank = {trial.number: float(place) for trial, place in zip(trials, places, strict=True)}

    def target(trial: FrozenTrial) -> float:
        return rank[trial.number]

    return get_param_importances(
        study.kept, evaluator=FanovaImportanceEvaluator(seed=1), target=target, params=_moved(trials)
    )


def _moved(trials: list[FrozenTrial]) -> list[str]:
    """The settings that had more than one value."""
    return [key for key in trials[0].params if len({trial.params.get(key) for trial in trials}) > 1]
