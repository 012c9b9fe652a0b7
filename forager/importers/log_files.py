"""The change log of whatever is at a path: a table, a matrix, a tape, or anything that can become a tape.

Tables are CSV, JSON lines or Parquet; a dense 0/1 matrix pages × cycles is an .npz with the array `changed`.

visits      url, cycle or time, changed or digest
stays       url, target, first_time, last_time: a document (target) was on a page, first and last seen at these times
documents   document, url, first, last: the same in cycles, beside a table of visits
"""

import asyncio
import zipfile
import zlib
from codecs import BOM_UTF8
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from tokenize import TokenError

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.errors import InputError
from forager.importers.files import CHANGED, DIGEST, TIME, Format, import_files, sniff
from forager.importers.runs import tape_of_run
from forager.importers.streams import opened, sources
from forager.importers.table_columns import files_of, moments, readable
from forager.importers.tables import import_tables
from forager.importers.tape_logs import ChangeRule, Cycles, Pages, log_of_tape
from forager.recrawl.change_log import ChangeLog, ShownDocuments, imputed
from forager.store.rundir import DATABASE
from forager.tape.tape import CONTENTS, Tape, load_tape

_PAGE, _CYCLE = ("url", "page", "id"), ("cycle",)
_PACKED = (".gz", ".bz2", ".zst")
"""Ends of names of tables that are unpacked as they are read."""
_DOCUMENT = ("document", "doc")
_TEXTS = (*_PAGE, *DIGEST, *_DOCUMENT, "target")
_STAYS = ("url", "target", "first_time", "last_time")
_BAD_ARCHIVE = (zipfile.BadZipFile, zlib.error, TokenError, ValueError, EOFError, AttributeError, RuntimeError)
"""What damage in an .npz can raise; a way to pack that zipfile does not know is a `RuntimeError` too."""
_EVER = np.iinfo(np.int32).max
_DATED = r"^\s*(\d{4}-|\d{8}T|[A-Za-z]|\d{14}\s*$)"
"""How a time begins, among those that `moment` reads, that is no number of seconds."""


class LogTable:
    """A table in CSV, JSON lines or Parquet, by its file extension; CSV if that is unknown.

    Names of columns are in lower case; a table that cannot be used raises an `InputError` that names the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with readable(path):
            match path.with_suffix("").suffix if path.suffix in _PACKED else path.suffix:
                case ".parquet":
                    table = pa.parquet.read_table(path)
                case ".jsonl" | ".ndjson" | ".json":
                    _check_objects(path)
                    table = pa.json.read_json(path)
                case _:
                    table = pa.csv.read_csv(path, convert_options=_as_text(path))
            table.validate(full=True)
            self.names = [name.strip().lower() for name in table.column_names]
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{path}: has more than one column {twice}; keep one of them")
        self._table = table.rename_columns(self.names)

    def has(self, *names: str) -> bool:
        """Whether one of these columns is there."""
        return any(name in self.names for name in names)

    def column(self, *names: str) -> pa.ChunkedArray:
        """Returns the first of these columns that is there; each of its rows must have a value."""
        for name in names:
            if name in self.names:
                column = self._table.column(name)
                if column.null_count:
                    raise InputError(f"{self.path}: a row has no {name}")
                return column
        raise InputError(f"{self.path}: has no column {' or '.join(names)}; it has {', '.join(self.names)}")

    def numbered(self, *names: str) -> tuple[list[str], IntArray]:
        """The distinct values, sorted so that the order of the rows does not matter, and for each row the number of its
        value.
        """
        try:
            encoded = self.column(*names).cast(pa.string()).combine_chunks().dictionary_encode()
        except pa.ArrowException:
            raise InputError("the change log names pages in what is no UTF-8 text; convert it") from None
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        order = pc.sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return encoded.dictionary.take(order).to_pylist(), rank[encoded.indices.to_numpy(zero_copy_only=False)]

    def seconds(self, *names: str) -> FloatArray:
        """Returns a column of times."""
        column = self.column(*names)
        joined = column.combine_chunks()
        times = joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
        found = moments(times)
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            shown, row = str(column[int(wrong[0])].as_py())[:40], int(wrong[0]) + 1
            expected = "times must be seconds since 1970 or ISO 8601"
            raise InputError(f"{self.path}: {expected}, not {shown!r} (row {row})")
        if pa.types.is_string(times.type):
            dated = pc.match_substring_regex(times, _DATED).to_numpy(zero_copy_only=False)
            if dated.any() and not dated.all():
                one, other = (times[int(np.argmax(kind))].as_py()[:40] for kind in (~dated, dated))
                mixed = f"times are partly seconds ({one}), partly dates ({other}); write all alike"
                raise InputError(f"{self.path}: {mixed}")
        return found

    def flags(self, *names: str) -> BoolArray:
        """Returns a column of truth values, or of 0 and other numbers."""
        column = self.column(*names)
        return np.asarray(column.to_numpy() if pa.types.is_boolean(column.type) else self.whole(*names) != 0)

    def whole(self, *names: str) -> IntArray:
        """Returns a column of whole numbers."""
        column = self.column(*names)
        try:
            return np.asarray(column.cast(pa.int64()).to_numpy())
        except pa.ArrowException as problem:
            reason = str(problem).splitlines()[0]
            raise InputError(f"{self.path}: {names[0]}: expected whole numbers ({reason})") from problem

    def check_order(self, wrong: BoolArray) -> None:
        """Raises an error for stays that end before they begin."""
        if wrong.any():
            raise InputError(f"{self.path}: a stay ends before it begins (row {int(np.argmax(wrong)) + 1})")


def _as_text(path: Path) -> pa.csv.ConvertOptions:
    """Reads pages, documents and contents as text, whatever they look like: 007 is not 7, and the last digits of a long
    number count.
    """
    with pa.csv.open_csv(path) as reader:
        names = reader.schema.names
    return pa.csv.ConvertOptions(column_types={name: pa.string() for name in names if name.strip().lower() in _TEXTS})


def _check_objects(path: Path) -> None:
    """Checks that each line is an object, because pyarrow's reader crashes the process if the first is `null`."""
    with BufferedReader(pa.input_stream(path)) as file:  # unpacks compressed files
        for number, line in enumerate(file, 1):
            if line.removeprefix(BOM_UTF8).lstrip()[:1] not in (b"{", b""):
                raise InputError(f"{path}: line {number} is no JSON object")


def log_of_table(table: LogTable, cycle: float | None) -> ChangeLog:
    """Makes the log of a table of visits or of stays; a cycle has `cycle` seconds, None: a length that suits the times.

    A page without an entry in a cycle counts as unchanged. With digests, a change is a digest different from the last
    one of the page. What rows with a failed download hide is guessed; see `imputed`.
    """
    if set(_STAYS) <= set(table.names):
        return _log_of_stays(table, cycle)
    urls, page = table.numbered(*_PAGE)
    begin = 0
    if table.has(*_CYCLE):
        moment = table.whole(*_CYCLE)
        grid = Cycles.counted(moment, cycle, str(table.path), len(urls))
        begin = int(moment.min())
        numbers = moment - begin
    else:
        seconds = table.seconds(*_CYCLE, *TIME)
        grid = Cycles.of(seconds, page, cycle, str(table.path), len(urls))
        numbers = grid.of_moment(seconds)
    changed = _changes(table, page, seconds if np.isfinite(grid.start) else numbers)
    log = ChangeLog.of_visits(page, numbers, changed, tuple(urls), grid.count)
    log = replace(log, start=grid.start, cycle=grid.length, begin=begin)
    if not table.has("failed"):
        return log
    failed = np.zeros(log.changed.shape, dtype=np.bool_)
    failed[page, numbers] = table.flags("failed")
    return imputed(log, failed)


def read_documents(path: Path, log: ChangeLog) -> ShownDocuments:
    """Reads a discovery log: which URL shows which document from cycle `first` to `last` (without `last`: for ever).

    Cycles have the numbers that the log gives them; what appears after its end is left out.
    """
    table = LogTable(path)
    known = {url: number for number, url in enumerate(log.urls)}
    shown_by = [known.get(url, -1) for url in table.column("url").cast(pa.string()).to_pylist()]
    page = np.array(shown_by, dtype=np.int64)
    kept = page >= 0
    if not kept.any():
        raise InputError(f"{path}: names no page of the change log")
    first = table.whole("first")
    last = table.whole("last") if table.has("last") else np.full(len(first), _EVER)
    table.check_order(first > last)
    _, document = table.numbered(*_DOCUMENT)
    shown = ShownDocuments(document[kept], page[kept], first[kept], last[kept])
    return shown.during(log.begin, log.begin + log.cycles)


def read_matrix(path: Path, cycle: float | None) -> ChangeLog:
    """Reads the pages × cycles matrix `changed` of an .npz and, if it is there, `failed` of failed downloads."""
    try:
        with np.load(path, allow_pickle=False) as content:
            if "changed" not in content:
                raise InputError(f"{path}: holds no array `changed`; it has {', '.join(content) or 'none'}")
            changed = content["changed"]
            failed = content.get("failed")
    except (*_BAD_ARCHIVE, OSError, MemoryError) as problem:
        reason = (
            problem.strerror if isinstance(problem, OSError) and problem.strerror else "no archive of number arrays"
        )
        raise InputError(f"{path}: cannot be read as .npz ({reason})") from problem
    if changed.ndim != 2 or changed.dtype.kind not in "biuf":
        raise InputError(f"{path}: `changed` must be a matrix pages × cycles of 0 and 1, not {changed.shape}")
    if changed.dtype.kind != "b" and not np.isin(changed, (0, 1)).all():
        raise InputError(f"{path}: `changed` must hold 0 and 1 alone")
    pages, cycles = changed.shape
    grid = Cycles.checked(np.nan, cycle or 86_400.0, cycles, str(path), pages)
    matrix = np.ascontiguousarray(changed != 0)
    matrix[:, :1] = False
    log = ChangeLog(matrix, cycle=grid.length)
    if failed is not None and failed.shape != changed.shape:
        raise InputError(f"{path}: `failed` must have the shape of `changed`, {changed.shape}, not {failed.shape}")
    return log if failed is None else imputed(log, failed != 0)


def _log_of_stays(table: LogTable, cycle: float | None) -> ChangeLog:
    """Makes a log in which a page changes when it shows a document that it never showed before (as in HACS)."""
    urls, page = table.numbered("url")
    _, document = table.numbered("target")
    seen, seen_last = table.seconds("first_time"), table.seconds("last_time")
    table.check_order(seen > seen_last)
    times, pages = np.concatenate([seen, seen_last]), np.concatenate([page, page])
    grid = Cycles.of(times, pages, cycle, str(table.path), len(urls))
    first, last = grid.of_moment(seen), grid.of_moment(seen_last)
    log = ChangeLog.of_visits(page, first, first_of_pair(page, document, first), tuple(urls), grid.count)
    return replace(log, documents=ShownDocuments(document, page, first, last), start=grid.start, cycle=grid.length)


def first_of_pair(page: IntArray, document: IntArray, first: IntArray) -> BoolArray:
    """Returns which rows are the first stay of their document on their page."""
    order = np.lexsort((first, document, page))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (page[order[1:]] != page[order[:-1]]) | (document[order[1:]] != document[order[:-1]])
    result = np.zeros(len(order), dtype=np.bool_)
    result[order] = new
    return result


def _changes(table: LogTable, page: IntArray, moment: NDArray[np.generic]) -> BoolArray:
    """Whether each row shows a change."""
    if table.has(*CHANGED):
        return table.flags(*CHANGED)
    if pa.types.is_floating(table.column(*CHANGED, *DIGEST).type):
        raise InputError(f"{table.path}: digests that are read as numbers lose their last digits; write them in quotes")
    _, digest = table.numbered(*DIGEST)
    order = np.lexsort((np.arange(len(page)), moment, page))
    changed = np.zeros(len(page), dtype=np.bool_)
    same_page = page[order[1:]] == page[order[:-1]]
    changed[order[1:]] = same_page & (digest[order[1:]] != digest[order[:-1]])
    return changed


_TABLES = (Format.CSV, Format.PARQUET, Format.JSON_LINES, Format.UNKNOWN)


def read_log(
    path: Path,
    *,
    cycle: float | None = None,
    documents: Path | None = None,
    pages: Pages = "auto",
    change: ChangeRule = "auto",
    settled: float = 0.1,
) -> ChangeLog:
    """Reads the log at a path; raises an `InputError` if it cannot be used. Without a `cycle` in seconds, chooses one
    that suits the log.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    tape = _tape(path)
    if tape is not None:
        log = log_of_tape(tape, cycle, pages=pages, change=change, settled=settled)
    else:
        log = read_matrix(path, cycle) if path.suffix == ".npz" else log_of_table(LogTable(path), cycle)
    if documents is not None:
        if not log.urls:
            raise InputError("--documents needs a change log with URLs; a matrix has none")
        log = replace(log, documents=read_documents(documents, log))
    return log


def _tape(path: Path) -> Tape | None:
    """Returns the tape at a path, or one made of what is there; None for a table or a matrix."""
    if (path / CONTENTS).is_file():
        return load_tape(path)
    if (path / DATABASE).is_file():
        return asyncio.run(tape_of_run(path))
    if path.is_dir() and files_of(path, "versions"):
        return import_tables(path, origin=path.name).tape
    found = sources([str(path)])
    if not path.is_dir():
        if path.suffix == ".npz":
            return None
        with opened(found[0]) as stream:
            if sniff(stream.head) in _TABLES:
                return None
    imported = import_files(found, origin=path.name)
    if not imported.tape.versions:
        raise InputError(f"{path}: holds no capture that can be used")
    return imported.tape
