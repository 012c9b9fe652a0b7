"""`forager report RUN_DIR -O report.html`: what a run found, how soon and at what cost, as one file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from forager.errors import OutputError
from forager.reports.account import read_account
from forager.reports.report import report as page
from forager.store.reader import SqliteReader


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a run, finished or not.")],
    output: Annotated[Path, typer.Option("-O", "--output", help="The HTML file to write.")] = Path("report.html"),
) -> None:
    """Write what a run found, how soon and at what cost, as one HTML file that needs no network."""
    text = asyncio.run(_read(run, run.resolve().name))
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"{output}: cannot be written ({problem.strerror}); choose another file with -O") from None
    typer.echo(f"{output} ({len(text.encode()) / 1000:.0f} kB)")


async def _read(run: Path, name: str) -> str:
    reader = await SqliteReader.open(run)
    try:
        return page(await read_account(reader), name)
    finally:
        await reader.close()
