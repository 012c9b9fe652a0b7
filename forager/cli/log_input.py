"""Reads the input of `learn` and `compare policies`: change logs, tapes, run directories and capture indexes."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager.cli.options import share_of
from forager.errors import InputError
from forager.importers.log_files import read_log
from forager.importers.table_columns import time_of
from forager.importers.tape_logs import ChangeRule, Pages
from forager.recrawl.change_log import ChangeLog
from forager.units import seconds

LogPath = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="Change log (CSV, JSON lines, Parquet, .npz with a matrix `changed`), stays table, tape, run directory, "
        "folder of tables, CDX, CDXJ, TimeMap or WARC.",
    ),
]
Budget = Annotated[str, typer.Option(help="Visited per cycle: a share of the pages (5%), or a number of them (6).")]
WarmUpCycles = Annotated[int, typer.Option("--warm-up", min=1, help="Cycles in which every page is visited.")]
CycleLength = Annotated[
    str, typer.Option(help="Length of a cycle, such as 1h or 1d; auto: what suits the rhythm of the log.")
]
DocumentsPath = Annotated[Path | None, typer.Option(help="Table document,url,first,last (in cycles) for discovery.")]
PagesOf = Annotated[Pages, typer.Option("--pages", help="Of a tape or run; auto: what can be downloaded.")]
ChangeOf = Annotated[
    ChangeRule, typer.Option("--change", help="Of a tape or run; auto: links of hubs, text of others.")
]
Settled = Annotated[
    str, typer.Option("--settled", help="Of a tape or run: pages first seen after this part of it are left out.")
]


def read_change_log(
    path: Path,
    *,
    cycle: str = "auto",
    documents: Path | None = None,
    pages: Pages = "auto",
    change: ChangeRule = "auto",
    settled: str = "10%",
) -> ChangeLog:
    """Reads a change log from a file or folder of any known format; raises `InputError` for unusable data."""
    length = None if cycle == "auto" else _cycle_length(cycle)
    part = share_of(settled, "--settled", whole=True)
    return read_log(path, cycle=length, documents=documents, pages=pages, change=change, settled=part)


def cut_log(log: ChangeLog, text: str, option: str) -> int:
    """The cycle number for a share of the log (50%), a cycle (28) or a time (2022-07-01)."""
    plain = _number(text)
    if text.endswith("%") or (plain is not None and plain < 1.0):
        place = round(share_of(text, option, whole=True) * log.cycles)
    elif plain is not None and plain.is_integer() and plain - log.begin <= log.cycles:
        place = int(plain) - log.begin
    else:
        time = time_of(text)
        if not np.isfinite(time):
            raise InputError(f"{option} {text}: give a share such as 50%, a cycle or a time such as 2022-07-01")
        if not np.isfinite(log.start):
            raise InputError(f"{option} {text}: the log knows no times; give a share such as 50% or a cycle")
        place = int((time - log.start) // log.cycle)
    if not 0 < place < log.cycles:
        raise InputError(f"{option} {text}: lies outside the {log.cycles} cycles of the log")
    return place


def per_cycle(text: str, log: ChangeLog) -> float:
    """Value of `--k` as a share of the pages: `5%` or `0.05` is a share, a number of 1 or more counts pages."""
    count = _number(text)
    if count is None or count < 1.0:
        return share_of(text, "--k", whole=True)
    if not count.is_integer() or count > log.pages:
        raise InputError(f"--k {text}: give a whole number of the {log.pages} pages, or a share such as 5%")
    return count / log.pages


def _cycle_length(text: str) -> float:
    """Converts `15m` or `1d` to seconds."""
    try:
        value = seconds(text)
    except ValueError as problem:
        raise InputError(f"--cycle {text}: {problem}, or auto") from problem
    if not isinstance(value, float) or value <= 0.0:
        raise InputError(f"--cycle {text}: must be longer than nothing")
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
