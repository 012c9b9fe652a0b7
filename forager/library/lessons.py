"""Learns score functions from how pages changed before."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

import numpy as np

from forager import __version__
from forager.chance import stream
from forager.clock import WallClock
from forager.errors import InputError
from forager.gp import learn as learning
from forager.gp.evolve import known_rules
from forager.gp.fitness import Judge, measurers, terminal_set
from forager.gp.gp_settings import OF_DOCUMENTS, GPSettings, Measure, Terminals
from forager.gp.learn import CarefulChoice, choose_carefully, choose_individual
from forager.gp.trees import terminals_of
from forager.importers.log_files import read_log
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.function_file import LearnedFunction, Provenance
from forager.recrawl.policies import Formula
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.rhythm import rhythm_of
from forager.recrawl.simulate import Curves, simulate
from forager.recrawl.terminals import RHYTHMIC
from forager.report.phrases import amount


def learn(
    log: str | PathLike[str] | ChangeLog,
    *,
    fitness: Measure = "ndcg",
    terminals: Terminals = "basic",
    generations: int = 50,
    population: int = 300,
    runs: int = 5,
    k: float = 0.05,
    warmup: int = 2,
    cycle: float | None = None,
    processes: int = 0,
    seed: int = 0,
) -> LearnedFunction:
    """Evolves a score function that says when to revisit pages, from a change log, tape, run directory or capture index.

        learned = forager.learn("changes.csv", generations=20)
        print(learned.formula, learned.validation)

    Use the formula in a crawl or replay with `settings={"crawl.policy": learned.formula}`. `k` is the share of the pages
    visited per cycle, and `cycle` its length in seconds (default: chosen to suit the log). The call uses `processes`
    (0: one per core) and blocks for seconds to hours: within an event loop, use `asyncio.to_thread`.
    """
    name = "the log" if isinstance(log, ChangeLog) else Path(log).name
    world = log if isinstance(log, ChangeLog) else read_log(Path(log), cycle=cycle)
    settings = GPSettings(
        terminals=terminals,
        fitness=fitness,
        seeds=runs,
        generations=generations,
        population=population,
        warmup=warmup,
        k=k,
    )
    return teach(world, name, settings, seed=seed, processes=processes, follow=last_step).learned


@dataclass(frozen=True, slots=True)
class LessonResult:
    """A learned function and how it was learned."""

    learned: LearnedFunction
    choice: CarefulChoice
    done: learning.LearnProgress


def teach(
    world: ChangeLog,
    name: str,
    settings: GPSettings,
    *,
    seed: int,
    processes: int,
    follow: Callable[[Iterable[learning.LearnProgress]], learning.LearnProgress],
    progress: learning.LearnProgress | None = None,
    command: str = "",
) -> LessonResult:
    """Evolves on one half of the pages and chooses on the other; `follow` runs the evolution and returns its last
    progress.

    `name` is the name of the log; `progress` is the point to continue from; `command` is for the record.
    """
    begun = time.monotonic()
    check_log(world, name, settings)
    world = world.with_texts() if settings.fitness == "late" else world
    train, validation = learning.split_folds(world, settings, stream(seed, "learn: order of pages"))
    for part in (train, validation):
        _check_part(part, name, settings)
    rhythm = rhythm_of(world) if settings.terminals == "extended" else ()
    judges = {"train": Judge(train, settings, rhythm), "validation": Judge(validation, settings, rhythm)}
    with measurers(judges, processes or os.cpu_count() or 1) as measure:
        offered = terminal_set(settings, world, rhythm)
        done = follow(learning.learning(measure["train"], offered, settings, seed, progress))
        found = learning.candidates(done, measure["validation"])
        evolved = learning.shortened(choose_individual(found, settings.select), measure["train"], measure["validation"])
        rules, by_page = known_rules(offered, settings), judges["validation"].by_page
        choice = choose_carefully(evolved, rules, measure["train"], measure["validation"], by_page)
    chosen = choice.chosen
    provenance = Provenance(
        log=name,
        pages=world.pages,
        cycles=world.cycles,
        changed_share=world.changed_share(),
        k=settings.k,
        more_k=settings.more_k,
        warmup=settings.warmup,
        select=settings.select,
        seeds=len(done.finished) + (done.current is not None),
        generations=settings.generations,
        population=settings.population,
        evaluations=done.evaluations,
        unique_evaluations=done.unique_evaluations,
        seconds=round(time.monotonic() - begun, 3),
        program=f"forager {__version__}",
        evolved=choice.is_evolved,
        seeded=settings.known_rules,
        cycle=world.cycle,
        period=_period(world),
        seed=seed,
        command=command,
        date=datetime.fromtimestamp(WallClock().now(), UTC).date().isoformat(),
    )
    figures = chosen.train, chosen.validation
    asked = () if terminals_of(chosen.tree).isdisjoint(RHYTHMIC) else rhythm
    learned = LearnedFunction(chosen.tree, settings.terminals, settings.fitness, *figures, provenance, asked)
    return LessonResult(learned, choice, done)


@dataclass(frozen=True, slots=True)
class FoldResult:
    """A function learned from all pages but one fold, and what it achieves on that fold."""

    lesson: LessonResult
    test: Curves


def teach_folds(
    world: ChangeLog,
    name: str,
    settings: GPSettings,
    folds: int,
    *,
    seed: int,
    processes: int,
    follow: Callable[[Iterable[learning.LearnProgress]], learning.LearnProgress],
    command: str = "",
) -> Iterator[FoldResult]:
    """The protocol of GP4C: one fold of the pages is the test set, the others are for training and validation; in turn."""
    if settings.fitness in OF_DOCUMENTS:
        raise InputError(f"--folds deals out pages; {settings.fitness} is measured on all of them together")
    whole, rows = world.shuffled(stream(seed, "learn: folds")), np.arange(world.pages)
    judged = RecrawlSettings(k=settings.k, warmup=settings.warmup)
    for fold in range(folds):
        rest, test = whole.part(rows[rows % folds != fold]), whole.part(rows[rows % folds == fold])
        lesson = teach(rest, name, settings, seed=seed, processes=processes, follow=follow, command=command)
        score = Formula.of(lesson.learned.tree, lesson.learned.rhythm)
        yield FoldResult(lesson, simulate(test, score, judged))


def _period(world: ChangeLog) -> str:
    """The time that a log covers; empty if it knows none."""
    if np.isnan(world.start):
        return ""
    ends = (world.start, world.start + world.cycles * world.cycle)
    return " to ".join(datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%d %H:%M") for end in ends) + " UTC"


def check_log(world: ChangeLog, name: str, settings: GPSettings) -> None:
    """Raises an error if the log is too short."""
    if world.cycles <= settings.warmup or world.pages < 2:
        raise InputError(
            f"{name}: {amount(world.pages, 'page')} and {amount(world.cycles, 'cycle')} are too few to learn from"
        )
    if settings.fitness == "discovery" and world.documents is None:
        raise InputError("--fitness discovery needs a log that tells which page shows which document; see --documents")


def _check_part(part: ChangeLog, name: str, settings: GPSettings) -> None:
    """Raises an error if a training or validation part has no information, so that all functions would score the same."""
    if settings.fitness not in OF_DOCUMENTS and not part.changed.any():
        raise InputError(
            f"{name}: no page changes in these {part.cycles} cycles, or only in one half of the pages; "
            "there is nothing to learn from"
        )
    appeared = part.documents.appeared() if part.documents is not None else np.empty(0)
    if settings.fitness in OF_DOCUMENTS and not (appeared >= settings.warmup).any():
        raise InputError(f"{name}: no document appears after the warm-up; there is nothing to learn from")


def last_step(steps: Iterable[learning.LearnProgress]) -> learning.LearnProgress:
    """Follows an evolution to its end."""
    (done,) = deque(steps, maxlen=1)
    return done
