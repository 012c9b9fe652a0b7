"""Compiles a tape from versions in any order, singly or many at once: numbers URLs, shares link sets, and finds the
captures that show nothing new."""

import math
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, Float32Array, Int32Array, IntArray, PrintArray, RowArray, distinct, spans
from forager.tape.tape import KINDS, Tape
from forager.terms import Kind, UrlId

EMPTY = 0
"""Number of the empty link set."""
VERSION_ROW = np.dtype(
    [
        ("owner", np.int64),
        ("time", np.float64),
        ("published", np.float64),
        ("digest", np.uint64),
        ("text_print", np.uint64),
        ("gone", np.bool_),
        ("seconds", np.float32),
        ("state", np.int32),
        ("link_set", np.int32),
    ]
)
"""A version: the number of its URL, and columns with the meaning of those of `Tape`."""
_UNKNOWN = np.array([(-1, np.nan, np.nan, 0, 0, False, np.nan, -1, EMPTY)], VERSION_ROW)


def version_rows(count: int, **columns: NDArray[Any]) -> RowArray:
    """So many versions; what is not given is unknown."""
    rows: RowArray = np.repeat(_UNKNOWN, count)
    for name, values in columns.items():
        rows[name] = values
    return rows


def in_order(rows: RowArray) -> RowArray:
    """The versions sorted by page, then by time; equal ones keep their order."""
    owner, time = rows["owner"], rows["time"]
    later = owner[1:] > owner[:-1]
    if (later | ((owner[1:] == owner[:-1]) & (time[1:] >= time[:-1]))).all():
        return rows
    ordered: RowArray = rows[np.lexsort((time, owner))]
    return ordered


def repeats(rows: RowArray) -> BoolArray:
    """Which versions show the same as the previous one of their page; the rows must be in order.

    A print of 0 means unknown: the page is assumed unchanged. Of two versions at the same time the last counts.
    """
    dropped = np.zeros(len(rows), np.bool_)
    owner, time = rows["owner"], rows["time"]
    dropped[:-1] = (owner[1:] == owner[:-1]) & (time[1:] == time[:-1])
    place = np.flatnonzero(~dropped)
    owner, gone = owner[place], rows["gone"][place]
    first = np.ones(len(place), np.bool_)
    first[1:] = owner[1:] != owner[:-1]
    same = ~first[1:] & (gone[1:] == gone[:-1])
    for name in ("digest", "text_print", "link_set"):
        values = rows[name][place]
        silent = gone if name == "link_set" else gone | (values == 0)
        # of each row, the last one of its page that says something; its first one, which is silent, if there is none
        by = np.maximum.accumulate(np.where(first | ~silent, np.arange(len(place)), 0))
        said = np.where(silent[by], 0, values[by])
        same &= said[1:] == said[:-1]
    dropped[place[1:]] = same
    return dropped


_DRAIN = 1 << 16
"""Number of single versions that are converted to rows at once."""


class TapeBuilder:
    """Collects versions and makes the tape. URLs that are only linked to become pages without a version."""

    def __init__(self, origin: str, identity: str = "url") -> None:
        self.origin, self.identity = origin, identity
        self._ids: dict[str, int] = {}
        self._kinds: dict[int, int] = {}
        self._rows: list[tuple[int, float, float, int, int, bool, float, int, int]] = []
        self._row_links, self._row_ends = array("q"), array("q")
        self._chunks: list[RowArray] = [version_rows(0)]
        self._sets: dict[int, int] = {0: EMPTY}
        self._links: list[Int32Array] = []
        self._lengths: list[IntArray] = [np.zeros(1, np.int64)]
        self._states: list[Float32Array] = []

    def __repr__(self) -> str:
        return f"<TapeBuilder {len(self._ids):,} URLs, {self.versions:,} versions>"

    @property
    def versions(self) -> int:
        """Number of versions added so far."""
        return sum(map(len, self._chunks)) + len(self._rows)

    def number(self, url: str) -> UrlId:
        """Number of a URL, new or known."""
        return UrlId(self._ids.setdefault(url, len(self._ids)))

    def numbers(self, urls: Iterable[str]) -> IntArray:
        ids = self._ids
        return np.fromiter((ids.setdefault(url, len(ids)) for url in urls), np.int64)

    def name_kind(self, id: int, kind: Kind) -> None:
        """Sets the kind of a page; the last call counts."""
        self._kinds[id] = KINDS.index(kind)

    def add(
        self,
        url: str,
        time: float,
        *,
        digest: int = 0,
        text_print: int = 0,
        published: float = math.nan,
        gone: bool = False,
        links: Iterable[str] = (),
        link_ids: Iterable[int] = (),
        kind: Kind = Kind.OTHER,
        seconds: float = math.nan,
        state: Float32Array | None = None,
        state_row: int = -1,
    ) -> None:
        """Adds a version that appeared at `time`, with its full link set, as URLs or as their numbers.

        Its state is given here, or as a row of the states that `finish` will get.
        """
        id = self.number(url)
        if kind is not Kind.OTHER:
            self.name_kind(id, kind)
        if state is not None:
            state_row = len(self._states)
            self._states.append(state)
        self._row_links.extend(map(self.number, links))
        self._row_links.extend(link_ids)
        self._row_ends.append(len(self._row_links))
        self._rows.append((id, time, published, digest, text_print, gone, seconds, state_row, EMPTY))
        if len(self._rows) >= _DRAIN:
            self._drain()

    def add_many(self, rows: RowArray) -> None:
        """Adds versions, see `version_rows`.

        Their link sets are numbers that `link_sets` returned, their states rows of the states that `finish` will get.
        """
        self._chunks.append(rows)

    def link_sets(self, rows: IntArray, targets: IntArray | Int32Array, count: int) -> Int32Array:
        """Numbers of `count` link sets: `targets[i]` is a link of set `rows[i]`, in any order, possibly repeated."""
        pages = max(len(self._ids), 1)
        pair = distinct(rows * pages + targets)
        start, links = np.searchsorted(pair, np.arange(count + 1) * pages), (pair % pages).astype(np.int32)
        del pair  # it is large
        prints = _set_prints(links, start)
        sets, first, which = np.unique(prints, return_index=True, return_inverse=True)
        known = self._sets
        before = len(known)
        numbers = np.fromiter((known.setdefault(one, len(known)) for one in sets.tolist()), np.int32)
        fresh = first[numbers >= before]  # `numbers` rises over the new ones, in the order of their first occurrence
        lengths = np.diff(start)[fresh]
        self._lengths.append(lengths)
        self._links.append(links[spans(start[fresh], lengths)])
        return np.asarray(numbers[which], np.int32)

    def finish(
        self,
        *,
        start: float | None = None,
        end: float | None = None,
        merge_repeats: bool = False,
        states: Float32Array | None = None,
    ) -> Tape:
        """The tape of everything added, by default from the first to the last version.

        `states` are the states that the given rows refer to. With `merge_repeats`, a version equal to the one before it
        is no new version; a digest of 0 means "as before".
        """
        self._drain()
        chunks, self._chunks = self._chunks, []
        rows = in_order(np.concatenate(chunks))
        chunks.clear()
        begin = (float(rows["time"].min()) if len(rows) else 0.0) if start is None else start
        last = float(rows["time"].max(initial=begin)) if end is None else end
        if merge_repeats:
            rows = rows[~repeats(rows)]
        pages = len(self._ids)
        text, ends = bytearray(), array("q", [0])
        for url in self._ids:
            text += url.encode()
            ends.append(len(text))
        kinds = np.full(pages, KINDS.index(Kind.OTHER), np.uint8)
        kinds[list(self._kinds)] = list(self._kinds.values())
        column: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in VERSION_ROW.names or ()}
        del rows
        took, owner = column.pop("seconds"), column.pop("owner")
        return Tape(
            **column,
            url_text=np.frombuffer(text, np.uint8),
            url_start=np.asarray(ends, np.int64),
            url_kind=kinds,
            version_start=np.searchsorted(owner, np.arange(pages + 1)).astype(np.int64),
            seconds=np.nan_to_num(took, nan=float(np.nanmean(took)) if np.isfinite(took).any() else 1.0),
            link_start=np.append(np.int64(0), np.cumsum(np.concatenate(self._lengths), dtype=np.int64)),
            links=self._all_links(),
            states=self._all_states(states),
            start=begin,
            end=last,
            origin=self.origin,
            identity=self.identity,
        )

    def _all_links(self) -> Int32Array:
        """The links of all sets, which are held once."""
        self._links = [np.concatenate([np.empty(0, np.int32), *self._links])]
        return self._links[0]

    def _all_states(self, given: Float32Array | None) -> Float32Array:
        if given is not None and len(given):
            return given
        return np.asarray(self._states, np.float32) if self._states else np.empty((0, 0), np.float32)

    def _drain(self) -> None:
        """Converts the single versions to rows."""
        if not self._rows:
            return
        ends = np.asarray(self._row_ends, np.int64)
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        sets = self.link_sets(rows, np.asarray(self._row_links, np.int64), len(ends))
        versions = np.array(self._rows, VERSION_ROW)
        versions["link_set"] = sets
        self._chunks.append(versions)
        self._rows.clear()
        self._row_links, self._row_ends = array("q"), array("q")


def _set_prints(links: Int32Array, start: IntArray) -> PrintArray:
    """A 64-bit hash of each set: the sum of its mixed members (splitmix64); 0 for the empty set."""
    mixed = links.astype(np.uint64)
    mixed += np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    sums = np.zeros(len(mixed) + 1, np.uint64)
    np.cumsum(mixed, out=sums[1:])
    return np.asarray(sums[start[1:]] - sums[start[:-1]])
