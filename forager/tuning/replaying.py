"""Replays for those who need many, now and then: in this process, or in others that are started once."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from forager.simulation.jobs import Job, Played, play, undisturbed

Replays = Callable[[Sequence[Job]], list[Played]]


@contextmanager
def replaying(processes: int) -> Iterator[Replays]:
    """A function that replays jobs and gives what came of them, in their order."""
    if processes <= 1:
        yield lambda jobs: list(map(play, jobs))
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=undisturbed)
    try:
        yield lambda jobs: list(pool.map(play, jobs))
    finally:
        pool.shutdown(cancel_futures=True)
