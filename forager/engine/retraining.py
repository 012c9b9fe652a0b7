"""Retraining: when enough new visits were made, a score function is learned from them beside the crawl.

It takes over only if it is better than the rule in use, beyond chance, on pages that it did not learn from. Live it is
learned in a process of low priority, which ends with the crawl; in simulated time at once, so that the same seed gives
the same crawl.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable

import numpy as np

from forager.clock import Clock
from forager.core.scheduler import Scheduler
from forager.engine.learning import to_bytes, verdict_of
from forager.engine.resting import rest
from forager.events import Event, Learned
from forager.foragers.settings import ForagerSettings
from forager.recrawl.contest import Lesson, Verdict, contest, spelled
from forager.recrawl.expected import FORETELLING, Foretelling
from forager.recrawl.formula import parse
from forager.recrawl.policies import Formula, Policy, rhythm_in
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.visit_log import VisitLog

LOOK_EVERY = 30.0
"""Seconds between two looks whether there are visits enough."""


def foretelling(settings: ForagerSettings) -> Foretelling:
    """What foragers with these settings foretell documents by."""
    by = settings.expectation
    return Foretelling(
        hub_rate=by.hub_rate,
        text_rate=by.text_rate,
        prior_hours=by.prior_hours,
        prior_weight=by.prior_weight,
        breadth=by.breadth,
        text_breadth=by.text_breadth,
        max_age_hours=settings.max_age / 3600.0,
    )


Teach = Callable[[Lesson], Awaitable[Verdict | None]]

_log = logging.getLogger(__name__)


async def at_once(lesson: Lesson) -> Verdict | None:
    """In this process, the crawl waiting: for simulated time."""
    return contest(lesson)


async def apart(lesson: Lesson) -> Verdict | None:
    """In a process of its own; cancelled, the process ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "forager.engine.learning",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # a Ctrl-C is for the crawl, which ends this process itself
    )
    try:
        answer, _ = await process.communicate(to_bytes(lesson))
        if process.returncode:
            _log.warning("learning a score function ended with code %s; the crawl goes on", process.returncode)
            return None
        return verdict_of(answer)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Retraining:
    """Improves the policy of a scheduler. `lessons` are all that were held, the latest last."""

    def __init__(
        self,
        scheduler: Scheduler,
        log: VisitLog,
        settings: RecrawlSettings,
        seed: int,
        lessons: list[Learned],
        teach: Teach = apart,
        *,
        by: Foretelling = FORETELLING,
    ) -> None:
        """`by` is what the crawl foretells documents by."""
        self.scheduler, self.log, self.settings, self.seed = scheduler, log, settings, seed
        self.lessons, self.teach, self.by = lessons, teach, by
        self._held = self.log.added if lessons else 0

    def __repr__(self) -> str:
        return f"<Retraining after {len(self.lessons)} lessons, {self.log.added - self._held} new visits>"

    @property
    def due_at(self) -> int:
        """How many visits there must have been for the next lesson."""
        return self._held + self.settings.retrain.after

    @property
    def due(self) -> bool:
        return self.log.added >= self.due_at

    def lesson(self) -> Lesson:
        """What can be learned from now; the next one is due after as many visits again."""
        self._held = self.log.added
        lists = np.flatnonzero(self.scheduler.history.states(0.0).hub)
        return Lesson(
            self.log.visits,
            lists,
            self.scheduler.cycle,
            spelled(self.scheduler.policy),
            self.settings,
            self.seed + len(self.lessons),
            self.by,
            rhythm_in(self.scheduler.policy),
        )

    def take(self, verdict: Verdict, now: float) -> Learned:
        """Use the function that was learned if it is better."""
        replaced = verdict.won
        if replaced:
            tree = parse(verdict.formula)
            self.scheduler.use(Policy(self.scheduler.policy.name, Formula.of(tree), verdict.formula))
        learned = Learned(now, verdict.formula, verdict.fitness, verdict.new, verdict.old, replaced, verdict.visits)
        self.lessons.append(learned)
        return learned

    async def run(self, clock: Clock, stopping: asyncio.Event, note: Callable[[Event], None]) -> None:
        """Learn whenever it is due, until told to stop."""
        while not stopping.is_set():
            await rest(clock, LOOK_EVERY, stopping)
            if self.due and not stopping.is_set():
                verdict = await self._taught(stopping)
                if verdict is not None:
                    note(self.take(verdict, clock.now()))

    async def _taught(self, stopping: asyncio.Event) -> Verdict | None:
        """The verdict, or None if there is nothing to learn or the crawl ends first."""
        async with asyncio.TaskGroup() as group:
            teaching = group.create_task(_awaited(self.teach(self.lesson())))
            ending = group.create_task(stopping.wait())
            await asyncio.wait({teaching, ending}, return_when=asyncio.FIRST_COMPLETED)
            teaching.cancel()
            ending.cancel()
        return None if teaching.cancelled() else teaching.result()


async def _awaited(verdict: Awaitable[Verdict | None]) -> Verdict | None:
    return await verdict
