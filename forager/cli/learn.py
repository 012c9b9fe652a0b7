"""`forager learn function` evolves a recrawl score function from a change log (GP4C) and compares it with known rules.

`forager learn states` learns from a corpus the text clusters that turn a text into a state.
"""

import json as jsonlib
import shlex
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager.cli.compilation import prepare_learning
from forager.cli.log_input import (
    ChangeOf,
    CycleLength,
    DocumentsPath,
    LogPath,
    PagesOf,
    Settled,
    cut_log,
    per_cycle,
    picked,
    read_change_log,
)
from forager.cli.options import Config, Json, ProgressLine, Quiet, Set, check_place, loaded, whole, write_whole
from forager.core.states import LONGEST_TEXT, States
from forager.errors import InputError
from forager.gp import learn as learning
from forager.gp.gp_settings import GPSettings, Measure, Parents, Selection, Terminals
from forager.gp.learn import CarefulChoice
from forager.gp.trees import canonical_tree, terminals_of
from forager.importers.texts import read_texts
from forager.library.lessons import check_log, teach, teach_folds
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import half_interval
from forager.recrawl.formula import formula_text
from forager.recrawl.function_file import function_to_text
from forager.recrawl.terminals import MEANINGS, TERMINALS


class Display:
    """Shows generation, best and mean fitness, and time left."""

    def __init__(self, settings: GPSettings, progress: learning.LearnProgress | None) -> None:
        self.settings = settings
        self.total = settings.seeds * settings.generations
        self.before = self._generations(progress) if progress else 0
        self.begun, self.line = time.monotonic(), ProgressLine()

    def show(self, progress: learning.LearnProgress) -> None:
        current, done = progress.current, self._generations(progress)
        if current is None:
            return
        left = (time.monotonic() - self.begun) / (done - self.before) * (self.total - done)
        self.line.show(
            f"run {len(progress.finished) + 1}/{self.settings.seeds} generation {current.number + 1}/"
            f"{self.settings.generations} best {current.best[0][1]:.4f} mean {current.mean:.4f} {left:.0f} s left"
        )

    def _generations(self, progress: learning.LearnProgress) -> int:
        under_way = progress.current.number + 1 if progress.current else 0
        return len(progress.finished) * self.settings.generations + under_way


def told_learned(choice: CarefulChoice) -> list[str]:
    """The comparison with known rules as text; empty if there was none."""
    if choice.known is None:
        return []
    gained = f"{choice.gain:+.4f} ± {choice.error:.4f} (standard error) on validation pages"
    if choice.is_evolved:
        return [f"better than the best known rule, {formula_text(choice.known.tree)}, beyond chance: {gained}"]
    if canonical_tree(choice.evolved.tree) == canonical_tree(choice.known.tree):
        return ["a known rule: evolution found nothing better"]
    return [
        f"a known rule: what was evolved is not better beyond chance, {gained}: {formula_text(choice.evolved.tree)}"
    ]


def learn_command(
    log: LogPath,
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the score function (JSON).")],
    terminals: Annotated[str, typer.Option(help="basic, all or extended: what functions may read.")] = "basic",
    fitness: Annotated[
        str, typer.Option(help="ndcg, changerate, freshness, discovery or late: what to maximise.")
    ] = "ndcg",
    select: Annotated[str, typer.Option(help="best, avg or sum: how the final function is picked.")] = "best",
    seeds: Annotated[int, typer.Option(min=1, help="Runs with different luck.")] = 5,
    generations: Annotated[int, typer.Option(min=1, help="Generations per run.")] = 50,
    population: Annotated[int, typer.Option(min=2, help="Individuals per generation.")] = 300,
    k: Annotated[
        list[str] | None,
        typer.Option(
            help="Visited per cycle: a share of the pages (5%), or a number (6); repeated: for all of them. [5%]"
        ),
    ] = None,
    warmup: Annotated[int, typer.Option(min=1, help="Cycles in which every page is visited.")] = 2,
    train_until: Annotated[
        str | None,
        typer.Option(help="Learn from what comes before: a share (50%), a cycle (28) or a time (2022-07-01)."),
    ] = None,
    processes: Annotated[int, typer.Option(min=0, help="Processes to use; 0: one per core.")] = 0,
    seed: Annotated[int, typer.Option(help="Of chance: the same seed learns the same function.")] = 0,
    cycle: CycleLength = "auto",
    documents: DocumentsPath = None,
    young: Annotated[float, typer.Option(min=1, help="Discovery and late: cycles until a document is no news.")] = 24.0,
    pages: PagesOf = "auto",
    change: ChangeOf = "auto",
    settled: Settled = "10%",
    known_rules: Annotated[
        bool,
        typer.Option(
            "--known-rules/--no-known-rules",
            help="Begin with rules that people found, too, and keep the best of them unless evolution is better beyond "
            "chance; the papers do not.",
        ),
    ] = True,
    breed_from: Annotated[
        str,
        typer.Option(help="generation or best: parents are the last generation, or the best of all, as in the papers."),
    ] = "generation",
    folds: Annotated[
        int,
        typer.Option(min=0, help="Judge by so many test sets of pages in turn, as the papers do by 5; 0: learn once."),
    ] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint next to the output.")] = False,
    json: Json = False,
) -> None:
    """Learn when to look again: evolve a score function and write it to a file.

    Ctrl-C ends the learning early and keeps the best function so far; --resume goes on from there.

    --json prints formula, terminals, fitness, train, validation, evaluations, unique_evaluations, seconds, evolved (whether
    it was, or is a known rule), and against_known_rule: rule, function, gain, error.
    """
    check_place(output)
    settings = GPSettings(
        terminals=picked(terminals, Terminals, "--terminals"),
        fitness=picked(fitness, Measure, "--fitness"),
        select=picked(select, Selection, "--select"),
        seeds=seeds,
        generations=generations,
        population=population,
        warmup=warmup,
        young=young,
        known_rules=known_rules,
        parents=picked(breed_from, Parents, "--breed-from"),
    )
    world = read_change_log(log, cycle=cycle, documents=documents, pages=pages, change=change, settled=settled)
    budgets = [per_cycle(one, world) for one in k or ["5%"]]
    settings = replace(settings, k=budgets[0], more_k=tuple(budgets[1:]))
    if train_until is not None:
        world = world.span(0, cut_log(world, train_until, "--train-until"))
    check_log(world, str(log), settings)
    prepare_learning(settings)
    if folds:
        _learn_in_folds(world, log.name, settings, folds, output, seed=seed, processes=processes, json=json)
        return
    begun = time.monotonic()
    checkpoint = output.with_name(output.name + ".checkpoint")
    source = f"{log.name} {world.pages} x {world.cycles}, {int(world.changed.sum())} changes, seed {seed}"
    progress = (
        learning.lesson_from_text(_read(checkpoint), settings, source) if resume and checkpoint.exists() else None
    )
    lesson = teach(
        world,
        log.name,
        settings,
        seed=seed,
        processes=processes,
        follow=lambda steps: _followed(steps, settings, progress, checkpoint, source),
        progress=progress,
        command=f"forager {shlex.join(sys.argv[1:])}",
    )
    done, choice, chosen = lesson.done, lesson.choice, lesson.choice.chosen
    write_whole(output, function_to_text(lesson.learned) + "\n")
    if len(done.finished) == settings.seeds:
        checkpoint.unlink(missing_ok=True)  # this learning is complete
    result: dict[str, object] = {
        "formula": lesson.learned.formula,
        "terminals": settings.terminals,
        "fitness": settings.fitness,
        "train": chosen.train,
        "validation": chosen.validation,
        "evaluations": done.evaluations,
        "unique_evaluations": done.unique_evaluations,
        "seconds": round(time.monotonic() - begun, 3),
        "evolved": choice.is_evolved,
    }
    if choice.known is not None:
        result["against_known_rule"] = {
            "rule": formula_text(choice.known.tree),
            "function": formula_text(choice.evolved.tree),
            "gain": choice.gain,
            "error": choice.error if isfinite(choice.error) else None,
        }
    if json:
        typer.echo(jsonlib.dumps(result))
        return
    figures = f"{settings.fitness} {chosen.train:.4f} on training, {chosen.validation:.4f} on validation pages"
    read = [f"  {name}: {MEANINGS[name]}" for name in TERMINALS if name in terminals_of(chosen.tree)]
    typer.echo("\n".join([str(result["formula"]), *read, *told_learned(choice), f"{figures}; written to {output}"]))


def _learn_in_folds(
    world: ChangeLog,
    name: str,
    settings: GPSettings,
    folds: int,
    output: Path,
    *,
    seed: int,
    processes: int,
    json: bool,
) -> None:
    """Learns once for each fold of the pages and tells the figures on the test sets; the function that did best on its
    validation pages is written."""
    if not 2 <= folds <= world.pages // 4:
        raise InputError(
            f"--folds: {world.pages} pages cannot be dealt out to {folds} folds; at least four in each of two"
        )

    def follow(steps: Iterable[learning.LearnProgress]) -> learning.LearnProgress:
        display, done = Display(settings, None), learning.LearnProgress()
        for done in steps:
            display.show(done)
        display.line.end()
        return done

    results, told = [], []
    command = f"forager {shlex.join(sys.argv[1:])}"
    for one in teach_folds(
        world, name, settings, folds, seed=seed, processes=processes, follow=follow, command=command
    ):
        figures = {label: float(getattr(one.test, label).mean()) for label in ("change_rate", "ndcg", "freshness")}
        results.append(one)
        told.append({"formula": one.lesson.learned.formula, "evolved": one.lesson.choice.is_evolved, **figures})
        if not json:
            shown = ", ".join(f"{label} {value:.4f}" for label, value in figures.items())
            typer.echo(f"fold {len(told)}: {shown}: {told[-1]['formula']}")
    best = max(results, key=lambda one: one.lesson.learned.validation).lesson.learned
    write_whole(output, function_to_text(best) + "\n")
    means = {}
    for label in ("change_rate", "ndcg", "freshness"):
        values = np.array([getattr(one.test, label).mean() for one in results])
        means[label] = float(values.mean()), half_interval(values)
    tops = np.mean([one.test.top.mean(axis=0) for one in results], axis=0)
    if json:
        of_top = {label: row.tolist() for label, row in zip(("change_rate", "ndcg"), tops, strict=True)}
        typer.echo(jsonlib.dumps({"folds": told, "test": means, "top": of_top, "formula": best.formula}))
        return
    shown = ", ".join(f"{label} {mean:.4f} ± {half:.4f}" for label, (mean, half) in means.items())
    parts = " ".join(f"{value:.3f}" for value in tops[1])
    typer.echo(f"test sets of {folds} folds: {shown} (95%); NDCG of the top 1/5 to 5/5: {parts}; written to {output}")


def _followed(
    steps: Iterable[learning.LearnProgress],
    settings: GPSettings,
    progress: learning.LearnProgress | None,
    checkpoint: Path,
    source: str,
) -> learning.LearnProgress:
    """Follows the evolution to its end or the first Ctrl-C, with a checkpoint after every generation."""
    display = Display(settings, progress)
    done = progress or learning.LearnProgress()
    with suppress(KeyboardInterrupt):
        for done in steps:
            write_whole(checkpoint, learning.lesson_to_text(done, settings, source))
            display.show(done)
    display.line.end()
    if not done.best():
        raise InputError("stopped before the first generation was measured: nothing was learned")
    return done


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from problem


_SHOW_EVERY = 1.0
"""Seconds between two looks of the progress on a terminal."""


def learn_states(
    corpus: Annotated[Path, typer.Argument(help="A folder of .txt and .html files, or JSON lines with a `text` each.")],
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the states (.npz).")],
    general: Annotated[
        Path | None, typer.Option(help="Text of no particular topic, in the same forms: the class that is dropped.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Texts to read at most.")] = 20_000,
    config: Config = None,
    set_: Set = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn text clusters and write them to a file; use it with -s forager.states.file=FILE."""
    check_place(output)
    settings = loaded(config, set_).settings.forager.states
    begun = time.monotonic()
    line = ProgressLine(quiet=quiet, every=_SHOW_EVERY)
    texts = _read_texts(corpus, limit, line)
    if len(texts) < settings.dimension:
        raise InputError(
            f"{corpus}: {len(texts)} texts are too few for {settings.dimension} clusters; "
            "give more, or set forager.states.dimension"
        )
    line.show(f"{len(texts)} texts read; learning {settings.dimension} clusters")
    states = States(settings).train(texts, _read_texts(general, limit, line) if general else ())
    line.end()
    with whole(output) as draft:
        draft.write_bytes(states.save())
    result = {
        "texts": len(texts),
        "clusters": settings.dimension,
        "words": states.words,
        "seconds": round(time.monotonic() - begun, 3),
        "file": str(output),
    }
    if json:
        typer.echo(jsonlib.dumps(result))
    else:
        typer.echo(
            f"{settings.dimension} clusters of {states.words} words from {len(texts)} texts; written to {output}"
        )


def _read_texts(place: Path, limit: int, line: ProgressLine) -> list[str]:
    """Reads the texts, cut to the length that the crawl uses, and shows progress."""
    texts: list[str] = []
    for text in read_texts(place):
        texts.append(text[:LONGEST_TEXT])
        line.show(f"{place}: {len(texts)} texts")
        if len(texts) == limit:
            break
    return texts
