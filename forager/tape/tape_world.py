"""The World of a tape: no parsing, no sockets; a visit is an array look-up, and only downloads take time.

Its documents: when each could first be seen, and how long it stayed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.arrays import FloatArray, IntArray, PrintArray
from forager.core.findings import Sighting
from forager.core.page_row import LOOKS_APART
from forager.tape.lookup import TapeColumns, look_up, newest_links, parted, standing_links
from forager.tape.tape import KINDS, Tape
from forager.terms import LISTS, NOBODY, ForagerId, Kind, UrlId

LIST_KINDS = [KINDS.index(kind) for kind in LISTS]


class TapeClock:
    """A clock that stands still except for sleeps and downloads."""

    def __init__(self, start: float) -> None:
        self.time = start

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += max(0.0, seconds)


class TapeWorld:
    """Shows each page as it was at the time of the clock; every download costs `seconds` of that time."""

    def __init__(self, tape: Tape, clock: TapeClock, *, seconds: float, revisit_after: float = 0.0) -> None:
        self.tape, self.clock, self.seconds, self.revisit_after = tape, clock, seconds, revisit_after
        self.downloads = self.unrecorded = 0
        self.held = np.full(tape.pages, -1, dtype=np.int64)
        """The version of each page that was downloaded last, even if it says that the page is gone; -1 if there was
        none."""
        self.reads_off = tape.identity == "link"
        """Whether pages that are only linked to are documents, read off the page that links to them and never
        downloaded."""
        self._print = np.asarray(tape.text_print)
        fixed = tape.once("columns", lambda: _fixed(tape))
        self.columns = TapeColumns(
            seconds=seconds,
            revisit_after=revisit_after,
            last=np.full(tape.pages, -np.inf),
            current=fixed["begin"][:-1] - 1,
            held=self.held,
            waits=tape.waits,
            **fixed,
        )
        """For callers that look up many pages themselves; they also count them."""

    def __repr__(self) -> str:
        return f"<TapeWorld {self.downloads:,} downloads, {self.unrecorded:,} of them unrecorded>"

    async def visit(self, urls: Sequence[UrlId], by: ForagerId = NOBODY) -> list[Sighting]:
        """Downloads pages one after the other; a page downloaded a moment ago is shared and free."""
        return [self.look(int(url)) for url in urls]

    def look(self, url: int) -> Sighting:
        """Downloads one page now."""
        apart = min(self.revisit_after, LOOKS_APART) if self.columns.is_list.item(url) else self.revisit_after
        version, free, now = look_up(self.columns, url, self.clock.time, apart)
        self.clock.time = now
        if not free:
            self.downloads += 1
            self.unrecorded += version < 0
        if version < 0 or self.columns.gone.item(version):
            return Sighting(UrlId(url), now, False, free=free, gone=version >= 0)
        return self.sighting(url, version, now, free)

    def sighting(self, url: int, version: int, now: float, free: bool) -> Sighting:
        """This version of a page, as seen now; a list without a link that is new to it counts as the version it was."""
        columns, state = self.columns, self.columns.state.item(version)
        return Sighting(
            UrlId(url),
            now,
            True,
            columns.newest.item(version),
            self._print.item(version),
            columns.published.item(version),
            self.links_of(version, now),
            columns.is_list.item(url),
            state + 1 if state >= 0 else -1,
            free,
        )

    def links_of(self, version: int, now: float) -> IntArray:
        """The links that a version shows now."""
        columns, chosen = self.columns, self.columns.link_set.item(version)
        links = columns.links[columns.link_start.item(chosen) : columns.link_start.item(chosen + 1)]
        return standing_links(links, now, columns.appears) if columns.waits else links


def _fixed(tape: Tape) -> dict[str, NDArray[Any]]:
    """The columns that no visit changes, as plain arrays: reading an element of a memory map takes several times as
    long. Those of a tape from a file cannot be written to; so none can, or the loop would be compiled for each case."""
    begin, time, link_start = map(_fast, (tape.version_start, tape.time, tape.link_start))
    gone, link_set = _fast(tape.gone), _fast(tape.link_set)
    is_list = np.isin(tape.url_kind, LIST_KINDS)
    if tape.identity == "link":
        read = tape.url_kind == KINDS.index(Kind.ARTICLE)
        shown_start, shown, link_start, links = parted(link_start, _fast(tape.links), read)
    else:
        links = np.array(tape.links, dtype=np.int64)
        shown_start, shown = link_start[:0], tape.links[:0]
    return {
        "begin": begin,
        "time": time,
        "gone": gone,
        "state": _fast(tape.state),
        "link_set": link_set,
        "link_start": _fast(link_start),
        "is_list": is_list,
        "newest": newest_links(begin, gone, link_set, _fast(tape.link_start), _fast(tape.links), is_list),
        "links": links,
        "published": _fast(tape.published),
        "appears": _appearances(begin, time),
        "shown_start": _fast(shown_start),
        "shown": _fast(shown),
    }


def _fast(column: NDArray[Any]) -> NDArray[Any]:
    """A column as a plain array that cannot be written to."""
    plain = np.asarray(column)[:]
    plain.flags.writeable = False
    return plain


def _appearances(begin: IntArray, time: FloatArray) -> FloatArray:
    """When each page first appeared; inf if never."""
    appears = np.full(len(begin) - 1, np.inf)
    shown = np.flatnonzero(np.diff(begin))
    appears[shown] = time[begin[shown]]
    return appears


@dataclass(frozen=True, slots=True)
class Documents:
    """One row per document, in the order of first appearance."""

    key: PrintArray
    """Its identity: URL number, fingerprint of the main text, or version number."""
    born: FloatArray
    """When it could first be seen."""
    gone: FloatArray
    """When its last copy disappeared; the end of the tape if it stayed."""
    of_version: IntArray
    """For each version of the tape, the row of its document; -1 if it is none."""

    def __len__(self) -> int:
        return len(self.born)


def documents(tape: Tape, *, identity: str = "", max_age: float = 86_400.0, hubs: bool = False) -> Documents:
    """The dated versions that were young when they appeared; lists of links only with `hubs`.

    `identity` says what makes a document new: `url`, `text` or `version`; by default what the tape says.
    """
    identity = identity or tape.identity
    return tape.once(("documents", identity, max_age, hubs), lambda: _documents(tape, identity, max_age, hubs))


def _documents(tape: Tape, identity: str, max_age: float, hubs: bool) -> Documents:
    owner = np.repeat(np.arange(tape.pages), np.diff(tape.version_start))
    young = (tape.time - tape.published <= max_age) & ~tape.gone  # False without a date
    if not hubs:
        young &= ~np.isin(tape.url_kind, LIST_KINDS)[owner]
    key = _keys(tape, owner, identity)
    ends = np.append(tape.time[1:], tape.end)
    ends[tape.version_start[1:][np.diff(tape.version_start) > 0] - 1] = tape.end
    chosen = np.flatnonzero(young)
    key = key[chosen]
    together = np.argsort(key, kind="stable") if identity == "text" else np.arange(len(key))  # the others are sorted
    key = key[together]
    is_first = np.append(True, key[1:] != key[:-1])[: len(key)]
    first = np.flatnonzero(is_first)
    born = _best(np.minimum, tape.time[chosen][together], first)
    gone = _best(np.maximum, ends[chosen][together], first)
    order = np.argsort(born, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of_version = np.full(tape.versions, -1, dtype=np.int64)
    of_version[chosen[together]] = place[np.cumsum(is_first) - 1]
    return Documents(key[first][order], born[order], gone[order], of_version)


def _best(better: np.ufunc, values: FloatArray, first: IntArray) -> FloatArray:
    """The best value of each group of neighbours; `first` has the start of each group."""
    return np.asarray(better.reduceat(values, first) if len(first) else values[:0])


def _keys(tape: Tape, owner: IntArray, identity: str) -> PrintArray:
    """Identity of each version's document; a version without main text counts as a document of its own."""
    if identity in ("url", "link"):
        return owner.astype(np.uint64)
    versions = np.arange(tape.versions, dtype=np.uint64)
    return np.where(tape.text_print == 0, versions, tape.text_print) if identity == "text" else versions
