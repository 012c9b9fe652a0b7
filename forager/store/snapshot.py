"""Loads a ledger from crawl.db: from a file of columns beside it, and from the rows that came later.

The file avoids reading a million rows when a crawl of a million URLs is opened. It holds the ledger as of some visit;
later changes are read from the rows with a few wide queries, in blocks of columns. So it may be old, or missing. It is
used only if it is complete and fits the database: every part has a checksum, and its last URL and last visit must be
those of the database. It is written when much has changed: when a crawl is opened or closed, and during a crawl
whenever it has grown by a certain share.
"""

import gc
import math
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from forager.store.known_urls import Addresses, Hashes, Texts
from forager.store.ledger import CHANNEL_CODES, KIND_CODES, KINDS, PART, Columns, Ledger, host_of
from forager.store.protocol import VersionId
from forager.store.rows import DiskRow, as_read, signed, written
from forager.store.rundir import DATABASE, damaged
from forager.terms import UrlId

FOUND = ("found", "channel", "source", "depth", "published", "due")
"""Columns known when a URL is found, as in the table `urls`."""
VISITED = (
    "kind",
    "visits",
    "changes",
    "last_visit",
    "last_change",
    "due",
    "seen",
    "version",
    "byte_print",
    "text_print",
    "validators",
)
"""Columns that visits change, as in the table `states`."""
_CODES: dict[str, dict[Any, int]] = {"channel": CHANNEL_CODES, "kind": KIND_CODES}

FILE = "crawl.columns"
MUCH = 20_000
"""Number of URLs and visits missing in the file at which it is rewritten (ours: a quarter of a second of reading)."""
SHARE = 0.25
"""Growth, as a share of the known URLs, at which the file is rewritten during a crawl (ours)."""
FORM = 2
"""Format number; raise it whenever the meaning of a column changes."""

_MAGIC = b"Forager columns\n"
_ARRAYS = tuple(name for name, column in vars(Columns()).items() if isinstance(column, array))
_BLOCK = 5_000
_URLS = f"SELECT id, url, {', '.join(FOUND)} FROM urls WHERE id >= ? ORDER BY id".replace(
    "source", "ifnull(source, -1)"
)
_STATES = f"SELECT url, {', '.join(VISITED)} FROM states WHERE seen > ? ORDER BY url"
_LAST = "SELECT (SELECT url FROM urls WHERE id = ?1), (SELECT at FROM visits WHERE id = ?2)"


class _FileHead(msgspec.Struct):
    """The beginning of the file."""

    form: int
    known: int
    visits: int
    last_visit: float | None
    """Time of the last visit; None if there was none."""
    sizes: dict[str, int]
    """Size of each part in bytes, in order."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A ledger at some point in time."""

    visits: int
    last_visit: float | None
    arrays: dict[str, bytes]
    urls: Texts
    hashes: Hashes
    """Hashes of the URLs, without those added later."""
    names: Texts
    """Names of all hosts."""
    validators: Texts

    def write(self, directory: Path) -> None:
        """Writes the file beside crawl.db, where all its data must be committed; on an error, keeps the old file, if
        any."""
        fresh = directory / f"{FILE}.new"
        try:
            parts = self._packed()
            if parts is None:
                return
            head = _FileHead(
                FORM, len(self.urls), self.visits, self.last_visit, {n: len(part) for n, part in parts.items()}
            )
            fresh.unlink(missing_ok=True)
            with fresh.open("xb") as file:
                file.write(_MAGIC + msgspec.json.encode(head) + b"\n")
                for part in parts.values():
                    file.write(part)
            fresh.replace(directory / FILE)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def _packed(self) -> dict[str, bytes] | None:
        """Returns every part; None if a text contains the separator."""
        packer = zstandard.ZstdCompressor(level=1, write_checksum=True)
        hashes = self.hashes.joined(self.urls.late)
        arrays = {**self.arrays, "hashes": hashes.values.tobytes(), "numbers": hashes.numbers.tobytes()}
        parts = {name: packer.compress(values) for name, values in arrays.items()}
        for name, texts in (("names", self.names), ("urls", self.urls), ("validators", self.validators)):
            joined = texts.joined()
            if joined is None:
                return None
            parts[name] = packer.compress(joined)
        return parts


def taken(ledger: Ledger) -> Snapshot:
    """Copies the ledger as it is now, to be written by any thread."""
    last_visit = ledger.columns.last_visit[int(np.argmax(ledger.columns.seen))] if ledger.visits else None
    names, hosts = ledger.turns.hosts
    arrays = {name: getattr(ledger.columns, name).tobytes() for name in _ARRAYS} | {"hosts": hosts.tobytes()}
    hosts_named = Texts()
    hosts_named.extend(names)
    urls, validators = ledger.urls.texts.copied(), ledger.columns.validators.copied()
    return Snapshot(ledger.visits, last_visit, arrays, urls, ledger.urls.hashes, hosts_named, validators)


def is_behind(directory: Path, ledger: Ledger, share: float = 0.0) -> bool:
    """Whether much is missing in the file, and more than a share of what is known."""
    head, known = _head(directory), len(ledger.urls)
    held, visits = (0, 0) if head is None else (head.known, head.visits)
    return abs(known - held) + abs(ledger.visits - visits) > max(MUCH, share * known)


def restored(directory: Path, connection: sqlite3.Connection) -> Ledger:
    """Restores the ledger of the file, not yet planned; an empty one if no file fits this database."""
    head, ledger = _head(directory), Ledger()
    if head is None or not head.known:
        return ledger
    try:
        parts = _parts(directory, head)
        urls = Texts(parts.pop("urls"), head.known)
        if (urls[head.known - 1], head.last_visit) != _last(connection, head.known, head.visits):
            return ledger
        hashes = Hashes(np.frombuffer(parts.pop("hashes"), np.uint64), np.frombuffer(parts.pop("numbers"), np.int32))
        ledger.urls = Addresses(urls, hashes)
        ledger.columns.validators = Texts(parts.pop("validators"), head.known, PART)
        for name in _ARRAYS:
            getattr(ledger.columns, name).frombytes(parts.pop(name))
        ledger.turns.restore(parts.pop("names").decode("utf-8", "surrogatepass").split("\n"), parts.pop("hosts"))
    except (OSError, zstandard.ZstdError, KeyError, ValueError, OverflowError):
        return Ledger()
    columns = [
        *(getattr(ledger.columns, name) for name in _ARRAYS),
        ledger.turns.hosts[1],
        hashes.values,
        hashes.numbers,
    ]
    if {len(column) for column in columns} != {head.known}:
        return Ledger()
    ledger.visits = head.visits
    return ledger


def _head(directory: Path) -> _FileHead | None:
    """Returns the head of the file; None if there is no file, or none with a known format."""
    try:
        with (directory / FILE).open("rb") as file:
            if file.readline(100) != _MAGIC:
                return None
            head = msgspec.json.decode(file.readline(10_000), type=_FileHead)
            told = file.tell() + sum(head.sizes.values())
            is_whole = min(head.sizes.values(), default=0) >= 0 and told == file.seek(0, SEEK_END)
    except (OSError, msgspec.DecodeError):
        return None
    return head if head.form == FORM and is_whole else None


def _parts(directory: Path, head: _FileHead) -> dict[str, bytes]:
    unpacker = zstandard.ZstdDecompressor()
    with (directory / FILE).open("rb") as file:
        file.readline(), file.readline()
        return {name: unpacker.decompress(file.read(size)) for name, size in head.sizes.items()}


def _last(connection: sqlite3.Connection, known: int, visits: int) -> tuple[str | None, float | None]:
    """Returns the URL and the time of the visit with these numbers, from the database."""
    url, at = connection.execute(_LAST, (known - 1, visits)).fetchone()
    return url, at


def load(connection: sqlite3.Connection, directory: Path) -> Ledger:
    """Loads the ledger as of the last commit; nothing is leased."""
    try:
        connection.execute("BEGIN")  # one consistent state for all queries
        try:
            with _no_collecting():
                return _load(connection, restored(directory, connection))
        finally:
            connection.execute("ROLLBACK")
    except (sqlite3.Error, KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise damaged(directory / DATABASE, error) from None


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Switches garbage collection off: a million rows contain no cycles, but would be scanned again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _load(connection: sqlite3.Connection, ledger: Ledger) -> Ledger:
    """Completes a ledger that holds the first URLs and visits, or nothing."""
    for numbers, urls, *found in _blocks(connection, _URLS, len(ledger.urls)):
        add_urls(ledger, numbers, urls, found)
    for numbers, *visited in _blocks(connection, _STATES, ledger.visits):
        _add_states(ledger.columns, numbers, visited)
    ledger.turns.fill(np.array(ledger.columns.due, dtype=np.float64), np.array(ledger.columns.seen, dtype=np.int64))
    for (version,) in connection.execute("SELECT version FROM unsettled ORDER BY version"):
        ledger.unsettled[VersionId(version)] = None
    ledger.visits = _one(connection, "SELECT ifnull(max(id), 0) FROM visits")
    ledger.versions = _one(connection, "SELECT ifnull(max(id) + 1, 0) FROM versions")
    ledger.stories = _one(connection, "SELECT ifnull(max(id), 0) FROM stories")
    for name, count in connection.execute("SELECT name, count FROM tallies ORDER BY rowid"):
        kind, _, value = name.partition(" ")
        {"outcome": ledger.outcomes, "trouble": ledger.troubles}[kind][value] = count
    return ledger


def add_urls(ledger: Ledger, numbers: tuple[int, ...], urls: tuple[Any, ...], found: list[tuple[Any, ...]]) -> None:
    """Adds URLs that were never visited, not yet planned; `found` are their columns `FOUND`."""
    first = len(ledger.urls)
    if numbers != tuple(range(first, first + len(numbers))):
        raise ValueError("the URLs are not numbered from 0 without gaps")
    if bytes in map(type, urls):
        urls = tuple(map(as_read, urls))
    ledger.urls.extend(urls)
    ledger.turns.enter_all(list(map(host_of, urls)))
    for name, values in zip(FOUND, found, strict=True):
        column = getattr(ledger.columns, name)
        column.frombytes(_numbers(name, column, values).astype(column.typecode).tobytes())
    ledger.columns.extend_unvisited(len(urls))


def _add_states(columns: Columns, ids: tuple[int, ...], cells: Sequence[tuple[Any, ...]]) -> None:
    """Sets the columns `VISITED` of these URLs, in rising order."""
    if ids[0] < 0 or ids[-1] >= len(columns.found):
        raise ValueError("a visited URL is missing")
    places = np.array(ids)
    for name, values in zip(VISITED, cells, strict=True):
        column = getattr(columns, name)
        if column is columns.validators:
            for id, packed in zip(ids, values, strict=True):
                column[id] = as_read(packed) if packed else ""
        else:
            np.frombuffer(column, dtype=column.typecode)[places] = _numbers(name, column, values)


def state_row(columns: Columns, id: UrlId) -> DiskRow:
    """Returns the row of a visited URL in `states`: its number, then its cells of `VISITED`."""
    return (id, *[_cell(name, getattr(columns, name)[id]) for name in VISITED])


def _cell(name: str, value: Any) -> Any:
    """Returns a value of a column as in `states`."""
    if name == "kind":
        return KINDS[value].value
    if name == "validators":
        return written(value) if value else None
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return signed(value)


def _numbers(name: str, column: "array[Any]", cells: tuple[Any, ...]) -> NDArray[Any]:
    """Cells of crawl.db as numbers of a column."""
    if name in _CODES:
        return np.array([_CODES[name][cell] for cell in cells])
    if column.typecode == "d":
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    numbers = np.array(cells, dtype=np.int64)
    return numbers.view(np.uint64) if column.typecode == "Q" else numbers


def _blocks(connection: sqlite3.Connection, question: str, after: int) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yields the result in blocks, each transposed from rows to columns."""
    cursor = connection.execute(question, (after,))
    while rows := cursor.fetchmany(_BLOCK):
        yield zip(*rows, strict=True)


def _one(connection: sqlite3.Connection, question: str) -> int:
    value: int = connection.execute(question).fetchone()[0]
    return value
