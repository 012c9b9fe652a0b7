"""WARC files of a recording: begun, filled, closed with an index, one after the other.

A file is called `….warc.gz.open` until it is closed; only then its index stands beside it. Every record is a gzip member
of its own and goes to the system with its exchange, so `kill -9` tears at most the last one (see `mending`).
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from forager import __version__
from forager.errors import OutputError
from forager.world.recording import Exchange
from forager.world.warc.cdxj import SUFFIX, format_line, lines_of, write_index
from forager.world.warc.composing import Composer, Made
from forager.world.warc.fields import stamp
from forager.world.warc.mending import OPEN, repair
from forager.world.warc.packing import member
from forager.world.warc.payloads import Payloads
from forager.world.warc.settings import RecordingSettings

CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_SERIAL = re.compile(r"forager-\d{14}-(\d{5,})\.warc\.gz")
_WARC = re.compile(r".+\.warc(\.gz|\.zst)?(\.open)?")


class WarcWriter:
    """Writes exchanges into a directory that nobody else writes to; files left open there are mended first.

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
        """Write exchanges and hand them to the system."""
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
        """Close the open file, if there is one; writing may go on with a new one."""
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
    """A file in the making, with its index in memory."""

    def __init__(self, path: Path, composer: Composer, level: int, begun: float) -> None:
        self.path, self.composer, self.begun = path, composer, begun
        self.size = 0
        self.stream: BinaryIO = opened_name(path).open("xb")
        self._level = level
        self._index: list[str] = []

    def add(self, records: Iterable[Made]) -> None:
        for record in records:
            packed = member(record.bytes, self._level, record.stored)
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
    """What a file is called until it is closed."""
    return path.with_name(path.name + OPEN)


def index_name(path: Path) -> Path:
    """The index that stands beside a file."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".warc") + SUFFIX)


def warcs_in(directory: Path) -> list[Path]:
    """The WARC files of a directory, by name; a file that is still open is one too."""
    return sorted(path for path in directory.iterdir() if _WARC.fullmatch(path.name) and path.is_file())
