"""Which documents a recording shows: the data decide what makes one new, and how old each is.

A page that was only linked to can be a document too; it is there from its first link on. A link is new if the page on
which it was first seen had been seen before without it. What was on a page when it was first seen has an unknown age.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray
from forager.kernel import compiled
from forager.tape.tape import KINDS, SETTLING, Tape
from forager.terms import Kind

PageNumbers = IntArray | Int32Array


class PageTimes:
    """Sorted pairs of page and time, in which others are looked up, millions at once."""

    def __init__(self, page: IntArray, time: FloatArray) -> None:
        self._times, rank = np.unique(time, return_inverse=True)
        self._key = page * len(self._times) + rank

    def before(self, page: PageNumbers, time: FloatArray) -> IntArray:
        """Counts how many of these pairs come before each of the given pairs."""
        return self._before(page, np.searchsorted(self._times, time))

    def up_to(self, page: PageNumbers, time: FloatArray) -> IntArray:
        """Counts the same, equal pairs too."""
        return self._before(page, np.searchsorted(self._times, time, side="right"))

    def places(self, page: PageNumbers, time: FloatArray) -> IntArray:
        """Returns the positions of the given pairs; -1 where they are missing."""
        place = self.before(page, time)
        found: BoolArray = self.up_to(page, time) > place
        return np.where(found, place, -1)

    def _before(self, page: PageNumbers, rank: IntArray) -> IntArray:
        return np.searchsorted(self._key, page.astype(np.int64) * len(self._times) + rank)


LISTED = 5
"""A page is a list if this many links appear on it that were not there before."""
FEW = 20
"""This many changes of texts prove nothing."""
_HUB, _ARTICLE, _OTHER = (KINDS.index(kind) for kind in (Kind.HUB, Kind.ARTICLE, Kind.OTHER))


@compiled
def _met(
    begin: IntArray,
    time: FloatArray,
    gone: BoolArray,
    link_set: Int32Array,
    link_start: IntArray,
    links: Int32Array,
) -> tuple[FloatArray, BoolArray, Int32Array]:
    """When each page was first linked to, whether that link was new, and how many new links each version shows."""
    pages = len(begin) - 1
    first, new, fresh = np.full(pages, np.inf), np.zeros(pages, np.bool_), np.zeros(len(time), np.int32)
    owner = np.full(pages, -1, np.int64)
    for page in range(pages):
        seen, before = False, -1
        for version in range(begin[page], begin[page + 1]):
            if gone[version]:
                continue
            chosen = int(link_set[version])
            if chosen != before:
                at = time[version]
                for link in links[link_start[chosen] : link_start[chosen + 1]]:
                    if owner[link] == page:
                        continue
                    owner[link] = page
                    fresh[version] += seen
                    if at < first[link] or (at == first[link] and seen):
                        first[link], new[link] = at, seen
            seen, before = True, chosen
    return first, new, fresh


@dataclass(frozen=True, slots=True)
class LinksMet:
    """When links were first seen on a tape."""

    first: FloatArray
    """When each page was first linked to; inf for never."""
    new: BoolArray
    """Whether that link was new on its page."""
    fresh: Int32Array
    """How many links each version shows that its page never showed before; none for what it showed first."""
    begun: FloatArray
    """When each page was first seen itself; inf for never."""
    owner: IntArray
    """The page of each version."""

    @classmethod
    def of(cls, tape: Tape) -> "LinksMet":
        first, new, fresh = _met(
            np.asarray(tape.version_start),
            np.asarray(tape.time),
            np.asarray(tape.gone),
            np.asarray(tape.link_set),
            np.asarray(tape.link_start),
            np.asarray(tape.links),
        )
        owner = tape.owners()
        begun = np.full(tape.pages, np.inf)
        np.minimum.at(begun, owner[~tape.gone], tape.time[~tape.gone])
        return cls(first, new, fresh, begun, owner)

    @property
    def lists(self) -> BoolArray:
        """The pages on which new links keep appearing."""
        return np.bincount(self.owner, self.fresh, minlength=len(self.first)) >= LISTED


def told_identity(tape: Tape, met: LinksMet) -> str:
    """What makes a document new, judged by the tape.

    It is the `text`, if more pages that are no lists changed their text without new links than new pages came; else the
    `url`, or, if most new pages were only linked to, the first `link`.
    """
    lists, there = met.lists, met.begun < np.inf
    came = int((there & (met.new | (met.begun > tape.start + SETTLING)) & ~lists).sum())
    linked = int((~there & met.new).sum())
    text = np.where(tape.text_print == 0, tape.digest, tape.text_print)
    order = np.lexsort((tape.time, text, met.owner))
    page, shown = met.owner[order], text[order]
    new = np.append(True, (page[1:] != page[:-1]) | (shown[1:] != shown[:-1]))[: len(order)]
    new &= (tape.time[order] > met.begun[page]) & ~tape.gone[order] & (met.fresh[order] == 0) & ~lists[page]
    if int(new.sum()) > max(came + linked, FEW):
        return "text"
    return "link" if linked > came else "url"


def with_documents(
    tape: Tape,
    identity: str | None,
    *,
    mentions: Sequence[tuple[int, float]] = (),
    kinds: Literal["unknown", "read", "stated"] = "unknown",
    date: bool = True,
) -> Tape:
    """Returns the tape with its documents; without an `identity`, the data decide what makes one new.

    `mentions`: versions, by page and time, whose text only mentions a day. `kinds`: whether the kinds of pages are
    unknown, guessed by a reader, or stated by the operator. `date`: an undated document is as old as its first
    sighting, unless it may have been there before.
    """
    met = LinksMet.of(tape)
    identity = identity or told_identity(tape, met)
    kind, published = np.array(tape.url_kind), np.array(tape.published)
    if identity in ("text", "version"):
        # what looks like a list is a text too, and a day that it mentions is not its date
        if kinds == "read":
            kind[kind == _HUB] = _OTHER
        if len(mentions):
            pages, times = zip(*mentions, strict=True)
            place = PageTimes(met.owner, np.asarray(tape.time)).places(np.asarray(pages), np.asarray(times))
            published[place[place >= 0]] = np.nan
    elif kinds == "unknown" or (kinds == "read" and identity == "link"):
        kind[met.lists] = _HUB
    tape = replace(tape, identity=identity, url_kind=kind, published=published)
    if date:
        tape = replace(tape, published=_dates(tape, met))
    return _with_linked(tape, met) if identity == "link" else tape


def _dates(tape: Tape, met: LinksMet) -> FloatArray:
    """Returns the dates; an undated version gets the first sighting of its document if that came after the start."""
    there = ~tape.gone
    if tape.identity in ("url", "link"):
        stood = (met.first < met.begun) & ~met.new
        seen = np.where(stood, -np.inf, np.minimum(met.begun, met.first))[met.owner]
    elif tape.identity == "text":
        _, document = np.unique(tape.text_print, return_inverse=True)
        first = np.full(int(document.max(initial=-1)) + 1, np.inf)
        np.minimum.at(first, document[there], tape.time[there])
        seen = first[document]
    else:
        seen = np.asarray(tape.time)
    return np.where(np.isnan(tape.published) & there & (seen > tape.start), seen, tape.published)


def _with_linked(tape: Tape, met: LinksMet) -> Tape:
    """Adds a version for each page that was only linked to, from its first link on; new links date their pages."""
    bare = np.diff(tape.version_start) == 0
    pages = np.flatnonzero(bare & (met.first < np.inf))
    time = met.first[pages]
    kinds = np.array(tape.url_kind)
    kinds[pages] = _ARTICLE
    added = {
        "time": time,
        "published": np.where(met.new[pages], time, np.nan),
        "digest": np.zeros(len(pages), np.uint64),
        "text_print": np.zeros(len(pages), np.uint64),
        "gone": np.zeros(len(pages), np.bool_),
        "seconds": np.full(len(pages), tape.seconds.mean() if tape.versions else 1.0, np.float32),
        "state": np.full(len(pages), -1, np.int32),
        "link_set": np.zeros(len(pages), np.int32),
    }
    order = np.argsort(np.concatenate([met.owner, pages]), kind="stable")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(tape, name), values])[order] for name, values in added.items()
    }
    count = np.diff(tape.version_start)
    count[pages] = 1
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    return replace(tape, url_kind=kinds, version_start=start, **columns)
