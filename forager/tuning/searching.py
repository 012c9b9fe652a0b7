"""Trial after trial, in this process or in several, until there are enough, the time is over, or somebody stops it."""

import multiprocessing
import queue
from collections.abc import Callable
from multiprocessing.context import SpawnContext
from typing import Any

from forager.simulation.jobs import undisturbed
from forager.tuning.study import Orders, Study, Trial

_WAIT = 0.5
"""Seconds between two looks at the time."""


def search(
    orders: Orders,
    first: int,
    limit: int,
    *,
    processes: int,
    expired: Callable[[], bool],
    tell: Callable[[Trial | None], None],
) -> None:
    """Make the trials from `first` until before `limit`; `tell` hears of each, and now and then of none.

    A trial that is under way when the time is over is finished; one that is interrupted is given up.
    """
    if processes > 1:
        _together(orders, first, limit, processes, expired, tell)
        return
    study = Study(orders.folder, orders.goals)
    for ticket in range(first, limit):
        if expired():
            return
        tell(study.attempt(orders, ticket, lambda: False))


def _together(
    orders: Orders,
    first: int,
    limit: int,
    processes: int,
    expired: Callable[[], bool],
    tell: Callable[[Trial | None], None],
) -> None:
    context = multiprocessing.get_context("spawn")
    shared = _Shared(context, first, limit)
    workers = [
        context.Process(target=_work, args=(orders, shared), daemon=True)
        for _ in range(min(processes, max(1, limit - first)))
    ]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers) or not shared.told.empty():
            try:
                tell(shared.told.get(timeout=_WAIT))
            except queue.Empty:
                tell(None)
            if expired():
                shared.close()
    finally:
        shared.stop.set()
        for worker in workers:
            worker.join()
    failed = [worker.exitcode for worker in workers if worker.exitcode]
    if failed:
        raise RuntimeError(f"a process of the search ended with code {failed[0]}")


class _Shared:
    """What the processes of a search have in common."""

    def __init__(self, context: SpawnContext, first: int, limit: int) -> None:
        self.limit = limit
        self.next: Any = context.Value("q", first)
        self.stop: Any = context.Event()
        self.told: Any = context.Queue()

    def ticket(self) -> int | None:
        """The number of the next trial; None if there is none."""
        with self.next.get_lock():
            if self.next.value >= self.limit:
                return None
            self.next.value += 1
            return int(self.next.value) - 1

    def close(self) -> None:
        """No more trials after those under way."""
        with self.next.get_lock():
            self.next.value = self.limit


def _work(orders: Orders, shared: _Shared) -> None:
    undisturbed()
    study, parent = Study(orders.folder, orders.goals), multiprocessing.parent_process()

    def stopped() -> bool:
        return shared.stop.is_set() or parent is None or not parent.is_alive()

    while not stopped() and (ticket := shared.ticket()) is not None:
        trial = study.attempt(orders, ticket, stopped)
        if trial is not None:
            shared.told.put(trial)
    if stopped():
        shared.told.cancel_join_thread()  # nobody may be listening any more
