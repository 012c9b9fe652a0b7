"""`forager crawl`: crawls news sites live into a run directory; a second call on the same directory continues the run."""

import asyncio
import json as jsonlib
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from forager.assembly import Reader, open_crawl, require_contact
from forager.cli.log import Log
from forager.cli.options import (
    Config,
    Json,
    LogAs,
    NoDashboard,
    Quiet,
    Set,
    TimeLimit,
    Verbose,
    loaded,
    tell,
    time_given,
)
from forager.cli.progress import clock_span, day_only
from forager.cli.runner import live_view, run_crawl, run_live, shown
from forager.cli.statistics import run_facts, write_statistics
from forager.clock import WallClock
from forager.core.parameters import ForagerKind
from forager.dashboard.chronicle import Chronicle
from forager.errors import Exit, InputError
from forager.library.seed_list import check_seeds, read_seeds
from forager.output.formats import writer_for
from forager.output.outlet import Mode, Outlet, StoryWriter
from forager.report.account import Account
from forager.settings import Settings
from forager.terms import Url


def crawl(
    run_dir: Annotated[Path, typer.Argument(help="Where everything is kept; an existing run goes on.")] = Path(
        "runs/crawl"
    ),
    seed_file: Annotated[
        list[Path] | None, typer.Option("--seed-file", help="URLs to start from, one per line.")
    ] = None,
    seed: Annotated[list[str] | None, typer.Option("--seed", help="A URL to start from; may be repeated.")] = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(help="What archives know of the pages (CDX, TimeMap, WARC, tape …): rates to begin with."),
    ] = None,
    kind: Annotated[ForagerKind | None, typer.Option("--kind", help="WL, RL, WLRL, or the baseline BFS.")] = None,
    append: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Append stories to a .jsonl or .csv file.")
    ] = None,
    overwrite: Annotated[
        str | None,
        typer.Option("-O", metavar="FILE", help="Write stories to a new .jsonl, .csv, .parquet or .xml."),
    ] = None,
    time_limit: TimeLimit = None,
    no_dashboard: NoDashboard = False,
    config: Config = None,
    set_: Set = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_format: LogAs = None,
    json: Json = False,
) -> None:
    """Crawl news sites and tell new stories as they appear."""
    settings = loaded(config, set_).settings
    if kind is not None:
        settings = replace(settings, forager=replace(settings.forager, kind=kind))
    if no_dashboard:
        settings = replace(settings, dashboard=replace(settings.dashboard, enabled=False))
    require_contact(settings)
    if append is not None and overwrite is not None:
        raise typer.BadParameter("give -o or -O, not both")
    seeds = [url for path in seed_file or () for url in read_seeds(path)]
    seeds += check_seeds(("--seed", text) for text in seed or ())
    writer = writer_for(append, Mode.APPEND) if append else writer_for(overwrite, Mode.REWRITE) if overwrite else None
    log = Log(quiet=quiet, verbose=verbose, form=log_format)
    if not seeds and not (run_dir / "crawl.db").exists():
        raise InputError(f"{run_dir}: a new crawl needs seeds; give --seed-file or --seed")
    archives = [str(path) for path in history or ()]
    facts, failed = run_live(_crawl(run_dir, settings, seeds, archives, writer, time_given(time_limit), log))
    tell(jsonlib.dumps(facts) if json else _text(facts, run_dir), append, overwrite)
    if failed:
        raise typer.Exit(Exit.OUTPUT)


async def _crawl(
    run_dir: Path,
    settings: Settings,
    seeds: list[Url],
    archives: list[str],
    writer: StoryWriter | None,
    limit: float | None,
    log: Log,
) -> tuple[dict[str, Any], bool]:
    """Returns the account of the crawl, and whether writing the stories failed."""
    clock, stopping = WallClock(), asyncio.Event()
    chronicle: Chronicle

    def readers(account: Account) -> list[Reader]:
        nonlocal chronicle
        chronicle = Chronicle(account)
        return [chronicle, log]

    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(
            open_crawl(run_dir, settings, seeds, clock, readers, say=log.saying("kernels", clock))
        )
        stack.enter_context(log.kept_in(run_dir))
        crawl = opened.crawl
        for name in archives:
            from forager.importers.files import histories

            pages, captures = await crawl.warm_up(opened.seeds, histories(name))
            log.say("history", f"{captures:,} captures of {pages:,} pages from {name}", at=clock.now())
        watched = live_view(str(run_dir), crawl, chronicle, opened.wire)
        await stack.enter_async_context(shown(watched, chronicle, settings.dashboard, log.dashboard(clock)))
        outlet = None if writer is None else await stack.enter_async_context(Outlet(opened.store, writer, _warn))
        await run_crawl(
            crawl,
            opened.seeds,
            opened.account,
            clock,
            time_limit=limit,
            stopping=stopping,
            log=log,
            beside=() if outlet is None else (outlet.follow(stopping),),
        )
    facts = run_facts(opened.account, crawl.agent, crawl.world.keeper.skipped)
    write_statistics(facts, run_dir)
    return facts, outlet is not None and outlet.failed


def _warn(line: str) -> None:
    typer.echo(f"forager: {line}", err=True)


def _text(facts: dict[str, Any], run_dir: Path) -> str:
    errors = ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"
    skipped = ", ".join(f"{one['links']} × {why}" for why, one in facts["skipped"].items()) or "none"
    foragers = facts["foragers"]
    lines = [
        f"{facts['stories']} stories, median delay {clock_span(facts['delay_median_s'])}{day_only(facts)}, "
        f"{facts['requests']} requests ({facts['not_modified']} unchanged), {facts['pages']} pages; errors: {errors}.",
        f"Links left out: {skipped}.",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted.",
        f"Everything is in {run_dir}; the same command goes on from here.",
    ]
    return "\n".join(lines)
