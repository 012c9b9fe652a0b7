"""The whole of a tuning, from a tape to a judgement, in a folder that keeps every finished trial."""

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forager.errors import InputError
from forager.settings import Settings
from forager.simulation.jobs import Crew, Job, Played, Player
from forager.tape.tape import Tape
from forager.tuning.goals import Goal
from forager.tuning.judge import Judgement, Replays, checking_lucks, judge, judged_lucks, trial_lucks
from forager.tuning.search import search
from forager.tuning.select import SHORTLIST, Chosen, choose_trial, measured, shortlist
from forager.tuning.space import Point, Space, changed_keys, shown_space
from forager.tuning.split import Split, laid_out
from forager.tuning.study import Orders, Study, Trial, check_terms, claim

CHECKED = 3
"""Replays with other luck by which the best trial is chosen (ours)."""
SPARE, STARTING = 1.5, 5.0
"""Time is kept for what comes after the search as if replays took so many times as long as the first, and seconds to start
processes (ours)."""
Phase = Callable[[str, int, int], None]
"""Hears what is being done, how many replays of it are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be done."""

    goals: tuple[Goal, ...]
    budget: float
    """Downloads per hour."""
    trials: int
    held_out: float
    """Share of the recording that is not trained on."""
    seeds: int
    """Replays of old and new on the held-out part."""
    repeats: int
    """Replays of each trial."""
    processes: int


@dataclass(frozen=True, slots=True)
class TuningOutcome:
    """What came of a tuning."""

    tuning: "Tuning"
    chosen: Chosen
    judged: Judgement

    @property
    def changes(self) -> Point:
        """The settings to be changed: none if the held-out part does not bear them out."""
        return self.chosen.changes if self.judged.better else {}


class Tuning:
    """A search that can be stopped and resumed, and what comes after it; a context that owns its folder."""

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
        """`left`: seconds until all must be done, the judgement included; `tell` hears of all replays beside the search."""
        self.tape, self.folder, self.wishes = tape, folder, wishes
        self._left, self._tell = left, tell
        self.space = space if len(tape.states) else space.without_states()
        self.resumed = 0
        """Trials that were finished before."""

    def __repr__(self) -> str:
        return f"<Tuning {self.tape.origin} in {self.folder}>"

    def __enter__(self) -> "Tuning":
        self._claimed = claim(self.folder)
        self.study = Study(self.folder, self.wishes.goals)
        check_terms(self.study, self._terms(), self.folder)
        self.resumed = len(self.study.trials())
        wishes = self.wishes
        self.course: Split = laid_out(self.tape, self.folder, self.base, held_out=wishes.held_out, budget=wishes.budget)
        self.orders = self._orders()
        return self

    def __exit__(self, *ended: object) -> None:
        self._claimed.close()

    @property
    def base(self) -> Settings:
        """The settings as they were."""
        return self.space.base

    @property
    def start(self) -> tuple[float, ...]:
        """What the settings as they were reached on the training part, by goal, with the luck of the trials."""
        return tuple(self.study.noted("start")["values"])

    def best(self) -> Trial | None:
        """The best trial so far that counts; None if there is none."""
        return next(iter(shortlist(self.study.trials(), self.orders, self.start)), None)

    def search(self, *, tell: Callable[[Trial | None], None]) -> None:
        """Make the trials that are still wanted, and for which there is time."""
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
        """Seconds to be kept for choosing and judging: what that takes by the first replays, or half of what is left."""
        settings = len(self.space.dimensions)
        taken_back = settings + CHECKED * math.ceil(math.log2(settings + 1))
        replays = CHECKED * (1 + SHORTLIST) + taken_back
        return min(self._left() / 2, STARTING + self._seconds(replays) + self._judging)

    @property
    def _judging(self) -> float:
        """Seconds that judging takes."""
        longer = self.wishes.held_out / (1 - self.wishes.held_out)
        return longer * self._seconds(2 * self.wishes.seeds)

    def _seconds(self, replays: int) -> float:
        """What so many replays of the training part take."""
        each = self.study.noted("start").get("seconds", math.inf)
        return float(SPARE * each * math.ceil(replays / self.wishes.processes))

    def outcome(self) -> TuningOutcome | None:
        """Choose among the trials, then judge once: old against new on the held-out part; None if there is no time for it."""
        wishes, seed = self.wishes, self.base.seed
        with Crew(wishes.processes, Player) as crew:
            lucks, kept = checking_lucks(seed, CHECKED), min(self._left() / 2, self._judging)
            trials = self.study.trials()
            chosen = choose_trial(self.orders, trials, self.start, lucks, replays=self._replays(crew, kept))
            new, lucks = changed_keys(self.base, chosen.changes), judged_lucks(seed, wishes.seeds)
            judged = judge(self.course.held_out, wishes.goals, self.base, new, lucks, self._replays(crew))
        if judged is None:
            return None
        after = {*(self.study.noted("judged") or ()), len(self.study.trials())}
        self.study.note("judged", sorted(after))
        return TuningOutcome(self, chosen, judged)

    def _replays(self, crew: Crew[Job, Played], kept: float = 0.0) -> Replays:
        """Replays until no more than `kept` seconds are left."""

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
        """After how many different searches the held-out part was looked at: once is evidence, more is not."""
        return len(self.study.noted("judged") or ())

    def _orders(self) -> Orders:
        wishes, lucks = self.wishes, trial_lucks(self.base.seed, self.wishes.repeats)
        parts = (self.course.training,)
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
        """What must be the same for trials to be of one search."""
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
