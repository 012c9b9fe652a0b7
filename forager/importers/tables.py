"""A folder of tables becomes a tape: `versions`, with `links` or `stays`, and `kinds`; each as Parquet or CSV.

versions   url, time, digest; optional published, text, gone
links      url, time, target: the full link set of the version that appeared at `time`
stays      url, target, first_time, last_time: a link was on a page, first and last seen at these times
kinds      url, kind: hub, article, feed, sitemap or other

Times are seconds since the epoch or ISO 8601; rows may be in any order, and occur twice. With stays, a page has a new
version whenever its links change, even if `versions` has no row there or is missing; `versions` may also say that a
page was seen unchanged. Without `published`, a document is as old as its first sighting. Without `kinds`, links decide
which pages are lists, and by default the tables also decide what makes a document new (see `identity`).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.arrays import BoolArray, Int32Array, IntArray, RowArray, distinct
from forager.core.parameters import StateSettings
from forager.core.states import States, document
from forager.errors import InputError
from forager.importers.collector import REPLACED, TextStates
from forager.importers.files import Imported, Progress
from forager.importers.identity import PageTimes, with_documents
from forager.importers.streams import ImportTally, Source, opened
from forager.importers.table_columns import (
    TableBatch,
    as_bytes,
    files_of,
    flags,
    mapped,
    moments,
    prints,
    readable,
    table_batches,
)
from forager.pages.fingerprints import text_print
from forager.pages.urls import canonical
from forager.tape.build import TapeBuilder, in_order, version_rows
from forager.terms import Kind

MOST_LINKS = 300_000_000
"""Links of all versions together; more would not fit in memory."""
AT_ONCE = 1_000_000
"""Links that are processed at a time, unless one page has more."""


_STAY = np.dtype([("page", np.int32), ("target", np.int32), ("first", np.float64), ("last", np.float64)])
"""A link that stood on a page, first and last seen there at these times."""


def _in_order(versions: RowArray) -> RowArray:
    """Sorts all versions by page, then by time; of several rows for one page at one time the last counts."""
    rows = in_order(versions)
    other = (rows["owner"][1:] != rows["owner"][:-1]) | (rows["time"][1:] != rows["time"][:-1])
    kept: RowArray = rows[np.append(other, True)[: len(rows)]]
    return kept


def _with_changes(versions: RowArray, stays: RowArray) -> RowArray:
    """Adds a version wherever a page was seen, which shows the same as the version before it; keeps the order.

    A link was still there at its last time; it had gone at the next time at which its page was seen.
    """
    sights = [(versions["owner"], versions["time"]), *((stays["page"], stays[end]) for end in ("first", "last"))]
    times = np.unique(np.concatenate([time for _, time in sights]))
    seen = [page.astype(np.int64) * len(times) + np.searchsorted(times, time) for page, time in sights]
    page, rank = np.divmod(distinct(np.concatenate(seen)), max(len(times), 1))
    source = PageTimes(versions["owner"], versions["time"]).up_to(page, times[rank]) - 1
    grown = version_rows(len(page))
    known = np.flatnonzero(source >= 0)
    known = known[versions["owner"][source[known]] == page[known]]
    for name in versions.dtype.names or ():
        grown[name][known] = versions[name][source[known]]  # column by column: a copy of all rows is large
    grown["owner"], grown["time"] = page, times[rank]
    return grown


def _standing(versions: RowArray, stays: RowArray, place: str) -> Iterator[tuple[int, int, IntArray, Int32Array]]:
    """Yields which links are in which version, some pages at a time; versions and stays are in order.

    Yields the first of some versions and their number, then, for each link, its version (counted from the first) and
    target.
    """
    order = PageTimes(versions["owner"], versions["time"])
    begin = order.before(stays["page"], stays["first"])
    count = order.up_to(stays["page"], stays["last"]) - begin
    sums = np.cumsum(count)
    if len(sums) and sums[-1] > MOST_LINKS:
        raise InputError(f"{place}: its stays unfold to {sums[-1]:,} links, more than {MOST_LINKS:,}; cut it in parts")
    ends = np.append(np.flatnonzero(np.diff(stays["page"])) + 1, len(count))
    at = 0
    while at < len(count):
        done = int(sums[at - 1]) if at else 0
        fits = ends[np.searchsorted(sums[ends - 1], done + AT_ONCE, side="right") - 1]
        end = int(max(fits, ends[np.searchsorted(ends, at, side="right")]))
        some = count[at:end]
        low = int(np.searchsorted(versions["owner"], stays["page"][at]))
        high = int(np.searchsorted(versions["owner"], stays["page"][end - 1], side="right"))
        rows = np.arange(some.sum()) + np.repeat(begin[at:end] - low - (np.cumsum(some) - some), some)
        yield low, high - low, rows, np.repeat(stays["target"][at:end], some)
        at = end


_TABLES = ("versions", "links", "stays", "kinds")
_KINDS = {kind.value: kind for kind in Kind}


def import_tables(
    folder: Path,
    *,
    origin: str,
    identity: str | None = None,
    states: StateSettings | None = None,
    progress: Progress = lambda *_: None,
) -> Imported:
    """Compiles the tape of the tables in a folder; counts rows that cannot be used."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder with the tables versions, links or stays")
    return _Import(folder, origin, identity, states or StateSettings(), progress).run()


class _Import:
    """One import; holds what its parts share."""

    def __init__(
        self, folder: Path, origin: str, identity: str | None, states: StateSettings, progress: Progress
    ) -> None:
        self._folder, self._tally, self._progress = folder, ImportTally(), progress
        self._sizes = {path: path.stat().st_size for name in _TABLES for path in files_of(folder, name)}
        self._read: dict[Path, int] = {}
        self._builder, self._identity = TapeBuilder(origin), identity
        self._text_states = TextStates(States(states))
        self._known: dict[int, int] = {}
        """The page of each name seen so far, by the hash of the name."""
        self._dated = False
        """Whether the tables say when documents were published."""
        self._seen_last: float | None = None
        """When anything was seen last, if that was no change."""

    def run(self) -> Imported:
        links, stays = (files_of(self._folder, name) for name in ("links", "stays"))
        versions = self._versions(needed=not stays)
        if links and stays:
            raise InputError(f"{self._folder}: has both links and stays; keep one of them")
        linked = self._linked(versions, links) if links else None
        stood = self._stays(stays) if stays else None
        kinds_stated = self._name_kinds()
        self._forget_names()
        if linked is not None:
            versions["link_set"] = self._builder.link_sets(*linked, len(versions))
        elif stood is not None:
            versions = self._stood(versions, stood)
        self._builder.add_many(versions)
        is_dated = self._dated or not len(versions)
        del versions, linked, stood  # they are large
        tape = self._builder.finish(end=self._seen_last, merge_repeats=True, states=self._text_states.finish())
        identity = self._identity or ("url" if is_dated else None)
        kinds: Literal["stated", "unknown"] = "stated" if kinds_stated else "unknown"
        return Imported(with_documents(tape, identity, kinds=kinds, date=not self._dated), self._tally)

    def _versions(self, needed: bool) -> RowArray:
        paths = files_of(self._folder, "versions")
        if not paths and needed:
            raise InputError(f"{self._folder}: has no table versions.parquet or versions.csv")
        wished = ("digest", "published", "text", "gone")
        found = [self._versions_in(batch) for batch in self._batches(paths, ("url", "time"), wished)]
        return _in_order(np.concatenate([version_rows(0), *found]))

    def _versions_in(self, batch: TableBatch) -> RowArray:
        table = batch.columns
        if not {"digest", "text"} & table.keys():
            raise InputError(f"{batch.place}: has no column digest or text, which say whether a page has changed")
        page, time = self._pages(batch, "url"), moments(table["time"])
        self._name("not a time", batch, np.isnan(time) & (page >= 0), "time")
        kept = np.flatnonzero((page >= 0) & np.isfinite(time))
        self._tally.records += len(kept)
        column: dict[str, NDArray[Any]] = {"owner": page, "time": time}
        if "digest" in table:
            column["digest"] = column["text_print"] = prints(table["digest"])
        if "text" in table:
            texts = as_bytes(table["text"])
            column["text_print"] = mapped(texts, _text_print, 0, np.uint64)
            column["state"] = mapped(texts, self._state, -1, np.int32)
            column.setdefault("digest", column["text_print"])
        if "gone" in table:
            column["gone"] = flags(table["gone"])
        if "published" in table:
            self._dated, column["published"] = True, moments(table["published"])
        return version_rows(len(kept), **{name: values[kept] for name, values in column.items()})

    def _linked(self, versions: RowArray, paths: Sequence[Path]) -> tuple[IntArray, IntArray]:
        """Returns version and target of each link; a link without its version is broken."""
        rows, targets, order = [], [], PageTimes(versions["owner"], versions["time"])
        for batch in self._batches(paths, ("url", "time", "target")):
            page, target = self._pages(batch, "url"), self._pages(batch, "target")
            place = order.places(page, moments(batch.columns["time"]))
            sound = (page >= 0) & (target >= 0)
            self._name("link of no version", batch, sound & (place < 0), "url")
            chosen = np.flatnonzero(sound & (place >= 0))
            rows.append(place[chosen])
            targets.append(target[chosen])
            self._tally.records += len(chosen)
        return np.concatenate(rows), np.concatenate(targets)

    def _forget_names(self) -> None:
        """Frees the names, once all tables were read, because they take as much memory as the addresses of all pages."""
        named = [page for page in self._known.values() if page >= 0]
        self._tally.spelled = len(named) - len(set(named))
        self._known.clear()

    def _stays(self, paths: Sequence[Path]) -> RowArray:
        """Reads all stays, by page."""
        columns = ("url", "target", "first_time", "last_time")
        stays = np.concatenate([self._stays_in(batch) for batch in self._batches(paths, columns)])
        return stays[np.argsort(stays["page"], kind="stable")]

    def _stood(self, versions: RowArray, stays: RowArray) -> RowArray:
        """Adds link sets to the versions, and the versions between them at which only the standing links changed."""
        self._seen_last = max(versions["time"].max(initial=0.0), stays["last"].max(initial=0.0))
        grown = _with_changes(versions, stays)
        for begin, count, rows, targets in _standing(grown, stays, str(self._folder)):
            grown["link_set"][begin : begin + count] = self._builder.link_sets(rows, targets, count)
        return grown

    def _stays_in(self, batch: TableBatch) -> RowArray:
        page, target = self._pages(batch, "url"), self._pages(batch, "target")
        first, last = moments(batch.columns["first_time"]), moments(batch.columns["last_time"])
        self._name("not a stay", batch, (page >= 0) & (target >= 0) & ~(first <= last), "first_time")
        sound = np.flatnonzero((page >= 0) & (target >= 0) & (first <= last))
        self._tally.records += len(sound)
        stays = np.empty(len(sound), _STAY)
        for name, values in (("page", page), ("target", target), ("first", first), ("last", last)):
            stays[name] = values[sound]
        return stays

    def _name_kinds(self) -> bool:
        """Reads the kinds of pages from their table; returns whether there is one."""
        paths = files_of(self._folder, "kinds")
        for batch in self._batches(paths, ("url", "kind")):
            page = self._pages(batch, "url")
            for id, kind in zip(page.tolist(), as_bytes(batch.columns["kind"]).to_pylist(), strict=True):
                named = _KINDS.get((kind or b"").decode("ascii", "replace").strip().lower())
                if named is None:
                    self._tally.note("not a kind", batch.place, shown=kind or "")
                elif id >= 0:
                    self._builder.name_kind(id, named)
        return bool(paths)

    def _batches(
        self, paths: Sequence[Path], needed: Sequence[str], wished: Sequence[str] = ()
    ) -> Iterator[TableBatch]:
        for path in paths:
            choose = partial(_places, needed=needed, wished=wished, path=path)
            with opened(Source(str(path), path)) as stream, readable(path):
                for batch in table_batches(stream, choose, self._tally):
                    yield batch
                    self._read[path] = batch.read
                    self._progress(batch.place, sum(self._read.values()), sum(self._sizes.values()))
                if stream.trouble:
                    self._tally.note("broken off", batch.place, shown=stream.trouble)

    def _pages(self, batch: TableBatch, column: str) -> IntArray:
        """Returns page numbers; negative where there is no name. Anything that is no web address is taken as a name."""
        page = mapped(as_bytes(batch.columns[column]), self._page, -1, np.int64)
        self._name("not a URL", batch, page < 0, column)
        return page

    def _page(self, raw: bytes) -> int:
        name = xxh3_64_intdigest(raw)
        page = self._known.get(name)  # most names occur in several columns
        if page is None:
            page = self._known[name] = self._numbered(raw)
        return page

    def _numbered(self, raw: bytes) -> int:
        text = raw.decode("utf-8", "replace").strip()
        if REPLACED in text:
            return -1
        if text.lower().startswith(("http:", "https:")):
            text = canonical(text) or ""
        return self._builder.number(text) if text else -1

    def _state(self, raw: bytes) -> int:
        return self._text_states.row(document("", raw.decode("utf-8", "replace")))

    def _name(self, kind: str, batch: TableBatch, wrong: BoolArray, column: str) -> None:
        places, values = np.flatnonzero(wrong), batch.columns[column]
        lines = (places + batch.line).tolist()
        self._tally.note_rows(kind, batch.place, lines, lambda at: values[int(places[at])].as_py())


def _text_print(value: bytes) -> int:
    return text_print(value.decode("utf-8", "replace"))


def _places(names: Sequence[str], needed: Sequence[str], wished: Sequence[str], path: Path) -> dict[str, int]:
    """Returns the positions of the columns."""
    if not names:
        raise InputError(f"{path}: cannot be read: it has no columns")
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"{path}: has no column {' or '.join(missing)}; it has {', '.join(names[:8])}")
    return {name: names.index(name) for name in (*needed, *wished) if name in names}
