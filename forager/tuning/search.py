"""Runs a whole tuning, from a tape to a judgement, in a folder that keeps every finished trial.

It runs trials, in one process or several, until there are enough, the time is over, or the user stops it. Then it
judges the best one.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from forager.errors import InputError
from forager.settings import Settings, changed_keys
from forager.simulation.jobs import Crew, Job, Played, Player, Stopped, Work
from forager.tape.tape import Tape
from forager.tuning.goals import Goal
from forager.tuning.held_out import (
    SHORTLIST,
    Chosen,
    HeldOutResult,
    Replays,
    choose_trial,
    judge_held_out,
    lucks_to,
    measured,
    shortlist,
)
from forager.tuning.space import Point, Space, shown_space
from forager.tuning.study import Orders, Split, Study, Trial, check_terms, claim, split_tape


def search(
    orders: Orders,
    first: int,
    limit: int,
    *,
    processes: int,
    expired: Callable[[], bool],
    tell: Callable[[Trial | None], None],
) -> None:
    """Runs the trials from `first` to before `limit`; calls `tell` with each, and from time to time with None.

    Trials that are running when the time is over, or when the user stops, are discarded.
    """

    def stopped() -> bool:
        tell(None)
        return expired()

    with Crew(min(processes, limit - first), partial(_trials, orders)) as crew:
        for _, trial in crew.work(range(first, limit), stopped):
            tell(trial)


def _trials(orders: Orders) -> Work[int, Trial]:
    """Makes the function that runs trials in a worker process."""
    study = Study(orders.folder, orders.goals)

    def attempt(ticket: int, stopped: Stopped | None) -> Trial | None:
        return study.attempt(orders, ticket, stopped or (lambda: False))

    return attempt


CHECKED = 3
"""Replays with other seeds that choose the best trial (ours)."""
SPARE, STARTING = 1.5, 5.0
"""Safety factor on the time of replays after the search, and seconds to start processes (ours)."""
Phase = Callable[[str, int, int], None]
"""Called with a phase name, the number of finished replays and their total."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Options of a tuning."""

    goals: tuple[Goal, ...]
    budget: float
    """Downloads per hour."""
    trials: int
    held_out: float
    """Share of the recording not used for training."""
    seeds: int
    """Replays of old and new settings on the held-out part."""
    repeats: int
    """Replays of each trial."""
    processes: int


@dataclass(frozen=True, slots=True)
class TuningOutcome:
    """Result of a tuning."""

    tuning: "Tuning"
    chosen: Chosen
    judged: HeldOutResult

    @property
    def changes(self) -> Point:
        """The settings to change; none if the held-out part does not confirm them."""
        return self.chosen.changes if self.judged.better else {}


class Tuning:
    """A search that can be stopped and resumed, then the judgement; a context that locks its folder."""

    def __init__(
        self,
        tape: Tape,
        folder: Path,
        space: Space,
        wishes: Wishes,
        *,
        left: Callable[[], float] = lambda: math.inf,
        tell: Phase = lambda phase, done, count: None,
    ) -> None:
        """`left` returns the seconds left, judgement included; `tell` receives the progress of replays outside the
        search."""
        self.tape, self.folder, self.wishes = tape, folder, wishes
        self._left, self._tell = left, tell
        self.space = space if len(tape.states) else space.without_states()
        self.resumed = 0
        """Number of trials finished in earlier calls."""

    def __repr__(self) -> str:
        return f"<Tuning {self.tape.origin} in {self.folder}>"

    def __enter__(self) -> "Tuning":
        self._claimed = claim(self.folder)
        self.study = Study(self.folder, self.wishes.goals)
        check_terms(self.study, self._terms(), self.folder)
        self.resumed = len(self.study.trials())
        wishes = self.wishes
        self.split: Split = split_tape(
            self.tape, self.folder, self.base, held_out=wishes.held_out, budget=wishes.budget
        )
        self.orders = self._orders()
        return self

    def __exit__(self, *ended: object) -> None:
        self._claimed.close()

    @property
    def base(self) -> Settings:
        return self.space.base

    @property
    def start(self) -> tuple[float, ...]:
        """Values of the original settings on the training part, by goal, with the seeds of the trials."""
        return tuple(self.study.noted("start")["values"])

    def best(self) -> Trial | None:
        """The best valid trial so far, or None."""
        return next(iter(shortlist(self.study.trials(), self.orders, self.start)), None)

    def search(self, *, tell: Callable[[Trial | None], None]) -> None:
        """Runs the remaining trials, as far as there is time."""
        done, kept = self.study.trials(), self.kept
        first = done[-1].ticket + 1 if done else 0
        search(
            self.orders,
            first,
            first + max(0, self.wishes.trials - len(done)),
            processes=self.wishes.processes,
            expired=lambda: self._left() <= kept,
            tell=tell,
        )

    @property
    def kept(self) -> float:
        """Seconds reserved for choosing and judging: an estimate from the first replays, at most half the time left."""
        settings = len(self.space.dimensions)
        taken_back = settings + CHECKED * math.ceil(math.log2(settings + 1))
        replays = CHECKED * (1 + SHORTLIST) + taken_back
        return min(self._left() / 2, STARTING + self._seconds(replays) + self._judging)

    @property
    def _judging(self) -> float:
        """Estimated seconds for judging."""
        longer = self.wishes.held_out / (1 - self.wishes.held_out)
        return longer * self._seconds(2 * self.wishes.seeds)

    def _seconds(self, replays: int) -> float:
        """Estimated seconds for `replays` replays of the training part."""
        each = self.study.noted("start").get("seconds", math.inf)
        return float(SPARE * each * math.ceil(replays / self.wishes.processes))

    def outcome(self) -> TuningOutcome | None:
        """Chooses a trial, then judges old against new once on the held-out part; None if there is no time for it."""
        wishes, seed = self.wishes, self.base.seed
        with Crew(wishes.processes, Player) as crew:
            lucks, kept = lucks_to("check", seed, CHECKED), min(self._left() / 2, self._judging)
            trials = self.study.trials()
            chosen = choose_trial(self.orders, trials, self.start, lucks, replays=self._replays(crew, kept))
            new, lucks = changed_keys(self.base, chosen.changes), lucks_to("judge", seed, wishes.seeds)
            judged = judge_held_out(self.split.held_out, wishes.goals, self.base, new, lucks, self._replays(crew))
        if judged is None:
            return None
        after = {*(self.study.noted("judged") or ()), len(self.study.trials())}
        self.study.note("judged", sorted(after))
        return TuningOutcome(self, chosen, judged)

    def _replays(self, crew: Crew[Job, Played], kept: float = 0.0) -> Replays:
        """Makes a function that replays jobs while more than `kept` seconds are left."""

        def play(phase: str, jobs: Sequence[Job]) -> list[Played | None]:
            done = 0

            def count(finished: int) -> None:
                nonlocal done
                done = finished
                self._tell(phase, done, len(jobs))

            def stopped() -> bool:
                self._tell(phase, done, len(jobs))
                return self._left() <= kept

            return crew.results(jobs, stopped, count)

        return play

    @property
    def judged(self) -> int:
        """Number of different searches judged on the held-out part; only the first judgement is evidence."""
        return len(self.study.noted("judged") or ())

    def _orders(self) -> Orders:
        wishes, lucks = self.wishes, lucks_to("trial", self.base.seed, self.wishes.repeats)
        parts = (self.split.training,)
        bare = Orders(self.folder, parts, lucks, self.space, wishes.goals, 0.0, self.base.seed)
        if self.study.noted("start") is None:
            with Crew(min(wishes.processes, wishes.repeats), Player) as crew:
                (start,) = measured(bare, [{}], lucks, self._replays(crew), "replaying the settings as they are")
            if start is None:
                raise InputError(f"{self.tape.origin}: the time limit is too short to replay it once")
            facts = {"values": list(start.values), "coverage": start.coverage, "seconds": start.seconds}
            self.study.note("start", facts)
        coverage = self.study.noted("start")["coverage"]
        return Orders(self.folder, parts, lucks, self.space, wishes.goals, coverage, self.base.seed)

    def _terms(self) -> dict[str, Any]:
        """What must be equal for trials to belong to the same search."""
        wishes, tape = self.wishes, self.tape
        return {
            "recording": [tape.origin, tape.pages, tape.versions, tape.start, tape.end],
            "--for": [goal.name for goal in wishes.goals],
            "--budget": wishes.budget,
            "--held-out": wishes.held_out,
            "--repeats": wishes.repeats,
            "--space": [shown_space(self.space.dimensions), dict(self.space.fixed)],
            "settings": zlib.crc32(repr(self.base).encode()),
        }
