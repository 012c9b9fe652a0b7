"""The formats by the suffix of the file, or by the scheme of an address; those of other packages by their entry points.

Parquet and Atom are written whole. A Parquet file appears when it is complete, because without its last bytes it is
unreadable. An Atom 1.0 feed (RFC 4287) of the newest stories, newest first, is replaced at each write.
"""

import re
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from forager.errors import OutputError
from forager.output.fields import FIELDS, LISTS, MOMENTS, Cell, Row, iso_moment, without_controls
from forager.output.lines import CsvTable, Destination, InPlace, JsonLines, LineWriter, Replacing, StandardOutput
from forager.output.outlet import Mode, StoryWriter
from forager.plugins import OUTLETS, load_plugin

_GROUP_ROWS = 1_000
_GROUP_CHARACTERS = 16_000_000
"""A row group is written when either is reached (ours: some megabytes of memory)."""


class ParquetFile:
    """Writes a row group whenever there are enough stories."""

    newest = None

    def __init__(self, path: Path, mode: Mode) -> None:
        self._place, self._mode = Replacing(path), mode
        self._rows: list[Row] = []
        self._characters = 0
        self._schema: Any = None
        self._writer: Any = None

    def __repr__(self) -> str:
        return f"<ParquetFile {self.name} {len(self._rows)} rows waiting>"

    @property
    def name(self) -> str:
        return str(self._place.path)

    def open(self) -> None:
        if self._mode is Mode.APPEND and self._place.path.exists():
            raise OutputError(f"{self.name}: a Parquet file cannot be appended to; overwrite it with -O")
        from pyarrow.parquet import ParquetWriter  # here, because it is slow to import

        self._place.open()
        self._schema = _schema()
        self._writer = ParquetWriter(str(self._place.fresh), self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._rows.append(row)
            self._characters += len(str(row["text"]))
            if len(self._rows) >= _GROUP_ROWS or self._characters >= _GROUP_CHARACTERS:
                self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self._place.close()

    def discard(self) -> None:
        if self._writer is not None:
            self._writer.is_open = False  # otherwise it would try to end the file once more
        self._place.discard()

    def _flush(self) -> None:
        import pyarrow

        if self._rows:
            columns = [[_cell(name, row[name]) for row in self._rows] for name in FIELDS]
            arrays = [pyarrow.array(column, one.type) for column, one in zip(columns, self._schema, strict=True)]
            self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows, self._characters = [], 0


def _schema() -> Any:
    import pyarrow

    numbers = {"number": pyarrow.int64(), "forager": pyarrow.int64(), "version": pyarrow.int64()}
    numbers["word_count"] = pyarrow.int64()
    types = dict.fromkeys(FIELDS, pyarrow.string()) | numbers | {"delay": pyarrow.float64()}
    types |= dict.fromkeys(LISTS, pyarrow.list_(pyarrow.string())) | {"paywalled": pyarrow.bool_()}
    types |= dict.fromkeys(MOMENTS, pyarrow.timestamp("ms", tz="UTC"))
    return pyarrow.schema(list(types.items()))


def _cell(name: str, cell: Cell) -> Cell | datetime:
    return datetime.fromisoformat(cell) if name in MOMENTS and isinstance(cell, str) else cell


_GENERATOR = "<generator>Forager</generator>"
_HEAD = 1_000
"""Bytes in which the generator of our feeds stands."""
_SUMMARY = 500
"""Characters of the text that are shown (ours)."""
_LANGUAGE = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_NEVER = iso_moment(0.0) or ""


class AtomFeed:
    def __init__(self, path: Path, mode: Mode, newest: int) -> None:
        self._path, self._mode, self.newest = path, mode, newest
        self._rows: deque[Row] = deque(maxlen=newest)
        self._is_written = False

    def __repr__(self) -> str:
        return f"<AtomFeed {self.name} {len(self._rows)} of {self.newest} stories>"

    @property
    def name(self) -> str:
        return str(self._path)

    def open(self) -> None:
        if self._mode is Mode.APPEND and self._path.is_file() and not _is_ours(self._path):
            raise OutputError(f"{self.name}: not a feed of Forager; choose another file, or overwrite it with -O")
        trial = Replacing(self._path)
        trial.open()
        trial.discard()

    def write(self, rows: Sequence[Row]) -> None:
        self._rows.extend(rows)
        if rows and self._mode is not Mode.REPLACE:
            self._publish()

    def close(self) -> None:
        if not self._is_written:
            self._publish()

    def discard(self) -> None:
        """Nothing is open between two writings."""

    def _publish(self) -> None:
        place = Replacing(self._path)
        place.open()
        try:
            place.write(feed(list(self._rows)[::-1], self._path))
            place.close()
        except BaseException:
            place.discard()
            raise
        self._is_written = True


def feed(rows: Sequence[Row], path: Path) -> bytes:
    """The document; its identifier is made from `path`."""
    root = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _add(root, "generator", "Forager")
    _add(root, "title", "Stories")
    _add(root, "id", uuid.uuid5(uuid.NAMESPACE_URL, path.absolute().as_uri()).urn)
    _add(root, "updated", max((str(row["fetched"]) for row in rows if row["fetched"]), default=_NEVER))
    for row in rows:
        _add_entry(root, row)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_entry(root: Element, row: Row) -> None:
    entry = SubElement(root, "entry")
    lang = str(row["language"] or "")
    if _LANGUAGE.fullmatch(lang):
        entry.set(_XML_LANG, lang)
    _add(entry, "id", f"{row['url']}#{row['version']}")  # a page may be a story more than once
    _add(entry, "title", str(row["title"] or row["url"]))
    SubElement(entry, "link", rel="alternate", href=without_controls(str(row["url"])))
    _add(entry, "updated", str(row["modified"] or row["published"] or row["fetched"] or _NEVER))
    if row["published"]:
        _add(entry, "published", str(row["published"]))
    for name in _listed(row["authors"]) or [str(row["site"])]:
        _add(SubElement(entry, "author"), "name", name)
    for term in dict.fromkeys([*([str(row["section"])] if row["section"] else []), *_listed(row["tags"])]):
        SubElement(entry, "category", term=without_controls(term))
    if row["image"]:
        SubElement(entry, "link", rel="enclosure", type="image/*", href=without_controls(str(row["image"])))
    _add(entry, "summary", str(row["lead"] or _shortened(str(row["text"] or ""))))


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = without_controls(text)


def _listed(cell: Cell) -> list[str]:
    return cell if isinstance(cell, list) else []


def _shortened(text: str) -> str:
    return text if len(text) <= _SUMMARY else f"{text[:_SUMMARY].rsplit(None, 1)[0]} …"


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return _GENERATOR.encode() in file.read(_HEAD)


NEWEST = 100
"""Stories in a feed (ours)."""


def writer_for(target: str | Path, mode: Mode, *, newest: int = NEWEST) -> StoryWriter:
    """The writer for a file name, or for JSON lines on standard output if it is `-`; a feed holds the `newest` stories.

    Any other suffix (`stories.feather`) or scheme (`kafka://host/topic`) is looked up among the entry points
    `forager.outlets`: each is called with the target as written and the mode, and returns a `Writer`.
    """
    if str(target) == "-":
        return LineWriter(StandardOutput(), JsonLines())
    path = Path(target)
    match path.suffix.lower():
        case ".jsonl":
            return LineWriter(_place(path, mode), JsonLines())
        case ".csv":
            return LineWriter(_place(path, mode), CsvTable())
        case ".parquet":
            return ParquetFile(path, mode)
        case ".xml" | ".atom":
            return AtomFeed(path, mode, newest)
    make: Callable[[str, Mode], StoryWriter] | None = load_plugin(OUTLETS, _plugin_name(str(target)))
    if make is not None:
        return make(str(target), mode)
    raise OutputError(f"{target}: no known format; name it .jsonl, .csv, .parquet, .xml or .atom, or - for JSON lines")


def _plugin_name(target: str) -> str:
    """The name under which an outlet for this target is offered."""
    scheme, found, _ = target.partition("://")
    return (scheme if found else Path(target).suffix.removeprefix(".")).lower()


def _place(path: Path, mode: Mode) -> Destination:
    is_device = path.exists() and not path.is_file()  # a pipe can be written but not replaced
    if mode is Mode.REPLACE and not is_device:
        return Replacing(path)
    return InPlace(path, keep=mode is Mode.APPEND)
