"""`forager learn function` evolves a recrawl score function from a change log (GP4C) and compares it with known rules.

`forager learn states` learns from a corpus the text clusters that turn a text into a state.
"""

import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager.cli import log_input, options
from forager.cli.compilation import prepare_learning
from forager.core.states import LONGEST_TEXT, States
from forager.errors import InputError
from forager.gp import learn as learning
from forager.gp.evolve import canonical_tree
from forager.gp.gp_settings import GPSettings, Measure, Parents, Selection, Terminals
from forager.gp.learn import CarefulChoice
from forager.gp.trees import terminals_of
from forager.importers.texts import read_texts
from forager.library.lessons import check_log, last_step, teach, teach_folds
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import half_interval
from forager.recrawl.formula import formula_text
from forager.recrawl.function_file import function_to_text
from forager.recrawl.terminals import TERMINALS


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
    log: log_input.LogPath,
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the score function (JSON).")],
    terminals: Annotated[Terminals, typer.Option(help="What functions may read.")] = "basic",
    fitness: Annotated[Measure, typer.Option(help="What to maximise.")] = "ndcg",
    select: Annotated[Selection, typer.Option(help="How the final function is picked.")] = "best",
    seeds: Annotated[int, typer.Option(min=1, help="Runs with different luck.")] = 5,
    generations: Annotated[int, typer.Option(min=1, help="Generations per run.")] = 50,
    population: Annotated[int, typer.Option(min=2, help="Individuals per generation.")] = 300,
    k: Annotated[
        list[str] | None,
        typer.Option(
            help="Visited per cycle: a share of the pages (5%), or a number (6); repeated: for all of them. [5%]"
        ),
    ] = None,
    warmup: log_input.WarmUpCycles = 2,
    train_until: Annotated[
        str | None,
        typer.Option(help="Learn from what comes before: a share (50%), a cycle (28) or a time (2022-07-01)."),
    ] = None,
    processes: options.Processes = 0,
    seed: Annotated[int, typer.Option(help="Of chance: the same seed learns the same function.")] = 0,
    cycle: log_input.CycleLength = "auto",
    documents: log_input.DocumentsPath = None,
    young: Annotated[float, typer.Option(min=1, help="Discovery and late: cycles until a document is no news.")] = 24.0,
    pages: log_input.PagesOf = "auto",
    change: log_input.ChangeOf = "auto",
    settled: log_input.Settled = "10%",
    known_rules: Annotated[
        bool,
        typer.Option(
            "--known-rules/--no-known-rules",
            help="Begin with rules that people found, too, and keep the best of them unless evolution is better beyond "
            "chance; the papers do not.",
        ),
    ] = True,
    breed_from: Annotated[
        Parents, typer.Option(help="Parents are the last generation, or the best of all, as in the papers.")
    ] = "generation",
    folds: Annotated[
        int,
        typer.Option(min=0, help="Judge by so many test sets of pages in turn, as the papers do by 5; 0: learn once."),
    ] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint next to the output.")] = False,
    json: options.Json = False,
) -> None:
    """Learn when to revisit pages: evolve a score function and write it to a file.

    Ctrl-C ends the learning early and keeps the best function so far; --resume goes on from there.

    --json prints formula, terminals, fitness, train, validation, evaluations, unique_evaluations, seconds, evolved (whether
    it was, or is a known rule), and against_known_rule: rule, function, gain, error.
    """
    options.check_place(output)
    settings = GPSettings(
        terminals=terminals,
        fitness=fitness,
        select=select,
        seeds=seeds,
        generations=generations,
        population=population,
        warmup=warmup,
        young=young,
        known_rules=known_rules,
        parents=breed_from,
    )
    world = log_input.read_change_log(
        log, cycle=cycle, documents=documents, pages=pages, change=change, settled=settled
    )
    budgets = [log_input.per_cycle(one, world) for one in k or ["5%"]]
    settings = replace(settings, k=budgets[0], more_k=tuple(budgets[1:]))
    if train_until is not None:
        world = world.span(0, log_input.cut_log(world, train_until, "--train-until"))
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

    def follow(steps: Iterable[learning.LearnProgress]) -> learning.LearnProgress:
        """To the end or the first Ctrl-C, with a checkpoint after every generation."""
        done = progress or learning.LearnProgress()
        with suppress(KeyboardInterrupt):
            for done in _shown(steps, settings, progress):
                options.write_whole(checkpoint, learning.lesson_to_text(done, settings, source))
        if not done.best():
            raise InputError("stopped before the first generation was measured: nothing was learned")
        return done

    lesson = teach(
        world, log.name, settings, seed=seed, processes=processes, follow=follow, progress=progress, command=_command()
    )
    done, choice, chosen = lesson.done, lesson.choice, lesson.choice.chosen
    options.write_whole(output, function_to_text(lesson.learned) + "\n")
    if len(done.finished) == settings.seeds:
        checkpoint.unlink(missing_ok=True)  # this learning is complete
    formula = lesson.learned.formula
    facts: dict[str, object] = {
        "formula": formula,
        "terminals": terminals,
        "fitness": fitness,
        "train": chosen.train,
        "validation": chosen.validation,
        "evaluations": done.evaluations,
        "unique_evaluations": done.unique_evaluations,
        "seconds": round(time.monotonic() - begun, 3),
        "evolved": choice.is_evolved,
    }
    if choice.known is not None:
        facts["against_known_rule"] = {
            "rule": formula_text(choice.known.tree),
            "function": formula_text(choice.evolved.tree),
            "gain": choice.gain,
            "error": choice.error if isfinite(choice.error) else None,
        }
    figures = f"{fitness} {chosen.train:.4f} on training, {chosen.validation:.4f} on validation pages"
    read = [f"  {name}: {meaning}" for name, meaning in TERMINALS.items() if name in terminals_of(chosen.tree)]
    lines = [formula, *read, *told_learned(choice), f"{figures}; written to {output}"]
    options.print_result(facts, lambda: "\n".join(lines), json=json)


def _command() -> str:
    """This call, for the record of a function."""
    return f"forager {shlex.join(sys.argv[1:])}"


def _shown(
    steps: Iterable[learning.LearnProgress], settings: GPSettings, before: learning.LearnProgress | None = None
) -> Iterator[learning.LearnProgress]:
    """The steps of an evolution that goes on from `before`; shows each on a line, with the time left."""

    def generations(one: learning.LearnProgress) -> int:
        return len(one.finished) * settings.generations + (one.current.number + 1 if one.current else 0)

    total, first = settings.seeds * settings.generations, generations(before) if before else 0
    begun, line = time.monotonic(), options.ProgressLine()
    for step in steps:
        yield step
        if (now := step.current) is not None:
            done = generations(step)
            left = (time.monotonic() - begun) / (done - first) * (total - done)
            line.show(
                f"run {len(step.finished) + 1}/{settings.seeds} generation {now.number + 1}/{settings.generations} "
                f"best {now.best[0][1]:.4f} mean {now.mean:.4f} {left:.0f} s left"
            )
    line.end()


_ON_TESTS = ("change_rate", "ndcg", "freshness")


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
        raise InputError(f"--folds {folds}: give at least 2, and at most a quarter of the {world.pages} pages as folds")
    results, told = [], []
    for one in teach_folds(
        world,
        name,
        settings,
        folds,
        seed=seed,
        processes=processes,
        follow=lambda steps: last_step(_shown(steps, settings)),
        command=_command(),
    ):
        learned, figures = one.lesson.learned, {label: float(getattr(one.test, label).mean()) for label in _ON_TESTS}
        results.append(one)
        told.append({"formula": learned.formula, "evolved": one.lesson.choice.is_evolved, **figures})
        if not json:
            shown = ", ".join(f"{label} {value:.4f}" for label, value in figures.items())
            typer.echo(f"fold {len(told)}: {shown}: {learned.formula}")
    best = max((one.lesson.learned for one in results), key=lambda learned: learned.validation)
    options.write_whole(output, function_to_text(best) + "\n")
    values = {label: np.array([one[label] for one in told], dtype=np.float64) for label in _ON_TESTS}
    means = {label: (float(column.mean()), half_interval(column)) for label, column in values.items()}
    rate, ndcg = np.mean([one.test.top.mean(axis=0) for one in results], axis=0).tolist()
    shown = ", ".join(f"{label} {mean:.4f} ± {half:.4f}" for label, (mean, half) in means.items())
    parts = " ".join(f"{value:.3f}" for value in ndcg)
    summary = f"{shown} (95%); NDCG of the top 1/5 to 5/5: {parts}; written to {output}"
    facts = {"folds": told, "test": means, "top": {"change_rate": rate, "ndcg": ndcg}, "formula": best.formula}
    options.print_result(facts, lambda: f"test sets of {folds} folds: {summary}", json=json)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from problem


def learn_states(
    corpus: Annotated[Path, typer.Argument(help="A folder of .txt and .html files, or JSON lines with a `text` each.")],
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the states (.npz).")],
    general: Annotated[
        Path | None, typer.Option(help="Text of no particular topic, in the same forms: the class that is dropped.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Texts to read at most.")] = 20_000,
    config: options.Config = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Learn text clusters and write them to a file; use it with -s forager.states.file=FILE."""
    options.check_place(output)
    settings = options.settings_for(config, set_).forager.states
    begun = time.monotonic()
    line = options.ProgressLine(quiet=quiet, every=1.0)
    texts = _read_texts(corpus, limit, line)
    if len(texts) < settings.dimension:
        raise InputError(
            f"{corpus}: {len(texts)} texts are too few for {settings.dimension} clusters; "
            "give more, or set forager.states.dimension"
        )
    line.show(f"{len(texts)} texts read; learning {settings.dimension} clusters")
    states = States(settings).train(texts, _read_texts(general, limit, line) if general else ())
    line.end()
    with options.whole(output) as draft:
        draft.write_bytes(states.save())
    facts = {
        "texts": len(texts),
        "clusters": settings.dimension,
        "words": states.words,
        "seconds": round(time.monotonic() - begun, 3),
        "file": str(output),
    }
    told = f"{settings.dimension} clusters of {states.words} words from {len(texts)} texts; written to {output}"
    options.print_result(facts, lambda: told, json=json)


def _read_texts(place: Path, limit: int, line: options.ProgressLine) -> list[str]:
    """Reads the texts, cut to the length that the crawl uses, and shows progress."""
    texts: list[str] = []
    for text in read_texts(place):
        texts.append(text[:LONGEST_TEXT])
        line.show(f"{place}: {len(texts)} texts")
        if len(texts) == limit:
            break
    return texts
