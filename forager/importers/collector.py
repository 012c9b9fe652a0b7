"""Captures as columns, and how they become versions on a tape, with the states of their texts.

A capture says that at this time this URL showed this content (its digest), or was gone. Captures of a page in
succession that show the same content are one version, which appeared with the first of them.
"""

import re
from array import array
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from forager.arrays import BoolArray, Float32Array, FloatArray, Int32Array, IntArray, PrintArray
from forager.core.parameters import StateSettings
from forager.core.states import States
from forager.errors import InputError
from forager.importers.identity import with_documents
from forager.importers.streams import ImportTally
from forager.importers.table_columns import as_bytes, mapped
from forager.pages.urls import canonical
from forager.tape.build import TapeBuilder, version_rows
from forager.tape.tape import Tape
from forager.terms import Dated, DateSource, Kind, Url

REPLACED = "\ufffd"
"""Replaces bytes that are not UTF-8."""
_SKIP, _BAD, _RULES = -1, -2, -3
"""Instead of a page number: another scheme; no URL at all; a robots.txt."""


@dataclass(frozen=True, slots=True)
class Captures:
    """Some captures of one source, in columns."""

    place: str
    """The name of the source."""
    line: IntArray
    """Where each stands, from 1."""
    url: pa.Array
    """Text or bytes, as recorded."""
    time: FloatArray
    """nan if it could not be read."""
    digest: PrintArray
    """0: the content is as it was before."""
    gone: BoolArray
    said: pa.Array
    """How each time was written, to name a broken one."""

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a tape keeps of a page; read once, even if the page shows it again later."""

    digest: int
    text_print: int
    published: Dated | None
    kind: Kind
    links: Int32Array
    state_row: int

    def add_to(
        self, builder: TapeBuilder, mentions: list[tuple[int, float]], url: Url, at: float, seconds: float
    ) -> None:
        """Adds a version that showed this from `at` on; the request took `seconds`."""
        if self.published is not None and self.published.source is DateSource.TEXT:
            mentions.append((builder.number(url), at))
        builder.add(
            url,
            at,
            digest=self.digest,
            text_print=self.text_print,
            published=np.nan if self.published is None else self.published.time,
            link_ids=self.links.tolist(),
            kind=self.kind,
            seconds=seconds,
            state_row=self.state_row,
        )


def is_robots(url: str) -> bool:
    """Whether a URL is that of a robots.txt, which is no page of its site."""
    return url.endswith("/robots.txt") and url.count("/") == 3


class Spellings:
    """Counts the addresses that are spelled differently from the first one of the same page."""

    def __init__(self, tally: ImportTally) -> None:
        self._tally, self._first = tally, array("q")
        self._others: set[tuple[int, int]] = set()

    def met(self, page: int, raw: bytes) -> None:
        spelling = hash(raw) or 1
        self._first.extend([0] * (page + 1 - len(self._first)))
        self._first[page] = self._first[page] or spelling
        if self._first[page] != spelling and (page, spelling) not in self._others:
            self._others.add((page, spelling))
            self._tally.spelled += 1


class Collector:
    """Takes captures of any source, in any order, and makes the tape."""

    def __init__(self, origin: str) -> None:
        self.builder = TapeBuilder(origin)
        self.tally = ImportTally()
        self.spellings = Spellings(self.tally)
        self.mentions: list[tuple[int, float]] = []
        """Page and time of versions that only mention a day in their text."""
        self.text_states = TextStates(States(StateSettings()))

    def __repr__(self) -> str:
        return f"<Collector {self.builder!r}>"

    def take(self, captures: Captures) -> None:
        """Adds the sound captures, and counts the others."""
        if not len(captures):
            return
        page = self._pages(captures)
        timed = np.isfinite(captures.time)
        self._name("not a time", captures, (page >= 0) & ~timed, captures.said)
        sound = (page >= 0) & timed
        self.tally.records += int(sound.sum())
        self.builder.add_many(
            version_rows(
                int(sound.sum()),
                owner=page[sound],
                time=captures.time[sound],
                digest=captures.digest[sound],
                text_print=captures.digest[sound],
                gone=captures.gone[sound],
            )
        )

    def tape(self, identity: str | None, *, merge: bool = True) -> Tape:
        """The tape. `identity`: what makes a document new; None: the captures decide. Not `merge`: every capture is a
        version.
        """
        plain = self.builder.finish(merge_repeats=merge, states=self.text_states.finish())
        return with_documents(plain, identity, mentions=self.mentions, kinds="read")

    def _pages(self, captures: Captures) -> IntArray:
        """Returns the page of each capture; negative if it has none."""
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
        if url is not None and not is_robots(url):
            page = self.builder.number(url)
            self.spellings.met(page, raw)
            return page
        if url is not None:
            return _RULES
        scheme = text.partition(":")[0].lower()
        return _BAD if scheme in ("", "http", "https") or ":" not in text else _SKIP

    def _name(self, kind: str, captures: Captures, wrong: BoolArray, shown: pa.Array) -> None:
        places = np.flatnonzero(wrong)
        self.tally.note_rows(
            kind, captures.place, captures.line[places].tolist(), lambda at: shown[int(places[at])].as_py()
        )


BATCH = 1024
"""Texts whose states are computed in one product."""
_LETTER = re.compile(r"[^\W\d_]")
TEXTS_PER_CLUSTER = 10
"""Clusters are learned only from at least this many texts for each component of a state."""


class TextStates:
    """Takes texts and numbers their states; equal texts share one."""

    def __init__(self, states: States) -> None:
        self.states = states
        self._settled = states.trained
        """Nothing more is learned: states of different versions cannot be compared."""
        self._rows: dict[int, int] = {}
        self._waiting: list[str] = []
        self._done: list[Float32Array] = []

    def __repr__(self) -> str:
        return f"<TextStates of {len(self._rows):,} texts: {self.states!r}>"

    def row(self, text: str) -> int:
        """Returns the row of a text's state in the result of `finish`; -1 for a text without words."""
        if _LETTER.search(text) is None:
            return -1
        count = len(self._rows)
        row = self._rows.setdefault(xxh3_64_intdigest(text.encode("utf-8", "replace")), count)
        if row == count:
            self._waiting.append(text)
            if len(self._waiting) >= (BATCH if self._settled else self.states.settings.train_pages):
                self._drain(learn=True)
        return row

    def finish(self) -> Float32Array:
        """Returns the states of all texts, by row."""
        self._drain(learn=len(self._rows) >= TEXTS_PER_CLUSTER * self.states.settings.dimension)
        return np.concatenate([np.empty((0, self.states.settings.dimension), np.float32), *self._done])

    def _drain(self, *, learn: bool) -> None:
        """Computes the states of everything that waits, with clusters learned from it if there are none yet."""
        if learn and not self._settled:
            with suppress(InputError):  # texts without common words: their states stay hashed words
                self.states = self.states.train(self._waiting)
        self._settled = True
        for first in range(0, len(self._waiting), BATCH):
            self._done.append(self.states.of(self._waiting[first : first + BATCH]))
        self._waiting.clear()
