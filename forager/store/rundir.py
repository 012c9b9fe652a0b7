"""The run directory: its lock, the checks of crawl.db, and its schema.

Nothing is changed before everything has been checked: a file that is refused keeps its bytes.
"""

import fcntl
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from forager.errors import OutputError, StoreError
from forager.units import Count, Duration, Size

DATABASE = "crawl.db"
LOCK = "crawl.lock"
MIGRATIONS = Path(__file__).parent / "migrations"
APPLICATION = 0x466F7267  # "Forg", in the header of the file
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")  # the second: of its helper files
_WAL_PAGES = 4000  # 16 MB of log between two checkpoints


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How crawl.db is written and checked."""

    power_safe: bool = False
    """Whether stored data survives power loss too, not only kill -9, at the cost of one disk flush per batch; ours."""
    batch_wait: Duration = 0.0
    """Seconds that a batch waits for more calls before it is written. At 0 it is written as soon as the writer is free,
    and calls that arrive meanwhile share the next batch; ours.
    """
    batch_rows: Count = 5000
    """Number of rows at which a batch is written without waiting; ours."""
    check_up_to: Size = 100_000_000
    """When opened, crawl.db is checked page by page (a quarter of a second) if it is at most this many bytes; of a
    larger one only what is read is checked; ours.
    """


def own_file(path: str | os.PathLike[str], flags: int) -> int:
    """Opens a file of a run directory, to be given as `opener`: never one that a link there leads to elsewhere."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def write_own(path: Path, text: str, advice: str, *, secret: bool = False) -> None:
    """Writes a file of a run directory, which nobody else may read if it is `secret`; an error gives the advice."""
    try:
        with open(path, "w", encoding="utf-8", opener=own_file) as file:
            if secret:
                os.fchmod(file.fileno(), 0o600)
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); {advice}") from None


class Lock:
    """The lock of a run directory; the system releases it when the process ends, however that happens."""

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StoreError(f"{directory}: cannot write here ({error.strerror}); choose another directory") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._file, 20).decode("ascii", "replace").strip()
            self.release()
            by = f"process {owner}" if owner else "another process"
            raise StoreError(f"{directory}: in use by {by}; stop it or choose another directory") from None
        with suppress(OSError):  # on a full disk the lock works without the number
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        os.register_at_fork(after_in_child=self._close)  # a child process must not hold the lock after we end

    def release(self) -> None:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # a newly forked child may not have closed its copy yet
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def prepare(directory: Path) -> Lock:
    """Creates the directory if needed, and locks it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{directory}: cannot create this directory ({error.strerror}); choose another") from None
    return Lock(directory)


def connect_writer(directory: Path, settings: StoreSettings, migrations: Path = MIGRATIONS) -> sqlite3.Connection:
    """Opens the only connection that writes, after every check; creates crawl.db if there is none."""
    path = directory / DATABASE
    if path.is_symlink():
        raise StoreError(f"{path}: is a link; name the directory that it leads to")
    try:
        if not path.exists():
            _create(path, migrations)
        check(path, settings, migrations)
        connection = sqlite3.connect(path, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise damaged(path, error) from None
    try:
        connection.execute(f"PRAGMA synchronous = {'FULL' if settings.power_safe else 'NORMAL'}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        migrate(connection, migrations)
    except sqlite3.Error as error:
        connection.close()
        raise damaged(path, error) from None
    return connection


def connect_reader(directory: Path) -> sqlite3.Connection:
    """Opens a read-only connection, beside a running crawl or without one."""
    path = directory / DATABASE
    if not path.is_file():
        raise StoreError(f"{directory}: no {DATABASE} here; name the directory of a crawl")
    try:
        return sqlite3.connect(reader_address(path), uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise damaged(path, error) from None


def reader_address(path: Path) -> str:
    """The address to open: without a log there is no writer, so the file can be read even if no helper file can be
    created."""
    alone = not path.with_name(path.name + "-wal").exists() and not os.access(path.parent, os.W_OK)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def check(path: Path, settings: StoreSettings, migrations: Path = MIGRATIONS) -> None:
    """Raises if this is no store of ours, from a newer Forager, or damaged."""
    if path.stat().st_size == 0:
        raise damaged(path, "the file is empty")
    with closing(connect_reader(path.parent)) as connection:
        try:
            application, version = (_pragma(connection, name) for name in ("application_id", "user_version"))
            if application != APPLICATION:
                raise StoreError(f"{path}: not a store of Forager; choose another directory")
            if version > len(_steps(migrations)):
                raise StoreError(f"{path}: written by a newer Forager (schema {version}); update Forager")
            if path.stat().st_size <= settings.check_up_to:
                verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise damaged(path, verdict)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise damaged(path, error) from None


def migrate(connection: sqlite3.Connection, migrations: Path) -> None:
    """Applies the numbered migrations that this file lacks, each in one transaction."""
    for number, step in enumerate(_steps(migrations), start=1):
        if number > _pragma(connection, "user_version"):
            try:
                connection.executescript(f"BEGIN; {step.read_text()}; PRAGMA user_version = {number}; COMMIT;")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def bridge(connection: sqlite3.Connection, migrations: Path = MIGRATIONS) -> None:
    """Shows a reader of an older file the current schema: a missing column is NULL, a missing table is empty."""
    if _pragma(connection, "user_version") == len(_steps(migrations)):
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as present:
        migrate(present, migrations)
        tables = [name for (name,) in present.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        wanted = {name: _columns(present, name) for name in tables}
    for table, columns in wanted.items():
        held = _columns(connection, table)
        lacking = "".join(f", NULL AS {one}" for one in columns if one not in held)
        if not held:
            connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(columns)})")
        elif lacking:
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *{lacking} FROM main.{table}")


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def damaged(path: Path, reason: object) -> StoreError:
    """Makes the error for an unusable file, with what to do; a full disk damages nothing."""
    line = " ".join(str(reason).split())
    if getattr(reason, "sqlite_errorname", "") in _NO_ROOM:
        return StoreError(f"{path}: cannot be written ({line}); make room or choose another directory")
    return StoreError(f"{path}: cannot be used ({line}); restore it from a copy or start in another directory")


def _create(path: Path, migrations: Path) -> None:
    """Creates crawl.db under another name first, so that a file without tables never has that name."""
    log = path.with_name(path.name + "-wal")
    if log.exists():
        raise StoreError(f"{path}: missing, though its log {log.name} is here; put it back or choose another directory")
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        migrate(connection, migrations)
        connection.execute("PRAGMA journal_mode = WAL")
    fresh.replace(path)


def _steps(migrations: Path) -> list[Path]:
    return sorted(migrations.glob("[0-9]*.sql"))


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value
