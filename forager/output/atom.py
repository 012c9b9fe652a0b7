"""An Atom 1.0 feed (RFC 4287) of the newest stories, newest first; each writing replaces the whole file at once."""

import re
import uuid
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from forager.errors import OutputError
from forager.output.destinations import Replacing
from forager.output.fields import Cell, Row, iso_moment, without_controls
from forager.output.outlet import Mode

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
    """The document; `path` makes its identifier."""
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
