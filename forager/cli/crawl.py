"""`forager crawl` crawls news sites live into a run directory; a second call on the same directory continues the run.

`forager demo` serves an invented news site on loopback and crawls it in accelerated time.
"""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from forager.arrays import FloatArray
from forager.assembly import require_contact
from forager.cli import options
from forager.cli.log import CrawlLog
from forager.cli.runner import (
    counts_line,
    fleet_line,
    run_crawl,
    run_facts,
    run_live,
    topic_lines,
    watched_crawl,
    write_statistics,
)
from forager.clock import Clock, FastClock, WallClock, in_thread
from forager.dashboard.watched import Appeared, Coverage
from forager.errors import Exit, InputError
from forager.events import Event, Told
from forager.measures import delay, found_young
from forager.output.outlet import Mode, Outlet, StoryWriter
from forager.pages.urls import site
from forager.report.phrases import day_only, json_number, shown, span
from forager.settings import Settings, changed_keys
from forager.terms import Url

if TYPE_CHECKING:  # only the demo needs one
    from forager.newsroom.newsroom import Newsroom


def crawl_command(
    run_dir: Annotated[Path, typer.Argument(help="Where everything is kept; an existing run goes on.")] = Path(
        "runs/crawl"
    ),
    seed_file: options.SeedFiles = None,
    seed: options.SeedUrls = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(help="What archives know of the pages (CDX, TimeMap, WARC, tape …): rates to begin with."),
    ] = None,
    kind: options.KindOption = None,
    append: options.AppendTo = None,
    overwrite: options.WriteTo = None,
    time_limit: options.TimeLimit = None,
    no_dashboard: options.NoDashboard = False,
    config: options.Config = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log_format: options.LogAs = None,
    json: options.Json = False,
) -> None:
    """Crawl news sites and report new stories as they appear.

    --json prints what statistics.json in the run directory holds: stories, delay_median_s, delay_p90_s, requests,
    not_modified, wire_bytes, outcomes, channels and errors, all these for each of `sites` too; requests_per_story, changes,
    pages, visits, day_only, budget, cycles, recrawl, kind, foragers, profit, on_topic, off_topic, cannot_tell, topic_doubt
    and skipped.
    """
    settings = options.settings_for(config, set_, kind=kind, dashboard=not no_dashboard)
    limit, seeds = options.time_given(time_limit), options.given_seeds(seed_file, seed)
    writer = options.stories_writer(append, overwrite, Mode.REWRITE)
    require_contact(settings)
    log = CrawlLog(quiet=quiet, verbose=verbose, form=log_format)
    if not seeds and not (run_dir / "crawl.db").exists():
        raise InputError(f"{run_dir}: a new crawl needs seeds; give --seed-file or --seed")
    archives = [str(path) for path in history or ()]
    facts, nothing, failed = run_live(_crawl(run_dir, settings, seeds, archives, writer, limit, log))
    options.print_result(facts, lambda: _text(facts, run_dir, nothing), append, overwrite, json=json)
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
) -> tuple[dict[str, Any], str, bool]:
    """Returns the account of the crawl, why no page was read, if so, and whether writing the stories failed."""
    clock = WallClock()
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(watched_crawl(run_dir, settings, seeds, clock, log))
        for name in archives:
            from forager.importers.files import histories

            pages, captures = await opened.crawl.warm_up(opened.seeds, histories(name))
            log.say("history", f"{captures:,} captures of {pages:,} pages from {name}", at=clock.now())
        outlet = None if writer is None else await stack.enter_async_context(Outlet(opened.store, writer, _warn))
        await run_crawl(opened, log, limit, beside=() if outlet is None else (outlet.follow,))
    facts = run_facts(opened.account, opened.crawl, opened.crawl.world.ingest.skipped)
    write_statistics(facts, run_dir)
    total = opened.account.total
    reasons = [why for kinds in (total.refusals, total.errors) for one in kinds.values() for why in one]
    nothing = "" if facts["pages"] or not reasons else f"No page was read: {shown(reasons[0])}."
    return facts, nothing, outlet is not None and outlet.failed


def _warn(line: str) -> None:
    typer.echo(f"forager: {line}", err=True)


def _text(facts: dict[str, Any], run_dir: Path, nothing: str = "") -> str:
    skipped = ", ".join(f"{one['links']} × {why}" for why, one in facts["skipped"].items()) or "none"
    lines = [
        f"{counts_line(facts)}; errors: {_errors(facts)}.",
        *filter(None, [nothing]),
        *topic_lines(facts),
        f"Links left out: {skipped}.",
        fleet_line(facts),
        f"Everything is in {run_dir}; the same command goes on from here.",
    ]
    return "\n".join(lines)


def _errors(facts: dict[str, Any]) -> str:
    return ", ".join(f"{count} × {kind}" for kind, count in facts["errors"].items()) or "none"


LOOPBACK = ("127.0.0.0/8",)
CONTACT = "Forager/0.1 (demo; +http://127.0.0.1/)"


def demo(
    time_limit: options.TimeLimit = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Another site, another luck.")] = None,
    kind: options.KindOption = None,
    config: options.Config = None,
    set_: options.Set = None,
    no_dashboard: options.NoDashboard = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log_format: options.LogAs = None,
    json: options.Json = False,
) -> None:
    """Watch a living news site being crawled, on this machine alone.

    --json prints what `forager crawl --json` does, and, measured against what the site really published after the warm-up:
    published, found, coverage, found_median_s, found_p90_s and late_s; also news_hours, papers and run_dir.
    """
    from forager.cli.export import write_report

    given = options.settings_for(config, set_, kind=kind, dashboard=not no_dashboard)
    settings = arranged(given, time_limit, seed)
    folder = settings.demo.folder or Path("runs") / f"demo-{WallClock().now():.0f}"
    log = CrawlLog(quiet=quiet, verbose=verbose, form=log_format)
    facts = run_live(run_demo(settings, folder, log)) | {"run_dir": str(folder)}
    write_statistics(facts, folder)
    write_report(folder, folder / "report.html")
    options.print_result(facts, lambda: _demo_text(facts), json=json)


def arranged(settings: Settings, time_limit: str | None, seed: int | None) -> Settings:
    """Settings of the demo: allow loopback, and scale politeness to news time."""
    limit = options.time_given(time_limit)
    seed = settings.seed if seed is None else seed
    changes = {
        "seed": seed,
        "newsroom.seed": seed,
        "live.allow_addresses": LOOPBACK,
        "live.user_agent": CONTACT,
        "timetable.download_delay": settings.demo.download_delay,
        "timetable.latency_factor": 0.0,
        "timetable.longest_wait": 86_400.0,
    }
    return changed_keys(settings, changes if limit is None else changes | {"demo.time_limit": limit})


async def run_demo(settings: Settings, folder: Path, log: CrawlLog) -> dict[str, Any]:
    """Serves the site, crawls into the folder, and compares the stories with what was really published."""
    from forager.newsroom.newsroom import Newsroom, serve

    clock = FastClock(settings.newsroom.start + settings.demo.morning, settings.demo.speed)
    async with AsyncExitStack() as stack:
        made = await in_thread(lambda: Newsroom(settings.newsroom, clock))  # takes a second
        newsroom = await stack.enter_async_context(serve(made, clock))
        found = FoundStories(newsroom, clock)
        opening = watched_crawl(
            folder, settings, newsroom.homes, clock, log, found, name="the demo", coverage=found.coverage
        )
        opened = await stack.enter_async_context(opening)
        began = clock.now()
        await run_crawl(opened, log, settings.demo.time_limit * clock.speed)
        ended = clock.now()
        measured = delay(*found.between(began + settings.demo.warm_up * (ended - began), ended))
    return run_facts(opened.account, opened.crawl, opened.crawl.world.ingest.skipped) | {
        "papers": {site(Url(f"{newsroom.bases[paper.name]}/")): paper.title for paper in newsroom.settings.papers},
        "news_hours": round((ended - began) / 3600, 1),
        "published": measured.stories,
        "found": measured.found,
        "coverage": json_number(measured.coverage, 4),
        "found_median_s": json_number(measured.median, 4),
        "found_p90_s": json_number(measured.p90, 4),
        "late_s": json_number(measured.late, 4),
    }


class FoundStories:
    """Journal reader that holds when each story was first found against the newsroom's record of what it published."""

    def __init__(self, newsroom: "Newsroom", clock: Clock) -> None:
        self._newsroom, self._clock = newsroom, clock
        self._times: dict[Url, float] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, Told):
            self._times.setdefault(event.url, event.at)

    def between(self, since: float, until: float) -> tuple[FloatArray, FloatArray]:
        """When each story of this time was published, and when it was found; nan if never."""
        truth = self._newsroom.truth.published_between(since, until)
        found = [self._times.get(story.url, np.nan) for story in truth]
        return np.array([story.published for story in truth]), np.array(found)

    def coverage(self) -> Coverage:
        """Coverage of what was published from now on."""
        began = self._clock.now()

        def appeared() -> Appeared:
            published, when = self.between(began, self._clock.now())
            return published, found_young(published, when)

        return Coverage("all stories published", appeared)


def _demo_text(facts: dict[str, Any]) -> str:
    coverage = "–" if facts["coverage"] is None else f"{facts['coverage']:.0%}"
    about = topic_lines(facts)
    every = ", on whatever topic," if about else ""
    lines = [
        f"{facts['news_hours']} hours of news were crawled: {facts['pages']:,} pages, {facts['requests']:,} requests "
        f"({facts['not_modified']:,} answered with 304, unchanged), {facts['wire_bytes'] / 1e6:.1f} MB.",
        f"{facts['stories']:,} stories were told, with those of before; median delay {span(facts['delay_median_s'])}"
        f"{day_only(facts['day_only'])}, {facts['requests_per_story'] or '–'} requests per story.",
        f"Of {facts['published']:,} stories{every} published after the warm-up {facts['found']:,} were found ({coverage}), "
        f"half of them within {span(facts['found_median_s'])}, nine in ten within {span(facts['found_p90_s'])}.",
        f"{fleet_line(facts)} Errors: {_errors(facts)}.",
    ]
    lines += about
    for name, one in facts["sites"].items():
        channels = ", ".join(f"{channel} ({count})" for channel, count in one["channels"].items()) or "–"
        lines.append(
            f"  {facts['papers'].get(name, name)}: {one['stories']} stories, median delay {span(one['delay_median_s'])}, "
            f"{one['requests']} requests, found first by {channels}"
        )
    lines.append(f"Report: {facts['run_dir']}/report.html   Stories: forager export {facts['run_dir']}")
    return "\n".join(lines)
