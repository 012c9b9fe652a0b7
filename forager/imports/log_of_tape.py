"""The change log of a tape: when each page changed, and which list of links showed which document from when to when.

A page of a list kind (hub, feed, sitemap) changes when it shows a link that it never showed before (HACS), any other
page when its text changes; a page that is gone does not change. Score functions are judged on pages that are known from
the beginning: pages first seen after the first part of the tape (`settled`) are left out.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError
from forager.imports.hub_stays import stays_of
from forager.imports.log_cycles import Cycles
from forager.recrawl.log import ChangeLog, Documents
from forager.terms import UrlId
from forager.world.tape.columns import Tape
from forager.world.tape.player import LISTS

IntArray = NDArray[np.int64]
Pages = Literal["auto", "all", "hubs", "articles"]
Change = Literal["auto", "links", "text", "bytes"]


def log_of_tape(
    tape: Tape, cycle: float | None = None, *, pages: Pages = "auto", change: Change = "auto", settled: float = 0.1
) -> ChangeLog:
    """The log of the pages seen in the first `settled` part of the tape; `cycle` None: what suits its rhythm.

    `pages` auto: all that can be downloaded, so only lists where documents are read off them.
    """
    lists = np.isin(tape.url_kind, LISTS)
    wanted = {"all": np.ones(tape.pages, dtype=np.bool_), "hubs": lists, "articles": ~lists}
    wanted["auto"] = wanted["hubs" if tape.identity == "link" else "all"]
    chosen = _chosen(tape, wanted[pages], settled)
    owner = np.repeat(np.arange(tape.pages), np.diff(tape.version_start))
    known = np.isin(owner, chosen)
    if not known.any():
        raise InputError(f"{tape.origin}: no page to learn from; see --pages and --settled")
    stays, fresh = stays_of(tape, chosen if change == "links" else chosen[lists[chosen]])
    moved = _moved(tape, owner, tape.digest if change == "bytes" else _texts(tape))
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


def _chosen(tape: Tape, wanted: NDArray[np.bool_], settled: float) -> IntArray:
    """The pages of the wanted kind that were seen by the end of the first part."""
    first = np.full(tape.pages, np.inf)
    seen = np.diff(tape.version_start) > 0
    first[seen] = np.asarray(tape.time)[tape.version_start[:-1][seen]]
    return np.flatnonzero((first <= tape.start + settled * (tape.end - tape.start)) & wanted)


def _texts(tape: Tape) -> NDArray[np.uint64]:
    return np.where(tape.text_print == 0, tape.digest, tape.text_print)


def _moved(tape: Tape, owner: IntArray, content: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which versions show other content than the page's last one that was not gone."""
    there = np.flatnonzero(~np.asarray(tape.gone))
    moved = np.zeros(tape.versions, dtype=np.bool_)
    same_page = owner[there[1:]] == owner[there[:-1]]
    moved[there[1:]] = same_page & (content[there[1:]] != content[there[:-1]])
    return moved


def _documents(
    tape: Tape, stays: IntArray, lists: NDArray[np.bool_], number: IntArray, grid: Cycles
) -> Documents | None:
    """What lists show, but for other lists; None if they show nothing. A visit sees what stands at its cycle's end."""
    page, link, first, last = stays[:, lists[stays[0]] & ~lists[stays[1]]]
    if not len(page):
        return None
    time = np.asarray(tape.time)
    until = np.where(last + 1 < tape.version_start[page + 1], time[np.minimum(last + 1, tape.versions - 1)], np.inf)
    begun = grid.of_moment(time[first])
    ended = np.where(np.isfinite(until), grid.of_moment(np.minimum(until, tape.end)) - 1, grid.count - 1)
    _, document = np.unique(link, return_inverse=True)
    return Documents(document.astype(np.int64), number[page], begun, np.maximum(begun, ended))


def _inlinks(tape: Tape, chosen: IntArray) -> IntArray:
    """How many of these pages link to each of them in their first version."""
    sets = np.asarray(tape.link_set)[tape.version_start[:-1][chosen]]
    links = np.asarray(tape.links)
    shown = [np.unique(links[tape.link_start[one] : tape.link_start[one + 1]]) for one in sets]
    counts = np.bincount(np.concatenate(shown) if shown else np.empty(0, dtype=np.int64), minlength=tape.pages)
    return np.asarray(counts[chosen], dtype=np.int64)
