"""A process of its own that learns a score function: the lesson comes in, the verdict goes out. Run by `retraining`.

python -m forager.engine.learning < lesson > verdict
"""

import os
import sys

import msgspec
import numpy as np

from forager.foragers.saving import array_text, pack, text_array, unpack
from forager.recrawl.contest import Lesson, Verdict, contest
from forager.recrawl.settings import RetrainSettings

KIND, FORM = "lesson", 1
POLITENESS = 19
"""How much this process stands back behind all others (`nice`)."""


class _Terms(msgspec.Struct):
    """All of a lesson but its visits."""

    cycle: float
    current: str
    settings: RetrainSettings
    k: float
    warmup: int
    seed: int


def to_bytes(lesson: Lesson) -> bytes:
    terms = _Terms(lesson.cycle, lesson.current, lesson.settings, lesson.k, lesson.warmup, lesson.seed)
    columns = {"page": lesson.page, "when": lesson.when, "changed": lesson.changed}
    return pack(KIND, FORM, {**columns, "terms": text_array(msgspec.json.encode(terms).decode())})


def from_bytes(saved: bytes) -> Lesson:
    held = unpack(KIND, FORM, saved)
    terms = msgspec.json.decode(array_text(held["terms"]), type=_Terms)
    return Lesson(
        np.asarray(held["page"], np.int64),
        np.asarray(held["when"], np.float64),
        np.asarray(held["changed"], np.bool_),
        terms.cycle,
        terms.current,
        terms.settings,
        terms.k,
        terms.warmup,
        terms.seed,
    )


def verdict_of(answer: bytes) -> Verdict | None:
    """What the process said."""
    return msgspec.json.decode(answer, type=Verdict | None)


def main() -> None:
    os.nice(POLITENESS)
    sys.stdout.buffer.write(msgspec.json.encode(contest(from_bytes(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
