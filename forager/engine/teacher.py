"""Learns a score function beside the crawl whenever there are enough new visits.

The new function takes over only if it is better than the rule in use, beyond chance, on data that it did not learn
from. Live it is learned in a process of low priority, which ends with the crawl. In simulated time, if asked for, it is
learned at once, so that the same seed gives the same crawl.

The process runs this very file: it reads the lesson from standard input and writes the verdict to standard output.

    python -m forager.engine.teacher PARENT < lesson > verdict
"""

import asyncio
import logging
import os
import pickle
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from threading import Thread
from typing import Any

import msgspec
import numpy as np

from forager.clock import Clock, pause
from forager.core.scheduler import Scheduler
from forager.events import Event, Learned
from forager.recrawl.formula import parse
from forager.recrawl.policies import ByKind, Formula, Policy, rules_in_use
from forager.recrawl.recrawl_settings import LEARNED, WORTH, RecrawlSettings
from forager.recrawl.retrain import Lesson, LessonVerdict, contest
from forager.recrawl.visit_log import VisitLog

POLITENESS = 19
"""The priority of the process (`nice`)."""
LOOK_EVERY = 30.0
"""Seconds between two checks whether there are enough visits."""


def _end_with(parent: int) -> None:
    """Ends this process soon after its parent, so that a killed crawl leaves no process behind."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _main() -> None:
    os.nice(POLITENESS)
    Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    sys.stdout.buffer.write(msgspec.json.encode(contest(pickle.load(sys.stdin.buffer))))


Teach = Callable[[Lesson], Coroutine[Any, Any, LessonVerdict | None]]

_log = logging.getLogger(__name__)


async def learn_here(lesson: Lesson) -> LessonVerdict | None:
    """Learns in this process while the crawl waits; for simulated time."""
    return contest(lesson)


async def learn_apart(lesson: Lesson) -> LessonVerdict | None:
    """Learns in a process of its own, which is ended if this is cancelled."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "forager.engine.teacher",
        str(os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the crawl, which ends this process
    )
    try:
        answer, _ = await process.communicate(pickle.dumps(lesson))
        if process.returncode:
            _log.warning("learning a score function ended with code %s; the crawl goes on", process.returncode)
            return None
        return msgspec.json.decode(answer, type=LessonVerdict | None)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Retraining:
    """Improves the policy of a scheduler. `lessons` holds all lessons so far, the latest last."""

    def __init__(
        self,
        scheduler: Scheduler,
        log: VisitLog,
        settings: RecrawlSettings,
        seed: int,
        lessons: list[Learned],
        teach: Teach = learn_apart,
    ) -> None:
        self.scheduler, self.log, self.settings, self.seed = scheduler, log, settings, seed
        self.lessons, self.teach = lessons, teach
        self._held = self.log.added if lessons else 0

    def __repr__(self) -> str:
        return f"<Retraining after {len(self.lessons)} lessons, {self.log.added - self._held} new visits>"

    @property
    def due_at(self) -> int:
        """Number of visits at which the next lesson is due."""
        return self._held + max(self.settings.retrain.after, self._held // 2)

    @property
    def due(self) -> bool:
        return self.log.added >= self.due_at

    def lesson(self) -> Lesson:
        """Makes a lesson of the visits so far, and plans the next one."""
        self._held = self.log.added
        policy, states = self.scheduler.policy, self.scheduler.history.states(0.0)
        return Lesson(
            self.log.visits,
            np.flatnonzero(states.hub),
            self.scheduler.cycle,
            rules_in_use(policy),
            policy.name in (LEARNED, WORTH),
            self.settings,
            self.seed + len(self.lessons),
            states.rhythm,
        )

    def take(self, verdict: LessonVerdict, now: float) -> Learned:
        """Uses the learned function if it is better."""
        replaced = verdict.won
        if replaced:
            self.scheduler.use(_renewed(self.scheduler.policy, verdict, self.scheduler.cycle))
        learned = Learned(
            now, verdict.formula, verdict.fitness, verdict.new, verdict.old, replaced, verdict.visits, verdict.kind
        )
        self.lessons.append(learned)
        return learned

    async def run(self, clock: Clock, stopping: asyncio.Event, note: Callable[[Event], None]) -> None:
        """Learns whenever it is due, until told to stop."""
        while not stopping.is_set():
            if self.due:
                verdict = await self._taught(stopping)
                if verdict is not None:
                    note(self.take(verdict, clock.now()))
            await pause(clock, LOOK_EVERY, stopping)

    async def _taught(self, stopping: asyncio.Event) -> LessonVerdict | None:
        """Returns the verdict, or None if there is nothing to learn or the crawl ends first."""
        async with asyncio.TaskGroup() as group:
            teaching = group.create_task(self.teach(self.lesson()))
            ending = group.create_task(stopping.wait())
            await asyncio.wait({teaching, ending}, return_when=asyncio.FIRST_COMPLETED)
            teaching.cancel()
            ending.cancel()
        return None if teaching.cancelled() else teaching.result()


def _renewed(policy: Policy, verdict: LessonVerdict, cycle: float) -> Policy:
    """Returns the policy with the learned function in place of that for the same pages."""
    learned = Formula.of(parse(verdict.formula), (), cycle)
    if not verdict.kind:
        return Policy(policy.name, learned, verdict.formula)
    before = policy.score if isinstance(policy.score, ByKind) else ByKind()
    return Policy.by_kind(policy.name, replace(before, **{verdict.kind: learned}))


if __name__ == "__main__":
    _main()
