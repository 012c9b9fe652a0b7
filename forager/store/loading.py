"""crawl.db -> Ledger: what a snapshot holds, and few wide questions for the rest, answered in blocks of columns."""

import gc
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from forager.store.columns import CHANNEL_CODES, KIND_CODES, Columns
from forager.store.ledger import Ledger, host_of
from forager.store.protocol import VersionId
from forager.store.rows import as_read
from forager.store.rundir import DATABASE, damaged
from forager.store.snapshot import restored

_BLOCK = 5_000
_URLS = "SELECT id, url, found, channel, ifnull(source, -1), depth, published, due FROM urls WHERE id >= ? ORDER BY id"
_STATES = """SELECT url, kind, visits, changes, last_visit, last_change, due, seen, version, byte_print, text_print,
    validators FROM states WHERE seen > ? ORDER BY url"""


def load(connection: sqlite3.Connection, directory: Path) -> Ledger:
    """The ledger as of the last commit; nothing is leased."""
    try:
        connection.execute("BEGIN")  # one moment for all questions
        try:
            with _no_collecting():
                return _load(connection, restored(directory, connection))
        finally:
            connection.execute("ROLLBACK")
    except (sqlite3.Error, KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise damaged(directory / DATABASE, error) from None


@contextmanager
def _no_collecting() -> Iterator[None]:
    """A million rows make no cycles, but would be looked through for them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _load(connection: sqlite3.Connection, ledger: Ledger) -> Ledger:
    """Complete a ledger that holds the first URLs and visits, or nothing."""
    for block in _blocks(connection, _URLS, len(ledger.urls)):
        _add_urls(ledger, *block)
    for block in _blocks(connection, _STATES, ledger.visits):
        _add_states(ledger.columns, *block)
    ledger.turns.fill(np.array(ledger.columns.due, dtype=np.float64), np.array(ledger.columns.seen, dtype=np.int64))
    for host, until in connection.execute("SELECT host, until FROM blocks"):
        ledger.turns.block(as_read(host), until)
    for (version,) in connection.execute("SELECT version FROM unsettled ORDER BY version"):
        ledger.unsettled[VersionId(version)] = None
    ledger.visits = _one(connection, "SELECT ifnull(max(id), 0) FROM visits")
    ledger.versions = _one(connection, "SELECT ifnull(max(id) + 1, 0) FROM versions")
    ledger.stories = _one(connection, "SELECT ifnull(max(id), 0) FROM stories")
    for name, count in connection.execute("SELECT name, count FROM tallies ORDER BY rowid"):
        kind, _, value = name.partition(" ")
        {"outcome": ledger.outcomes, "trouble": ledger.troubles}[kind][value] = count
    return ledger


def _add_urls(ledger: Ledger, *cells: tuple[Any, ...]) -> None:
    numbers, urls, found, channel, source, depth, published, due = cells
    first = len(ledger.urls)
    if numbers != tuple(range(first, first + len(numbers))):
        raise ValueError("the URLs are not numbered from 0 without gaps")
    if bytes in map(type, urls):
        urls = tuple(map(as_read, urls))
    ledger.urls.extend(urls)
    ledger.turns.enter_all(list(map(host_of, urls)))
    columns = ledger.columns
    for column, values in ((columns.found, found), (columns.published, published), (columns.due, due)):
        column.frombytes(_moments(values).tobytes())
    columns.channel.extend(map(CHANNEL_CODES.__getitem__, channel))
    columns.source.extend(source)
    columns.depth.extend(depth)
    columns.extend_unvisited(len(numbers))


def _add_states(columns: Columns, *cells: tuple[Any, ...]) -> None:
    numbers, kind, visits, changes, last_visit, last_change, due, seen, version, byte_print, text_print, validators = (
        cells
    )
    ids = np.array(numbers)
    if ids[0] < 0 or ids[-1] >= len(columns.found):
        raise ValueError("a visited URL is missing")
    _assign(columns.kind, ids, np.array([KIND_CODES[one] for one in kind]))
    for numbered, values in ((columns.visits, visits), (columns.changes, changes), (columns.seen, seen)):
        _assign(numbered, ids, np.array(values))
    _assign(columns.version, ids, np.array(version))
    for moments, values in ((columns.last_visit, last_visit), (columns.last_change, last_change), (columns.due, due)):
        _assign(moments, ids, _moments(values))
    for prints, values in ((columns.byte_print, byte_print), (columns.text_print, text_print)):
        _assign(prints, ids, np.array(values, dtype=np.int64).view(np.uint64))
    if bytes in map(type, validators):
        validators = tuple(packed and as_read(packed) for packed in validators)
    for id, packed in zip(numbers, validators, strict=True):
        columns.validators[id] = packed or ""


def _assign(column: "array[Any]", ids: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> None:
    np.frombuffer(column, dtype=column.typecode)[ids] = values


def _moments(values: tuple[float | None, ...]) -> npt.NDArray[np.float64]:
    """None becomes NaN."""
    return np.array(values, dtype=np.float64)


def _blocks(connection: sqlite3.Connection, question: str, after: int) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The answer in blocks, each turned from rows to columns."""
    cursor = connection.execute(question, (after,))
    while rows := cursor.fetchmany(_BLOCK):
        yield zip(*rows, strict=True)


def _one(connection: sqlite3.Connection, question: str) -> int:
    value: int = connection.execute(question).fetchone()[0]
    return value
