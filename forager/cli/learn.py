"""`forager learn`: evolve a recrawl score function from a change log (GP4C)."""

import json as jsonlib
import os
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager import __version__
from forager.chance import stream
from forager.cli.change_logs import (
    Budget,
    ChangeOf,
    CycleLength,
    DocumentsPath,
    LogPath,
    PagesOf,
    Settled,
    cut,
    per_cycle,
    picked,
    read_change_log,
)
from forager.cli.learn_view import Display, rivalry, told
from forager.cli.outputs import check_place, write_whole
from forager.cli.preparing import prepare_learning
from forager.errors import InputError
from forager.recrawl.formula import text_of
from forager.recrawl.gp import breed, learning
from forager.recrawl.gp.careful import Choice, choose_carefully
from forager.recrawl.gp.choose import choose
from forager.recrawl.gp.evolve import Measurer
from forager.recrawl.gp.fitness import Judge, terminal_set
from forager.recrawl.gp.parallel import measurers
from forager.recrawl.gp.settings import GPSettings, Measure, Selection, Terminals
from forager.recrawl.gp.tree import terminals_of
from forager.recrawl.learned import Learned, Provenance, to_text
from forager.recrawl.log import ChangeLog
from forager.recrawl.rhythm import Rhythm, rhythm_of
from forager.recrawl.states import MEANINGS, TERMINALS


def learn(
    log: LogPath,
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the score function (JSON).")],
    terminals: Annotated[str, typer.Option(help="basic, all or extended: what functions may read.")] = "basic",
    fitness: Annotated[str, typer.Option(help="ndcg, changerate, freshness or discovery: what to maximise.")] = "ndcg",
    select: Annotated[str, typer.Option(help="best, avg or sum: how the final function is picked.")] = "best",
    seeds: Annotated[int, typer.Option(min=1, help="Runs with different luck.")] = 5,
    generations: Annotated[int, typer.Option(min=1, help="Generations per run.")] = 50,
    population: Annotated[int, typer.Option(min=2, help="Individuals per generation.")] = 300,
    k: Budget = "5%",
    warmup: Annotated[int, typer.Option(min=1, help="Cycles in which every page is visited.")] = 2,
    train_until: Annotated[
        str | None,
        typer.Option(help="Learn from what comes before: a share (50%), a cycle (28) or a time (2022-07-01)."),
    ] = None,
    processes: Annotated[int, typer.Option(min=0, help="Processes to use; 0: one per core.")] = 0,
    seed: Annotated[int, typer.Option(help="Of chance: the same seed learns the same function.")] = 0,
    cycle: CycleLength = "auto",
    documents: DocumentsPath = None,
    young: Annotated[float, typer.Option(min=1, help="Discovery: cycles until a document is no news.")] = 24.0,
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
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint next to the output.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Learn when to look again: evolve a score function and write it to a file.

    Ctrl-C ends the learning early and keeps the best function so far; --resume goes on from there.
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
    )
    world = read_change_log(log, cycle=cycle, documents=documents, pages=pages, change=change, settled=settled)
    settings = replace(settings, k=per_cycle(k, world))
    if train_until is not None:
        world = world.span(0, cut(world, train_until, "--train-until"))
    if world.cycles <= warmup or world.pages < 2:
        raise InputError(f"{log}: {world.pages} pages and {world.cycles} cycles are too few to learn from")
    if fitness == "discovery" and world.documents is None:
        raise InputError("--fitness discovery needs a log that tells which page shows which document; see --documents")
    prepare_learning(settings)
    begun = time.monotonic()
    checkpoint = output.with_name(output.name + ".checkpoint")
    source = f"{log.name} {world.pages} x {world.cycles}, {int(world.changed.sum())} changes, seed {seed}"
    progress = learning.from_text(_read(checkpoint), settings, source) if resume and checkpoint.exists() else None
    train, validation = learning.split(world, settings, stream(seed, "learn: order of pages"))
    for part in (train, validation):
        _check(part, log, settings)
    rhythm = rhythm_of(world) if settings.terminals == "extended" else ()
    judges = {"train": Judge(train, settings, rhythm), "validation": Judge(validation, settings, rhythm)}
    with measurers(judges, processes or os.cpu_count() or 1) as measure:
        offered = terminal_set(settings, world, rhythm)
        done = _learned(measure["train"], offered, settings, seed, progress, checkpoint, source)
        found = learning.candidates(done, measure["validation"])
        evolved = learning.shortened(choose(found, settings.select), measure["train"], measure["validation"])
        rules, by_page = breed.known_rules(offered, settings), judges["validation"].by_page
        choice = choose_carefully(evolved, rules, measure["train"], measure["validation"], by_page)
    chosen = choice.chosen
    rhythm = rhythm if "busy" in terminals_of(chosen.tree) else ()
    _keep(output, checkpoint, log, world, settings, choice, rhythm, done, time.monotonic() - begun)
    result = {
        "formula": text_of(chosen.tree),
        "terminals": settings.terminals,
        "fitness": settings.fitness,
        "train": chosen.train,
        "validation": chosen.validation,
        "evaluations": done.evaluations,
        "unique_evaluations": done.unique_evaluations,
        "seconds": round(time.monotonic() - begun, 3),
        "evolved": choice.is_evolved,
        **({} if choice.known is None else {"against_known_rule": rivalry(choice)}),
    }
    if json:
        typer.echo(jsonlib.dumps(result))
        return
    figures = f"{settings.fitness} {chosen.train:.4f} on training, {chosen.validation:.4f} on validation pages"
    read = [f"  {name}: {MEANINGS[name]}" for name in TERMINALS if name in terminals_of(chosen.tree)]
    typer.echo("\n".join([str(result["formula"]), *read, *told(choice), f"{figures}; written to {output}"]))


def _check(part: ChangeLog, log: Path, settings: GPSettings) -> None:
    """Refuse a log of which a part to learn from, or to validate on, tells nothing: every function would do."""
    if settings.fitness != "discovery" and not part.changed.any():
        raise InputError(
            f"{log}: no page changes in these {part.cycles} cycles, or only in one half of the pages; "
            "there is nothing to learn from"
        )
    appeared = part.documents.appeared() if part.documents is not None else np.empty(0)
    if settings.fitness == "discovery" and not (appeared >= settings.warmup).any():
        raise InputError(f"{log}: no document appears after the warm-up; there is nothing to learn from")


def _learned(
    measure: Measurer,
    terminals: tuple[str, ...],
    settings: GPSettings,
    seed: int,
    progress: learning.Progress | None,
    checkpoint: Path,
    source: str,
) -> learning.Progress:
    """Run the evolution to its end or to the first Ctrl-C, with a checkpoint after every generation."""
    display = Display(settings, progress)
    done = progress or learning.Progress()
    with suppress(KeyboardInterrupt):
        for done in learning.learning(measure, terminals, settings, seed, progress):
            write_whole(checkpoint, learning.to_text(done, settings, source))
            display.show(done)
    display.end()
    if not done.best():
        raise InputError("stopped before the first generation was measured: nothing was learned")
    return done


def _keep(
    output: Path,
    checkpoint: Path,
    log: Path,
    world: ChangeLog,
    settings: GPSettings,
    choice: Choice,
    rhythm: Rhythm,
    done: learning.Progress,
    spent: float,
) -> None:
    """Write the function; the checkpoint of a learning that came to its end goes."""
    provenance = Provenance(
        log=log.name,
        pages=world.pages,
        cycles=world.cycles,
        changed_share=world.changed_share(),
        k=settings.k,
        warmup=settings.warmup,
        select=settings.select,
        seeds=len(done.finished) + (done.current is not None),
        generations=settings.generations,
        population=settings.population,
        evaluations=done.evaluations,
        unique_evaluations=done.unique_evaluations,
        seconds=round(spent, 3),
        program=f"forager {__version__}",
        evolved=choice.is_evolved,
    )
    chosen = choice.chosen
    figures = chosen.train, chosen.validation
    learned = Learned(chosen.tree, settings.terminals, settings.fitness, *figures, provenance, rhythm)
    write_whole(output, to_text(learned) + "\n")
    if len(done.finished) == settings.seeds:
        checkpoint.unlink(missing_ok=True)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from problem
