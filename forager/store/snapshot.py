"""What is known of all URLs in a file beside crawl.db, as columns: a crawl of a million URLs is opened without reading
as many rows.

The file holds the ledger as of some visit; whatever came later is read from the rows (see `loading`), so it may be old, or
missing. It is believed only if it is whole and fits the database: every part bears a checksum, and the last URL and the last
visit in it must be those of the database. It is written when a crawl is opened or closed and much has come since.
"""

import sqlite3
from array import array
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import msgspec
import zstandard

from forager.store.columns import Columns
from forager.store.ledger import Ledger
from forager.terms import Url, UrlId

FILE = "crawl.columns"
MUCH = 20_000
"""URLs and visits that are not in the file, from which on it is written anew (ours: a quarter of a second of reading)."""
FORM = 1
"""To be raised whenever the meaning of a column changes."""

_MAGIC = b"Forager columns\n"
_ARRAYS = tuple(name for name, column in vars(Columns()).items() if isinstance(column, array))
_HOSTS, _NAMES, _URLS, _VALIDATORS = "hosts", "names", "urls", "validators"
_PARTED = {_NAMES: "\n", _URLS: "\n", _VALIDATORS: "\0"}
"""What stands between two texts: nothing that a canonical URL, or a header, can hold."""
_LAST = "SELECT (SELECT url FROM urls WHERE id = ?1), (SELECT at FROM visits WHERE id = ?2)"


class Head(msgspec.Struct):
    """What the file begins with."""

    form: int
    known: int
    visits: int
    last_visit: float | None
    """When the last visit was; None if there was none."""
    sizes: dict[str, int]
    """Bytes of each part, in their order."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A ledger as it was at some moment."""

    visits: int
    last_visit: float | None
    arrays: dict[str, bytes]
    urls: list[Url]
    names: list[str]
    """Of all hosts."""
    validators: list[str | None]

    def write(self, directory: Path) -> None:
        """Put it beside crawl.db; without room for it the crawl goes on with the old one, or none."""
        fresh = directory / f"{FILE}.new"
        try:
            parts = self._packed()
            if parts is None:
                return
            head = Head(FORM, len(self.urls), self.visits, self.last_visit, {n: len(part) for n, part in parts.items()})
            with fresh.open("wb") as file:
                file.write(_MAGIC + msgspec.json.encode(head) + b"\n")
                for part in parts.values():
                    file.write(part)
            fresh.replace(directory / FILE)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def _packed(self) -> dict[str, bytes] | None:
        """Every part; None if a text holds what should part it from the next."""
        packer = zstandard.ZstdCompressor(level=1, write_checksum=True)
        parts = {name: packer.compress(values) for name, values in self.arrays.items()}
        validators = [text or "" for text in self.validators]
        for name, texts in ((_NAMES, self.names), (_URLS, self.urls), (_VALIDATORS, validators)):
            joined = _PARTED[name].join(texts)
            if joined.count(_PARTED[name]) != max(0, len(texts) - 1):
                return None
            parts[name] = packer.compress(joined.encode("utf-8", "surrogatepass"))
        return parts


def taken(ledger: Ledger, connection: sqlite3.Connection) -> Snapshot:
    """The ledger as it is now, to be written by any thread; everything in it must be committed."""
    _, last_visit = _last(connection, len(ledger.urls), ledger.visits)
    names, hosts = ledger.turns.hosts
    arrays = {name: getattr(ledger.columns, name).tobytes() for name in _ARRAYS} | {_HOSTS: hosts.tobytes()}
    return Snapshot(ledger.visits, last_visit, arrays, ledger.urls[:], names, ledger.columns.validators[:])


def is_behind(directory: Path, ledger: Ledger) -> bool:
    """Whether much is not in the file."""
    head = _head(directory)
    known, visits = (0, 0) if head is None else (head.known, head.visits)
    return abs(len(ledger.urls) - known) + abs(ledger.visits - visits) > MUCH


def restored(directory: Path, connection: sqlite3.Connection) -> Ledger:
    """The ledger of the file, not yet planned; an empty one if there is no file that fits this database."""
    head, ledger = _head(directory), Ledger()
    if head is None or not head.known:
        return ledger
    try:
        parts = _parts(directory, head)
        names, urls, validators = [_texts(parts, name) for name in _PARTED]
        if (urls[-1], head.last_visit) != _last(connection, head.known, head.visits):
            return ledger
        for name in _ARRAYS:
            getattr(ledger.columns, name).frombytes(parts.pop(name))
        ledger.turns.restore(names, parts.pop(_HOSTS))
    except (OSError, zstandard.ZstdError, KeyError, ValueError):
        return Ledger()
    columns = ledger.columns
    columns.validators = [text or None for text in validators]
    lengths = {len(getattr(columns, name)) for name in (*_ARRAYS, _VALIDATORS)} | {
        len(urls),
        len(ledger.turns.hosts[1]),
    }
    if lengths != {head.known}:
        return Ledger()
    ledger.urls = cast("list[Url]", urls)
    ledger.ids = cast("dict[Url, UrlId]", dict(zip(urls, range(head.known), strict=True)))
    ledger.visits = head.visits
    return ledger


def _texts(parts: dict[str, bytes], name: str) -> list[str]:
    return parts.pop(name).decode("utf-8", "surrogatepass").split(_PARTED[name])


def _head(directory: Path) -> Head | None:
    """What the file says of itself; None if there is none, or none that we know."""
    try:
        with (directory / FILE).open("rb") as file:
            if file.readline(100) != _MAGIC:
                return None
            head = msgspec.json.decode(file.readline(10_000), type=Head)
    except (OSError, msgspec.DecodeError):
        return None
    return head if head.form == FORM else None


def _parts(directory: Path, head: Head) -> dict[str, bytes]:
    unpacker = zstandard.ZstdDecompressor()
    with (directory / FILE).open("rb") as file:
        file.readline(), file.readline()
        return {name: unpacker.decompress(file.read(size)) for name, size in head.sizes.items()}


def _last(connection: sqlite3.Connection, known: int, visits: int) -> tuple[str | None, float | None]:
    """The last of so many URLs, and when the last of so many visits was, as the database has them."""
    url, at = connection.execute(_LAST, (known - 1, visits)).fetchone()
    return url, at
