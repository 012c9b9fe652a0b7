"""`forager replay`: runs a fleet and a recrawl policy over a recording, in simulated time.

It writes stories in the format of a crawl, but without titles and texts, which a tape does not have.

The dashboard can show a replay. A replay never waits, so it runs in short pieces on the event loop that also serves the
dashboard, and the dashboard never reads a half-finished state. The pieces are long enough to cost no speed.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from forager.cli import options
from forager.cli.compilation import once
from forager.cli.log import CrawlLog
from forager.cli.runner import fleet_line, run_facts, show_dashboard, stopped_by_signals
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.watched import Appeared, Coverage, Watched
from forager.engine.scope import Skipped
from forager.errors import InputError, OutputError
from forager.events import Event, Journal, JournalFile, Told
from forager.library.playback import make_replay, tape_folder, usual_budget
from forager.measures import found_young
from forager.output.fields import FIELDS, Row, iso_moment
from forager.output.outlet import Mode, StoryWriter
from forager.report.account import Account
from forager.report.phrases import amount, figure, json_number, shown_moment, span
from forager.simulation.fleet_rows import FIGURES
from forager.simulation.replay import Replay
from forager.simulation.replay_account import ReplayFigures
from forager.simulation.replay_records import ReplayRecords
from forager.tape.tape import Tape, load_tape
from forager.terms import NOBODY

if TYPE_CHECKING:  # slow to import, or needed for types only
    from forager.assembly import Reader


T = TypeVar("T")

BATCH = 1000
"""Number of stories passed to the writer at once."""


class ReplayedStories:
    """Reads the journal of a replay and writes its stories; `close` completes the output."""

    def __init__(self, writer: StoryWriter) -> None:
        self._writer = writer
        last = self._tried(writer.open)
        self._next = 0 if last is None else last.number + 1
        self._waiting: list[Row] = []
        self._tried(lambda: writer.write([]))

    def __repr__(self) -> str:
        return f"<ReplayedStories {self._next} in {self._writer.name}>"

    def __call__(self, event: Event) -> None:
        if isinstance(event, Told):
            self._waiting.append(self._row(event))
            self._next += 1
            if len(self._waiting) >= BATCH:
                self._write()

    def close(self) -> None:
        self._write()
        self._tried(self._writer.close)

    def _row(self, told: Told) -> Row:
        known: Row = {
            "number": self._next,
            "url": told.url,
            "final_url": told.url,
            "site": told.site,
            "title": told.title,
            "text": "",
            "published": iso_moment(told.published),
            "published_source": told.published_source,
            "fetched": iso_moment(told.at),
            "delay": None if told.delay is None else round(told.delay, 3),
            "discovered_via": told.via.value,
            "forager": None if told.by == NOBODY else told.by,
        }
        return dict.fromkeys(FIELDS) | known

    def _write(self) -> None:
        rows, self._waiting = self._waiting, []
        self._tried(lambda: self._writer.write(rows))

    def _tried(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            raise OutputError(f"{self._writer.name}: cannot be written: {error.strerror}") from None


PIECE = 0.02
"""Target length of a piece of a replay in seconds (ours)."""
YIELDS = 3
"""Event loop iterations between two pieces (ours); an HTTP answer needs several."""


async def play_beside(replay: Replay, line: options.ProgressLine | None = None) -> None:
    """Plays in pieces and yields to the event loop in between; shows on the line how far it is."""
    loop, piece, start = asyncio.get_running_loop(), 60.0, replay.clock.time
    while replay.clock.time < replay.end:
        if line is not None:
            line.show(f"{span(replay.clock.time - start)} of {span(replay.end - start)} replayed")
        began = loop.time()
        replay.run(replay.clock.time + piece)
        piece *= min(2.0, max(0.5, PIECE / max(1e-6, loop.time() - began)))
        for _ in range(YIELDS):
            await asyncio.sleep(0)


def watch_replay(replay: Replay, records: ReplayRecords, name: str) -> Watched:
    """The view of a replay for the dashboard."""

    def appeared() -> Appeared:
        born, now = replay.account.truth.born, replay.clock.time
        there = (born > replay.account.start) & (born <= now)
        return born[there], found_young(born[there], replay.account.found[there], replay.account.max_age)

    nothing = Skipped()
    return Watched(
        name=f"replay of {name}",
        store=records,
        known=replay.shared.visits.met,
        agent=replay.agent,
        shared=replay.shared,
        clock=replay.clock,
        settings=replay.crawl,
        skipped=lambda: nothing,
        coverage=Coverage("documents on the tape", appeared),
        scheduler=replay.scheduler,
    )


def replay_command(
    tape: Annotated[Path, typer.Argument(help="A tape, or the run directory of a crawl; with --bytes a WARC, too.")],
    kind: options.KindOption = None,
    budget: Annotated[str, typer.Option(help="Downloads per simulated hour, such as 60/h, or recorded.")] = "",
    seed: options.SeedUrls = None,
    seed_file: options.SeedFiles = None,
    bytes_: Annotated[
        bool, typer.Option("--bytes", help="Crawl a run directory's or any WARC's recorded bytes, by all rules.")
    ] = False,
    warm_up: Annotated[str, typer.Option(help="News of this first time does not count, such as 12h.")] = "0",
    preset: options.Preset = "",
    append: options.AppendTo = None,
    overwrite: options.WriteTo = None,
    time_limit: options.TimeLimit = None,
    journal: Annotated[Path | None, typer.Option(help="Write every event to this file, JSON lines.")] = None,
    no_dashboard: options.NoDashboard = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Keep the dashboard open after the end, until Ctrl-C.")
    ] = False,
    config: options.Config = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="A line for every download.")] = False,
    log_format: Annotated[
        options.LogFormat | None, typer.Option(help="Log what happens on standard error, as text or JSON.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Run a fleet over a recording in simulated time and say what it would have found, how soon, at what cost.

    --json prints the account as `forager crawl --json` does, with `tape`, and in `replay` the figures of `forager compare
    fleets --json`; with --bytes, `recording` instead of both.
    """
    if bytes_ and config is None and (tape / "config.yaml").is_file():
        config = tape / "config.yaml"  # the settings of the recorded crawl
    settings = options.settings_for(config, set_, preset=preset, kind=kind, dashboard=not no_dashboard)
    given = options.given_seeds(seed_file, seed)
    limit = options.time_given(time_limit)
    log = CrawlLog(quiet=quiet, verbose=verbose, form=log_format)
    writer = options.stories_writer(append, overwrite, Mode.REPLACE)
    if bytes_ and serve:
        raise InputError("--serve: a crawl of recorded bytes has no dashboard; leave out --serve or --bytes")
    with ExitStack() as stack:
        readers: list[Reader] = [log] if verbose or log_format is not None else []
        if bytes_:
            from forager.cli.replay_bytes import bytes_summary, crawl_bytes, write_stories

            readers += _journal(journal, stack)
            per = options.per_hour(budget) if budget else None
            facts, store = crawl_bytes(
                tape,
                settings,
                given,
                limit,
                readers,
                budget=per,
                warm_up=lambda length: options.warm_up_of(warm_up, length),
                quiet=not log.is_for_people or bool(verbose or log_format),
            )
            if writer is not None:
                write_stories(store, writer)
            options.print_result(facts, lambda: bytes_summary(facts), append, overwrite, json=json)
            return
        if settings.focus.wanted:
            typer.echo("forager: a tape has no texts, so that every topic counts; --bytes knows the topic", err=True)
        world = load_tape(stack.enter_context(tape_folder(tape)))
        per = options.per_hour(budget, world) if budget else None
        warm = options.warm_up_of(warm_up, world.end - world.start)
        account, records = Account(), ReplayRecords(world)
        chronicle = Chronicle(account)
        if settings.dashboard.enabled:
            readers = [chronicle, records, *readers]
        readers += _journal(journal, stack)
        stories = None if writer is None else ReplayedStories(writer)
        told = Journal([account.hear, *readers, *([] if stories is None else [stories])])
        run = make_replay(world, settings, seeds=given, budget=per, time_limit=limit, tell=told.write)
        if log.is_for_people:
            typer.echo(f"forager: {repr(world)[1:-1]}; {per or usual_budget(world):g} downloads per hour", err=True)

        def finish() -> None:
            figures = run.figures(warm_up=warm)
            facts = run_facts(account, run) | {
                "tape": options.tape_facts(world),
                "replay": {name: json_number(of(figures)) for name, of in FIGURES.items()},
            }
            options.print_result(facts, lambda: _text(facts, figures, world, run.end), append, overwrite, json=json)

        line = options.ProgressLine(every=0.5, quiet=not log.is_for_people or bool(verbose or log_format))

        async def play() -> None:
            """Plays to the end with the dashboard open, and keeps it open if wanted."""
            watched = watch_replay(run, records, tape.resolve().name)
            async with show_dashboard(watched, chronicle, settings.dashboard, log.dashboard(run.clock)):
                await play_beside(run, line)
                line.end()
                finish()
                if serve and settings.dashboard.enabled:
                    await _wait_for_signal(log)

        with once(f"replay-{settings.forager.kind.value}", quiet=not log.is_for_people):
            asyncio.run(play())
        if stories is not None:
            stories.close()


async def _wait_for_signal(log: CrawlLog) -> None:
    if log.form is options.LogFormat.TEXT:
        typer.echo("The dashboard stays until Ctrl-C.", err=True)
    stopping = asyncio.Event()
    with stopped_by_signals(stopping):
        await stopping.wait()


def _journal(path: Path | None, stack: ExitStack) -> "list[Reader]":
    """The reader that writes every event to a file, if one is wanted; the stack closes it."""
    if path is None:
        return []
    try:
        return [JournalFile(stack.enter_context(path.open("wb")))]
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None


def _text(facts: dict[str, Any], figures: ReplayFigures, tape: Tape, run_end: float) -> str:
    delay = figures.delay
    found = f"{delay.found} of {delay.stories} stories found while young"
    lines = [
        f"{shown_moment(tape.start)[:16]} to {shown_moment(run_end)[:16]}, replayed.",
        f"{found} ({figure(delay.coverage, '.1%')}; of those that lasted {figure(delay.lasting, '.1%')}), "
        f"median delay {span(delay.median)}, mean {span(delay.late)} with a missed one as a day."
        if delay.stories
        else "No story appeared in this time.",
        f"{amount(facts['requests'], 'download')}, {figure(figures.efficiency.requests_per_story, '.1f')} per story; "
        f"{facts['not_modified']:,} unchanged, {figure(figures.unrecorded_share, '.1%')} of pages not on the tape then.",
        f"Freshness {figure(figures.freshness, '.3f')}, age {span(figures.age)}.",
        f"Stories per download: fleet {figure(figures.fleet_hits, '.3f')}, recrawl {figure(figures.recrawl_hits, '.3f')} "
        f"({figure(figures.recrawl_share, '.0%')} of the downloads).",
        fleet_line(facts),
    ]
    return "\n".join(lines)
