"""`forager tune`: better settings found on the first part of a recording, judged once on the rest."""

import json as jsonlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from forager.cli.options import Config, Json, Quiet, Set, TimeLimit, time_given
from forager.cli.outputs import check_place, write_whole
from forager.cli.preparing import once
from forager.cli.tapes import budget as per_hour
from forager.cli.tapes import settings_for, tape_folder, usual_budget
from forager.cli.tune_view import Progress, machine_readable, say
from forager.clock import WallClock
from forager.errors import Exit, InputError, OutputError
from forager.tuning.goals import goals_named
from forager.tuning.space import Space
from forager.tuning.space_file import read_space, shown
from forager.tuning.tuning import Outcome, Tuning, Wishes
from forager.world.tape.columns import load

SUFFIXES = (".yaml", ".yml", ".html")


def tune(
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
    time_limit: TimeLimit = None,
    space: Annotated[Path | None, typer.Option(help="YAML that narrows, fixes or removes settings.")] = None,
    show_space: Annotated[bool, typer.Option("--show-space", help="Print the space in that form and stop.")] = False,
    budget: Annotated[str, typer.Option(help="Downloads per simulated hour, such as 60/h.")] = "",
    held_out: Annotated[str, typer.Option(help="Part of the recording to judge by, never trained on.")] = "50%",
    seeds: Annotated[int, typer.Option(min=2, help="Replays of old and new on the held-out part.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Replays of each trial, each with its own luck.")] = 2,
    processes: Annotated[int, typer.Option(min=0, help="Processes; 0: one for each core.")] = 0,
    preset: Annotated[str, typer.Option(help="A named set of settings to start from: paper.")] = "",
    output: Annotated[
        list[Path] | None,
        typer.Option("-O", "--output", help="tuned.yaml for the settings, report.html for plots; may be repeated."),
    ] = None,
    config: Config = None,
    set_: Set = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find better settings on the first part of a recording and judge them on the rest.

    Every finished trial is kept beside the first -O: Ctrl-C or a crash loses none, and the same command goes on.
    """
    base = settings_for(config, set_ or (), preset)
    searched = read_space(space, base) if space else Space(base)
    if show_space:
        typer.echo(shown(searched.dimensions), nl=False)
        return
    if tape is None:
        raise InputError("which recording? give a tape, or the run directory of a crawl")
    goals, limit, clock = goals_named(for_ or ()), time_given(time_limit), WallClock()
    outputs = output or []
    _check_outputs(outputs)
    with tape_folder(tape) as place, _folder(outputs, quiet) as folder:
        recorded = load(place)
        wishes = Wishes(
            goals,
            per_hour(budget) if budget else usual_budget(recorded),
            trials,
            _share(held_out),
            seeds,
            repeats,
            processes or os.cpu_count() or 1,
        )
        with once("tune", quiet=quiet), Tuning(recorded, folder, searched, wishes) as tuning:
            progress = Progress(tuning, limit, clock, quiet=quiet)
            try:
                tuning.search(expired=progress.expired, tell=progress.tell)
                outcome = tuning.outcome(progress.say)
            except KeyboardInterrupt:
                outcome = None
            finally:
                progress.end()
            facts = machine_readable(tuning, outcome)
            if outcome is not None:
                _write(outputs, outcome, clock.now())
            typer.echo(jsonlib.dumps(facts)) if json else say(tuning, outcome, outputs)
    if outcome is None:
        raise typer.Exit(Exit.INTERRUPTED)


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"expected a share such as 50% or 0.5, not {text!r}", param_hint="--held-out")
    return value


def _check_outputs(outputs: list[Path]) -> None:
    """Find out before hours of work what cannot be written."""
    for path in outputs:
        if path.suffix not in SUFFIXES:
            raise OutputError(f"{path}: give a name that ends in .yaml (settings) or .html (report)")
        check_place(path)


@contextmanager
def _folder(outputs: list[Path], quiet: bool) -> Iterator[Path]:
    """Where the trials are kept: beside the first output, or nowhere for long."""
    if outputs:
        yield outputs[0].with_suffix(".tuning")
        return
    if not quiet:
        typer.echo("forager: without -O the trials are not kept", err=True)
    with TemporaryDirectory(prefix="forager-tuning-") as name:
        yield Path(name)


def _write(outputs: list[Path], outcome: Outcome, now: float) -> None:
    from forager.tuning.report import report
    from forager.tuning.writing import tuned_yaml

    for path in outputs:
        text = report(outcome, now) if path.suffix == ".html" else tuned_yaml(outcome, now)
        write_whole(path, text)
