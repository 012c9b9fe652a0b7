"""What a crawl shows on a terminal: foragers, sites and the latest stories; elsewhere one line a minute."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.table import Table
from rich.text import Text

from forager.cli.log import Log
from forager.clock import Clock
from forager.engine.crawl import Crawl
from forager.engine.summary import Summary, quantile

LATEST = 8
TALLEST_FLEET = 8


async def show_progress(
    crawl: Crawl,
    summary: Summary,
    clock: Clock,
    stopping: asyncio.Event,
    *,
    log: Log,
    left: Callable[[], float | None],
) -> None:
    """Show progress on standard error until the crawl stops; `left` tells the seconds until then, if known.

    What is written to standard error while the view is up appears above it: rich sees to that.
    """
    console = Console(stderr=True)
    if log.quiet:
        await stopping.wait()
    elif log.view:
        with Screen(console=console, refresh_per_second=4, transient=True) as screen:
            while not stopping.is_set():
                screen.update(picture(crawl, summary, clock, left()))
                await _pause(0.25, stopping)
    else:
        while not stopping.is_set():
            await _pause(60.0, stopping)
            if not stopping.is_set():
                line, found = progress_line(crawl, summary), len(summary.stories)
                log.say("progress", line, at=clock.now(), stories=found, requests=summary.requests)


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        pass


def picture(crawl: Crawl, summary: Summary, clock: Clock, left: float | None) -> Group:
    """One screenful."""
    return Group(_headline(crawl, summary, clock, left), _sites(summary), _fleet(crawl), _stories(summary))


def progress_line(crawl: Crawl, summary: Summary) -> str:
    """The same in one line."""
    median = quantile([told.delay for told in summary.stories], 0.5)
    return (
        f"{len(summary.stories)} stories, median delay {span(median)}, {summary.requests} requests "
        f"({summary.not_modified} unchanged), {len(summary.pages)} pages, {len(crawl.agent.foragers)} foragers, "
        f"{sum(summary.errors.values())} errors"
    )


def _headline(crawl: Crawl, summary: Summary, clock: Clock, left: float | None) -> Text:
    counts = crawl.store.counts()
    ending = "" if left is None else f"   {left:.0f} s left"
    return Text.assemble(
        (f"{moment(clock.now())} UTC", "bold"),
        f"   {len(summary.stories)} stories   {summary.requests} requests   {summary.not_modified} unchanged   "
        f"{counts.known} known URLs{ending}   Ctrl-C stops",
    )


def _sites(summary: Summary) -> Table:
    table = _table("site", "stories", "median delay", "p90", "requests", "304", "errors", "found first by")
    for name, account in sorted(summary.sites.items()):
        channels = ", ".join(f"{channel} {count}" for channel, count in account.channels.most_common(3))
        table.add_row(
            name,
            str(len(account.delays)),
            span(quantile(account.delays, 0.5)),
            span(quantile(account.delays, 0.9)),
            str(account.requests),
            str(account.not_modified),
            str(sum(account.errors.values())),
            channels,
        )
    return table


def _fleet(crawl: Crawl) -> Table:
    table = _table("forager", "kind", "score", "stories", "downloads", "parent")
    alive = [crawl.agent.records[id] for id in crawl.agent.foragers]
    for record in sorted(alive, key=lambda one: -one.score)[:TALLEST_FLEET]:
        parent = "" if record.parent is None else str(record.parent)
        row = (
            str(record.id),
            record.kind.value,
            f"{record.score:.0f}",
            str(record.relevant),
            str(record.downloads),
            parent,
        )
        table.add_row(*row)
    if len(alive) > TALLEST_FLEET:
        table.add_row("…", f"{len(alive)} alive")
    return table


def _stories(summary: Summary) -> Table:
    table = _table("published", "delay", "site", "found by", "latest stories")
    for told in reversed(summary.stories[-LATEST:]):
        table.add_row(
            moment(told.published), span(told.delay), told.site, told.via.value, Text(printable(told.title)[:70])
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")


def span(seconds: float | None) -> str:
    """A duration as people say it."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def printable(text: str) -> str:
    """Text of a page without characters that could steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
