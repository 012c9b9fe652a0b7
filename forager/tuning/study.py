"""The two parts of a recording, and the trials of a search on the first of them.

Each part becomes a tape of its own. A trial opens only the training tape, so it cannot see anything later; the fleet
that is judged on the other starts without knowledge.

Trials are suggested by TPE, pruned when hopeless, and kept in a journal file that survives `kill -9`. The n-th trial
depends only on the seed and on the trials finished before it, not on interruptions. The first trial has the original
settings, the second the paper's; then come settings near the original ones, then Optuna's multivariate TPE takes over.
"""

import fcntl
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import TrialState

from forager.chance import stream
from forager.errors import InputError, StoreError
from forager.settings import Settings, changed_keys
from forager.simulation.jobs import Job, Player
from forager.simulation.replay import default_seeds
from forager.simulation.replay_account import ReplayFigures
from forager.tape.cut import cut_tape
from forager.tape.tape import Tape, save
from forager.tape.tape_world import documents
from forager.terms import UrlId
from forager.tuning.goals import Goal, guarded, shortfall
from forager.tuning.space import OneOf, Plain, Point, Space, paper

LEAST_STORIES = 20
"""Stories that each part must have after its warm-up; with fewer, chance decides (ours)."""
WARM_UP = 12 * 3600.0
"""Seconds at the start of each part whose stories do not count, at most a quarter: the fleet must first find pages."""
SLICES = 12
"""A trial is checked after every simulated day, but at most this many times (ours)."""
DAY = 86_400.0
TRAINING, HELD_OUT = "training.tape", "held-out.tape"


@dataclass(frozen=True, slots=True)
class TapePart:
    """One part of the recording, and the conditions of every replay on it."""

    tape: Path
    seeds: tuple[UrlId, ...]
    budget: float
    """Downloads per hour."""
    warm_up: float
    slices: int
    """Number of equal slices after which a replay is checked."""
    tape_scale: float
    """Scale of the tanh of the tape's states."""

    def job(self, settings: Settings, luck: int) -> Job:
        kind = settings.forager.kind
        return Job(self.tape, kind, self.budget, luck, self.seeds, settings, self.warm_up, self.tape_scale)

    def watched(self, settings: Settings, luck: int, player: Player) -> Iterator[ReplayFigures]:
        """Figures of a replay after each slice; the last are those of the whole replay."""
        replay = player.replay(self.job(settings, luck))
        for end in np.linspace(replay.clock.time, replay.end, self.slices + 1)[1:].tolist():
            replay.run(end)
            yield replay.figures(warm_up=self.warm_up)


@dataclass(frozen=True, slots=True)
class Split:
    training: TapePart
    held_out: TapePart


def split_tape(tape: Tape, folder: Path, base: Settings, *, held_out: float, budget: float) -> Split:
    """Cuts the tape in two and saves the parts in the folder; `held_out` is the share of time not used for training.

    Both parts start from the same pages: the default seeds of the first part.
    """
    split = tape.end - held_out * (tape.end - tape.start)
    start = default_seeds(cut_tape(tape, tape.start, split))
    parts = []
    for name, part in ((TRAINING, cut_tape(tape, tape.start, split)), (HELD_OUT, cut_tape(tape, split, tape.end))):
        warm_up = min(WARM_UP, (part.end - part.start) / 4)
        stories = _stories(part, base, warm_up)
        if stories < LEAST_STORIES:
            which = "first" if name == TRAINING else "held-out"
            raise InputError(
                f"{tape.origin}: too short to tune on: its {which} part has {stories} new stories after the warm-up, "
                f"at least {LEAST_STORIES} are needed"
            )
        save(part, folder / name)
        slices = max(2, min(SLICES, round((part.end - part.start) / DAY)))
        scale = base.forager.states.scale
        parts.append(TapePart(folder / name, start, budget, warm_up, slices, scale))
    return Split(*parts)


def _stories(part: Tape, base: Settings, warm_up: float) -> int:
    judged = base.reinforcing.relevancy
    identity = "" if judged.identity == "story" else judged.identity
    born = documents(part, identity=identity, max_age=base.forager.max_age, hubs=base.forager.hubs).born
    return int(np.count_nonzero(born > part.start + warm_up))


JOURNAL, LOCK = "trials.journal", "lock"
START = 12
"""Number of the trial from which on TPE suggests settings (ours)."""
SURVIVORS = 2
"""Number of the trial that takes what survived in a run, if one is given (ours)."""
NEAR = 0.3
"""Share of the settings that a trial near the original ones redraws (ours)."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished trial."""

    ticket: int
    """Its number in the search, from 0."""
    pruned: bool
    values: tuple[float, ...]
    """Values by goal; for a pruned trial, the last values before it stopped."""
    point: Point
    changes: Point
    """Its changes to the original settings."""
    shortfall: float
    """Coverage lost beyond the tolerance; above 0 the trial does not count."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Everything a process needs to run trials."""

    folder: Path
    parts: tuple[TapePart, ...]
    """The training parts; a trial replays each part with each seed in `lucks`."""
    lucks: tuple[int, ...]
    space: Space
    goals: tuple[Goal, ...]
    base_coverage: float
    """Coverage of the original settings."""
    seed: int


class Study:
    """The trials of one search in its folder.

    A trial runs in memory and enters the journal as a whole when it ends. So a process that dies leaves nothing
    incomplete, and a trial costs one write.
    """

    def __init__(self, folder: Path, goals: Sequence[Goal]) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.goals = goals
        path = folder / JOURNAL
        directions = [StudyDirection.MAXIMIZE if goal.more else StudyDirection.MINIMIZE for goal in goals]
        with _usable(folder):
            lock: Any = FileLock(path.with_suffix(".lock"))
            storage = JournalStorage(JournalFileBackend(str(path), lock))
            self.kept = optuna.create_study(
                study_name="tune", storage=storage, load_if_exists=True, directions=directions
            )
        self._here = optuna.create_study(directions=directions)
        self._player = Player()
        self._known: set[int] = set()
        """Numbers of the trials that are in memory."""

    def __repr__(self) -> str:
        return f"<Study {len(self.trials())} trials finished>"

    def trials(self) -> list[Trial]:
        """The finished trials, in the order in which they began."""
        return sorted((_told(one) for one in self.kept.get_trials(deepcopy=False)), key=lambda one: one.ticket)

    def note(self, name: str, value: Any) -> None:
        """Saves a fact about the search."""
        self.kept.set_user_attr(name, value)

    def noted(self, name: str) -> Any:
        """A fact saved before, otherwise None."""
        return self.kept.user_attrs.get(name)

    def attempt(self, orders: Orders, ticket: int, stopped: Callable[[], bool]) -> Trial | None:
        """Runs one trial; None if it was stopped. `ticket` numbers trials from 0."""
        for one in self.kept.get_trials(deepcopy=False):
            if one.user_attrs["ticket"] not in self._known:
                self._here.add_trial(one)
                self._known.add(one.user_attrs["ticket"])
        self._here.sampler = _sampler(orders, ticket)
        self._here.pruner = optuna.pruners.MedianPruner(START // 2, orders.parts[0].slices // 3)
        trial = self._here.ask()
        point = {key: _suggested(trial, key, orders.space) for key in orders.space.dimensions}
        changes = orders.space.changes(point)
        trial.set_user_attr("ticket", ticket)
        trial.set_user_attr("changes", changes)
        values = self._played(trial, orders, changes, stopped)
        if stopped():
            self._here.tell(trial, state=TrialState.FAIL)
            return None
        state = TrialState.PRUNED if values is None else TrialState.COMPLETE
        made = self._here.tell(trial, values, state=state)
        self.kept.add_trial(made)
        self._known.add(ticket)
        return _told(made)

    def _played(
        self, trial: optuna.Trial, orders: Orders, changes: Point, stopped: Callable[[], bool]
    ) -> list[float] | None:
        """Values of a trial: means over its replays; None if it was stopped or pruned."""
        settings = changed_keys(orders.space.base, changes)
        replays = [(part, luck) for luck in orders.lucks for part in orders.parts]
        seen, lost, step = np.zeros((len(replays), len(self.goals))), np.zeros(len(replays)), 0
        for turn, (part, luck) in enumerate(replays):
            for figures in part.watched(settings, luck, self._player):
                if stopped():
                    return None
                seen[turn] = [goal.of(figures) for goal in self.goals]
                lost[turn] = shortfall(figures, orders.base_coverage) if guarded(self.goals) else 0.0
                if len(self.goals) == 1:  # Optuna cannot prune with several goals
                    trial.report(float(seen[: turn + 1].mean()), step)
                    if trial.should_prune():
                        trial.set_constraint("shortfall", float(lost[: turn + 1].mean()))
                        return None
                step += 1
        trial.set_constraint("shortfall", float(lost.mean()))
        return [float(value) for value in seen.mean(axis=0)]


class FileLock:
    """A lock on the journal that ends with the process that holds it, however that dies; Optuna's own locks do not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        self._file = self.path.open("ab")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        return True

    def release(self) -> None:
        if self._file is not None:
            self._file.close()


def claim(folder: Path) -> IO[bytes]:
    """Locks the folder while the returned file is open, and removes a half-written last line of a killed process."""
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise StoreError(f"{folder}: another forager tune is at work here") from None
        journal = folder / JOURNAL
        if journal.exists():
            whole = journal.read_bytes()
            os.truncate(journal, whole.rfind(b"\n") + 1)
    return file


def check_terms(study: Study, terms: Mapping[str, Any], folder: Path) -> None:
    """Raises an error if the folder holds a search with other terms; keeps the terms of the first search."""
    known = study.noted("terms")
    mine = json.loads(json.dumps(terms))
    if known is None:
        study.note("terms", mine)
    elif known != mine:
        differing = [name for name in mine if known.get(name) != mine[name]]
        raise InputError(
            f"{folder}: holds another search (differing: {', '.join(differing)}); delete it or choose another -O"
        )


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Turns file errors in a folder into one-line errors."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used: {error.strerror}") from None


def _sampler(orders: Orders, ticket: int) -> optuna.samplers.BaseSampler:
    """How to choose the settings of this trial."""
    rng = stream(orders.seed, f"trial {ticket}")
    space, seed = orders.space, int(rng.integers(2**31))
    if ticket == 0:
        fixed = space.nearest(space.base)
    elif ticket == 1:
        fixed = space.nearest(paper(space.base))
    elif ticket == SURVIVORS and space.survivors:
        fixed = space.survived()
    elif ticket < START:
        fixed = space.near(NEAR, rng)
    else:
        fixed = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if fixed:
            return optuna.samplers.PartialFixedSampler(fixed, optuna.samplers.RandomSampler(seed))
        return optuna.samplers.TPESampler(
            seed=seed,
            multivariate=True,
            n_startup_trials=START,
            constant_liar=False,  # running trials are in other processes
        )


def _suggested(trial: optuna.Trial, key: str, space: Space) -> Plain:
    one = space.dimensions[key]
    if isinstance(one, OneOf):
        return cast("Plain", trial.suggest_categorical(key, one.values))
    if one.whole:
        return trial.suggest_int(key, int(one.low), int(one.high), log=one.log)
    value = trial.suggest_float(key, one.low, one.high, log=one.log)
    return one.nearest(float(f"{value:.3g}"))  # three digits, so that people can read the settings


def _told(trial: optuna.trial.FrozenTrial) -> Trial:
    pruned = trial.state is TrialState.PRUNED
    last = max(trial.intermediate_values, default=0)
    values = [trial.intermediate_values.get(last, float("nan"))] if pruned else trial.values
    facts = trial.user_attrs
    return Trial(
        int(facts["ticket"]),
        pruned,
        tuple(values),
        trial.params,
        facts.get("changes", {}),
        trial.constraints["shortfall"],
    )
