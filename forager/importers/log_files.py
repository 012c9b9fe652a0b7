"""The change log of whatever lies at a path: a table, a matrix, or anything that is, or can be made, a tape."""

import asyncio
from dataclasses import replace
from pathlib import Path

from forager.errors import InputError
from forager.importers.files import import_files
from forager.importers.formats import Format, sniff
from forager.importers.log_tables import log_of_table, read_documents, read_matrix, read_table
from forager.importers.runs import tape_of_run
from forager.importers.streams import opened, sources
from forager.importers.table_files import files_of
from forager.importers.tables import import_tables
from forager.importers.tape_logs import ChangeRule, Pages, log_of_tape
from forager.recrawl.change_log import ChangeLog
from forager.store.rundir import DATABASE
from forager.tape.tape import CONTENTS, Tape, load_tape

_INDEXES = (Format.CDX, Format.CDXJ, Format.LINK_TIMEMAP, Format.JSON_TIMEMAP, Format.WARC, Format.WACZ)


def read_log(
    path: Path,
    *,
    cycle: float | None = None,
    documents: Path | None = None,
    pages: Pages = "auto",
    change: ChangeRule = "auto",
    settled: float = 0.1,
) -> ChangeLog:
    """What cannot be used is an `InputError`. Without a `cycle` in seconds, what suits the rhythm of the log."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    tape = _tape(path)
    if tape is not None:
        log = log_of_tape(tape, cycle, pages=pages, change=change, settled=settled)
    else:
        log = read_matrix(path, cycle) if path.suffix == ".npz" else log_of_table(read_table(path), path, cycle)
    if documents is not None:
        if not log.urls:
            raise InputError("--documents needs a change log with URLs; a matrix has none")
        log = replace(log, documents=read_documents(documents, log))
    return log


def _tape(path: Path) -> Tape | None:
    """What is, or can be made, a tape; None for a table or a matrix."""
    if (path / CONTENTS).is_file():
        return load_tape(path)
    if (path / DATABASE).is_file():
        return asyncio.run(tape_of_run(path))
    if path.is_dir() and files_of(path, "versions"):
        return import_tables(path, origin=path.name).tape
    found = sources([str(path)])
    if not path.is_dir():
        if path.suffix == ".npz":
            return None
        with opened(found[0]) as stream:
            if sniff(stream.head) not in _INDEXES:
                return None
    imported = import_files(found, origin=path.name)
    if not imported.tape.versions:
        raise InputError(f"{path}: holds no capture that can be used")
    return imported.tape
