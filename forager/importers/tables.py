"""A folder of tables becomes a tape: `versions`, with `links` or `stays`, and `kinds`; each as Parquet or CSV.

versions   url, time, digest; optional published, text, gone
links      url, time, target: the full link set of the version that appeared at `time`
stays      url, target, first_time, last_time: a link that stood on a page, first and last seen at these times
kinds      url, kind: hub, article, feed, sitemap or other

Times are seconds since the epoch or ISO 8601; rows may stand in any order, and twice. With stays, a page has a new
version whenever its standing links change, even if `versions` has no row there or is missing. Without `published`, a
document is as old as its first sight. Without `kinds`, lists are told by their links, and unless said otherwise what
makes a document new is told by the tables too (see `told_identity`), and so is when a page that was only linked to was
shown first.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from forager.core.parameters import StateSettings
from forager.core.states import States, document
from forager.errors import InputError
from forager.importers.captures import REPLACED
from forager.importers.files import Imported, Progress
from forager.importers.states import Stating
from forager.importers.stays import NO_VERSIONS, PageTimes, Versions, joined_versions, standing, with_changes
from forager.importers.streams import Tally
from forager.importers.table_files import TableBatch, files_of, table_batches
from forager.importers.times import moments
from forager.importers.values import Flags, Floats, Ids, as_bytes, flags, mapped, prints
from forager.pages.fingerprints import text_print
from forager.pages.urls import canonical
from forager.tape.build import TapeBuilder
from forager.tape.tape import SETTLING
from forager.terms import Kind

LISTED = 5
"""So many links that were not there before must appear on a page, and it is a list."""


LaterLinks = tuple[Ids, Floats]
"""Page and time of every link that appeared on a page after its first version."""


def lists(later: LaterLinks) -> Ids:
    """The pages on which new links keep appearing."""
    return np.flatnonzero(np.bincount(later[0], minlength=1) >= LISTED)


def shown_first(versions: Versions, rows: Ids, targets: Ids) -> tuple[Ids, Floats]:
    """The pages without a version of their own, and when each was first linked to."""
    first = _first(targets, versions.time[rows])
    first[versions.page[versions.page < len(first)]] = np.inf
    pages = np.flatnonzero(first < np.inf)
    return pages, first[pages]


def told_identity(versions: Versions, rows: Ids, targets: Ids, later: LaterLinks) -> str:
    """What makes a document new, if nothing is dated: its `text`, if more pages changed theirs without new links than new
    pages came; else its `url`, or its first `link` if most new pages were only linked to."""
    if versions.published is not None or not len(versions):
        return "url"
    start = versions.time.min() + SETTLING
    begun = _first(versions.page, versions.time)
    came, linked = (
        int(((begun > start) & (begun < np.inf)).sum()),
        int((shown_first(versions, rows, targets)[1] > start).sum()),
    )
    order = np.lexsort((versions.time, versions.text, versions.page))
    page, text, time = versions.page[order], versions.text[order], versions.time[order]
    new = np.append(True, (page[1:] != page[:-1]) | (text[1:] != text[:-1])) & (time > begun[page])
    told = set(zip(later[0].tolist(), later[1].tolist(), strict=True))
    changes = sum(pair not in told for pair in zip(page[new].tolist(), time[new].tolist(), strict=True))
    if changes > came + linked:
        return "text"
    return "link" if linked > came else "url"


def later_links(versions: Versions, rows: Ids, targets: Ids) -> LaterLinks:
    """The links that appeared later; `targets[i]` is linked from the version `rows[i]`, the versions are in order."""
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0)
    count = len(versions)
    target, row = np.divmod(np.sort(targets * count + rows), count)
    page = versions.page[row]
    first = np.append(True, (target[1:] != target[:-1]) | (page[1:] != page[:-1]))
    page, time = page[first], versions.time[row[first]]
    later = time > _first(versions.page, versions.time)[page]
    return page[later], time[later]


def _first(of: Ids, time: Floats) -> Floats:
    """The first time of each number; inf where there is none."""
    first = np.full(int(of.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, of, time)
    return first


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
    """The tape of the tables in a folder; rows that cannot be used are counted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder with the tables versions, links or stays")
    return _Import(folder, origin, identity, states or StateSettings(), progress).run()


class _Import:
    """One import; holds what its parts share."""

    def __init__(
        self, folder: Path, origin: str, identity: str | None, states: StateSettings, progress: Progress
    ) -> None:
        self._folder, self._tally, self._progress = folder, Tally(), progress
        self._sizes = {path: path.stat().st_size for name in _TABLES for path in files_of(folder, name)}
        self._read: dict[Path, int] = {}
        self._builder = TapeBuilder(origin, identity or "")
        self._stating = Stating(States(states))
        self._known: dict[bytes, int] = {}
        self._seen_last: float | None = None
        """When anything was seen last, if that was no change."""

    def run(self) -> Imported:
        links, stays = (files_of(self._folder, name) for name in ("links", "stays"))
        versions = self._versions(needed=not stays)
        if links and stays:
            raise InputError(f"{self._folder}: has both links and stays; keep one of them")
        rows = targets = np.empty(0, np.int64)
        if links:
            rows, targets = self._linked(versions, links)
        elif stays:
            versions, rows, targets = self._stood(versions, stays)
        self._tally.records += len(versions)
        later = later_links(versions, rows, targets)
        if not self._builder.identity:
            self._builder.identity = told_identity(versions, rows, targets, later)
        if self._builder.identity == "link":
            self._add_shown(versions, rows, targets)
        self._name_kinds(later)
        self._builder.add_many(
            versions.page,
            versions.time,
            digests=versions.digest,
            text_prints=versions.text,
            published=versions.published,
            gone=versions.gone,
            link_sets=self._builder.link_sets(rows, targets, len(versions)),
            state_rows=versions.state,
        )
        tape = self._builder.finish(
            end=self._seen_last,
            merge_repeats=True,
            date_by_first_sight=versions.published is None,
            states=self._stating.finish(),
        )
        return Imported(tape, self._tally)

    def _versions(self, needed: bool) -> Versions:
        paths = files_of(self._folder, "versions")
        if not paths and not needed:
            return NO_VERSIONS
        if not paths:
            raise InputError(f"{self._folder}: has no table versions.parquet or versions.csv")
        wished = ("digest", "published", "text", "gone")
        return joined_versions([self._versions_in(batch) for batch in self._batches(paths, ("url", "time"), wished)])

    def _versions_in(self, batch: TableBatch) -> Versions:
        table = batch.columns
        if not {"digest", "text"} & table.keys():
            raise InputError(f"{batch.path}: has no column digest or text, which say whether a page has changed")
        page, time = self._pages(batch, "url"), moments(table["time"])
        self._name("not a time", batch, np.isnan(time) & (page >= 0), "time")
        kept = np.flatnonzero((page >= 0) & np.isfinite(time))
        state = np.full(len(page), -1, np.int32)
        if "text" in table:
            texts = as_bytes(table["text"])
            text = mapped(texts, _text_print, 0, np.uint64)
            state = mapped(texts, self._state, -1, np.int32)
        digest = prints(table["digest"]) if "digest" in table else text
        gone = flags(table["gone"]) if "gone" in table else np.zeros(len(page), np.bool_)
        published = moments(table["published"])[kept] if "published" in table else None
        shown = text if "text" in table else digest
        return Versions(page[kept], time[kept], digest[kept], shown[kept], published, gone[kept], state[kept])

    def _linked(self, versions: Versions, paths: Sequence[Path]) -> tuple[Ids, Ids]:
        """Version and target of each link; a link without its version is broken."""
        rows, targets, order = [], [], PageTimes(versions.page, versions.time)
        for batch in self._batches(paths, ("url", "time", "target")):
            page, target = self._pages(batch, "url"), self._pages(batch, "target")
            place = order.places(page, moments(batch.columns["time"]))
            sound = (page >= 0) & (target >= 0)
            self._name("link of no version", batch, sound & (place < 0), "url")
            chosen = np.flatnonzero(sound & (place >= 0))
            rows.append(place[chosen])
            targets.append(target[chosen])
        return np.concatenate(rows), np.concatenate(targets)

    def _stood(self, versions: Versions, paths: Sequence[Path]) -> tuple[Versions, Ids, Ids]:
        """The versions, with those between them at which only the standing links changed; version and target of each link."""
        parts = [self._stays_in(batch) for batch in self._batches(paths, ("url", "target", "first_time", "last_time"))]
        page, target = (np.concatenate([part[0][place] for part in parts]) for place in (0, 1))
        first, last = (np.concatenate([part[1][place] for part in parts]) for place in (0, 1))
        self._seen_last = max(versions.time.max(initial=0.0), last.max(initial=0.0))
        grown = with_changes(versions, page, first, last)
        rows, stays = standing(grown, page, first, last, str(paths[0]))
        return grown, rows, target[stays]

    def _stays_in(self, batch: TableBatch) -> tuple[tuple[Ids, Ids], tuple[Floats, Floats]]:
        page, target = self._pages(batch, "url"), self._pages(batch, "target")
        first, last = moments(batch.columns["first_time"]), moments(batch.columns["last_time"])
        self._name("not a stay", batch, (page >= 0) & (target >= 0) & ~(first <= last), "first_time")
        sound = np.flatnonzero((page >= 0) & (target >= 0) & (first <= last))
        return (page[sound], target[sound]), (first[sound], last[sound])

    def _add_shown(self, versions: Versions, rows: Ids, targets: Ids) -> None:
        """A version for each page that was only linked to, from its first link on."""
        page, time = shown_first(versions, rows, targets)
        for id in page.tolist():
            self._builder.name_kind(id, Kind.ARTICLE)
        self._builder.add_many(page, time, published=None if versions.published is None else time)

    def _name_kinds(self, later: LaterLinks) -> None:
        paths = files_of(self._folder, "kinds")
        if not paths and self._builder.identity in ("url", "link"):
            for id in lists(later).tolist():
                self._builder.name_kind(id, Kind.HUB)
        for batch in self._batches(paths, ("url", "kind")):
            page = self._pages(batch, "url")
            for id, kind in zip(page.tolist(), as_bytes(batch.columns["kind"]).to_pylist(), strict=True):
                named = _KINDS.get((kind or b"").decode("ascii", "replace").strip().lower())
                if named is None:
                    self._tally.note("not a kind", str(batch.path), shown=kind or "")
                elif id >= 0:
                    self._builder.name_kind(id, named)

    def _batches(
        self, paths: Sequence[Path], needed: Sequence[str], wished: Sequence[str] = ()
    ) -> Iterator[TableBatch]:
        for path in paths:
            for batch in table_batches(path, needed, wished, self._tally):
                yield batch
                self._read[path] = batch.read
                self._progress(str(path), sum(self._read.values()), sum(self._sizes.values()))

    def _pages(self, batch: TableBatch, column: str) -> Ids:
        """Page numbers; negative where there is no name. What is no web address is taken as a name."""
        page = mapped(as_bytes(batch.columns[column]), self._page, -1, np.int64)
        self._name("not a URL", batch, page < 0, column)
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

    def _state(self, raw: bytes) -> int:
        return self._stating.row(document("", raw.decode("utf-8", "replace")))

    def _name(self, kind: str, batch: TableBatch, wrong: Flags, column: str) -> None:
        places = np.flatnonzero(wrong)
        for place in places[:3].tolist():
            self._tally.note(kind, str(batch.path), batch.before + place + 1, batch.columns[column][place].as_py())
        if len(places) > 3:
            self._tally.note(kind, str(batch.path), count=len(places) - 3)


def _text_print(value: bytes) -> int:
    return text_print(value.decode("utf-8", "replace"))
