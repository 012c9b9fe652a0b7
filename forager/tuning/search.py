"""Trial after trial, in this process or in several, until there are enough, the time is over, or somebody stops it."""

from collections.abc import Callable
from functools import partial

from forager.simulation.jobs import Crew, Stopped, Work
from forager.tuning.study import Orders, Study, Trial


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

    A trial that is under way when the time is over, or when somebody stops it, is given up.
    """

    def stopped() -> bool:
        tell(None)
        return expired()

    with Crew(min(processes, limit - first), partial(_trials, orders)) as crew:
        for _, trial in crew.work(range(first, limit), stopped):
            tell(trial)


def _trials(orders: Orders) -> Work[int, Trial]:
    """What makes trials in a process of its own, one after the other."""
    study = Study(orders.folder, orders.goals)

    def attempt(ticket: int, stopped: Stopped | None) -> Trial | None:
        return study.attempt(orders, ticket, stopped or (lambda: False))

    return attempt
