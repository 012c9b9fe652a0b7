"""Retraining: when enough new visits were made, a score function is learned from them beside the crawl.

It takes over only if it is better than the rule in use, beyond chance, on pages that it did not learn from. Live it is
learned in a process of low priority, which ends with the crawl; in simulated time at once, so that the same seed gives
the same crawl.

That process runs this very file: the lesson comes in, the verdict goes out.

    python -m forager.engine.teacher < lesson > verdict
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable

import msgspec
import numpy as np

from forager.clock import Clock, rest
from forager.core.packed import pack, unpack
from forager.core.parameters import ForagerSettings
from forager.core.scheduler import Scheduler
from forager.events import Event, Learned
from forager.recrawl.formula import parse
from forager.recrawl.policies import FORETELLING, Foretelling, Formula, Policy, rhythm_in
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.retrain import Lesson, LessonVerdict, contest, spelled
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.visit_log import VisitLog, Visits

KIND, FORM = "lesson", 3
POLITENESS = 19
"""How much this process stands back behind all others (`nice`)."""


class _Terms(msgspec.Struct):
    """All of a lesson but its visits."""

    cycle: float
    current: str
    settings: RecrawlSettings
    seed: int
    by: Foretelling
    rhythm: Rhythm


def to_bytes(lesson: Lesson) -> bytes:
    terms = _Terms(lesson.cycle, lesson.current, lesson.settings, lesson.seed, lesson.by, lesson.rhythm)
    visits = lesson.visits
    columns = {
        "page": visits.page,
        "when": visits.when,
        "changed": visits.changed,
        "brought": visits.brought,
        "lists": lesson.lists,
    }
    return pack(KIND, FORM, {**columns, "terms": np.frombuffer(msgspec.msgpack.encode(terms), np.uint8)})


def from_bytes(saved: bytes) -> Lesson:
    held = unpack(KIND, FORM, saved)
    terms = msgspec.msgpack.decode(np.asarray(held["terms"], np.uint8).tobytes(), type=_Terms)
    visits = Visits(
        np.asarray(held["page"], np.int64),
        np.asarray(held["when"], np.float64),
        np.asarray(held["changed"], np.bool_),
        np.asarray(held["brought"], np.int32),
    )
    lists = np.asarray(held["lists"], np.int64)
    return Lesson(visits, lists, terms.cycle, terms.current, terms.settings, terms.seed, terms.by, terms.rhythm)


def verdict_of(answer: bytes) -> LessonVerdict | None:
    """What the process said."""
    return msgspec.json.decode(answer, type=LessonVerdict | None)


def main() -> None:
    os.nice(POLITENESS)
    sys.stdout.buffer.write(msgspec.json.encode(contest(from_bytes(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()


LOOK_EVERY = 30.0
"""Seconds between two looks whether there are visits enough."""


def foretelling(settings: ForagerSettings) -> Foretelling:
    """What foragers with these settings foretell documents by."""
    by = settings.expectation
    return Foretelling(
        main_rate=by.main_rate,
        hub_rate=by.hub_rate,
        hub_weight=by.hub_weight,
        text_rate=by.text_rate,
        prior_hours=by.prior_hours,
        prior_weight=by.prior_weight,
        breadth=by.breadth,
        text_breadth=by.text_breadth,
        max_age_hours=settings.max_age / 3600.0,
    )


Teach = Callable[[Lesson], Awaitable[LessonVerdict | None]]

_log = logging.getLogger(__name__)


async def at_once(lesson: Lesson) -> LessonVerdict | None:
    """In this process, the crawl waiting: for simulated time."""
    return contest(lesson)


async def apart(lesson: Lesson) -> LessonVerdict | None:
    """In a process of its own; cancelled, the process ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "forager.engine.teacher",
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

    def take(self, verdict: LessonVerdict, now: float) -> Learned:
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

    async def _taught(self, stopping: asyncio.Event) -> LessonVerdict | None:
        """The verdict, or None if there is nothing to learn or the crawl ends first."""
        async with asyncio.TaskGroup() as group:
            teaching = group.create_task(_awaited(self.teach(self.lesson())))
            ending = group.create_task(stopping.wait())
            await asyncio.wait({teaching, ending}, return_when=asyncio.FIRST_COMPLETED)
            teaching.cancel()
            ending.cancel()
        return None if teaching.cancelled() else teaching.result()


async def _awaited(verdict: Awaitable[LessonVerdict | None]) -> LessonVerdict | None:
    return await verdict
