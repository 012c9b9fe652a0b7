"""The files about a link graph: edges, impact, anchor texts, queries, and which pages are the frontier.

They are tables of any size, read batch by batch: CSV, TSV or space-separated text, plain, gz or zst, and Parquet.
Whatever is wrong with a file raises one `InputError` that names it.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from forager.arrays import FloatArray, Int32Array, IntArray
from forager.errors import InputError
from forager.graph.graph import HIGHEST, UNKNOWN, EdgeList, Names
from forager.graph.methods import Overlap, Queries
from forager.importers.table_columns import readable

ColumnBatch = Mapping[str, pa.Array]

_PEEK = 1 << 16


class EdgeTable:
    """A table whose columns are found by name, or by position if it has no header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parquet = path.suffix == ".parquet"
        self._skip, self._delimiter = 0, ","
        with readable(path):
            if self._parquet:
                self.first: list[str] = list(pa.parquet.read_schema(path).names)
                self.second: list[str] = []
            else:
                self._peek()

    def _peek(self) -> None:
        """Finds the delimiter and the first two rows; leading lines with # are comments."""
        with pa.input_stream(str(self.path)) as stream:
            lines = stream.read(_PEEK).decode("utf-8-sig", errors="replace").splitlines()
        while self._skip < len(lines) and (not lines[self._skip].strip() or lines[self._skip].startswith("#")):
            self._skip += 1
        if self._skip == len(lines):
            raise InputError(f"{self.path}: is empty")
        first = lines[self._skip]
        self._delimiter = next((mark for mark in "\t, " if mark in first), "\t")
        self.first, self.second = self._cells(first), self._cells(next(iter(lines[self._skip + 1 :]), ""))

    def _cells(self, line: str) -> list[str]:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=self._delimiter), [])]

    def column(self, *names: str) -> str | None:
        """Returns the first column with one of these names, in any case; None if there is none."""
        lower = {column.lower(): column for column in reversed(self.first)}
        return next((lower[name] for name in names if name in lower), None)

    def needed(self, *names: str) -> str:
        """Like `column`, but the column must be there."""
        found = self.column(*names)
        if found is None:
            raise InputError(f"{self.path}: has no column {' or '.join(names)}; its first line is {self.first[:5]}")
        return found

    def holds_numbers(self, column: str) -> bool:
        """Whether the values of this column are whole numbers, judged by the first."""
        if self._parquet:
            return bool(pa.types.is_integer(pa.parquet.read_schema(self.path).field(column).type))
        place = self.first.index(column)
        return place < len(self.second) and self.second[place].isdigit()

    def batches(self, types: Mapping[str, pa.DataType], *, header: bool = True) -> Iterator[ColumnBatch]:
        """Yields the named columns with these types. Without a header, columns are named by position: "0", "1", …"""
        with readable(self.path):
            for batch in self._parquet_batches(types) if self._parquet else self._text_batches(types, header):
                columns = {name: batch.column(name) for name in types}
                for name, column in columns.items():
                    if column.null_count:
                        raise InputError(f"{self.path}: a row has no {name}")
                yield columns

    def _parquet_batches(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema(list(types.items()))
        for batch in pa.parquet.ParquetFile(self.path).iter_batches(columns=list(types)):
            yield batch.select(list(types)).cast(schema)

    def _text_batches(self, types: Mapping[str, pa.DataType], header: bool) -> Iterator[pa.RecordBatch]:
        names: Sequence[str] = [] if header else [str(place) for place in range(len(self.first))]
        with pa.input_stream(str(self.path)) as stream:
            yield from pa.csv.open_csv(
                stream,
                read_options=pa.csv.ReadOptions(skip_rows=self._skip, column_names=names, block_size=1 << 23),
                parse_options=pa.csv.ParseOptions(delimiter=self._delimiter),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict(types), include_columns=list(types), strings_can_be_null=False
                ),
            )


_SOURCE, _TARGET = ("source", "from", "src"), ("target", "to", "dst")
_PAGE = ("url", "id", "page", "target")
KINDS = ("impact", "clicks", "views")
"""Columns that hold impact, best first."""


@dataclass(frozen=True, slots=True)
class Impacts:
    """What an impact file says about the pages of a graph."""

    kinds: dict[str, FloatArray]
    """By page number, for each kind of impact in the file; 0 for pages it does not name."""
    named: IntArray
    """The pages it names."""


def read_edges(path: Path) -> EdgeList:
    """Reads the links of a file. Page numbers that are far apart are numbered again, like names."""
    table = EdgeTable(path)
    source, target = table.column(*_SOURCE), table.column(*_TARGET)
    header = source is not None and target is not None
    if source is None or target is None:
        source, target = _unnamed(table)
    numbers = all(table.holds_numbers(name) for name in (source, target)) if header else table.first[0].isdigit()
    if numbers:
        edges = _numbered(table, source, target, header)
        if edges is not None:
            return edges
    return _named(table, source, target, header)


def _unnamed(table: EdgeTable) -> tuple[str, str]:
    """Returns the two columns of an edge list without a header."""
    if len(table.first) == 2 and all(cell.isdigit() or "://" in cell for cell in table.first):
        return "0", "1"
    raise InputError(
        f"{table.path}: needs the columns source and target, or two columns of page numbers or URLs without a header"
    )


def _numbered(table: EdgeTable, source: str, target: str, header: bool) -> EdgeList | None:
    """Returns the edge list by the page numbers of the file; None if they are too large or too far apart for that."""
    edges = EdgeList(None)
    for batch in table.batches({source: pa.int64(), target: pa.int64()}, header=header):
        ends = [batch[name].to_numpy(zero_copy_only=False) for name in (source, target)]
        if min(int(end.min(initial=0)) for end in ends) < 0:
            raise InputError(f"{table.path}: a page number is negative")
        if max(int(end.max(initial=0)) for end in ends) > HIGHEST:
            return None
        edges.add(*(end.astype(np.int32) for end in ends))
        if edges.sparse():
            return None
    return _not_empty(edges, table)


def _named(table: EdgeTable, source: str, target: str, header: bool) -> EdgeList:
    names = Names()
    edges = EdgeList(names)
    for batch in table.batches({source: pa.string(), target: pa.string()}, header=header):
        edges.add(_enter(names, batch[source]), _enter(names, batch[target]))
    return _not_empty(edges, table)


def _enter(names: Names, column: pa.Array) -> Int32Array:
    """Numbers for a column of names; each different name of the batch is looked up once."""
    coded = column.dictionary_encode()
    numbers = names.number(coded.dictionary.to_pylist())
    found: Int32Array = numbers[coded.indices.to_numpy(zero_copy_only=False)]
    return found


def _not_empty(edges: EdgeList, table: EdgeTable) -> EdgeList:
    if not edges.rows:
        raise InputError(f"{table.path}: holds no links")
    return edges


def read_impacts(path: Path, edges: EdgeList, pages: int) -> Impacts:
    """Reads the impact of pages by kind; rows of the same page add up, pages outside the graph are left out."""
    table = EdgeTable(path)
    page, kinds = table.needed(*_PAGE), [name for kind in KINDS if (name := table.column(kind))]
    if not kinds:
        table.needed(*KINDS)
    sums = {kind.lower(): np.zeros(pages) for kind in kinds}
    named = np.zeros(pages, dtype=np.bool_)
    for batch in table.batches({page: _page_type(edges), **dict.fromkeys(kinds, pa.float64())}):
        numbers = _find(edges, batch[page], pages)
        known = numbers != UNKNOWN
        named[numbers[known]] = True
        for kind in kinds:
            values = batch[kind].to_numpy(zero_copy_only=False)
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise InputError(f"{path}: {kind} must be numbers from 0 up")
            np.add.at(sums[kind.lower()], numbers[known], values[known])
    if not named.any():
        raise InputError(f"{path}: none of its pages occurs in the edge list")
    return Impacts(sums, np.flatnonzero(named))


def read_overlap(anchors: Path, queries: Path, edges: EdgeList, pages: int) -> Overlap:
    """Reads the Q-Overlap of pages from the texts of links to them and from past queries."""
    table = EdgeTable(anchors)
    page, text = table.needed("target", "url", "id", "page"), table.needed("anchor", "text")
    overlap = Overlap(Queries(_read_queries(queries)))
    for batch in table.batches({page: _page_type(edges), text: pa.string()}):
        for number, anchor in zip(_find(edges, batch[page], pages), batch[text].to_pylist(), strict=True):
            if number != UNKNOWN:
                overlap.add(int(number), anchor)
    return overlap


def _read_queries(path: Path) -> Iterator[tuple[str, float]]:
    """Queries and how often each was asked: the columns query and, if present, count."""
    table = EdgeTable(path)
    query, count = table.needed("query"), table.column("count", "asked")
    types = {query: pa.string()} | ({count: pa.float64()} if count else {})
    for batch in table.batches(types):
        asked = batch[count].to_pylist() if count else [1.0] * len(batch[query])
        yield from zip(batch[query].to_pylist(), asked, strict=True)


def read_pages(path: Path, edges: EdgeList, pages: int) -> IntArray:
    """Pages of the graph listed in a file with a column url, id or page; others are left out."""
    table = EdgeTable(path)
    page = table.needed(*_PAGE)
    found = [_find(edges, batch[page], pages) for batch in table.batches({page: _page_type(edges)})]
    numbers = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
    known: IntArray = numbers[numbers != UNKNOWN]
    if not known.size:
        raise InputError(f"{path}: none of its pages occurs in the edge list")
    return known


def _page_type(edges: EdgeList) -> pa.DataType:
    return pa.int64() if edges.names is None else pa.string()


def _find(edges: EdgeList, column: pa.Array, pages: int) -> IntArray:
    """Returns the page numbers in a column; UNKNOWN for pages outside the graph."""
    if edges.names is not None:
        return edges.names.find(column.to_pylist())
    numbers: IntArray = column.to_numpy(zero_copy_only=False)
    return np.where((numbers >= 0) & (numbers < pages), numbers, UNKNOWN)
