"""The change log of a tape: when each page changed, and which list showed which document from when to when.

A list (hub, feed, sitemap) changes when it shows a link that it never showed before (HACS), any other page when its
text changes; a page that is gone does not change. Score functions are judged on pages that are known from the
beginning: pages first seen after the first part of the tape (`settled`) are left out.

`Cycles` decides where the cycles of a log begin, how long they are and how many there are.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numba import njit

from forager.arrays import BoolArray, FloatArray, IntArray, PrintArray
from forager.errors import InputError
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.tape.tape import Tape
from forager.tape.tape_world import LIST_KINDS
from forager.terms import UrlId

USUAL = (900.0, 3600.0, 8 * 3600.0, 86_400.0, 7 * 86_400.0)
"""Lengths to choose from if none is given: 15m, 1h, 8h, 1d, 1w."""
MANY = 10_000
"""A chosen length makes no more cycles than this."""
LARGE = 50_000_000
"""If possible, a chosen length makes no larger log (pages × cycles) than this, because simulations of it take minutes."""
MOST = 60_000
"""More cycles than this are refused."""
_CELLS = 2_000_000_000
"""Pages × cycles: a log is a matrix of as many bytes, and three times that while it is simulated."""


@dataclass(frozen=True, slots=True)
class Cycles:
    """A grid of cycles over time."""

    start: float
    """Seconds since the epoch; nan if the cycles were only counted."""
    length: float
    count: int

    @classmethod
    def of(cls, time: FloatArray, page: IntArray, length: float | None, place: str, pages: int) -> "Cycles":
        """From the first time to the last; without a length, the one of `USUAL` that is nearest to the rhythm of the
        rows.
        """
        if not len(time):
            raise InputError(f"{place}: has no rows")
        start, end = float(time.min()), float(time.max())
        chosen = length or usual_length(time, page, pages)
        return cls.checked(start, chosen, int((end - start) // chosen) + 1, place, pages)

    @classmethod
    def counted(cls, number: IntArray, length: float | None, place: str, pages: int) -> "Cycles":
        """Cycles that the log itself numbers."""
        if not len(number):
            raise InputError(f"{place}: has no rows")
        count = int(number.max()) - int(number.min()) + 1  # beyond what a machine word can hold
        return cls.checked(np.nan, length or 86_400.0, count, place, pages)

    @classmethod
    def checked(cls, start: float, length: float, count: int, place: str, pages: int) -> "Cycles":
        """Makes this many cycles for this many pages, unless that is too much."""
        if count > MOST or count * pages > _CELLS:
            advice = f"at most {MOST:,} cycles can be" if np.isnan(start) else "make --cycle longer"
            raise InputError(f"{place}: {pages:,} pages × {count:,} cycles are too many; {advice}")
        return cls(start, length, count)

    def of_moment(self, time: FloatArray) -> IntArray:
        """Returns the cycle in which each moment lies."""
        return np.floor((time - self.start) / self.length).astype(np.int64)


def usual_length(time: FloatArray, page: IntArray, pages: int) -> float:
    """The length of `USUAL` nearest to the median time between two rows of a page; longer if there would be too many
    cycles.
    """
    order = np.lexsort((time, page))
    gap = np.diff(time[order])[np.diff(page[order]) == 0]
    gap = gap[gap > 0.0]
    wish = float(np.median(gap)) if len(gap) else USUAL[3]
    span = float(time.max() - time.min())
    most = min(MANY, LARGE / max(pages, 1))
    enough = [length for length in USUAL if span / length < most] or [USUAL[-1]]
    return min(enough, key=lambda length: abs(np.log(length / wish)))


@njit(cache=True)
def _stays(pages, version_start, link_set, link_start, links, gone, urls):  # type: ignore[no-untyped-def]
    """Page, link, first version and last version of every stay, one after the other; and for each version whether it has
    a link new to its page."""
    stays = [np.int64(0) for _ in range(0)]
    fresh = np.zeros(len(link_set), dtype=np.bool_)
    owner, first, last = np.full(urls, -1), np.empty(urls, dtype=np.int64), np.empty(urls, dtype=np.int64)
    met = np.empty(urls, dtype=np.int64)
    for page in pages:
        count = 0
        for version in range(version_start[page], version_start[page + 1]):
            if gone[version]:
                continue
            chosen = link_set[version]
            for place in range(link_start[chosen], link_start[chosen + 1]):
                link = np.int64(links[place])
                if owner[link] != page:
                    owner[link], first[link], last[link] = page, version, version
                    met[count] = link
                    count += 1
                    fresh[version] = version > version_start[page]
                elif last[link] >= version - 1:
                    last[link] = version
                else:
                    stays.extend((np.int64(page), link, first[link], last[link]))
                    first[link] = last[link] = version
        for link in met[:count]:
            stays.extend((np.int64(page), link, first[link], last[link]))
    return np.array(stays), fresh


def stays_of(tape: Tape, pages: IntArray) -> tuple[IntArray, BoolArray]:
    """Four rows (page, link, first and last version that shows it), and which versions have a link new to their page."""
    stays, fresh = _stays(
        pages,
        np.asarray(tape.version_start),
        np.asarray(tape.link_set),
        np.asarray(tape.link_start),
        np.asarray(tape.links),
        np.asarray(tape.gone),
        tape.pages,
    )
    return stays.reshape(-1, 4).T, fresh


Pages = Literal["auto", "all", "hubs", "articles"]
ChangeRule = Literal["auto", "links", "text", "bytes"]


def log_of_tape(
    tape: Tape, cycle: float | None = None, *, pages: Pages = "auto", change: ChangeRule = "auto", settled: float = 0.1
) -> ChangeLog:
    """Makes the log of the pages seen in the first `settled` part of the tape; `cycle` None: a length that suits its
    rhythm.

    `pages` auto: all that can be downloaded, so only lists if documents are read off lists.
    """
    lists = np.isin(tape.url_kind, LIST_KINDS)
    wanted = {"all": np.ones(tape.pages, dtype=np.bool_), "hubs": lists, "articles": ~lists}
    wanted["auto"] = wanted["hubs" if tape.identity == "link" else "all"]
    chosen = _chosen(tape, wanted[pages], settled)
    owner = tape.owners()
    known = np.isin(owner, chosen)
    if not known.any():
        raise InputError(f"{tape.origin}: no page to learn from; see --pages and --settled")
    stays, fresh = stays_of(tape, chosen if change == "links" else chosen[lists[chosen]])
    content = tape.digest if change == "bytes" else np.where(tape.text_print == 0, tape.digest, tape.text_print)
    moved = _moved(tape, owner, content)
    changed = {"auto": np.where(lists[owner], fresh, moved), "links": fresh}.get(change, moved)
    time = np.asarray(tape.time)
    grid = Cycles.of(np.append(time[known], tape.end), np.append(owner[known], -1), cycle, tape.origin, len(chosen))
    number = np.full(tape.pages, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    log = ChangeLog.of_visits(
        number[owner[known]],
        grid.of_moment(time[known]),
        changed[known],
        tuple(tape.url(UrlId(int(id))) for id in chosen),
        grid.count,
    )
    return replace(
        log,
        documents=_documents(tape, stays, lists, number, grid),
        start=grid.start,
        cycle=grid.length,
        hub=lists[chosen],
        inlinks=_inlinks(tape, chosen),
    )


def _chosen(tape: Tape, wanted: BoolArray, settled: float) -> IntArray:
    """Returns the pages of the wanted kind that were seen by the end of the first part."""
    first = np.full(tape.pages, np.inf)
    seen = np.diff(tape.version_start) > 0
    first[seen] = np.asarray(tape.time)[tape.version_start[:-1][seen]]
    return np.flatnonzero((first <= tape.start + settled * (tape.end - tape.start)) & wanted)


def _moved(tape: Tape, owner: IntArray, content: PrintArray) -> BoolArray:
    """Returns which versions show other content than the page's last version that was not gone."""
    there = np.flatnonzero(~np.asarray(tape.gone))
    moved = np.zeros(tape.versions, dtype=np.bool_)
    same_page = owner[there[1:]] == owner[there[:-1]]
    moved[there[1:]] = same_page & (content[there[1:]] != content[there[:-1]])
    return moved


def _documents(tape: Tape, stays: IntArray, lists: BoolArray, number: IntArray, grid: Cycles) -> ShownDocuments | None:
    """Returns the documents on lists, without other lists; None if there are none. A visit sees what is there at the
    end of its cycle.
    """
    page, link, first, last = stays[:, lists[stays[0]] & ~lists[stays[1]]]
    if not len(page):
        return None
    time = np.asarray(tape.time)
    until = np.where(last + 1 < tape.version_start[page + 1], time[np.minimum(last + 1, tape.versions - 1)], np.inf)
    begun = grid.of_moment(time[first])
    ended = np.where(np.isfinite(until), grid.of_moment(np.minimum(until, tape.end)) - 1, grid.count - 1)
    _, document = np.unique(link, return_inverse=True)
    return ShownDocuments(document.astype(np.int64), number[page], begun, np.maximum(begun, ended))


def _inlinks(tape: Tape, chosen: IntArray) -> IntArray:
    """Counts how many of these pages link to each of them in their first version."""
    sets = np.asarray(tape.link_set)[tape.version_start[:-1][chosen]]
    links = np.asarray(tape.links)
    shown = [np.unique(links[tape.link_start[one] : tape.link_start[one + 1]]) for one in sets]
    counts = np.bincount(np.concatenate(shown) if shown else np.empty(0, dtype=np.int64), minlength=tape.pages)
    return np.asarray(counts[chosen], dtype=np.int64)
