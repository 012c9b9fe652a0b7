"""Compile a tape: versions come in any order, with URLs as text; numbers, columns and shared link sets come out."""

import math
from collections.abc import Iterable

import numpy as np
import xxhash
from numpy.typing import NDArray

from forager.terms import Kind, UrlId
from forager.world.tape.columns import KINDS, Tape


class TapeBuilder:
    """Collects versions and gives the tape. URLs that are only linked to become pages without a version."""

    def __init__(self, origin: str, identity: str = "url") -> None:
        self.origin, self.identity = origin, identity
        self._ids: dict[str, UrlId] = {}
        self._kinds: list[int] = []
        self._rows: list[tuple[int, float, float, int, int, bool, float, int, int]] = []
        self._sets: dict[bytes, int] = {}
        self._links: list[NDArray[np.int32]] = []
        self._states: list[NDArray[np.float32]] = []

    def __repr__(self) -> str:
        return f"<TapeBuilder {len(self._ids):,} URLs, {len(self._rows):,} versions>"

    def number(self, url: str) -> UrlId:
        """The number of a URL, new or known."""
        id = self._ids.get(url)
        if id is None:
            id = self._ids[url] = UrlId(len(self._ids))
            self._kinds.append(KINDS.index(Kind.OTHER))
        return id

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
        kind: Kind = Kind.OTHER,
        seconds: float = math.nan,
        state: NDArray[np.float32] | None = None,
    ) -> None:
        """Add a version that appeared at `time`, with its full link set."""
        id = self.number(url)
        if kind is not Kind.OTHER:
            self._kinds[id] = KINDS.index(kind)
        row = -1
        if state is not None:
            row = len(self._states)
            self._states.append(state)
        chosen = self._link_set(sorted({self.number(link) for link in links}))
        self._rows.append((id, time, published, digest, text_print, gone, seconds, row, chosen))

    def finish(self, *, start: float | None = None, end: float | None = None) -> Tape:
        """The tape of everything added; it spans the versions unless told otherwise."""
        rows = self._rows
        id, time, published, digest, text_print, gone, seconds, state, link_set = (
            zip(*rows, strict=True) if rows else ((),) * 9
        )
        owner, when = np.asarray(id, np.int64), np.asarray(time, np.float64)
        order = np.lexsort((when, owner))
        pages = len(self._ids)
        texts = [url.encode() for url in self._ids]
        took = np.asarray(seconds, np.float32)[order]
        return Tape(
            url_text=np.frombuffer(b"".join(texts), np.uint8),
            url_start=_starts([len(text) for text in texts]),
            url_kind=np.asarray(self._kinds, np.uint8),
            version_start=np.searchsorted(owner[order], np.arange(pages + 1)).astype(np.int64),
            time=when[order],
            published=np.asarray(published, np.float64)[order],
            digest=np.asarray(digest, np.uint64)[order],
            text_print=np.asarray(text_print, np.uint64)[order],
            gone=np.asarray(gone, np.bool_)[order],
            seconds=np.nan_to_num(took, nan=float(np.nanmean(took)) if np.isfinite(took).any() else 1.0),
            state=np.asarray(state, np.int32)[order],
            link_set=np.asarray(link_set, np.int32)[order],
            link_start=_starts([len(links) for links in self._links]),
            links=np.concatenate([*self._links, np.empty(0, np.int32)]),
            states=np.asarray(self._states, np.float32) if self._states else np.empty((0, 0), np.float32),
            start=float(when.min() if start is None and rows else start or 0.0),
            end=float(when.max() if end is None and rows else end or 0.0),
            origin=self.origin,
            identity=self.identity,
        )

    def _link_set(self, ids: list[UrlId]) -> int:
        links = np.asarray(ids, np.int32)
        key = xxhash.xxh3_128_digest(links.data if links.size else b"")
        known = self._sets.get(key)
        if known is None:
            known = self._sets[key] = len(self._links)
            self._links.append(links)
        return known


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
