"""Captures as columns, and how they become versions on a tape.

A capture says: at this time this URL showed this content (its digest), or was gone. Captures of a page that show the same
content one after the other are one version, which appeared with the first of them. Where no date is known, a document is
as old as its first capture, and what was there at the very first moment is old.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from forager.core.parameters import StateSettings
from forager.core.states import States
from forager.importers.states import Stating
from forager.importers.streams import Tally
from forager.importers.values import Flags, Floats, Ids, Prints, as_bytes, mapped
from forager.pages.urls import canonical
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape

REPLACED = "\ufffd"
"""Stands where the bytes were no UTF-8."""
_SKIP, _BAD, _RULES = -1, -2, -3
"""Instead of a page number: another scheme; no URL at all; a robots.txt."""


@dataclass(frozen=True, slots=True)
class Captures:
    """Some captures of one source, in columns."""

    place: str
    """The name of the source."""
    line: Ids
    """Where each stands, from 1."""
    url: pa.Array
    """Text or bytes, as recorded."""
    time: Floats
    """nan if it could not be read."""
    digest: Prints
    """0: the content is as it was before."""
    gone: Flags
    said: pa.Array
    """How each time was written, to name a broken one."""

    def __len__(self) -> int:
        return len(self.time)


def is_robots(url: str) -> bool:
    """The rules of a site are no page of it."""
    return url.endswith("/robots.txt") and url.count("/") == 3


class Collector:
    """Takes captures, of any source and in any order, and gives the tape."""

    def __init__(self, origin: str, identity: str) -> None:
        self.builder = TapeBuilder(origin, identity)
        self.tally = Tally()
        self.stating = Stating(States(StateSettings()))

    def __repr__(self) -> str:
        return f"<Collector {self.builder!r}>"

    def take(self, captures: Captures) -> None:
        """Add the sound ones, count the others."""
        if not len(captures):
            return
        page = self._pages(captures)
        timed = np.isfinite(captures.time)
        self._name("not a time", captures, (page >= 0) & ~timed, captures.said)
        sound = (page >= 0) & timed
        self.tally.records += int(sound.sum())
        digest = captures.digest[sound]
        self.builder.add_many(
            page[sound], captures.time[sound], digests=digest, text_prints=digest, gone=captures.gone[sound]
        )

    def tape(self, *, merge: bool = True) -> Tape:
        return self.builder.finish(merge_repeats=merge, date_by_first_sight=True, states=self.stating.finish())

    def _pages(self, captures: Captures) -> Ids:
        """The page of each capture; negative if it has none."""
        page = mapped(as_bytes(captures.url), self._page, _BAD, np.int64)
        self.tally.left_out["not http"] += int((page == _SKIP).sum())
        self.tally.left_out["robots.txt"] += int((page == _RULES).sum())
        self._name("not a URL", captures, page == _BAD, captures.url)
        return page

    def _page(self, raw: bytes) -> int:
        text = raw.decode("utf-8", "replace")
        if REPLACED in text:
            return _BAD
        url = canonical(text)
        if url is not None:
            return _RULES if is_robots(url) else self.builder.number(url)
        scheme = text.partition(":")[0].lower()
        return _BAD if scheme in ("", "http", "https") or ":" not in text else _SKIP

    def _name(self, kind: str, captures: Captures, wrong: Flags, shown: pa.Array) -> None:
        places = np.flatnonzero(wrong)
        for place in places[:3].tolist():
            self.tally.note(kind, captures.place, int(captures.line[place]), shown[place].as_py())
        if len(places) > 3:
            self.tally.note(kind, captures.place, count=len(places) - 3)
