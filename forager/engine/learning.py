"""A process of its own that learns a score function: the lesson comes in, the verdict goes out. Run by `retraining`.

python -m forager.engine.learning < lesson > verdict
"""

import os
import sys

import msgspec
import numpy as np

from forager.foragers.saving import pack, unpack
from forager.recrawl.contest import Lesson, Verdict, contest
from forager.recrawl.expected import Foretelling
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.visit_log import Visits

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


def verdict_of(answer: bytes) -> Verdict | None:
    """What the process said."""
    return msgspec.json.decode(answer, type=Verdict | None)


def main() -> None:
    os.nice(POLITENESS)
    sys.stdout.buffer.write(msgspec.json.encode(contest(from_bytes(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
