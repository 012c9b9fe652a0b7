"""Many files of any format become one tape, or the histories of pages.

The first bytes of a stream decide its format, never its name. A history tells when a page was captured, and which
captures show something new.

A change log tells when pages were visited, and what was seen: `url, time` and `changed` (0 or 1) or `digest`, as CSV
(also with tabs or semicolons), Parquet or JSON lines. A row that says `changed` is a new version; a row that says not
is none, unless it is the first of its page.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from forager.arrays import BoolArray, FloatArray, IntArray, PrintArray
from forager.errors import InputError
from forager.importers import indexes
from forager.importers.collector import Captures, Collector
from forager.importers.streams import ByteStream, ImportTally, Source, blocks, opened, sources
from forager.importers.table_columns import flags, moments, prints, table_batches, trouble_of
from forager.importers.warcs import WarcReader, read_warc
from forager.recrawl.change_log import Captured, changes
from forager.tape.tape import CONTENTS, Tape, load_tape
from forager.tape.tape_world import LIST_KINDS

TIME, CHANGED, DIGEST = ("time", "timestamp", "at"), ("changed",), ("digest", "hash", "checksum")
_NAMES = {"url": ("url", "page"), "time": TIME, "changed": CHANGED, "digest": DIGEST, "gone": ("gone",)}
"""What the columns of a change log may be called."""


def _read_rows(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
    """Reads a change log in CSV, with a header line, or in Parquet."""
    name = stream.source.name
    line = 2
    try:
        for batch in table_batches(stream, lambda names: _wanted(names, name), tally):
            rows = len(batch.columns["url"])
            yield _noted(name, np.arange(batch.line, batch.line + rows), batch.columns)
            line = batch.line + rows
    except (pa.ArrowException, OSError) as error:
        if stream.head.startswith(b"PAR1"):
            tally.note("damaged Parquet", name, shown=trouble_of(error))
        else:
            tally.note("not CSV from here on", name, line, trouble_of(error))


_Value = str | bool | int | float | None


class _Row(msgspec.Struct):
    url: _Value = None
    page: _Value = None
    time: _Value = None
    timestamp: _Value = None
    at: _Value = None
    changed: _Value = None
    digest: _Value = None
    hash: _Value = None
    checksum: _Value = None
    gone: _Value = None

    def said(self, names: Sequence[str]) -> str | None:
        """Returns the column with the first of these names that is there, as text."""
        return next((str(value) for name in names if (value := getattr(self, name)) is not None), None)


_DECODE = msgspec.json.Decoder(_Row).decode


def _read_json_lines(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
    """Reads a change log with one JSON object on each line."""
    for block in blocks(stream, tally):
        lines: list[int] = []
        rows: list[_Row] = []
        for number, line in block.lines():
            try:
                row = _DECODE(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                tally.note("not a JSON line", block.place, number, line)
                continue
            if row.said((*CHANGED, *DIGEST)) is None:
                tally.note("neither changed nor digest", block.place, number, line)
                continue
            lines.append(number)
            rows.append(row)
        columns = {key: pa.array([row.said(names) for row in rows], pa.string()) for key, names in _NAMES.items()}
        columns["changed"] = columns["changed"].fill_null("yes")  # without the column, the digest alone decides
        yield _noted(block.place, np.asarray(lines, np.int64), columns)


def _wanted(names: Sequence[str], place: str) -> dict[str, int]:
    """Finds which column holds what; raises an `InputError` if one is missing."""
    known = {key: next((one for one in choice if one in names), None) for key, choice in _NAMES.items()}
    found = {key: names.index(name) for key, name in known.items() if name is not None}
    if not {"url", "time"} <= set(found) or not {"changed", "digest"} & set(found):
        raise InputError(
            f"{place}: a change log needs the columns url, time and changed or digest; "
            f"this has {', '.join(name[:40] for name in names[:8]) or 'none'}"
        )
    return found


def _noted(place: str, lines: IntArray, columns: Mapping[str, pa.Array]) -> Captures:
    time = moments(columns["time"])
    return Captures(
        place,
        lines,
        columns["url"],
        time,
        _digests(columns, time),
        flags(columns["gone"]) if "gone" in columns else np.zeros(len(lines), np.bool_),
        columns["time"],
    )


def _digests(columns: Mapping[str, pa.Array], time: FloatArray) -> PrintArray:
    """Returns what distinguishes versions: the digest, or a fresh number for each change; 0 where nothing changed."""
    digest = time.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    if "digest" in columns:
        said = prints(columns["digest"])
        digest = np.where(said == 0, digest, said) if "changed" in columns else said
    return np.where(flags(columns["changed"]), digest, np.uint64(0)) if "changed" in columns else digest


_CDXJ = re.compile(rb"\S+ \d{4,17} \{")
_CDX = re.compile(rb"\S+ \d{4,17} \S+(?: \S+)*\r?")
_LINK = re.compile(rb"\s*<[^<>\s]+>\s*;", re.ASCII)
_WORDS = re.compile(rb"[\s\"',;]+")
_ZST_DICTIONARY = b"\x5d\x2a\x4d\x18"
"""How a WARC.zst begins that carries its own dictionary."""
_TRIED = 50
"""Lines looked at; the first ones may be broken."""


class Format(StrEnum):
    """What can be imported."""

    CDX = "CDX"
    CDXJ = "CDXJ"
    LINK_TIMEMAP = "TimeMap (link format)"
    JSON_TIMEMAP = "TimeMap (JSON)"
    CSV = "change log (CSV)"
    JSON_LINES = "change log (JSON lines)"
    PARQUET = "change log (Parquet)"
    WARC = "WARC"
    ARC = "ARC"
    WACZ = "WACZ"
    UNKNOWN = "unknown"


def sniff(head: bytes) -> Format:
    """Returns the format of a stream that begins like this once it is unpacked."""
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith(b"PK\x03\x04"):
        return Format.WACZ
    if head.startswith((b"WARC/", _ZST_DICTIONARY)):
        return Format.WARC
    if head.startswith(b"filedesc:"):
        return Format.ARC
    if head.lstrip()[:1] in (b"{", b"["):
        return _json(head.lstrip())
    if _LINK.match(head):
        return Format.LINK_TIMEMAP
    lines = head.split(b"\n")[:_TRIED]
    for line in lines:
        found = _by_line(line)
        if found is not Format.UNKNOWN:
            return found
    columns = {word.lower() for word in _WORDS.split(lines[0])}
    return Format.CSV if b"url" in columns or b"page" in columns else Format.UNKNOWN


def _by_line(line: bytes) -> Format:
    if indexes.cdx_header(line):
        return Format.CDX
    if _CDXJ.match(line) or (line.startswith(indexes.COMMENTS) and b"CDXJ" in line):
        return Format.CDXJ
    return Format.CDX if _CDX.fullmatch(line) and line.count(b" ") + 1 in indexes.FIELDS else Format.UNKNOWN


def _json(text: bytes) -> Format:
    """Distinguishes a change log, one object on each line, from a TimeMap, which has mementos or rows of rows."""
    if text.startswith(b"["):
        return Format.JSON_TIMEMAP
    if b'"mementos"' in text or b'"original_uri"' in text:
        return Format.JSON_TIMEMAP
    return Format.JSON_LINES if b'"url"' in text or b'"page"' in text else Format.UNKNOWN


_RECORDINGS = {Format.WARC, Format.ARC, Format.WACZ}

Progress = Callable[[str, int, int], None]
"""Called now and then with what is being read, the bytes read so far and all bytes (0 if not known)."""


class _UnknownFormat(InputError):
    """A stream in a format that cannot be read."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A tape, and what was read for it."""

    tape: Tape
    tally: ImportTally
    formats: Counter[str] = field(default_factory=Counter)
    """Files by format."""


def import_files(
    found: Sequence[Source],
    *,
    origin: str,
    identity: str | None = None,
    every_capture: bool = False,
    progress: Progress = lambda *_: None,
) -> Imported:
    """Compiles the tape of all captures in these files. A file that cannot be used is reported; if it is the only one,
    that is an error.

    `every_capture`: captures that show the same as the one before are versions too. By default, recorded pages decide
    what makes a document new; where only changes were noted, it is a new text.
    """
    collector = Collector(origin)
    recordings = WarcReader(collector)
    formats: Counter[str] = Counter()
    total, before = sum(source.size for source in found), 0
    beside = _recordings(found) if len(found) > 1 else frozenset[str]()
    for source in found:
        told = partial(_told, progress, source.name, before, total)
        try:
            formats[_read(source, collector, recordings, beside, told).value] += 1
        except InputError as error:
            if len(found) == 1:
                raise
            kind = "file of unknown format" if isinstance(error, _UnknownFormat) else "unusable file"
            collector.tally.note(kind, source.name, shown=str(error).removeprefix(f"{source.name}: "))
        before += source.size
    recordings.finish()
    known = identity or (None if formats.keys() & _RECORDINGS else "text")
    return Imported(collector.tape(known, merge=not every_capture), collector.tally, formats)


def _recordings(found: Sequence[Source]) -> Set[str]:
    """Returns the names of those files that are recordings."""
    names = set()
    for source in found:
        if source.path is not None:
            with suppress(InputError), opened(source) as stream:
                if sniff(stream.head) in _RECORDINGS:
                    names.add(indexes.file_name(source.name))
    return names


def _read(
    source: Source, collector: Collector, recordings: WarcReader, beside: Set[str], told: Callable[[int], None]
) -> Format:
    """Takes everything of one source; returns its format."""
    with opened(source) as stream:
        format = sniff(stream.head)
        if format is Format.UNKNOWN:
            raise _UnknownFormat(_unknown(stream))
        if format in _RECORDINGS:
            read_warc(stream, format is Format.WACZ, recordings, told)
        for captures in _captures(stream, format, collector.tally, beside):
            collector.take(captures)
            told(stream.position)
        if stream.trouble:
            collector.tally.note("broken off", source.name, shown=stream.trouble)
    return format


def _told(progress: Progress, name: str, before: int, total: int, read: int) -> None:
    progress(name, before + read, total)


def _unknown(stream: ByteStream) -> str:
    name = stream.source.name
    if not stream.head:
        return f"{name}: cannot be unpacked: {stream.trouble}" if stream.trouble else f"{name}: is empty"
    return f"{name}: looks like no WARC, ARC, WACZ, CDX, CDXJ, TimeMap or change log (url, time and changed or digest)"


def _captures(stream: ByteStream, format: Format, tally: ImportTally, beside: Set[str]) -> Iterator[Captures]:
    if format in (Format.CDX, Format.CDXJ):
        stream.part_lines()
    match format:
        case Format.CDX:
            reader = indexes.CdxReader(tally, beside)
            for block in blocks(stream, tally):
                yield from reader.read(block)
        case Format.CDXJ:
            for block in blocks(stream, tally):
                yield from indexes.read_cdxj(block, tally, beside)
        case Format.LINK_TIMEMAP:
            yield from indexes.read_link_timemap(stream, tally)
        case Format.JSON_TIMEMAP:
            yield from indexes.read_json_timemap(stream, tally)
        case Format.CSV | Format.PARQUET:
            yield from _read_rows(stream, tally)
        case Format.JSON_LINES:
            yield from _read_json_lines(stream, tally)


def histories(name: str) -> Iterator[Captured]:
    """The pages of a recording in any format that `forager import` reads, or of a tape, which holds changes only."""
    if (Path(name) / CONTENTS).exists():
        return _pages(load_tape(Path(name)))
    return _pages(import_files(sources([name]), origin=name, every_capture=True).tape)


def _pages(tape: Tape) -> Iterator[Captured]:
    begin, urls, lists = np.asarray(tape.version_start), tape.urls(), np.isin(tape.url_kind, LIST_KINDS)
    for page, url in enumerate(urls):
        part = slice(int(begin[page]), int(begin[page + 1]))
        if part.start < part.stop:
            when = np.asarray(tape.time[part])
            changed = changes(np.asarray(tape.digest[part]), np.asarray(tape.gone[part]))
            if lists[page]:
                changed &= _new_links(tape, part)
            yield Captured(url, when, changed)


def _new_links(tape: Tape, part: slice) -> BoolArray:
    """Which versions of a list have a link that none before had, because other content alone is no change of a list.
    All versions, if no links are known.
    """
    seen: set[int] = set()
    found: list[bool] = []
    for version in range(part.start, part.stop):
        links = set() if tape.gone[version] else set(tape.links_of(version).tolist())
        found.append(not links <= seen)
        seen |= links
    return np.array(found) | (not seen)
