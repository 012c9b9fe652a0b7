"""Many replays of one tape on all cores: each job is a process's work, its result the same wherever it runs."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from forager.foragers.settings import ForagerKind
from forager.settings import Settings
from forager.simulation.account import Figures, Sample
from forager.simulation.run import Plan, Replay
from forager.terms import UrlId
from forager.world.tape.columns import Tape, load
from forager.world.tape.cut import squeezed_anew


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
    """The tanh scale that the states of the tape were made with; None: that of the settings."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a job."""

    job: Job
    figures: Figures
    samples: tuple[Sample, ...]
    born: int
    deleted: int


def replay_of(tape: Tape, job: Job) -> Replay:
    """The replay that a job stands for."""
    settings = job.settings
    scale = settings.forager.states.scale
    return Replay(
        tape if job.tape_scale in (None, scale) else squeezed_anew(tape, scale / job.tape_scale),
        Plan(job.budget, job.seeds),
        settings.crawl,
        replace(settings.forager, kind=job.kind),
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        recrawl=settings.recrawl,
        seed=job.seed,
    )


def play(job: Job) -> Played:
    """Run one job in this process."""
    replay = replay_of(load(job.tape, check=False), job)
    account = replay.run()
    born = len(replay.agent.records)
    return Played(
        job,
        replay.figures(warm_up=job.warm_up),
        tuple(account.samples),
        born,
        born - len(replay.agent.foragers),
    )


def play_all(
    jobs: Sequence[Job], *, workers: int = 0, done: Callable[[int], None] = lambda count: None
) -> list[Played]:
    """Run all jobs, by default on all cores; results in the order of the jobs, `done` hears how many are finished.

    Stopped by Ctrl-C, or by anything else, it does not wait for the jobs under way.
    """
    workers = min(workers or os.cpu_count() or 1, len(jobs))
    if workers <= 1:
        played = []
        for count, job in enumerate(jobs, 1):
            played.append(play(job))
            done(count)
        return played
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), undisturbed) as pool:
        try:
            futures = [pool.submit(play, job) for job in jobs]
            for count, _ in enumerate(as_completed(futures), 1):
                done(count)
            return [future.result() for future in futures]
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise


def undisturbed() -> None:
    """Ctrl-C is heard by the first process alone, which tells the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
