"""A folder of tables becomes a tape: `versions`, with `links` or `stays`, and `kinds`; each as Parquet or CSV.

versions   url, time, digest; optional published, text, gone
links      url, time, target: the full link set of the version that appeared at `time`
stays      url, target, first_time, last_time: a link that stood on a page, first and last seen at these times
kinds      url, kind: hub, article, feed, sitemap or other

Times are seconds since the epoch or ISO 8601. With stays, a page has a new version whenever its standing links change, even
if `versions` has no row there. Without `published`, a document is as old as its first sight.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from forager.errors import InputError
from forager.imports import csv_tables
from forager.imports.captures import REPLACED
from forager.imports.files import Imported
from forager.imports.opening import Source, opened
from forager.imports.stays import Versions, standing, with_changes
from forager.imports.tally import Tally
from forager.imports.times import moments
from forager.imports.values import Flags, Floats, Ids, as_bytes, flags, mapped, prints
from forager.pages.prints import text_print
from forager.pages.urls import canonical
from forager.terms import Kind
from forager.world.tape.build import TapeBuilder

SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.zst")
_KINDS = {kind.value: kind for kind in Kind}


def import_tables(folder: Path, *, origin: str, identity: str = "url") -> Imported:
    """The tape of the tables in a folder; rows that cannot be used are counted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder with the tables versions, links or stays")
    return _Import(folder, origin, identity).run()


class _Import:
    """One import; holds what its parts share."""

    def __init__(self, folder: Path, origin: str, identity: str) -> None:
        self._folder, self._tally = folder, Tally()
        self._builder = TapeBuilder(origin, identity)
        self._known: dict[bytes, int] = {}

    def run(self) -> Imported:
        versions = self._versions()
        links, stays = (self._find(name) for name in ("links", "stays"))
        if links is not None and stays is not None:
            raise InputError(f"{self._folder}: has both links and stays; keep one of them")
        sets = None
        if links is not None:
            sets = self._linked(versions, links)
        elif stays is not None:
            versions, sets = self._stood(versions, stays)
        self._name_kinds()
        self._tally.records += len(versions)
        self._builder.add_many(
            versions.page,
            versions.time,
            digests=versions.digest,
            text_prints=versions.text,
            published=versions.published,
            gone=versions.gone,
            link_sets=sets,
        )
        tape = self._builder.finish(merge_repeats=True, date_by_first_sight=versions.published is None)
        return Imported(tape, self._tally)

    def _versions(self) -> Versions:
        path = self._find("versions")
        if path is None:
            raise InputError(f"{self._folder}: has no table versions.parquet or versions.csv")
        table = self._read(path, ("url", "time", "digest"), ("published", "text", "gone"))
        page, time = self._pages(table["url"], path), moments(table["time"])
        self._name("not a time", path, np.isnan(time) & (page >= 0), table["time"])
        kept = np.flatnonzero((page >= 0) & np.isfinite(time))
        digest = prints(table["digest"])
        text = mapped(as_bytes(table["text"]), _text_print, 0, np.uint64) if "text" in table else digest
        gone = flags(table["gone"]) if "gone" in table else np.zeros(len(page), np.bool_)
        published = moments(table["published"])[kept] if "published" in table else None
        return Versions(page[kept], time[kept], digest[kept], text[kept], published, gone[kept])

    def _linked(self, versions: Versions, path: Path) -> NDArray[np.int32]:
        """The link set of each version; a link without its version is broken."""
        table = self._read(path, ("url", "time", "target"))
        page, target, time = (
            self._pages(table["url"], path),
            self._pages(table["target"], path),
            moments(table["time"]),
        )
        sound = (page >= 0) & (target >= 0)
        order = np.lexsort((versions.time, versions.page))
        place = _places(versions.page[order], versions.time[order], page, time)
        self._name("link of no version", path, sound & (place < 0), table["url"])
        chosen = np.flatnonzero(sound & (place >= 0))
        return self._builder.link_sets(order[place[chosen]], target[chosen], len(versions))

    def _stood(self, versions: Versions, path: Path) -> tuple[Versions, NDArray[np.int32]]:
        """The versions, with those between them at which only the standing links changed, and the link set of each."""
        table = self._read(path, ("url", "target", "first_time", "last_time"))
        page, target = self._pages(table["url"], path), self._pages(table["target"], path)
        first, last = moments(table["first_time"]), moments(table["last_time"])
        self._name("not a stay", path, (page >= 0) & (target >= 0) & ~(first <= last), table["first_time"])
        sound = np.flatnonzero((page >= 0) & (target >= 0) & (first <= last))
        page, target, first, last = page[sound], target[sound], first[sound], last[sound]
        grown = with_changes(versions, page, first, last)
        rows, stays = standing(grown, page, first, last, str(path))
        return grown, self._builder.link_sets(rows, target[stays], len(grown))

    def _name_kinds(self) -> None:
        path = self._find("kinds")
        if path is None:
            return
        table = self._read(path, ("url", "kind"))
        page = self._pages(table["url"], path)
        for id, kind in zip(page.tolist(), as_bytes(table["kind"]).to_pylist(), strict=True):
            named = _KINDS.get((kind or b"").decode("ascii", "replace").strip().lower())
            if named is None:
                self._tally.note("not a kind", str(path), shown=kind or "")
            elif id >= 0:
                self._builder.name_kind(id, named)

    def _find(self, name: str) -> Path | None:
        """The table of this name; Parquet before CSV."""
        return next((path for suffix in SUFFIXES if (path := self._folder / f"{name}{suffix}").is_file()), None)

    def _read(self, path: Path, needed: tuple[str, ...], wished: tuple[str, ...] = ()) -> dict[str, pa.Array]:
        table, names = self._parquet(path) if path.suffix == ".parquet" else self._csv(path)
        missing = [name for name in needed if name not in names]
        if missing:
            raise InputError(f"{path}: has no column {' or '.join(missing)}; it has {', '.join(names[:8])}")
        return {name: _whole(table.column(names.index(name))) for name in (*needed, *wished) if name in names}

    def _parquet(self, path: Path) -> tuple[pa.Table, list[str]]:
        try:
            table = pyarrow.parquet.read_table(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: cannot be read: {_line(error)}") from None
        return table, [name.strip().lower() for name in table.column_names]

    def _csv(self, path: Path) -> tuple[pa.Table, list[str]]:
        with opened(Source(str(path), path)) as stream:
            names, _ = csv_tables.header(stream)
            try:
                batches = list(csv_tables.batches(stream, range(len(names)), self._tally))
            except pa.ArrowException as error:
                raise InputError(f"{path}: cannot be read: {_line(error)}") from None
            if stream.trouble:
                self._tally.note("broken off", str(path), shown=stream.trouble)
        empty = pa.schema([(str(place), pa.binary()) for place in range(len(names))])
        return pa.Table.from_batches(batches, batches[0].schema if batches else empty), names

    def _pages(self, column: pa.Array, path: Path) -> Ids:
        """Page numbers; negative where there is no name. What is no web address is taken as a name."""
        page = mapped(as_bytes(column), self._page, -1, np.int64)
        self._name("not a URL", path, page < 0, column)
        return page

    def _page(self, raw: bytes) -> int:
        page = self._known.get(raw)  # most names stand in several columns
        if page is None:
            page = self._known[raw] = self._numbered(raw)
        return page

    def _numbered(self, raw: bytes) -> int:
        text = raw.decode("utf-8", "replace").strip()
        if REPLACED in text:
            return -1
        if text.lower().startswith(("http:", "https:")):
            text = canonical(text) or ""
        return self._builder.number(text) if text else -1

    def _name(self, kind: str, path: Path, wrong: Flags, shown: pa.Array) -> None:
        places = np.flatnonzero(wrong)
        for place in places[:3].tolist():
            self._tally.note(kind, str(path), place + 1, shown[place].as_py())
        if len(places) > 3:
            self._tally.note(kind, str(path), count=len(places) - 3)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    joined = joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
    return joined.dictionary_decode() if pa.types.is_dictionary(joined.type) else joined


def _text_print(value: bytes) -> int:
    return text_print(value.decode("utf-8", "replace"))


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _places(page: Ids, time: Floats, wanted_page: Ids, wanted_time: Floats) -> Ids:
    """Where (page, time) pairs stand among sorted ones; -1 where they do not."""
    if not len(page):
        return np.full(len(wanted_page), -1, np.int64)
    times, rank = np.unique(time, return_inverse=True)
    at = np.minimum(np.searchsorted(times, wanted_time), len(times) - 1)
    key, wanted = page * len(times) + rank, wanted_page * len(times) + at
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return np.where((key[place] == wanted) & (times[at] == wanted_time), place, -1)
