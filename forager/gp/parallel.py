"""Measure trees in several processes; the results are those of one process, in the same order."""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from forager.gp.evolve import Measurer
from forager.gp.fitness import Judge
from forager.gp.trees import Tree

_judges: dict[str, Judge] = {}
"""What a worker process was given when it started; empty in the main process."""


def _begin(judges: dict[str, Judge]) -> None:
    _judges.update(judges)


def _measure(task: tuple[str, Tree]) -> float:
    name, tree = task
    return _judges[name](tree)


@contextmanager
def measurers(judges: dict[str, Judge], processes: int) -> Iterator[dict[str, Measurer]]:
    """A measurer for each judge, by name; with one process, measured right here."""
    if processes <= 1:
        yield {name: _measurer_here(judge) for name, judge in judges.items()}
        return
    with _deaf_to_ctrl_c():
        workers = multiprocessing.get_context("spawn").Pool(processes, _begin, (judges,))
    with workers as pool:

        def measurer(name: str) -> Measurer:
            def measure(trees: Sequence[Tree]) -> list[float]:
                return pool.map(_measure, [(name, tree) for tree in trees], chunksize=4)

            return measure

        yield {name: measurer(name) for name in judges}


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started meanwhile never hear Ctrl-C, not even while they load: it is for this one, which ends them."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _measurer_here(judge: Judge) -> Measurer:
    def measure(trees: Sequence[Tree]) -> list[float]:
        return [judge(tree) for tree in trees]

    return measure
