"""`forager demo`: serves an invented news site on loopback and crawls it in accelerated time."""

import asyncio
import json as jsonlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from forager.arrays import FloatArray
from forager.cli.export import write_report
from forager.cli.log import CrawlLog
from forager.cli.options import (
    Config,
    Json,
    Kind,
    LogAs,
    NoDashboard,
    Quiet,
    Set,
    TimeLimit,
    Verbose,
    adapted,
    loaded,
    time_given,
)
from forager.cli.runner import live_view, logged_crawl, run_crawl, run_facts, run_live, show_dashboard, write_statistics
from forager.clock import Clock, FastClock, WallClock
from forager.dashboard.watched import Appeared, Coverage
from forager.engine.crawl import Crawl
from forager.events import Event, Told
from forager.measures import Delay, delay, found_young
from forager.newsroom.newsroom import Newsroom, serve
from forager.newsroom.truth import Published
from forager.report.account import Account
from forager.report.phrases import day_only, span
from forager.settings import Settings
from forager.terms import Url

LOOPBACK = ("127.0.0.0/8",)
CONTACT = "Forager/0.1 (demo; +http://127.0.0.1/)"


def demo(
    time_limit: TimeLimit = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Another site, another luck.")] = None,
    kind: Kind = None,
    config: Config = None,
    set_: Set = None,
    no_dashboard: NoDashboard = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_format: LogAs = None,
    json: Json = False,
) -> None:
    """Watch a living news site being crawled, on this machine alone."""
    given = adapted(loaded(config, set_).settings, kind, dashboard=not no_dashboard)
    settings = arranged(given, time_limit, seed)
    folder = settings.demo.folder or Path("runs") / f"demo-{WallClock().now():.0f}"
    log = CrawlLog(quiet=quiet, verbose=verbose, form=log_format)
    facts = run_live(run_demo(settings, folder, log)) | {"run_dir": str(folder)}
    write_statistics(facts, folder)
    write_report(folder, folder / "report.html")
    typer.echo(jsonlib.dumps(facts) if json else _text(facts))


def arranged(settings: Settings, time_limit: str | None, seed: int | None) -> Settings:
    """Settings of the demo: allow loopback, and scale politeness to news time."""
    limit = time_given(time_limit)
    given = settings.demo.time_limit if limit is None else limit
    seed = settings.seed if seed is None else seed
    return replace(
        settings,
        seed=seed,
        demo=replace(settings.demo, time_limit=given),
        newsroom=replace(settings.newsroom, seed=seed),
        live=replace(settings.live, allow_addresses=LOOPBACK, user_agent=CONTACT),
        timetable=replace(
            settings.timetable, download_delay=settings.demo.download_delay, latency_factor=0.0, longest_wait=86_400.0
        ),
    )


async def run_demo(settings: Settings, folder: Path, log: CrawlLog) -> dict[str, Any]:
    """Serves the site, crawls into the folder, and compares the stories with what was really published."""
    clock = FastClock(settings.newsroom.start + settings.demo.morning, settings.demo.speed)
    found, stopping = FoundTimes(), asyncio.Event()
    async with AsyncExitStack() as stack:
        newsroom = await stack.enter_async_context(serve(Newsroom(settings.newsroom, clock), clock))
        opening = logged_crawl(folder, settings, newsroom.homes, clock, log, found)
        opened, chronicle = await stack.enter_async_context(opening)
        crawl, began = opened.crawl, clock.now()
        watched = live_view("the demo", crawl, chronicle, opened.wire, _coverage(newsroom, found, began, clock))
        await stack.enter_async_context(show_dashboard(watched, chronicle, settings.dashboard, log.dashboard(clock)))
        limit = settings.demo.time_limit * clock.speed
        await run_crawl(crawl, newsroom.homes, opened.account, clock, time_limit=limit, stopping=stopping, log=log)
        ended = clock.now()
        measured = _measured(newsroom, found, began + settings.demo.warm_up * (ended - began), ended)
    return _facts(opened.account, crawl, measured, ended - began, settings)


class FoundTimes:
    """Journal reader that records when each story was first found."""

    def __init__(self) -> None:
        self._times: dict[Url, float] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, Told):
            self._times.setdefault(event.url, event.at)

    def of(self, truth: Sequence[Published]) -> tuple[FloatArray, FloatArray]:
        """When each of these stories was published, and when it was found; nan if never."""
        found = [self._times.get(story.url, np.nan) for story in truth]
        return np.array([story.published for story in truth]), np.array(found)


def _measured(newsroom: Newsroom, found: FoundTimes, since: float, until: float) -> Delay:
    """Delay and coverage against the newsroom's record."""
    return delay(*found.of(newsroom.truth.published_between(since, until)))


def _coverage(newsroom: Newsroom, found: FoundTimes, began: float, clock: Clock) -> Coverage:
    """Coverage against the newsroom's record of what it published."""

    def appeared() -> Appeared:
        published, when = found.of(newsroom.truth.published_between(began, clock.now()))
        return published, found_young(published, when)

    return Coverage("all stories published", appeared)


def _facts(account: Account, crawl: Crawl, measured: Delay, span_of_news: float, settings: Settings) -> dict[str, Any]:
    return run_facts(account, crawl.agent, crawl.scheduler, crawl.retraining, crawl.world.keeper.skipped) | {
        "news_hours": round(span_of_news / 3600, 1),
        "published": measured.stories,
        "found": measured.found,
        "coverage": _number(measured.coverage),
        "found_median_s": _number(measured.median),
        "found_p90_s": _number(measured.p90),
        "late_s": _number(measured.late),
    }


def _number(value: float) -> float | None:
    return round(value, 4) if np.isfinite(value) else None


def _text(facts: dict[str, Any]) -> str:
    """The summary as text."""
    coverage = "–" if facts["coverage"] is None else f"{facts['coverage']:.0%}"
    errors = ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"
    foragers = facts["foragers"]
    lines = [
        f"{facts['news_hours']} hours of news were crawled: {facts['pages']} pages, {facts['requests']} requests "
        f"({facts['not_modified']} answered with 304, unchanged), {facts['wire_bytes'] / 1e6:.1f} MB.",
        f"{facts['stories']} stories were told, median delay {span(facts['delay_median_s'])}{day_only(facts)}, "
        f"{facts['requests_per_story'] or '–'} requests per story.",
        f"Of {facts['published']} stories published after the warm-up {facts['found']} were found: coverage {coverage}, "
        f"delay {span(facts['found_median_s'])} (median), {span(facts['found_p90_s'])} (nine in ten).",
        f"Fleet: {foragers['alive']} foragers alive, {foragers['born']} born, {foragers['deleted']} deleted. Errors: {errors}.",
    ]
    lines += [
        f"  {name}: {one['stories']} stories, median delay {span(one['delay_median_s'])}, {one['requests']} requests, "
        f"found first by {', '.join(f'{channel} ({count})' for channel, count in one['channels'].items()) or '–'}"
        for name, one in facts["sites"].items()
    ]
    lines.append(f"Report: {facts['run_dir']}/report.html   Stories: forager export {facts['run_dir']}")
    return "\n".join(lines)
