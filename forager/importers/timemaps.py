"""Memento TimeMaps (RFC 7089, section 5): which captures of a URL an archive holds, as link format or JSON.

A TimeMap does not tell whether a memento differs from the one before it: each counts as a version. The JSON forms are the
one of MemGator (`original_uri`, `mementos.list`) and the table of the CDX server (an array of rows, the first with names).
"""

import re
from collections.abc import Iterator

import msgspec
import numpy as np
import pyarrow as pa

from forager.importers.captures import Captures
from forager.importers.cdx import shows, statuses
from forager.importers.streams import ByteStream, Tally
from forager.importers.times import believed, http_moment, stamps
from forager.importers.values import prints

LONGEST = 64 << 20
"""Bytes; a JSON TimeMap cannot be read piece by piece, so a longer one is refused."""
_LINK = re.compile(rb"<([^<>\s]{1,8000})>([^<]*)")
_RELATION = re.compile(rb"""\brel\s*=\s*(?:"([^"]*)"|([\w-]+))""", re.IGNORECASE)
_DATETIME = re.compile(rb"""\bdatetime\s*=\s*"([^"]*)\"""", re.IGNORECASE)
_WITHIN = re.compile(rb"/\d{4,14}(?:[a-z]{2}_)?/(https?:/.*)", re.DOTALL)
_PIECE = 1 << 20


class _Memento(msgspec.Struct):
    datetime: str
    uri: str = ""


class _Mementos(msgspec.Struct):
    list: list[_Memento]


class _TimeMap(msgspec.Struct):
    original_uri: str
    mementos: _Mementos


_DECODE = msgspec.json.Decoder(_TimeMap | list[list[str | int | None]]).decode


def read_link_timemap(stream: ByteStream, tally: Tally) -> Iterator[Captures]:
    """The mementos of one TimeMap, or of several end to end, piece by piece."""
    original, kept, line = b"", b"", 1
    while piece := stream.read(_PIECE):
        content = kept + piece
        cut = max(content.rfind(b"<"), 0)
        captures, original = _mementos(content[:cut], stream.source.name, line, tally, original)
        yield captures
        line += content.count(b"\n", 0, cut)
        kept = content[cut:]
        if len(kept) > _PIECE:
            tally.note("link too long", stream.source.name, line, kept[:40])
            kept = b""
    yield _mementos(kept, stream.source.name, line, tally, original)[0]


def _relations(attributes: bytes) -> list[bytes]:
    found = _RELATION.search(attributes)
    return (found[1] or found[2] or b"").lower().split() if found else []


def _mementos(content: bytes, place: str, line: int, tally: Tally, original: bytes) -> tuple[Captures, bytes]:
    """The mementos in whole links, and the URL that links behind them are about."""
    rows: list[tuple[int, bytes, bytes, bytes]] = []
    at = 0
    for link in _LINK.finditer(content):
        line, at = line + content.count(b"\n", at, link.start()), link.start()
        relations = _relations(link[2])
        if b"original" in relations:
            original = link[1]
        elif b"memento" in relations:
            said, within = _DATETIME.search(link[2]), _WITHIN.search(link[1])
            rows.append((line, original or (within[1] if within else b""), said[1] if said else b"", link[1]))
        elif not relations:
            tally.note("link without rel", place, line, link[0])
    lines, urls, times, uris = zip(*rows, strict=True) if rows else ((), (), (), ())
    moments = [http_moment(time.decode("latin-1")) for time in times]
    times_read = np.asarray(moments, np.float64)
    return _captures(place, list(lines), list(urls), times_read, list(uris), list(times)), original


def _captures(
    place: str,
    lines: list[int],
    urls: list[bytes],
    times: np.ndarray[tuple[int], np.dtype[np.float64]],
    contents: list[bytes],
    said: list[bytes],
) -> Captures:
    return Captures(
        place,
        np.asarray(lines, np.int64),
        pa.array(urls, pa.binary()),
        believed(times),
        prints(pa.array(contents, pa.binary())),
        np.zeros(len(lines), np.bool_),
        pa.array(said, pa.binary()),
    )


def read_json_timemap(stream: ByteStream, tally: Tally) -> Iterator[Captures]:
    """The mementos of a JSON TimeMap."""
    place = stream.source.name
    pieces: list[bytes] = []
    while (piece := stream.read(_PIECE)) and len(pieces) * _PIECE <= LONGEST:
        pieces.append(piece)
    if piece:
        tally.note("JSON TimeMap too long", place)
        return
    try:
        found = _DECODE(b"".join(pieces))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        tally.note("not a JSON TimeMap", place, shown=error)
        return
    if isinstance(found, list):
        yield from _server_rows(found, place, tally)
        return
    listed = found.mementos.list
    texts = [memento.datetime.encode("utf-8", "replace") for memento in listed]
    moments = np.asarray([http_moment(memento.datetime) for memento in listed], np.float64)
    original = found.original_uri.encode("utf-8", "replace")
    contents = [memento.uri.encode("utf-8", "replace") or text for memento, text in zip(listed, texts, strict=True)]
    yield _captures(place, list(range(1, len(listed) + 1)), [original] * len(listed), moments, contents, texts)


def _server_rows(rows: list[list[str | int | None]], place: str, tally: Tally) -> Iterator[Captures]:
    """The rows of a CDX server; the first names the columns."""
    names = [str(name) for name in rows[0]] if rows else []
    if not {"timestamp", "original"} <= set(names):
        tally.note("not a JSON TimeMap", place, shown="its first row must name timestamp and original")
        return
    sound = [(number, row) for number, row in enumerate(rows[1:], 2) if len(row) == len(names)]
    if len(sound) < len(rows) - 1:
        tally.note("wrong number of fields", place, count=len(rows) - 1 - len(sound))

    def column(name: str) -> pa.Array:
        at = names.index(name) if name in names else None
        texts = [None if at is None or row[at] is None else str(row[at]).encode("utf-8", "replace") for _, row in sound]
        return pa.array(texts, pa.binary())

    status, said = statuses(column("statuscode")), column("timestamp")
    digest = prints(column("digest" if "digest" in names else "timestamp"))
    digest[status == 304] = 0
    chosen = np.flatnonzero(shows(status, tally))
    take = pa.array(chosen)
    lines = np.asarray([number for number, _ in sound], np.int64)[chosen]
    yield Captures(
        place,
        lines,
        column("original").take(take),
        stamps(said.take(take)),
        digest[chosen],
        (status // 100 == 4)[chosen],
        said.take(take),
    )
