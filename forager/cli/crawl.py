"""`forager crawl`: a live crawl of news sites into a run directory; again on the same directory, it goes on."""

import asyncio
import json as jsonlib
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from forager.assembly import make_crawl, open_wire, require_contact
from forager.cli.log import Log
from forager.cli.options import Config, Json, LogAs, NoDashboard, Quiet, Set, TimeLimit, Verbose, loaded, time_given
from forager.cli.outputs import tell
from forager.cli.running import live_view, run_crawl, run_live, shown
from forager.cli.seeds import check_seeds, read_seeds
from forager.cli.settings import write_config
from forager.cli.statistics import skipped_facts, write_statistics
from forager.cli.view import span
from forager.clock import WallClock
from forager.compiler import compiler_beside
from forager.dashboard.chronicle import Chronicle
from forager.engine.summary import Summary, fleet_facts
from forager.errors import Exit, InputError
from forager.exports.formats import writer_for
from forager.exports.outlet import Outlet
from forager.exports.protocol import Mode, Writer
from forager.foragers.settings import ForagerKind
from forager.pages.reader import load_slow_parts
from forager.settings import Settings
from forager.store.sqlite import SqliteStore
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
    append: Annotated[Path | None, typer.Option("-o", help="Append stories to a .jsonl or .csv file.")] = None,
    overwrite: Annotated[
        Path | None, typer.Option("-O", help="Write stories to a new .jsonl, .csv, .parquet or .xml.")
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
        raise _no_seeds(run_dir)
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
    writer: Writer | None,
    limit: float | None,
    log: Log,
) -> tuple[dict[str, Any], bool]:
    """The account of the crawl, and whether writing the stories failed."""
    clock, summary, stopping = WallClock(), Summary(), asyncio.Event()
    store = await SqliteStore.open(run_dir, settings.store)
    try:
        seeds = await _seeds(store, seeds, run_dir)
        write_config(settings, run_dir)
        async with AsyncExitStack() as stack:
            stack.enter_context(log.kept_in(run_dir))
            compiler = await stack.enter_async_context(compiler_beside(log.saying("kernels", clock), load_slow_parts))
            wire = await stack.enter_async_context(
                open_wire(settings, clock, run_dir / "warc", processes=settings.crawl.processes)
            )
            chronicle = Chronicle()
            crawl = await make_crawl(settings, clock, wire, store, seeds, [summary, chronicle, log], compiler)
            for name in archives:
                from forager.imports.histories import histories  # slow to load, and few crawls have them

                pages, captures = await crawl.warm_up(seeds, histories(name))
                log.say("history", f"{captures:,} captures of {pages:,} pages from {name}", at=clock.now())
            watched = live_view(str(run_dir), crawl, chronicle, wire)
            await stack.enter_async_context(shown(watched, chronicle, settings.dashboard, log.dashboard(clock)))
            outlet = None if writer is None else await stack.enter_async_context(Outlet(store, writer, _warn))
            await run_crawl(
                crawl,
                seeds,
                summary,
                clock,
                time_limit=limit,
                stopping=stopping,
                log=log,
                beside=() if outlet is None else (outlet.follow(stopping),),
            )
        facts = summary.facts() | {
            "foragers": fleet_facts(crawl.agent),
            "budget": {"fleet": crawl.world.shares.turns[0], "recrawl": crawl.world.shares.turns[1]},
            "skipped": skipped_facts(crawl.world.keeper.skipped),
        }
        write_statistics(facts, run_dir)
        return facts, outlet is not None and outlet.failed
    finally:
        await store.close()


async def _seeds(store: SqliteStore, given: list[Url], run_dir: Path) -> list[Url]:
    """Where the crawl began before, and what is given now."""
    kept = await store.recall("seeds")
    seeds = list(dict.fromkeys([*msgspec.json.decode(kept or b"[]", type=list[Url]), *given]))
    if not seeds:
        raise _no_seeds(run_dir)
    await store.keep("seeds", msgspec.json.encode(seeds))
    return seeds


def _no_seeds(run_dir: Path) -> InputError:
    return InputError(f"{run_dir}: a new crawl needs seeds; give --seed-file or --seed")


def _warn(line: str) -> None:
    typer.echo(f"forager: {line}", err=True)


def _text(facts: dict[str, Any], run_dir: Path) -> str:
    errors = ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"
    skipped = ", ".join(f"{one['links']} × {why}" for why, one in facts["skipped"].items()) or "none"
    foragers = facts["foragers"]
    lines = [
        f"{facts['stories']} stories, median delay {span(facts['delay_median_s'])}, "
        f"{facts['requests']} requests ({facts['not_modified']} unchanged), {facts['pages']} pages; errors: {errors}.",
        f"Links left out: {skipped}.",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted.",
        f"Everything is in {run_dir}; the same command goes on from here.",
    ]
    return "\n".join(lines)
