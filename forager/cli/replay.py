"""`forager replay`: a fleet and a recrawl policy over a recording, in the recording's own time."""

import asyncio
import json as jsonlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli.log import Log
from forager.cli.options import Config, Json, LogFormat, NoDashboard, Quiet, Set, TimeLimit, time_given
from forager.cli.outputs import tell
from forager.cli.preparing import once
from forager.cli.replay_stories import ReplayedStories, stories_writer
from forager.cli.replay_view import play_watched
from forager.cli.statistics import run_facts
from forager.cli.tapes import budget as per_hour
from forager.cli.tapes import settings_for, tape_facts, warm_up_of
from forager.cli.view import moment, span
from forager.dashboard.chronicle import Chronicle
from forager.engine.journal import Journal, JournalFile
from forager.errors import InputError, OutputError
from forager.exports.protocol import Writer
from forager.foragers.settings import ForagerKind
from forager.library.playback import make_replay, tape_folder, usual_budget
from forager.library.seed_list import check_seeds, read_seeds
from forager.reports.account import Account
from forager.reports.showing import figure
from forager.settings import Settings
from forager.simulation.account import Figures
from forager.simulation.compare import FIGURES
from forager.simulation.records import ReplayRecords
from forager.simulation.run import Replay
from forager.terms import Url
from forager.world.tape.columns import Tape, load

if TYPE_CHECKING:  # slow to load, and a tape needs none of it
    from forager.assembly import Reader


def replay(
    tape: Annotated[Path, typer.Argument(help="A tape, or the run directory of a crawl; with --bytes a WARC, too.")],
    kind: Annotated[ForagerKind | None, typer.Option("--kind", help="WL, RL, WLRL, or the baseline BFS.")] = None,
    budget: Annotated[str, typer.Option(help="Downloads per simulated hour, such as 60/h.")] = "",
    seed: Annotated[list[str] | None, typer.Option("--seed", help="A URL to start from; may be repeated.")] = None,
    seed_file: Annotated[
        list[Path] | None, typer.Option("--seed-file", help="URLs to start from, one per line.")
    ] = None,
    bytes_: Annotated[
        bool, typer.Option("--bytes", help="Crawl a run directory's or any WARC's recorded bytes, by all rules.")
    ] = False,
    warm_up: Annotated[str, typer.Option(help="News of this first time does not count, such as 12h.")] = "0",
    preset: Annotated[str, typer.Option(help="A named set of settings: paper.")] = "",
    append: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Append stories to a .jsonl or .csv file.")
    ] = None,
    overwrite: Annotated[
        str | None,
        typer.Option("-O", metavar="FILE", help="Write stories to a new .jsonl, .csv, .parquet or .xml."),
    ] = None,
    time_limit: TimeLimit = None,
    journal: Annotated[Path | None, typer.Option(help="Write every event to this file, JSON lines.")] = None,
    no_dashboard: NoDashboard = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Keep the dashboard open after the end, until Ctrl-C.")
    ] = False,
    config: Config = None,
    set_: Set = None,
    quiet: Quiet = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="A line for every download.")] = False,
    log_format: Annotated[
        LogFormat | None, typer.Option(help="Log what happens on standard error, as text or JSON.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a fleet over a recording in simulated time and say what it would have found, how soon, at what cost."""
    if bytes_ and config is None and (tape / "config.yaml").is_file():
        config = tape / "config.yaml"  # as it was crawled
    settings = settings_for(config, set_ or (), preset)
    if kind is not None:
        settings = replace(settings, forager=replace(settings.forager, kind=kind))
    if no_dashboard:
        settings = replace(settings, dashboard=replace(settings.dashboard, enabled=False))
    given = [url for path in seed_file or () for url in read_seeds(path)]
    given += check_seeds(("--seed", text) for text in seed or ())
    limit = time_given(time_limit)
    log = Log(quiet=quiet, verbose=verbose, form=log_format)
    logs = [log] if verbose or log_format is not None else []
    writer = stories_writer(append, overwrite)
    if bytes_:
        from forager.cli.replay_bytes import text_of

        if serve:
            raise InputError("--serve: a crawl of recorded bytes has no dashboard; leave out --serve or --bytes")
        per = per_hour(budget) if budget else None
        facts = _replay_bytes(
            tape, settings, given, limit, writer, journal, logs, per, lambda length: warm_up_of(warm_up, length)
        )
        tell(jsonlib.dumps(facts) if json else text_of(facts), append, overwrite)
        return
    with tape_folder(tape) as folder:
        world = load(folder)
        warm = warm_up_of(warm_up, world.end - world.start)
        account = Account()
        chronicle, records = Chronicle(account), ReplayRecords(world)
        readers: list[Reader] = [account.hear]
        if settings.dashboard.enabled:
            readers += [chronicle, records]
        stories = None if writer is None else ReplayedStories(writer)
        if stories is not None:
            readers.append(stories)
        readers += logs
        file = None if journal is None else _opened(journal)
        try:
            written = Journal(readers if file is None else [*readers, JournalFile(file)])
            per = per_hour(budget) if budget else usual_budget(world)
            run = make_replay(world, settings, seeds=given, budget=per, time_limit=limit, tell=written.write)
            if log.is_for_people:
                typer.echo(f"forager: {world!r}, {per:g} downloads per hour", err=True)

            def finish() -> None:
                figures = run.figures(warm_up=warm)
                facts = _facts(account, run, world, figures)
                tell(jsonlib.dumps(facts) if json else _text(facts, figures, world, run.end), append, overwrite)

            watching = play_watched(
                run, chronicle, records, settings.dashboard, tape.resolve().name, log=log, finish=finish, serve=serve
            )
            with once(f"replay-{settings.forager.kind.value}", quiet=not log.is_for_people):
                asyncio.run(watching)
            if stories is not None:
                stories.close()
        finally:
            if file is not None:
                file.close()


def _replay_bytes(
    path: Path,
    settings: Settings,
    seeds: list[Url],
    limit: float | None,
    writer: Writer | None,
    journal: Path | None,
    logs: list[Log],
    per_hour: float | None,
    warm_up: Callable[[float], float],
) -> dict[str, Any]:
    from forager.cli.replay_bytes import crawl_bytes, write_stories

    with ExitStack() as stack:
        readers: list[Reader] = [*logs]
        if journal is not None:
            readers.append(JournalFile(stack.enter_context(_opened(journal))))
        facts, store = crawl_bytes(path, settings, seeds, limit, readers, budget=per_hour, warm_up=warm_up)
    if writer is not None:
        write_stories(store, writer)
    return facts


def _facts(account: Account, run: Replay, tape: Tape, figures: Figures) -> dict[str, Any]:
    return run_facts(account, run.agent) | {
        "tape": tape_facts(tape),
        "replay": {name: _plain(of(figures)) for name, of in FIGURES.items()},
    }


def _opened(path: Path) -> Any:
    try:
        return path.open("wb")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None


def _plain(value: float) -> float | None:
    """JSON knows no nan."""
    return None if value != value else value


def _text(facts: dict[str, Any], figures: Figures, tape: Tape, run_end: float) -> str:
    delay, foragers = figures.delay, facts["foragers"]
    found = f"{delay.found} of {delay.stories} stories found while young"
    lines = [
        f"{moment(tape.start)} to {moment(run_end)}, replayed.",
        f"{found} ({figure(delay.coverage, '.1%')}; lasting ones {figure(delay.lasting, '.1%')}), "
        f"median delay {span(_plain(delay.median))}, late {span(_plain(delay.late))}."
        if delay.stories
        else "No story appeared in this time.",
        f"{facts['requests']} downloads, {figure(figures.efficiency.requests_per_story, '.1f')} per story, "
        f"{facts['not_modified']} of them unchanged, {figure(figures.unrecorded_share, '.1%')} of them of pages not on the "
        "tape then.",
        f"Freshness {figure(figures.freshness, '.3f')}, age {span(_plain(figures.age))}.",
        f"Stories per download: fleet {figure(figures.fleet_hits, '.3f')}, recrawl {figure(figures.recrawl_hits, '.3f')} "
        f"({figure(figures.recrawl_share, '.0%')} of the downloads).",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted.",
    ]
    return "\n".join(lines)
