"""Maps structs to rows of crawl.db by name: each field of a struct is the column of its name.

Statements are generated from the fields, so a new field needs no change here. The tables below list the exceptions:
other column names, structs inside structs, and cells that are NULL if another row has the same value.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import zstandard

from forager.store.protocol import AcceptedStory, Found, Print, Version, Visit
from forager.terms import About, UrlId

T = TypeVar("T")
DiskCell = int | float | str | bytes | None
DiskRow = tuple[DiskCell, ...]
Write = Callable[[Any], DiskCell]
Read = Callable[[Any], Any]

_TWO_64 = 1 << 64


def signed(number: int) -> int:
    """Converts an unsigned 64-bit number to what SQLite stores."""
    return number if number < _TWO_64 >> 1 else number - _TWO_64


def unsigned(number: int) -> int:
    return number % _TWO_64


def written(text: str) -> str | bytes:
    """Converts a text to a cell of a column of type ANY."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def as_read(cell: str | bytes) -> str:
    return cell if isinstance(cell, str) else cell.decode("utf-8", "surrogatepass")


class Packer:
    """Compresses texts and lists of links; for one thread."""

    def __init__(self) -> None:
        self._packer = zstandard.ZstdCompressor(level=1, write_checksum=True)  # level 3: a third slower, 1% smaller
        self._unpacker = zstandard.ZstdDecompressor()

    def pack_text(self, text: str) -> bytes:
        return self._packer.compress(text.encode("utf-8", "surrogatepass"))

    def unpack_text(self, packed: bytes) -> str:
        return self._unpacker.decompress(packed).decode("utf-8", "surrogatepass")

    def pack_links(self, links: Sequence[UrlId]) -> bytes:
        return self._packer.compress(array("i", links).tobytes())

    def unpack_links(self, packed: bytes) -> tuple[UrlId, ...]:
        return tuple(UrlId(id) for id in array("i", self._unpacker.decompress(packed)))


@dataclass(frozen=True, slots=True)
class Column:
    """One cell of a row: how to get it from a struct, and how to read it back."""

    name: str
    get: Callable[[Any], DiskCell]
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Part:
    """The columns of one field."""

    field: str
    columns: list[Column]
    struct: Callable[..., Any] | None
    """The struct that the columns form together; None if the single cell is the value."""


class RowTable(Generic[T]):
    """A table whose rows are structs, after some leading cells."""

    def __init__(
        self,
        name: str,
        struct: type[T],
        before: Sequence[str],
        *,
        named: Mapping[str, str | tuple[str, ...]] | None = None,
        without: Sequence[str] = (),
        same: Mapping[str, str] | None = None,
        stored: Mapping[str, str] | None = None,
        shown: Mapping[str, str] | None = None,
        cells: Mapping[str, tuple[Write, Read]] | None = None,
    ) -> None:
        """`before` names the columns before those of the struct, `without` the fields that have none.

        `named`: columns with other names than their fields, and the columns of a struct in the struct. `same`: the
        value of another row; a cell with the same value is NULL. `stored`, `shown`: expressions for a column in INSERT
        and SELECT. In these three, `{column}` is a cell of the row. `cells`: how to write and read fields whose type
        does not decide it.
        """
        self._struct, self._before = struct, len(before)
        named, cells, hints = named or {}, cells or {}, get_type_hints(struct, include_extras=True)
        self._parts = [
            _part(field.name, hints[field.name], named.get(field.name, field.name), cells.get(field.name))
            for field in fields(struct)  # type: ignore[arg-type]
            if field.name not in without
        ]
        columns = [column for part in self._parts for column in part.columns]
        names = [*before, *(column.name for column in columns)]
        stored = {column: f"nullif({{{column}}}, {said})" for column, said in (same or {}).items()} | dict(stored or {})
        shown = {column: f"ifnull({{{column}}}, {said})" for column, said in (same or {}).items()} | dict(shown or {})
        places = {column: f"?{place}" for place, column in enumerate(names, start=1)}
        self.insert = f"INSERT INTO {name} ({', '.join(names)}) VALUES ({_expressions(places, stored)})"
        self.select = f"SELECT {_expressions({one: f'{name}.{one}' for one in names}, shown)} FROM {name}"
        self._gets = [column.get for column in columns]

    def row(self, before: DiskRow, struct: T) -> DiskRow:
        return (*before, *[get(struct) for get in self._gets])

    def read(self, row: Sequence[Any]) -> T:
        """Returns the struct of a row that `select` returned."""
        cells = iter(row[self._before :])
        values = {}
        for part in self._parts:
            read = [column.read(next(cells)) for column in part.columns]
            values[part.field] = read[0] if part.struct is None else part.struct(*read)
        return self._struct(**values)


def _expressions(cells: Mapping[str, str], expressions: Mapping[str, str]) -> str:
    return ", ".join(expressions[name].format(**cells) if name in expressions else cell for name, cell in cells.items())


def _part(field: str, hint: Any, column: str | tuple[str, ...], cell: tuple[Write, Read] | None) -> Part:
    kind, may_lack = _kind(hint)
    if isinstance(column, str):
        return Part(field, [_column(column, attrgetter(field), cell or _cell(kind), may_lack)], None)
    hints = get_type_hints(kind, include_extras=True)
    inner = [
        _column(one, _inner(field, name) if may_lack else attrgetter(f"{field}.{name}"), _cell(hint), may_lack)
        for one, (name, hint) in zip(column, hints.items(), strict=False)  # what has no column is not stored
    ]
    return Part(field, inner, partial(_struct_or_none, kind) if may_lack else kind)


def _kind(hint: Any) -> tuple[Any, bool]:
    """Returns the type of a field, and whether it may also be None."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    return next(one for one in get_args(hint) if one is not NoneType), True


def _struct_or_none(struct: Callable[..., Any], *values: Any) -> Any:
    return None if values[0] is None else struct(*values)


def _inner(field: str, name: str) -> Callable[[Any], Any]:
    outer_of, inner_of = attrgetter(field), attrgetter(name)
    return lambda struct: None if (outer := outer_of(struct)) is None else inner_of(outer)


def _column(name: str, value: Callable[[Any], Any], cell: tuple[Write, Read], may_lack: bool) -> Column:
    write, read = cell
    if may_lack:
        get = value if write is _as_it_is else lambda struct: None if (one := value(struct)) is None else write(one)
        return Column(name, get, lambda one: None if one is None else read(one))
    get = value if write is _as_it_is else lambda struct: write(value(struct))
    return Column(name, get, read)


def _as_it_is(value: Any) -> Any:
    return value


def _present(cell: Any) -> Any:
    if cell is None:
        raise ValueError("a cell is missing")
    return cell


def _cell(kind: Any) -> tuple[Write, Read]:
    """Returns how a value of this type is written and read."""
    plain = getattr(kind, "__supertype__", kind)
    if kind is Print:
        return signed, unsigned
    if plain is str:
        return written, as_read
    if plain is bool:
        return int, bool
    if isinstance(plain, type) and issubclass(plain, StrEnum):
        return attrgetter("value"), plain
    return _as_it_is, _present


_ABOUT: tuple[Write, Read] = (
    lambda about: msgspec.json.encode(about).decode(),
    lambda cell: msgspec.json.decode(cell or "{}", type=About),  # NULL in a version of an older crawl
)

URLS = RowTable("urls", Found, ["id"], named={"at": "found"})
VISITS = RowTable(
    "visits", Visit, ["id"], named={"id": "url", "validators": ("etag", "last_modified")}, without=["version"]
)
STORIES = RowTable(
    "stories",
    AcceptedStory,
    ["id"],
    named={"id": "url", "url": "address"},
    same={
        "address": "(SELECT url FROM urls WHERE id = {url})",
        "title": "(SELECT title FROM versions WHERE id = {version})",
        "about": "(SELECT about FROM versions WHERE id = {version})",
    },
    cells={"about": _ABOUT},
)
_SAME_TEXT = """(SELECT holder.id FROM versions AS older JOIN versions AS holder ON holder.id = ifnull(older.text_of, older.id)
    WHERE older.id = {text_of} AND holder.text = {text})"""


def versions_table(packer: Packer) -> RowTable[Version]:
    """The cell `text_of` of a new row names an older version; it is kept only if that version has, or refers to, the
    same text."""
    return RowTable(
        "versions",
        Version,
        ["id", "url", "at", "text_of"],
        named={name: (name, f"{name}_source", f"{name}_exact") for name in ("published", "modified")},
        same={"canonical": "(SELECT url FROM urls WHERE id = {url})"},
        stored={"text_of": _SAME_TEXT, "text": f"iif({_SAME_TEXT} IS NULL, {{text}}, NULL)"},
        shown={"text": "ifnull({text}, (SELECT text FROM versions AS holder WHERE holder.id = {text_of}))"},
        cells={
            "text": (packer.pack_text, packer.unpack_text),
            "links": (packer.pack_links, packer.unpack_links),
            "about": _ABOUT,
        },
    )
