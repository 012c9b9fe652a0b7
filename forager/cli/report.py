"""`forager report RUN_DIR -O report.html`: writes what a run found, how soon and at what cost, as one file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from forager.cli.options import write_whole
from forager.report.run import read_run
from forager.report.run import run_report as page
from forager.store.store import Store


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a run, finished or not.")],
    output: Annotated[Path, typer.Option("-O", "--output", help="The HTML file to write.")] = Path("report.html"),
) -> None:
    """Write what a run found, how soon and at what cost, as one HTML file that needs no network."""
    typer.echo(f"{output} ({write_report(run, output) / 1000:.0f} kB)")


def write_report(run: Path, output: Path) -> int:
    """Writes the report of a run; returns its size in bytes."""
    text = asyncio.run(_read(run, run.resolve().name))
    write_whole(output, text)
    return len(text.encode())


async def _read(run: Path, name: str) -> str:
    reader = await Store.view(run)
    try:
        return page(await read_run(reader), name)
    finally:
        await reader.close()
