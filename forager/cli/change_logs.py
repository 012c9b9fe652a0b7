"""Change logs and discovery logs from files: CSV, JSON lines, Parquet, or a dense 0/1 matrix in an .npz."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray

from forager.errors import InputError
from forager.recrawl.log import ChangeLog, Documents

IntArray = NDArray[np.int64]
MAX_CYCLES = 60_000
_PAGE, _CYCLE, _TIME = ("url", "page", "id"), ("cycle",), ("time", "timestamp", "at")
_CHANGED, _DIGEST = ("changed",), ("digest", "hash", "checksum")


def read_change_log(path: Path, *, cycle: float = 86400.0, documents: Path | None = None) -> ChangeLog:
    """The change log of a file; `cycle` seconds make a cycle where the file gives times.

    A page without an entry in a cycle counts as unchanged; with digests, a change is a digest unlike the page's last.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if path.suffix == ".npz":
        if documents is not None:
            raise InputError("--documents needs a change log with URLs; a matrix has none")
        return _matrix(path)
    table = _table(path)
    urls, page = _numbered(_column(table, path, *_PAGE))
    moments = _cycles(table, path, cycle)
    changed = _changes(table, path, page, moments)
    log = ChangeLog.of_visits(page, moments, changed, tuple(urls))
    return log if documents is None else replace(log, documents=read_documents(documents, urls))


def read_documents(path: Path, urls: list[str]) -> Documents:
    """A discovery log: which URL shows which document from cycle `first` to `last` (without `last`: for ever)."""
    table = _table(path)
    known = {url: number for number, url in enumerate(urls)}
    shown_by = [known.get(url, -1) for url in _column(table, path, "url").cast(pa.string()).to_pylist()]
    page = np.array(shown_by, dtype=np.int64)
    _, document = _numbered(_column(table, path, "document", "doc"))
    first = _whole(_column(table, path, "first"), path)
    last = (
        _whole(_column(table, path, "last"), path) if "last" in table.column_names else np.full(len(first), MAX_CYCLES)
    )
    kept = page >= 0
    return Documents(document[kept], page[kept], first[kept], last[kept])


def _matrix(path: Path) -> ChangeLog:
    try:
        with np.load(path, allow_pickle=False) as content:
            if "changed" not in content:
                raise InputError(f"{path}: holds no array `changed`; it has {', '.join(content) or 'none'}")
            changed = content["changed"]
    except (OSError, ValueError, zipfile.BadZipFile) as problem:
        raise InputError(f"{path}: cannot be read as .npz ({problem})") from problem
    if changed.ndim != 2 or changed.dtype.kind not in "biuf":
        raise InputError(f"{path}: `changed` must be a matrix pages × cycles of 0 and 1, not {changed.shape}")
    matrix = np.ascontiguousarray(changed != 0)
    matrix[:, :1] = False
    return ChangeLog(matrix)


def _table(path: Path) -> pa.Table:
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        match path.suffix:
            case ".parquet":
                return pa.parquet.read_table(path)
            case ".jsonl" | ".ndjson" | ".json":
                return pa.json.read_json(path)
            case _:
                return pa.csv.read_csv(path)
    except (pa.ArrowException, OSError) as problem:
        raise InputError(f"{path}: cannot be read ({str(problem).splitlines()[0]})") from problem


def _column(table: pa.Table, path: Path, *names: str) -> pa.ChunkedArray:
    for name in names:
        if name in table.column_names:
            column = table.column(name)
            if column.null_count:
                raise InputError(f"{path}: a row has no {name}")
            return column
    raise InputError(f"{path}: has no column {' or '.join(names)}; it has {', '.join(table.column_names)}")


def _numbered(column: pa.ChunkedArray) -> tuple[list[str], IntArray]:
    """The distinct values in order of first appearance, and the number of each row's."""
    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _cycles(table: pa.Table, path: Path, cycle: float) -> IntArray:
    """The cycle of every row, from 0."""
    if any(name in table.column_names for name in _CYCLE):
        numbers = _whole(_column(table, path, *_CYCLE), path)
        numbers = numbers - numbers.min(initial=numbers[0] if len(numbers) else 0)
    else:
        column = _column(table, path, *_CYCLE, *_TIME)
        seconds = _seconds(column, path)
        numbers = np.floor((seconds - seconds.min(initial=np.inf)) / cycle).astype(np.int64)
    if numbers.max(initial=0) > MAX_CYCLES:
        raise InputError(f"{path}: more than {MAX_CYCLES} cycles; make --cycle longer")
    return np.asarray(numbers)


def _seconds(column: pa.ChunkedArray, path: Path) -> NDArray[np.float64]:
    try:
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            column = pc.cast(pc.cast(column, pa.timestamp("us")), pa.int64())
            return np.asarray(column.to_numpy().astype(np.float64) / 1e6)
        return np.asarray(column.to_numpy().astype(np.float64))
    except pa.ArrowException as problem:
        raise InputError(f"{path}: times must be seconds or ISO 8601 ({str(problem).splitlines()[0]})") from problem


def _whole(column: pa.ChunkedArray, path: Path) -> IntArray:
    try:
        return np.asarray(column.cast(pa.int64()).to_numpy())
    except pa.ArrowException as problem:
        raise InputError(f"{path}: expected whole numbers ({str(problem).splitlines()[0]})") from problem


def _changes(table: pa.Table, path: Path, page: IntArray, moments: IntArray) -> NDArray[np.bool_]:
    """Whether each row shows a change."""
    if any(name in table.column_names for name in _CHANGED):
        column = _column(table, path, *_CHANGED)
        if pa.types.is_boolean(column.type):
            return np.asarray(column.to_numpy())
        return np.asarray(_whole(column, path) != 0)
    _, digest = _numbered(_column(table, path, *_CHANGED, *_DIGEST))
    order = np.lexsort((np.arange(len(page)), moments, page))
    changed = np.zeros(len(page), dtype=np.bool_)
    same_page = page[order[1:]] == page[order[:-1]]
    changed[order[1:]] = same_page & (digest[order[1:]] != digest[order[:-1]])
    return changed
