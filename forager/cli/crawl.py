"""`forager crawl`: crawls news sites live into a run directory; a second call on the same directory continues the run."""

import asyncio
import json as jsonlib
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from forager.assembly import require_contact
from forager.cli.log import CrawlLog
from forager.cli.options import (
    AppendTo,
    Config,
    Json,
    Kind,
    LogAs,
    NoDashboard,
    Quiet,
    SeedFiles,
    SeedUrls,
    Set,
    TimeLimit,
    Verbose,
    WriteTo,
    adapted,
    given_seeds,
    loaded,
    stories_writer,
    tell,
    time_given,
)
from forager.cli.runner import live_view, logged_crawl, run_crawl, run_facts, run_live, show_dashboard, write_statistics
from forager.clock import WallClock
from forager.errors import Exit, InputError
from forager.output.outlet import Mode, Outlet, StoryWriter
from forager.report.phrases import day_only, span
from forager.settings import Settings
from forager.terms import Url


def crawl_command(
    run_dir: Annotated[Path, typer.Argument(help="Where everything is kept; an existing run goes on.")] = Path(
        "runs/crawl"
    ),
    seed_file: SeedFiles = None,
    seed: SeedUrls = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(help="What archives know of the pages (CDX, TimeMap, WARC, tape …): rates to begin with."),
    ] = None,
    kind: Kind = None,
    append: AppendTo = None,
    overwrite: WriteTo = None,
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
    settings = adapted(loaded(config, set_).settings, kind, dashboard=not no_dashboard)
    require_contact(settings)
    seeds = given_seeds(seed_file, seed)
    writer = stories_writer(append, overwrite, Mode.REWRITE)
    log = CrawlLog(quiet=quiet, verbose=verbose, form=log_format)
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
    log: CrawlLog,
) -> tuple[dict[str, Any], bool]:
    """Returns the account of the crawl, and whether writing the stories failed."""
    clock, stopping = WallClock(), asyncio.Event()
    async with AsyncExitStack() as stack:
        opening = logged_crawl(run_dir, settings, seeds, clock, log)
        opened, chronicle = await stack.enter_async_context(opening)
        crawl = opened.crawl
        for name in archives:
            from forager.importers.files import histories

            pages, captures = await crawl.warm_up(opened.seeds, histories(name))
            log.say("history", f"{captures:,} captures of {pages:,} pages from {name}", at=clock.now())
        watched = live_view(str(run_dir), crawl, chronicle, opened.wire)
        await stack.enter_async_context(show_dashboard(watched, chronicle, settings.dashboard, log.dashboard(clock)))
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
    facts = run_facts(opened.account, crawl.agent, crawl.scheduler, crawl.retraining, crawl.world.keeper.skipped)
    write_statistics(facts, run_dir)
    return facts, outlet is not None and outlet.failed


def _warn(line: str) -> None:
    typer.echo(f"forager: {line}", err=True)


def _text(facts: dict[str, Any], run_dir: Path) -> str:
    errors = ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"
    skipped = ", ".join(f"{one['links']} × {why}" for why, one in facts["skipped"].items()) or "none"
    foragers = facts["foragers"]
    lines = [
        f"{facts['stories']} stories, median delay {span(facts['delay_median_s'])}{day_only(facts)}, "
        f"{facts['requests']} requests ({facts['not_modified']} unchanged), {facts['pages']} pages; errors: {errors}.",
        f"Links left out: {skipped}.",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted.",
        f"Everything is in {run_dir}; the same command goes on from here.",
    ]
    return "\n".join(lines)
