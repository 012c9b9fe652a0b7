"""`forager tune`: searches settings on the first part of a recording and judges them once on the rest.

It shows its progress during the search, and compares old and new settings at the end.
"""

import asyncio
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from forager.cli import options
from forager.cli.compilation import once
from forager.clock import Clock, WallClock
from forager.core.parameters import INHERITED
from forager.core.saved import load_agent
from forager.errors import Exit, InputError, OutputError
from forager.library.playback import tape_folder, usual_budget
from forager.library.run_reader import viewed
from forager.report.phrases import json_number, span
from forager.settings import Settings
from forager.simulation.fleet_rows import FleetRow
from forager.tape.tape import load_tape
from forager.tuning.goals import goals_named
from forager.tuning.held_out import FIGURES, HeldOutResult
from forager.tuning.report import held_out_table, tuned_yaml, tuning_report
from forager.tuning.search import Tuning, TuningOutcome, Wishes
from forager.tuning.space import Space, read_space, shown_space
from forager.tuning.study import Trial


class TuneProgress:
    """Shows the phase, how far it is and the time left: in place on a terminal, one line a minute elsewhere."""

    def __init__(self, limit: float | None, clock: Clock, *, quiet: bool) -> None:
        self.limit, self.clock, self.line = (
            math.inf if limit is None else limit,
            clock,
            options.ProgressLine(quiet=quiet),
        )
        self.began = self.searching = clock.now()
        self.done, self.pruned, self.best = 0, 0, "nothing to choose from yet"
        self._phase = ""

    def left(self) -> float:
        """Seconds left of the time limit."""
        return self.limit - (self.clock.now() - self.began)

    def phase(self, name: str, done: int, count: int) -> None:
        """Reports how many replays of a phase are done."""
        if name != self._phase:
            self._phase, self.line.shown = name, -math.inf
        self._show(f"{name}: {done} of {count} replays", self.left())

    def begin(self, tuning: Tuning) -> None:
        """Reports that the search begins."""
        self.done, self.searching = tuning.resumed, self.clock.now()
        self._rank(tuning)
        if tuning.resumed:
            self.line.shown = -math.inf
            self.line.show(f"going on after {tuning.resumed} trials in {tuning.folder}")

    def tell(self, tuning: Tuning, trial: Trial | None) -> None:
        """Reports that a trial ended, or that nothing happened for a while."""
        if trial is not None:
            self.done += 1
            self.pruned += trial.pruned
            if not trial.pruned:
                self._rank(tuning)
        counts = f"{self.done} of {tuning.wishes.trials} trials, {self.pruned} given up early"
        made, spent = self.done - tuning.resumed, self.clock.now() - self.searching
        guess = spent / made * (tuning.wishes.trials - self.done) + tuning.kept if made else math.inf
        self._show(f"{counts}; {self.best}", min(guess, self.left()))

    def _rank(self, tuning: Tuning) -> None:
        best = tuning.best()
        if best is not None:
            self.best = "best " + training(tuning, best.values)

    def _show(self, text: str, left: float) -> None:
        self.line.show(f"{text}; {span(max(0.0, left))} left" if left < math.inf else text)


def training(tuning: Tuning, values: Sequence[float]) -> str:
    """Values on the training part, compared with the original settings."""
    goals, start = tuning.wishes.goals, tuning.start
    return ", ".join(
        f"{goal.figure} {new:.4g} (was {old:.4g})" for goal, new, old in zip(goals, values, start, strict=True)
    )


def say(tuning: Tuning, outcome: TuningOutcome | None, outputs: Sequence[Path], end: str = "Stopped") -> None:
    """Prints the summary; `end` says why there is no outcome."""
    if outcome is None:
        best = tuning.best()
        kept = f"{len(tuning.study.trials())} trials are kept in {tuning.folder}" if outputs else "nothing was kept"
        typer.echo(f"{end}; {kept}, the same command goes on." if outputs else f"{end}; {kept}.")
        if best is not None:
            typer.echo(f"Best so far on the training part: {training(tuning, best.values)}, with")
            for key, value in best.changes.items():
                typer.echo(f"  {key}: {value}")
        typer.echo("Nothing was judged on the held-out part, so nothing was written.")
        return
    chosen, judged = outcome.chosen, outcome.judged
    held_out_table(judged, tuning.judged).show()
    typer.echo(verdict(outcome))
    for key, value in chosen.changes.items():
        typer.echo(f"  {key}: {value}")
    if outputs:
        typer.echo(f"Written: {', '.join(map(str, outputs))}; trials in {tuning.folder}.")


def verdict(outcome: TuningOutcome) -> str:
    judged = outcome.judged
    if not outcome.chosen.changes:
        return "Nothing that was tried is better than the settings as they are."
    if judged.better:
        gains = "; ".join(
            f"{goal.figure} {judged.before.mean(goal.figure):.4g} → {judged.after.mean(goal.figure):.4g}"
            for goal in judged.improved
        )
        return f"Better on the held-out part beyond the 95% interval: {gains}. The changes:"
    if judged.harmed:
        names = ", ".join(goal.figure for goal in judged.harmed)
        return f"Worse on the held-out part in {names}: the settings as they are stay. Tried:"
    return "No better than the settings as they are on the held-out part, which stay. Tried:"


def tuning_json(tuning: Tuning, outcome: TuningOutcome | None) -> dict[str, Any]:
    """The outcome as JSON values; `held_out` is null if the search stopped before it was judged."""
    trials, best = tuning.study.trials(), tuning.best()
    changes = (dict(best.changes) if best else {}) if outcome is None else dict(outcome.changes)
    return {
        "trials": len(trials),
        "pruned": sum(one.pruned for one in trials),
        "goals": [goal.name for goal in tuning.wishes.goals],
        "budget": tuning.wishes.budget,
        "best": changes,
        "better": outcome is not None and outcome.judged.better,
        "held_out": None if outcome is None else _held_out(outcome.judged),
        "folder": str(tuning.folder),
    }


def _held_out(judged: HeldOutResult) -> dict[str, Any]:
    def means(row: FleetRow) -> dict[str, float | None]:
        return {figure: json_number(row.mean(figure)) for figure in FIGURES}

    differences = {figure: judged.difference(figure) for figure in FIGURES}
    return {
        "before": means(judged.before),
        "after": means(judged.after),
        "difference": {figure: json_number(one.mean) for figure, one in differences.items()},
        "difference_ci": {figure: [json_number(one.low), json_number(one.high)] for figure, one in differences.items()},
        "seeds": len(judged.before.repeats),
    }


SUFFIXES = (".yaml", ".yml", ".html")


def tune_command(
    tape: Annotated[Path | None, typer.Argument(help="A tape, or the run directory of a crawl.")] = None,
    for_: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            help="late (default), delay, p90, coverage, lasting, requests, freshness or age; several: "
            "the best balance of all.",
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those of earlier calls included.")] = 150,
    time_limit: options.TimeLimit = None,
    space: Annotated[Path | None, typer.Option(help="YAML that narrows, fixes or removes settings.")] = None,
    show_space: Annotated[bool, typer.Option("--show-space", help="Print the space in that form and stop.")] = False,
    budget: Annotated[str, typer.Option(help="Downloads per simulated hour, such as 60/h.")] = "",
    held_out: Annotated[str, typer.Option(help="Part of the recording to judge by, never trained on.")] = "50%",
    seeds: Annotated[int, typer.Option(min=2, help="Replays of old and new on the held-out part.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Replays of each trial, each with its own luck.")] = 2,
    processes: options.Processes = 0,
    preset: options.Preset = "",
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="RUN", help="Also try what the foragers of this run survived with.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-O", "--output", help="tuned.yaml for the settings, report.html for plots; may be repeated."),
    ] = None,
    config: options.Config = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find better settings on the first part of a recording and judge them on the rest.

    Every finished trial is kept beside the first -O: Ctrl-C or a crash loses none, and the same command goes on.
    A part of a time limit is kept for the judgement.

    --json prints trials, pruned, goals, budget, best (the changes), better, folder, and held_out: before, after, difference
    and difference_ci of each figure, and seeds; null if the search stopped before it was judged.
    """
    base = options.settings_for(config, set_, preset=preset)
    searched = read_space(space, base) if space else Space(base)
    if from_ is not None:
        searched = replace(searched, survivors=asyncio.run(survivors(from_, base)))
    if show_space:
        typer.echo(shown_space(searched.dimensions), nl=False)
        return
    if tape is None:
        raise InputError("which recording? give a tape, or the run directory of a crawl")
    goals, clock = goals_named(for_ or ()), WallClock()
    progress = TuneProgress(options.time_given(time_limit), clock, quiet=quiet)
    outputs = output or []
    _check_outputs(outputs)
    with tape_folder(tape) as place, _folder(outputs, quiet) as folder:
        recorded = load_tape(place)
        wishes = Wishes(
            goals,
            options.per_hour(budget) if budget else usual_budget(recorded),
            trials,
            options.share_of(held_out, "--held-out"),
            seeds,
            repeats,
            processes or os.cpu_count() or 1,
        )
        with (
            once("tune", quiet=quiet),
            Tuning(recorded, folder, searched, wishes, left=progress.left, tell=progress.phase) as tuning,
        ):
            outcome, end = None, "The time was over before the held-out part was judged"
            try:
                progress.begin(tuning)
                tuning.search(tell=lambda trial: progress.tell(tuning, trial))
                outcome = tuning.outcome()
            except KeyboardInterrupt:
                end = "Stopped"
            finally:
                progress.line.end()
            facts = tuning_json(tuning, outcome)
            if outcome is not None:
                _write(outputs, outcome, clock.now())
            options.print_result(facts) if json else say(tuning, outcome, outputs, end)
    if outcome is None:
        raise typer.Exit(Exit.INTERRUPTED)


async def survivors(run: Path, base: Settings) -> dict[str, float]:
    """The middle value of each parameter of the foragers alive at the end of a run."""
    async with viewed(run) as reader:
        saved = await reader.recall("fleet")
    if saved is None:
        raise InputError(f"{run}: the run has kept no fleet")
    alive = load_agent(saved, base.reinforcing, base.forager).foragers.values()
    return {f"forager.{key}": median(one.genes[key] for one in alive) for key in INHERITED}


def _check_outputs(outputs: list[Path]) -> None:
    """Raises an error before hours of work if an output cannot be written."""
    for path in outputs:
        if path.suffix not in SUFFIXES:
            raise OutputError(f"{path}: give a name that ends in .yaml (settings) or .html (report)")
        options.check_place(path)


@contextmanager
def _folder(outputs: list[Path], quiet: bool) -> Iterator[Path]:
    """Folder for the trials: beside the first output, or a temporary one."""
    if outputs:
        yield outputs[0].with_suffix(".tuning")
        return
    if not quiet:
        typer.echo("forager: without -O the trials are not kept", err=True)
    with TemporaryDirectory(prefix="forager-tuning-") as name:
        yield Path(name)


def _write(outputs: list[Path], outcome: TuningOutcome, now: float) -> None:
    for path in outputs:
        text = tuning_report(outcome, now) if path.suffix == ".html" else tuned_yaml(outcome, now)
        options.write_whole(path, text)
