"""Many files, in any of the formats, become one tape, or the histories of pages.

A history tells when a page was captured, and which captures show something new.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from forager.errors import InputError
from forager.importers import change_logs, timemaps
from forager.importers.captures import Captures, Collector
from forager.importers.cdx import CdxReader, file_name, read_cdxj
from forager.importers.formats import Format, sniff
from forager.importers.streams import ByteStream, Source, Tally, blocks, opened, sources
from forager.importers.warcs import WarcReader, read_warc
from forager.recrawl.change_log import Captured, changes
from forager.tape.tape import CONTENTS, Tape, load_tape

_RECORDINGS = {Format.WARC, Format.ARC, Format.WACZ}

Progress = Callable[[str, int, int], None]
"""Called now and then with what is being read, the bytes read so far and all bytes (0 if not known)."""


class _UnknownFormat(InputError):
    """It is none of the formats that can be read."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A tape and how the reading of it went."""

    tape: Tape
    tally: Tally
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
    """The tape of all captures in these files; a file that cannot be used is named, and refused if it is the only one.

    `every_capture`: captures that show what the one before showed are versions too.
    Unless said otherwise, recorded pages tell what makes a document new; where only changes were noted, it is a new text.
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
    """The names of those files that are recordings."""
    names = set()
    for source in found:
        if source.path is not None:
            with suppress(InputError), opened(source) as stream:
                if sniff(stream.head) in _RECORDINGS:
                    names.add(file_name(source.name))
    return names


def _read(
    source: Source, collector: Collector, recordings: WarcReader, beside: Set[str], told: Callable[[int], None]
) -> Format:
    """Take everything of one source; what format it has."""
    with opened(source) as stream:
        format = sniff(stream.head)
        if format is Format.UNKNOWN:
            raise _UnknownFormat(_unknown(stream))
        if format in _RECORDINGS:
            read_warc(stream, format, recordings, told)
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
    return f"{name}: is no WARC, ARC, WACZ, CDX, CDXJ, TimeMap or change log (url, time and changed or digest) as far as I see"


def _captures(stream: ByteStream, format: Format, tally: Tally, beside: Set[str]) -> Iterator[Captures]:
    if format in (Format.CDX, Format.CDXJ):
        stream.part_lines()
    match format:
        case Format.CDX:
            reader = CdxReader(tally, beside)
            for block in blocks(stream, tally):
                yield from reader.read(block)
        case Format.CDXJ:
            for block in blocks(stream, tally):
                yield from read_cdxj(block, tally, beside)
        case Format.LINK_TIMEMAP:
            yield from timemaps.read_link_timemap(stream, tally)
        case Format.JSON_TIMEMAP:
            yield from timemaps.read_json_timemap(stream, tally)
        case Format.CSV:
            yield from change_logs.read_csv(stream, tally)
        case Format.JSON_LINES:
            yield from change_logs.read_json_lines(stream, tally)
        case Format.PARQUET:
            yield from change_logs.read_parquet(stream, tally)


def histories(name: str) -> Iterator[Captured]:
    """The pages of a recording in any format that `forager import` reads, or of a tape, which holds changes only."""
    if (Path(name) / CONTENTS).exists():
        return _pages(load_tape(Path(name)))
    return _pages(import_files(sources([name]), origin=name, every_capture=True).tape)


def _pages(tape: Tape) -> Iterator[Captured]:
    begin, urls = np.asarray(tape.version_start), tape.urls()
    for page, url in enumerate(urls):
        part = slice(int(begin[page]), int(begin[page + 1]))
        if part.start < part.stop:
            when = np.asarray(tape.time[part])
            yield Captured(url, when, changes(np.asarray(tape.digest[part]), np.asarray(tape.gone[part])))
