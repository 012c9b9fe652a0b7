"""The best of the trials, and which of its changes matter; all of it on the training part.

The best of many noisy trials looks better than it is. So the first few are replayed with luck that no trial had, beside the
settings as they were. Then changes that matter little are taken back: few are easier to trust than many.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from forager.simulation.jobs import Played
from forager.tuning.goals import balance, guarded, shortfall
from forager.tuning.replaying import Replays
from forager.tuning.space import Point, changed
from forager.tuning.study import Orders, Trial

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
class Measured:
    """Means over replays of the training parts."""

    values: tuple[float, ...]
    """By goal."""
    coverage: float
    shortfall: float


def shortlist(trials: Iterable[Trial], orders: Orders, base: Sequence[float]) -> list[Trial]:
    """The best trials that count, best first."""
    counted = [one for one in trials if not one.pruned and one.shortfall <= 0 and one.changes]
    ranked = sorted(counted, key=lambda one: -balance(orders.goals, one.values, base))
    distinct = {tuple(sorted(one.changes.items())): one for one in reversed(ranked)}
    return [one for one in ranked if one in distinct.values()][:SHORTLIST]


def choose(
    orders: Orders,
    trials: Iterable[Trial],
    base: Sequence[float],
    lucks: Sequence[int],
    *,
    replays: Replays,
    tell: Callable[[str], None],
) -> Chosen:
    """The settings to be judged; `base` is what the trials are ranked against, by goal."""
    listed = shortlist(trials, orders, base)
    tell(f"replaying the best {len(listed)} trials with other luck")
    start, *replayed = measured(orders, [{}, *(one.changes for one in listed)], lucks, replays)

    def worth(one: Measured) -> float:
        return balance(orders.goals, one.values, start.values) if one.shortfall <= 0 else -np.inf

    best = max(range(len(listed)), key=lambda place: worth(replayed[place]), default=None)
    if best is None or worth(replayed[best]) <= 0:
        return Chosen({}, None, start.values, start.values)
    trial, top = listed[best], worth(replayed[best])
    movable = [key for key in trial.changes if key not in orders.space.fixed]

    def without(keys: Sequence[str]) -> Point:
        return orders.space.changes({key: trial.changes[key] for key in movable if key not in keys})

    tell(f"taking back each of {len(movable)} changes")
    alone = measured(orders, [without([key]) for key in movable], lucks[:1], replays)
    harmless = [key for _, key in sorted(zip(map(worth, alone), movable, strict=True), key=lambda pair: -pair[0])]
    found, taken, low, high = replayed[best], 0, 1, len(harmless)
    while low <= high:  # how many of the most harmless changes can go together
        middle = (low + high) // 2
        (fewer,) = measured(orders, [without(harmless[:middle])], lucks, replays)
        if worth(fewer) >= KEPT * top:
            found, taken, low = fewer, middle, middle + 1
        else:
            high = middle - 1
    gone = harmless[:taken]
    return Chosen(without(gone), trial.ticket, start.values, found.values, tuple(sorted(gone)))


def measured(orders: Orders, candidates: Sequence[Point], lucks: Sequence[int], replays: Replays) -> list[Measured]:
    """Each candidate replayed on every training part, once with each luck."""
    places = [(part, luck) for luck in lucks for part in orders.parts]
    settings = [changed(orders.space.base, changes) for changes in candidates]
    played = replays([part.job(one, luck) for one in settings for part, luck in places])
    return [_mean(orders, played[begin : begin + len(places)]) for begin in range(0, len(played), len(places))]


def _mean(orders: Orders, group: Sequence[Played]) -> Measured:
    values = np.mean([[goal.of(one.figures) for goal in orders.goals] for one in group], axis=0)
    covered = float(np.mean([one.figures.delay.coverage for one in group]))
    lost = np.mean([shortfall(one.figures, orders.base_coverage) for one in group])
    return Measured(tuple(values.tolist()), covered, float(lost) if guarded(orders.goals) else 0.0)
