"""What a crawl leaves: `forager export RUN_DIR` writes its stories, `forager report RUN_DIR` its report; both even while
it runs.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from forager.cli.options import AppendTo, RunDir, WriteTo, stories_writer, write_whole
from forager.clock import WallClock
from forager.errors import Exit, InputError, OutputError
from forager.library.run_reader import viewed
from forager.output.outlet import Mode, Outlet, StoryWriter
from forager.output.writers import writer_for
from forager.pages.urls import canonical
from forager.pages.urls import site as site_of
from forager.report.run import read_run, run_report
from forager.store.protocol import AcceptedStory
from forager.units import seconds
from forager.warc.wacz import pack_wacz


def export(
    run_dir: RunDir,
    append: AppendTo = None,
    overwrite: WriteTo = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Only stories fetched since then: 2026-01-31, 2026-01-31T06:00, or 6h ago."),
    ] = None,
    site: Annotated[list[str] | None, typer.Option(help="Only stories of this site; may be repeated.")] = None,
    wacz: Annotated[
        Path | None, typer.Option("--wacz", metavar="FILE", help="Pack the recording of the crawl instead, as WACZ.")
    ] = None,
) -> None:
    """Write the stories of a crawl to a file, or as JSON lines to standard output."""
    if wacz is not None:
        if not (run_dir / "warc").is_dir():
            raise InputError(f"{run_dir}: no recording in it; name the directory of a crawl")
        files = pack_wacz(run_dir / "warc", wacz, now=WallClock().now(), title=run_dir.resolve().name)
        typer.echo(f"{files} WARC files packed into {wacz}", err=True)
        return
    writer = stories_writer(append, overwrite, Mode.REPLACE) or writer_for("-", Mode.REPLACE)
    written = asyncio.run(_export(run_dir, writer, _wanted(since, site)))
    part = f"the newest {writer.newest}" if writer.newest and written >= writer.newest else written
    if append is not None or overwrite is not None or not written:
        typer.echo(f"{part} stories written to {writer.name}", err=True)


async def _export(run_dir: Path, writer: StoryWriter, wanted: Callable[[AcceptedStory], bool] | None) -> int:
    warnings: list[str] = []
    async with viewed(run_dir) as store, Outlet(store, writer, warnings.append, wanted) as outlet:
        await outlet.catch_up()
    if isinstance(outlet.error, BrokenPipeError):
        raise typer.Exit(Exit.OUTPUT)  # the reader closed the pipe: nothing to explain
    if warnings:
        raise OutputError(warnings[0])
    return outlet.written


def _wanted(since: str | None, sites: list[str] | None) -> Callable[[AcceptedStory], bool] | None:
    """Filter for the requested stories; None for all."""
    if since is None and not sites:
        return None
    start = float("-inf") if since is None else _moment(since)
    names = {_site(name) for name in sites or ()}
    return lambda story: story.fetched >= start and (not names or story.site in names)


def _moment(text: str) -> float:
    """Parses a date, a date with time (UTC unless it names a zone), or how long ago."""
    with suppress(ValueError):
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    try:
        return WallClock().now() - float(str(seconds(text)))
    except ValueError:
        reason = f"{text!r} is no time; write 2026-01-31, 2026-01-31T06:00 or 6h"
        raise typer.BadParameter(reason, param_hint="--since") from None


def _site(name: str) -> str:
    """Site of a host name or URL, as stories name it."""
    url = canonical(name if "://" in name else f"http://{name}/")
    if url is None:
        raise InputError(f"--site {name}: not a host name; write one such as example.com")
    return site_of(url)


def report(
    run: RunDir,
    output: Annotated[Path, typer.Option("-O", "--output", help="The HTML file to write.")] = Path("report.html"),
) -> None:
    """Write what a run found, how soon and at what cost, as one HTML file that needs no network."""
    typer.echo(f"{output} ({write_report(run, output) / 1000:.0f} kB)")


def write_report(run: Path, output: Path) -> int:
    """Writes the report of a run; returns its size in bytes."""
    text = asyncio.run(_page(run, run.resolve().name))
    write_whole(output, text)
    return len(text.encode())


async def _page(run: Path, name: str) -> str:
    async with viewed(run) as reader:
        return run_report(await read_run(reader), name)
