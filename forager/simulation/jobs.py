"""Runs many replays on all cores, one job per process at a time; the result does not depend on the process."""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar

import numpy as np

from forager.core.parameters import ForagerKind
from forager.settings import Settings
from forager.simulation.replay import Replay, ReplayPlan
from forager.simulation.replay_account import ReplayFigures, Sample
from forager.tape.cut import squeezed_anew
from forager.tape.tape import Tape, load_tape
from forager.terms import UrlId

_WAIT = 0.5
"""Seconds between two calls of `stopped`."""
_PIECES = 100
"""Number of parts of a replay between which it can be stopped (ours)."""
Task = TypeVar("Task")
Done = TypeVar("Done")
Stopped = Callable[[], bool]
Work = Callable[[Task, Stopped | None], Done | None]
"""Does a task; returns None if it was stopped, which is possible only with a `Stopped`."""


@dataclass(frozen=True, slots=True)
class Job:
    """One replay."""

    tape: Path
    kind: ForagerKind
    budget: float
    """Downloads per hour."""
    seed: int
    seeds: tuple[UrlId, ...]
    settings: Settings
    warm_up: float = 0.0
    """Seconds at the start whose documents do not count."""
    tape_scale: float | None = None
    """Scale of the tanh that made the states of the tape; None: that of the settings."""


@dataclass(frozen=True, slots=True)
class Played:
    """Result of a job."""

    job: Job
    figures: ReplayFigures
    samples: tuple[Sample, ...]
    born: int
    deleted: int
    seconds: float = 0.0
    """Duration in seconds."""


def replay_of(tape: Tape, job: Job) -> Replay:
    """Makes the replay of a job."""
    settings = job.settings
    scale = settings.forager.states.scale
    return Replay(
        tape if job.tape_scale in (None, scale) else squeezed_anew(tape, scale / job.tape_scale),
        ReplayPlan(job.budget, job.seeds),
        settings.crawl,
        replace(
            settings.forager, kind=job.kind, kinds=settings.forager.kinds if job.kind is settings.forager.kind else {}
        ),
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        recrawl=settings.recrawl,
        seed=job.seed,
    )


class Player:
    """Plays jobs one after the other and opens each tape once."""

    def __init__(self) -> None:
        self._tapes: dict[Path, Tape] = {}

    def __repr__(self) -> str:
        return f"<Player {len(self._tapes)} tapes open>"

    def replay(self, job: Job) -> Replay:
        """Makes the replay of a job; opens its tape if needed."""
        if job.tape not in self._tapes:
            self._tapes[job.tape] = load_tape(job.tape, check=False)
        return replay_of(self._tapes[job.tape], job)

    def __call__(self, job: Job, stopped: Stopped | None = None) -> Played | None:
        began, replay = perf_counter(), self.replay(job)
        for end in np.linspace(replay.clock.time, replay.end, 1 if stopped is None else _PIECES)[:-1]:
            replay.run(end)
            if stopped is not None and stopped():
                return None
        account, born = replay.run(), len(replay.agent.records)
        figures = replay.figures(warm_up=job.warm_up)
        deleted = born - len(replay.agent.foragers)
        return Played(job, figures, tuple(account.samples), born, deleted, perf_counter() - began)


def play_job(job: Job) -> Played:
    """Runs one job in this process."""
    played = Player()(job)
    assert played is not None  # it cannot be stopped
    return played


def play_all(
    jobs: Sequence[Job], *, workers: int = 0, done: Callable[[int], None] = lambda count: None
) -> list[Played]:
    """Runs all jobs, by default on all cores, and returns results in order; calls `done` with the number of finished
    jobs.

    Ctrl-C or an error ends it without waiting for running jobs.
    """
    with Crew(min(workers or os.cpu_count() or 1, len(jobs)), Player) as crew:
        return [played for played in crew.results(jobs, done=done) if played is not None]


class Crew(Generic[Task, Done]):
    """A pool of processes for tasks. Each process calls `make` once to get its worker. A crew of one uses this process.

    Pipes are the only connection to the processes: they end when this process ends, in any way, and leave nothing
    behind.
    """

    def __init__(self, size: int, make: Callable[[], Work[Task, Done]]) -> None:
        self._size, self._make = size, make
        self._here = make() if size <= 1 else None
        self._idle: list[_Member] = []

    def __repr__(self) -> str:
        return f"<Crew of {self._size}, {len(self._idle)} idle>"

    def __enter__(self) -> "Crew[Task, Done]":
        return self

    def __exit__(self, *ended: object) -> None:
        _dismiss(self._idle)

    def work(self, tasks: Iterable[Task], stopped: Stopped | None = None) -> Iterator[tuple[int, Done]]:
        """Yields the index and result of each task as it finishes; calls `stopped` from time to time.

        Tasks that are running when it stops, or when the caller stops iterating, are discarded.
        """
        if self._here is None:
            yield from self._work_together(enumerate(tasks), stopped or (lambda: False))
            return
        for place, task in enumerate(tasks):
            if stopped is not None and stopped():
                return
            done = self._here(task, stopped)
            if done is not None:
                yield place, done

    def results(
        self,
        tasks: Sequence[Task],
        stopped: Stopped | None = None,
        done: Callable[[int], None] = lambda count: None,
    ) -> list[Done | None]:
        """Results of all tasks in order, None if stopped earlier; calls `done` with the number of finished tasks."""
        found: dict[int, Done] = {}
        for place, one in self.work(tasks, stopped):
            found[place] = one
            done(len(found))
        return [found.get(place) for place in range(len(tasks))]

    def _work_together(self, tasks: Iterator[tuple[int, Task]], stopped: Stopped) -> Iterator[tuple[int, Done]]:
        busy: dict[Connection, tuple[_Member, int]] = {}
        try:
            while not stopped():
                while len(busy) < self._size and (task := next(tasks, None)) is not None:
                    member = self._idle.pop() if self._idle else _Member(self._make)
                    busy[member.pipe] = member, task[0]
                    member.pipe.send(task[1])
                if not busy:
                    return
                for pipe in wait(list(busy), _WAIT):
                    assert isinstance(pipe, Connection)
                    member, place = busy[pipe]
                    done = member.answer()
                    del busy[pipe]
                    self._idle.append(member)
                    yield place, done
        finally:
            _dismiss([member for member, _ in busy.values()])


class _Member:
    """A process of a crew, seen from the parent."""

    def __init__(self, make: Callable[[], Work[Any, Any]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(make, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def answer(self) -> Any:
        """Result of its task; raises the error if the task failed."""
        try:
            done = self.pipe.recv()
        except EOFError:
            self.process.join()
            raise RuntimeError(f"a process of a crew ended with code {self.process.exitcode}") from None
        if isinstance(done, BaseException):
            raise done
        return done


def _dismiss(members: list[_Member]) -> None:
    """Terminates processes at once."""
    for member in members:
        member.process.terminate()
    for member in members:
        member.process.join()
        member.pipe.close()
    members.clear()


def _serve(make: Callable[[], Work[Any, Any]], pipe: Connection) -> None:
    """Body of a crew process. Only the parent handles Ctrl-C, and it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work: Work[Any, Any] | None = None
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            work = work or make()
            told = pickle.dumps(work(task, None))
        except Exception as error:  # noqa: BLE001 - the parent raises it again
            error.add_note(traceback.format_exc())
            told = _packed(error)
        pipe.send_bytes(told)


def _packed(error: Exception) -> bytes:
    try:
        return pickle.dumps(error)
    except (pickle.PicklingError, TypeError, AttributeError):
        return pickle.dumps(RuntimeError(f"{error!r}\n{traceback.format_exc()}"))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
