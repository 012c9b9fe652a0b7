"""Writes the WARC files of a recording, closes them with an index, and repairs them if a crawl was killed.

A file is named `….warc.gz.open` until it is closed; only then its index is written beside it. Every record is a gzip
member of its own and is passed to the system with its exchange, so `kill -9` cuts off at most the last one (see
`repair`).

`repair` handles what a killed crawl left: a file still named `.open`, whose last record may be cut off. It keeps
everything complete, cuts off what follows the last complete record, makes the index from the records, and renames the
file. Repairing twice, or a kill during repair, does no harm, because renaming comes last.
"""

import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec
from isal import isal_zlib

from forager import __version__
from forager.errors import OutputError
from forager.terms import Outcome
from forager.warc.exchange import Composer, Exchange, Made, Payloads
from forager.warc.index import REVISIT, SUFFIX, Line, format_line, lines_of, media_type, write_index
from forager.warc.reader import Broken, WarcRecord, records
from forager.warc.records import split_response, stamp, warc_moment
from forager.web.web_settings import RecordingSettings

_FAST = 3  # ISA-L's highest level
OPEN = ".open"
_LIMIT = 2**40  # keep everything that we wrote


@dataclass(frozen=True, slots=True)
class Repaired:
    """Result of repairing a file."""

    path: Path
    """Its new name; it does not exist if nothing in the file was complete."""
    kept: int
    """Number of complete records."""
    cut: int
    """Number of bytes cut off at the end, or cut out."""


def repair(directory: Path) -> list[Repaired]:
    """Closes every file of ours that a killed crawl left open in this directory."""
    return [_mend(path) for path in sorted(directory.glob(f"forager-*.warc.gz{OPEN}")) if not path.is_symlink()]


def _mend(path: Path) -> Repaired:
    final = path.with_name(path.name.removesuffix(OPEN))
    index: list[str] = []
    whole: list[tuple[int, int]] = []
    for record in records(path, _LIMIT):
        if isinstance(record, Broken):
            continue
        whole.append((record.place.offset, record.end))
        line = index_line(record, final.name)
        if line is not None:
            index.append(format_line(line))
    size = path.stat().st_size
    if not whole:
        path.unlink()
        return Repaired(final, 0, size)
    if any(end != begin for (_, end), (begin, _) in pairwise([(0, 0), *whole])):  # holes: the power went
        _close_up(path, whole)
        mended = _mend(path)
        return Repaired(final, mended.kept, size - final.stat().st_size)
    end = whole[-1][1]
    if end < size:
        with path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())
    write_index(path.with_name(final.name.removesuffix(".warc.gz") + SUFFIX), index)
    path.rename(final)
    return Repaired(final, len(whole), size - end)


def _close_up(path: Path, whole: Sequence[tuple[int, int]]) -> None:
    """Leaves out everything between the whole records, which stand at these places."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with path.open("rb") as source, draft.open("xb") as file:
        for begin, end in whole:
            source.seek(begin)
            file.write(source.read(end - begin))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def index_line(record: WarcRecord, filename: str) -> Line | None:
    """Makes the index entry of a record; None if it is not indexed."""
    if record.kind not in ("response", "revisit") or record.end < 0:
        return None
    http, time = split_response(record.block), warc_moment(record.field("warc-date"))
    is_torn = record.field("forager-outcome") == Outcome.FAILED and record.field("warc-truncated")
    if http is None or time is None or is_torn:
        return None
    status, headers, _ = http
    return Line(
        url=record.url,
        mime=REVISIT if record.kind == "revisit" else media_type(dict(reversed(headers)).get("content-type", "")),
        status=str(status),
        digest=record.field("warc-payload-digest"),
        length=str(record.end - record.place.offset),
        offset=str(record.place.offset),
        filename=filename,
        stamp=stamp(time),
    )


CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_SERIAL = re.compile(r"forager-\d{14}-(\d{5,})\.warc\.gz")
_WARC = re.compile(r".+\.warc(\.gz|\.zst)?(\.open)?")


class WarcWriter:
    """Writes exchanges into a directory of its own; first repairs files left open there.

    `about` goes into the first record of every file: the settings of the crawl, an operator, a description.
    """

    def __init__(
        self, directory: Path, settings: RecordingSettings, user_agent: str, about: Mapping[str, str] | None = None
    ) -> None:
        self.directory, self.settings, self.user_agent = directory, settings, user_agent
        self.about = {
            "software": f"Forager/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": CONFORMS_TO,
            "http-header-user-agent": user_agent,
            **(about or {}),
        }
        self.exchanges = 0
        self.payloads = Payloads(settings.remember)
        self._file: _OpenFile | None = None
        try:
            directory.mkdir(parents=True, exist_ok=True)
            repair(directory)
            for index in sorted(directory.glob(f"forager-*{SUFFIX}")):
                self.payloads.load(lines_of(index))
            serials = (_SERIAL.match(path.name) for path in directory.iterdir())
            self._next = max((int(match[1]) for match in serials if match), default=0) + 1
        except OSError as error:
            raise self._failure(error) from error

    def __repr__(self) -> str:
        name = self._file.path.name if self._file else "no file open"
        return f"<WarcWriter {self.exchanges} exchanges, {name}>"

    def write(self, exchanges: Iterable[Exchange]) -> None:
        """Writes exchanges and passes them to the system."""
        try:
            for exchange in exchanges:
                file = self._file_for(exchange.response.asked)
                file.add(file.composer.records(exchange))
                self.exchanges += 1
            if self._file is not None:
                self._file.stream.flush()
        except OSError as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Closes the open file, if any; writing may continue with a new one."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                raise self._failure(error) from error

    def _file_for(self, now: float) -> "_OpenFile":
        file, settings = self._file, self.settings
        if file is not None and (file.size >= settings.max_size or now - file.begun >= settings.max_age):
            self.close()
        if self._file is None:
            path = self.directory / f"forager-{stamp(now)}-{self._next:05}.warc.gz"
            self._next += 1
            composer = Composer(path.name, self.user_agent, self.payloads)
            self._file = _OpenFile(path, composer, settings.level, now)
            self._file.add([composer.warcinfo(self.about, now)])
        return self._file

    def _failure(self, error: OSError) -> OutputError:
        why = error.strerror or error
        return OutputError(
            f"{self.directory}: cannot write the recording ({why}); mend that, or set recording.enabled=false"
        )


class _OpenFile:
    """A file being written, with its index in memory."""

    def __init__(self, path: Path, composer: Composer, level: int, begun: float) -> None:
        self.path, self.composer, self.begun = path, composer, begun
        self.size = 0
        self.stream: BinaryIO = opened_name(path).open("xb")
        self._level = level
        self._index: list[str] = []

    def add(self, records: Iterable[Made]) -> None:
        for record in records:
            codec = isal_zlib if self._level <= _FAST else zlib
            packed = codec.compress(record.bytes, self._level, 31)
            self.stream.write(packed)
            if record.index is not None:
                place = {"length": str(len(packed)), "offset": str(self.size), "filename": self.path.name}
                self._index.append(format_line(msgspec.structs.replace(record.index, **place)))
            self.size += len(packed)

    def close(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
        write_index(index_name(self.path), self._index)
        opened_name(self.path).rename(self.path)


def opened_name(path: Path) -> Path:
    """Returns the name of a file until it is closed."""
    return path.with_name(path.name + OPEN)


def index_name(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".warc") + SUFFIX)


def warcs_in(directory: Path) -> list[Path]:
    """Lists the WARC files of a directory, sorted by name, including one that is still open."""
    return sorted(path for path in directory.iterdir() if _WARC.fullmatch(path.name) and path.is_file())
