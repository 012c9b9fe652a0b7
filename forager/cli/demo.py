"""`forager demo`: a living news site, served on loopback and crawled for real, in accelerated time."""

import asyncio
import json as jsonlib
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from forager.assembly import make_crawl, open_wire
from forager.cli.log import Log
from forager.cli.options import Config, Json, LogAs, NoDashboard, Quiet, Set, TimeLimit, Verbose, loaded, time_given
from forager.cli.report import write_report
from forager.cli.running import live_view, run_crawl, run_live, shown
from forager.cli.settings import write_config
from forager.cli.statistics import skipped_facts, write_statistics
from forager.cli.view import span
from forager.clock import Clock, FastClock, WallClock
from forager.compiler import compiler_beside
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.coverage import Coverage, known_truth
from forager.engine.crawl import Crawl
from forager.engine.summary import Summary, fleet_facts
from forager.foragers.settings import ForagerKind
from forager.measures.delay import Delay, delay
from forager.pages.reader import load_slow_parts
from forager.settings import Settings
from forager.store.sqlite import SqliteStore
from forager.world.newsroom.newsroom import Newsroom
from forager.world.newsroom.serve import serve

LOOPBACK = ("127.0.0.0/8",)
CONTACT = "Forager/0.1 (demo; +http://127.0.0.1/)"


def demo(
    time_limit: TimeLimit = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Another site, another luck.")] = None,
    kind: Annotated[ForagerKind | None, typer.Option("--kind", help="WL, RL, WLRL, or the baseline BFS.")] = None,
    config: Config = None,
    set_: Set = None,
    no_dashboard: NoDashboard = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_format: LogAs = None,
    json: Json = False,
) -> None:
    """Watch a living news site being crawled, on this machine alone."""
    settings = arranged(loaded(config, set_).settings, time_limit, seed, kind)
    if no_dashboard:
        settings = replace(settings, dashboard=replace(settings.dashboard, enabled=False))
    folder = settings.demo.folder or Path("runs") / f"demo-{WallClock().now():.0f}"
    log = Log(quiet=quiet, verbose=verbose, form=log_format)
    facts = run_live(run_demo(settings, folder, log)) | {"run_dir": str(folder)}
    write_statistics(facts, folder)
    write_report(folder, folder / "report.html")
    typer.echo(jsonlib.dumps(facts) if json else _text(facts))


def arranged(settings: Settings, time_limit: str | None, seed: int | None, kind: ForagerKind | None) -> Settings:
    """The settings under which the demo runs: loopback allowed, politeness in news time."""
    limit = time_given(time_limit)
    given = settings.demo.time_limit if limit is None else limit
    seed = settings.seed if seed is None else seed
    return replace(
        settings,
        seed=seed,
        demo=replace(settings.demo, time_limit=given),
        newsroom=replace(settings.newsroom, seed=seed),
        forager=replace(settings.forager, kind=kind or settings.forager.kind),
        live=replace(settings.live, allow_addresses=LOOPBACK, user_agent=CONTACT),
        timetable=replace(
            settings.timetable, download_delay=settings.demo.download_delay, latency_factor=0.0, longest_wait=86_400.0
        ),
    )


async def run_demo(settings: Settings, folder: Path, log: Log) -> dict[str, Any]:
    """Serve, crawl into the folder, and compare with what was really published."""
    clock = FastClock(settings.newsroom.start + settings.demo.morning, settings.demo.speed)
    summary, chronicle, stopping = Summary(), Chronicle(), asyncio.Event()
    store = await SqliteStore.open(folder, settings.store)
    try:
        write_config(settings, folder)
        async with AsyncExitStack() as stack:
            stack.enter_context(log.kept_in(folder))
            compiler = await stack.enter_async_context(compiler_beside(log.saying("kernels", clock), load_slow_parts))
            newsroom = await stack.enter_async_context(serve(Newsroom(settings.newsroom, clock), clock))
            wire = await stack.enter_async_context(
                open_wire(settings, clock, folder / "warc", processes=settings.crawl.processes)
            )
            crawl = await make_crawl(settings, clock, wire, store, newsroom.homes, [summary, chronicle, log], compiler)
            began = clock.now()
            watched = live_view("the demo", crawl, chronicle, wire, _coverage(newsroom, summary, began, clock))
            await stack.enter_async_context(shown(watched, chronicle, settings.dashboard, log.dashboard(clock)))
            limit = settings.demo.time_limit * clock.speed
            await run_crawl(crawl, newsroom.homes, summary, clock, time_limit=limit, stopping=stopping, log=log)
            ended = clock.now()
            measured = _measured(newsroom, summary, began + settings.demo.warm_up * (ended - began), ended)
    finally:
        await store.close()
    return _facts(summary, crawl, measured, ended - began, settings)


def _measured(newsroom: Newsroom, summary: Summary, since: float, until: float) -> Delay:
    """Delay and coverage against the truth."""
    told = {story.url: story.at for story in reversed(summary.stories)}
    truth = newsroom.truth.published_between(since, until)
    return delay(
        np.array([story.published for story in truth]), np.array([told.get(story.url, np.nan) for story in truth])
    )


def _coverage(newsroom: Newsroom, summary: Summary, began: float, clock: Clock) -> Coverage:
    """The newsroom knows what it has published."""

    def appeared() -> Iterator[tuple[float, bool]]:
        told = {story.url for story in summary.stories}
        return ((one.published, one.url in told) for one in newsroom.truth.published_between(began, clock.now()))

    return Coverage("all stories published", known_truth(appeared))


def _facts(summary: Summary, crawl: Crawl, measured: Delay, span_of_news: float, settings: Settings) -> dict[str, Any]:
    facts = summary.facts()
    return facts | {
        "kind": settings.forager.kind.value,
        "news_hours": round(span_of_news / 3600, 1),
        "published": measured.stories,
        "found": measured.found,
        "coverage": _number(measured.coverage),
        "delay_median_s": _number(measured.median),
        "delay_p90_s": _number(measured.p90),
        "late_s": _number(measured.late),
        "foragers": fleet_facts(crawl.agent),
        "budget": {"fleet": crawl.world.shares.turns[0], "recrawl": crawl.world.shares.turns[1]},
        "skipped": skipped_facts(crawl.world.keeper.skipped),
    }


def _number(value: float) -> float | None:
    return round(value, 4) if np.isfinite(value) else None


def _text(facts: dict[str, Any]) -> str:
    """The summary for people."""
    coverage = "–" if facts["coverage"] is None else f"{facts['coverage']:.0%}"
    errors = ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"
    foragers = facts["foragers"]
    lines = [
        f"{facts['news_hours']} hours of news were crawled: {facts['pages']} pages, {facts['requests']} requests "
        f"({facts['not_modified']} answered with 304, unchanged), {facts['wire_bytes'] / 1e6:.1f} MB.",
        f"{facts['stories']} stories were told, {facts['requests_per_story'] or '–'} requests per story.",
        f"Of {facts['published']} stories published after the warm-up {facts['found']} were found: coverage {coverage}, "
        f"delay {span(facts['delay_median_s'])} (median), {span(facts['delay_p90_s'])} (nine in ten).",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted. Errors: {errors}.",
    ]
    lines += [
        f"  {name}: {one['stories']} stories, median delay {span(one['delay_median_s'])}, {one['requests']} requests, "
        f"found first by {', '.join(f'{channel} ({count})' for channel, count in one['channels'].items()) or '–'}"
        for name, one in facts["sites"].items()
    ]
    lines.append(f"Report: {facts['run_dir']}/report.html   Stories: forager export {facts['run_dir']}")
    return "\n".join(lines)
