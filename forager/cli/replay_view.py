"""A replay in the dashboard: what of it is looked at, and how it lets the dashboard answer.

A replay never waits. It is played in short pieces on the loop that also serves the dashboard, so that nothing is asked
of it while something happens in it; the pieces are long enough that a replay nobody looks at is as fast as ever.
"""

import asyncio
from collections.abc import Callable

import typer

from forager.cli.log import Log
from forager.cli.options import LogFormat
from forager.cli.running import shown, stopped_by_signals
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.coverage import Appeared, Coverage
from forager.dashboard.settings import DashboardSettings
from forager.dashboard.watched import Watched
from forager.frontier.skipped import Skipped
from forager.measures.delay import found_young
from forager.simulation.records import ReplayRecords
from forager.simulation.run import Replay

PIECE = 0.02
"""Seconds that a piece of a replay should take (ours)."""
YIELDS = 3
"""Turns of the loop between two pieces (ours): an answer needs several."""


async def play_watched(
    replay: Replay,
    chronicle: Chronicle,
    records: ReplayRecords,
    settings: DashboardSettings,
    name: str,
    *,
    log: Log,
    finish: Callable[[], None],
    serve: bool,
) -> None:
    """Play to the end with the dashboard open; `finish` when that is reached, then serve on until Ctrl-C if wanted."""
    watched = watch_replay(replay, records, name)
    async with shown(watched, chronicle, settings, log.dashboard(replay.clock)):
        await play(replay)
        finish()
        if serve and settings.enabled:
            if log.form is LogFormat.TEXT:
                typer.echo("The dashboard stays until Ctrl-C.", err=True)
            stopping = asyncio.Event()
            with stopped_by_signals(stopping):
                await stopping.wait()


async def play(replay: Replay) -> None:
    """Play in pieces."""
    loop, piece = asyncio.get_running_loop(), 60.0
    while replay.clock.time < replay.end:
        began = loop.time()
        replay.run(replay.clock.time + piece)
        piece *= min(2.0, max(0.5, PIECE / max(1e-6, loop.time() - began)))
        for _ in range(YIELDS):
            await asyncio.sleep(0)


def watch_replay(replay: Replay, records: ReplayRecords, name: str) -> Watched:
    """A replay, to be looked at."""

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
