"""Where rows go: a file written where it is, a file that appears when it is complete, or standard output.

Nothing is buffered here: what `write` took is with the system, so the sudden end of the process loses none of it.
"""

import errno
import fcntl
import os
import sys
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

from forager.errors import OutputError


class Destination(Protocol):
    @property
    def path(self) -> Path:
        """The output, as people call it."""

    def open(self) -> FileIO | None:
        """Get ready without changing anything; the file to go on with, None if there is nothing in it.

        Where nothing of the kind can be written that is an OutputError or, if the system says so, an OSError.
        """

    def begin(self, offset: int) -> None:
        """Cut off what is behind the offset and write on there."""

    def write(self, content: bytes) -> None:
        """All of it, or an OSError."""

    def close(self) -> None:
        """The writing is complete."""

    def discard(self) -> None:
        """Let go; whatever is not complete and was not there before disappears."""


class InPlace:
    """A file that others can read while it grows, written by one process at a time; or a pipe, or a device."""

    def __init__(self, path: Path, *, keep: bool) -> None:
        """`keep`: go on with what is there."""
        self.path, self._keep = path, keep
        self._file: FileIO | None = None
        self._is_regular = True

    def open(self) -> FileIO | None:
        self._is_regular = self.path.is_file() or not self.path.exists()
        how = os.O_RDWR | os.O_CREAT if self._is_regular else os.O_WRONLY
        number = os.open(self.path, how | os.O_CLOEXEC, 0o666)
        self._file = FileIO(number, "r+" if self._is_regular else "w")
        if not self._is_regular:
            return None
        self._lock(self._file)
        return self._file if self._keep and os.fstat(number).st_size else None

    def _lock(self, file: FileIO) -> None:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise OutputError(f"{self.path}: another process writes it; stop that or choose another file") from None
        except OSError:
            pass  # a file system without locks

    def begin(self, offset: int) -> None:
        if self._is_regular:
            assert self._file is not None
            self._file.truncate(offset)
            self._file.seek(offset)

    def write(self, content: bytes) -> None:
        assert self._file is not None
        write_all(self._file, content)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        with suppress(OSError):
            self.close()


class Replacing:
    """A file that is written beside its place and put there when complete: readers see the old one or the new one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fresh = path
        """Where it is written until it is complete."""
        self._file: FileIO | None = None

    def open(self) -> None:
        if self.path.exists() and not self.path.is_file():
            raise OutputError(f"{self.path}: not a regular file; only .jsonl and .csv can be written there, with -o")
        place = self.path.resolve()  # a symbolic link stays one
        self.fresh = place.with_name(f".{place.name}.{os.getpid()}.part")
        self._file = self.fresh.open("wb", buffering=0)
        if place.exists():
            self.fresh.chmod(place.stat().st_mode & 0o777)

    def begin(self, offset: int) -> None:
        """It begins empty."""

    def write(self, content: bytes) -> None:
        assert self._file is not None
        write_all(self._file, content)

    def close(self) -> None:
        assert self._file is not None
        os.fsync(self._file.fileno())
        self._file.close()
        self.fresh.replace(self.path.resolve())
        self._file = None

    def discard(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            with suppress(OSError):
                self.fresh.unlink()
            self._file = None


class StandardOutput:
    """Has no memory: it always begins with the first story."""

    path = Path("standard output")

    def open(self) -> None:
        """It is open."""

    def begin(self, offset: int) -> None:
        sys.stdout.flush()

    def write(self, content: bytes) -> None:
        out: Any = sys.stdout.buffer
        write_all(getattr(out, "raw", out), content)  # past the buffer: after an error nothing is left in it

    def close(self) -> None:
        """It belongs to others."""

    def discard(self) -> None:
        """It belongs to others."""


def write_all(file: FileIO, content: bytes) -> None:
    """An unbuffered file may take a part only."""
    rest = memoryview(content)
    while rest:
        written = file.write(rest)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[written:]
