"""Live view of a running crawl: foragers, sites and latest stories on a terminal, elsewhere one line a minute."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from forager.cli.log import Log
from forager.clock import Clock
from forager.engine.crawl import Crawl
from forager.report.account import Account


async def show_progress(
    crawl: Crawl,
    account: Account,
    clock: Clock,
    stopping: asyncio.Event,
    *,
    log: Log,
    left: Callable[[], float | None],
) -> None:
    """Shows progress on standard error until the crawl stops; `left` returns the seconds until then, if known.

    Other output to standard error appears above the view, because rich redirects it.
    """
    if log.quiet:
        await stopping.wait()
    elif log.view:
        from rich.console import Console  # slow to import, and only a terminal needs it
        from rich.live import Live as Screen

        from forager.cli.screen import picture

        console = Console(stderr=True)
        with Screen(console=console, refresh_per_second=4, transient=True) as screen:
            while not stopping.is_set():
                screen.update(picture(crawl, account, log.latest, clock, left()))
                await _pause(0.25, stopping)
    else:
        while not stopping.is_set():
            await _pause(60.0, stopping)
            if not stopping.is_set():
                line = progress_line(account)
                log.say("progress", line, at=clock.now(), stories=account.stories, requests=account.requests)


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        pass


def progress_line(account: Account) -> str:
    """The progress in one line."""
    return (
        f"{account.stories} stories, median delay {clock_span(account.delay(0.5))}, {account.requests} requests "
        f"({account.not_modified} unchanged), {account.pages} pages, {account.alive} foragers, "
        f"{account.error_count} errors"
    )


def clock_time(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")


def day_only(facts: Mapping[str, Any]) -> str:
    """What to add to a delay if the dates of some stories have no hour."""
    count = facts.get("day_only", 0)
    return f" (without {count} whose date has no hour)" if count else ""


def clock_span(seconds: float | None) -> str:
    """A duration as people write it."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def printable(text: str) -> str:
    """Text of a page without terminal control characters."""
    return "".join(character if character.isprintable() else " " for character in text)
