"""What is known of each URL, as columns of plain numbers: about 100 bytes per URL instead of an object of a thousand.

A missing time (no visit, no due time) is NaN; a missing number (no source, no version) is -1. In crawl.db a column has
the same name, in the table `urls` or `states`, where a missing value is NULL, but -1 for a version.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.store.protocol import Found, Known, VersionId, Visit
from forager.store.rows import DiskRow, as_read, signed, written
from forager.terms import Channel, Kind, Url, UrlId, Validators

CHANNELS = tuple(Channel)
KINDS = tuple(Kind)
CHANNEL_CODES = {channel: code for code, channel in enumerate(CHANNELS)}
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
NEVER = math.nan
PART = b"\0"
"""Separates the validators of two URLs; no header can contain it."""
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
_UNSEEN = KIND_CODES[Kind.OTHER]
_CODES: dict[str, dict[Any, int]] = {"channel": CHANNEL_CODES, "kind": KIND_CODES}


class Texts:
    """Very many short texts by number; texts can be added and replaced.

    The texts present when a crawl is opened stay one block of bytes, as read: a text of eighty letters takes 84 bytes
    in it, as an object of its own 130, and becomes an object only when requested.
    """

    def __init__(self, block: bytes = b"", count: int = 0, part: bytes = b"\n") -> None:
        """Takes `count` texts from a block, separated by one byte; raises a `ValueError` if the count differs."""
        self._block, self._count, self._part = block, count, part
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == part[0]) + 1 if block else np.empty(0, np.int64)
        if len(ends) != max(0, count - 1):
            raise ValueError(f"{len(ends) + 1} texts instead of {count}")
        self._begins = array("I" if len(block) < 2**32 else "Q", [0])
        """Where each text begins, and where one after the last would."""
        self._begins.frombytes(np.append(ends, len(block) + 1).astype(self._begins.typecode).tobytes())
        self._changed: dict[int, str] = {}
        self.late: list[str] = []
        """The texts that are not in the block."""

    def __repr__(self) -> str:
        return f"<Texts {len(self)}, {self._count} of them in {len(self._block)} bytes>"

    def __len__(self) -> int:
        return self._count + len(self.late)

    def __getitem__(self, number: int) -> str:
        """The text with this number, from 0."""
        if number >= self._count:
            return self.late[number - self._count]
        if number in self._changed:
            return self._changed[number]
        return self._block[self._begins[number] : self._begins[number + 1] - 1].decode("utf-8", "surrogatepass")

    def __setitem__(self, number: int, text: str) -> None:
        if number >= self._count:
            self.late[number - self._count] = text
        else:
            self._changed[number] = text

    def append(self, text: str) -> None:
        self.late.append(text)

    def extend(self, texts: Iterable[str]) -> None:
        self.late.extend(texts)

    def copied(self) -> "Texts":
        """A copy for another thread; the block is shared."""
        other = Texts()
        other._block, other._count, other._part, other._begins = self._block, self._count, self._part, self._begins
        other._changed, other.late = self._changed.copy(), self.late.copy()
        return other

    def joined(self) -> bytes | None:
        """All texts as one block; None if one of them contains the separator."""
        pieces, at = [], 0
        for number in sorted(self._changed):
            pieces += [self._block[at : self._begins[number]], _encoded(self._changed[number])]
            at = self._begins[number + 1] - 1
        pieces.append(self._block[at:])
        if self.late:
            pieces += [self._part if self._count else b"", _encoded(self._part.decode().join(self.late))]
        block = b"".join(pieces)
        return block if block.count(self._part) == max(0, len(self) - 1) else None


class Columns:
    """One entry per URL in each column, at the URL's number."""

    def __init__(self) -> None:
        self.found, self.published = array("d"), array("d")
        self.channel, self.kind = array("b"), array("b")
        self.source, self.depth = array("i"), array("i")
        self.visits, self.changes = array("i"), array("i")
        self.last_visit, self.last_change, self.due = array("d"), array("d"), array("d")
        self.seen = array("q")
        """Number of the last visit, counted over all URLs from 1; 0 if there was none."""
        self.version = array("i")
        self.byte_print, self.text_print = array("Q"), array("Q")
        self.validators = Texts(part=PART)
        """Date and entity tag in one string, separated by a line end, which no header can contain; empty if there are
        none."""

    def append(self, found: Found) -> None:
        """Adds the next URL, never visited."""
        self.found.append(found.at)
        self.published.append(_moment(found.published))
        self.channel.append(CHANNEL_CODES[found.channel])
        self.source.append(-1 if found.source is None else found.source)
        self.depth.append(found.depth)
        self.due.append(_moment(found.due))
        self.kind.append(_UNSEEN)
        self.visits.append(0)
        self.changes.append(0)
        self.seen.append(0)
        self.last_visit.append(NEVER)
        self.last_change.append(NEVER)
        self.version.append(-1)
        self.byte_print.append(0)
        self.text_print.append(0)
        self.validators.append("")

    def extend_unvisited(self, count: int) -> None:
        """Adds default values of the columns `VISITED` for `count` URLs."""
        self.kind.extend(array("b", [_UNSEEN]) * count)
        for column in (self.visits, self.changes, self.seen, self.byte_print, self.text_print):
            column.frombytes(bytes(count * column.itemsize))
        for moments in (self.last_visit, self.last_change):
            moments.extend(array("d", [NEVER]) * count)
        self.version.extend(array("i", [-1]) * count)
        self.validators.extend([""] * count)

    def visited(self, visit: Visit, number: int, version: VersionId | None) -> None:
        """Learns from the visit with this number, which made this version."""
        id = visit.id
        self.visits[id] += 1
        self.seen[id] = number
        self.last_visit[id] = visit.at
        if visit.changed:
            self.changes[id] += 1
            self.last_change[id] = visit.at
        self.due[id] = _moment(visit.due)
        self.validators[id] = pack_validators(visit.validators)
        if visit.version is not None and version is not None:
            self.kind[id] = KIND_CODES[visit.version.kind]
            self.version[id] = version
            self.byte_print[id] = visit.version.byte_print
            self.text_print[id] = visit.version.text_print

    def state(self, id: UrlId) -> DiskRow:
        """The row of a visited URL in `states`: its number, then its cells of `VISITED`."""
        return (id, *[_cell(name, getattr(self, name)[id]) for name in VISITED])

    def add_found(self, cells: Sequence[tuple[Any, ...]]) -> None:
        """Adds URLs that were never visited: the columns `FOUND` as in `urls`."""
        for name, values in zip(FOUND, cells, strict=True):
            column = getattr(self, name)
            column.frombytes(_numbers(name, column, values).astype(column.typecode).tobytes())
        self.extend_unvisited(len(cells[0]))

    def add_states(self, ids: tuple[int, ...], cells: Sequence[tuple[Any, ...]]) -> None:
        """Sets the columns `VISITED` of these URLs, in rising order, as in `states`."""
        if ids[0] < 0 or ids[-1] >= len(self.found):
            raise ValueError("a visited URL is missing")
        places = np.array(ids)
        for name, values in zip(VISITED, cells, strict=True):
            column = getattr(self, name)
            if column is self.validators:
                texts = tuple(packed and as_read(packed) for packed in values) if bytes in map(type, values) else values
                for id, packed in zip(ids, texts, strict=True):
                    column[id] = packed or ""
            else:
                np.frombuffer(column, dtype=column.typecode)[places] = _numbers(name, column, values)

    def known(self, id: UrlId, url: Url) -> Known:
        return Known(
            id=id,
            url=url,
            found=self.found[id],
            channel=CHANNELS[self.channel[id]],
            source=None if self.source[id] < 0 else UrlId(self.source[id]),
            depth=self.depth[id],
            published=moment(self.published[id]),
            kind=KINDS[self.kind[id]],
            visits=self.visits[id],
            changes=self.changes[id],
            last_visit=moment(self.last_visit[id]),
            last_change=moment(self.last_change[id]),
            due=moment(self.due[id]),
            version=None if self.version[id] < 0 else VersionId(self.version[id]),
            byte_print=self.byte_print[id],
            text_print=self.text_print[id],
            validators=unpack_validators(self.validators[id]),
        )


def _cell(name: str, value: Any) -> Any:
    """A value of a column as in `states`."""
    if name == "kind":
        return KINDS[value].value
    if name == "validators":
        return written(value) if value else None
    if isinstance(value, float):
        return moment(value)
    return signed(value)


def _numbers(name: str, column: "array[Any]", cells: tuple[Any, ...]) -> NDArray[Any]:
    """Cells of crawl.db as numbers of a column."""
    if name in _CODES:
        return np.array([_CODES[name][cell] for cell in cells])
    if column.typecode == "d":
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    numbers = np.array(cells, dtype=np.int64)
    return numbers.view(np.uint64) if column.typecode == "Q" else numbers


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def moment(number: float) -> float | None:
    """A time from a column; None if it is missing."""
    return None if math.isnan(number) else number


def _moment(time: float | None) -> float:
    return NEVER if time is None else time


def pack_validators(validators: Validators) -> str:
    if not validators.etag and not validators.last_modified:
        return ""
    return f"{validators.last_modified}\n{validators.etag}"


def unpack_validators(packed: str) -> Validators:
    if not packed:
        return Validators()
    last_modified, _, etag = packed.partition("\n")
    return Validators(etag, last_modified)
