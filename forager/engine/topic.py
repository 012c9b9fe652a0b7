"""The focus of a crawl at work: judges documents, learns beside the crawl, and takes in what people mark.

Once it can judge, it says where the topic is (`core/topic_map`): it updates the page table when links are found and
lists are visited, and all pages after every lesson. The rarer documents on topic are, the more requests each of them is
worth.

A document without a verdict is kept but not reported. Once there is a verdict, or somebody has marked the document, it
is reported late, or dropped. Marks are lines of `marks.jsonl` in the run directory, so that the command line can add
some during a crawl; when a crawl goes on, all lines are read again and change nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from forager.arrays import IntArray
from forager.clock import Clock, Offload, pause
from forager.core.exploration import Thrift
from forager.core.findings import Finding, Reinforcement
from forager.core.focus import Focus
from forager.core.page_table import PageTable
from forager.core.topic_map import TopicMap
from forager.engine.memory import remember
from forager.engine.stories import Teller
from forager.errors import OutputError
from forager.events import Event, TopicJudged
from forager.pages.urls import canonical, url_words
from forager.store.protocol import Found, VersionId
from forager.store.rundir import own_file
from forager.store.store import Store
from forager.terms import NOBODY, Url, UrlId, Verdict

MARKS = "marks.jsonl"
"""The name of the file in the run directory."""
LOOK_EVERY = 5.0
"""Seconds between two checks whether there is something to learn or to decide (ours)."""

LINKS = 20_000
"""Number of latest links whose words are kept until they are followed: about 4 MB (ours)."""
BATCH = 500
"""Links whose words are judged at once after a lesson."""
RARE = 0.5
"""The threshold of worth falls with this power of the share of documents on topic (ours)."""

_log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """What somebody says of a document."""

    url: str
    on_topic: bool


def add_mark(run: Path, mark: Mark) -> None:
    """Appends a mark for the crawl in this directory, now or later."""
    try:
        with open(run / MARKS, "ab", opener=own_file) as file:
            file.write(msgspec.json.encode(mark) + b"\n")
    except OSError as trouble:
        raise OutputError(f"{run / MARKS}: cannot be written: {trouble.strerror}") from None


class TopicDesk:
    """Owns the focus of a running crawl."""

    def __init__(
        self,
        focus: Focus,
        store: Store,
        teller: Teller,
        note: Callable[[Event], None],
        clock: Clock,
        offload: Offload,
        table: PageTable,
        thrift: Thrift,
        run: Path | None = None,
    ) -> None:
        """`run` is the directory whose marks are read; None: there are no marks."""
        self.table, self.thrift = table, thrift
        self.focus, self.store, self.teller, self.note = focus, store, teller, note
        self.clock, self.offload, self._run = clock, offload, run
        self._taken = 0
        """Bytes of the marks that were read."""
        self._links: dict[UrlId, str] = {}
        """The words of links that were not followed yet."""
        self.map = TopicMap(focus.share)
        thrift.topical = focus.share**RARE

    def __repr__(self) -> str:
        return f"<TopicDesk of {self.focus!r}, {len(self.teller.held)} documents held>"

    def read(self, id: UrlId, version: int, text: str, at: float) -> None:
        """Judges a document that was read and stored."""
        self._links.pop(id, None)
        verdict = self.focus.verdicts.get(version)
        if verdict is not None:  # it was judged before the crawl was interrupted
            self.map.read(id, verdict is Verdict.ON)
            return
        self.focus.read(version, text, self.map.listed(id))
        self._tell(id, version, at, "")

    def found(self, ids: Sequence[UrlId], found: Sequence[Found]) -> None:
        """Judges new links by their words."""
        heads = [one.anchor or " ".join(url_words(one.url)) for one in found]
        for id, head in zip(ids, heads, strict=True):
            remember(self._links, id, head, LINKS)
        if self.focus.can_tell:
            numbers = np.array(ids, dtype=np.int64)
            self.map.hear(numbers, self.focus.odds(heads))
            self.table.lean_to_topic(numbers, self.map.chances(numbers))

    def shown(self, id: UrlId, links: IntArray) -> None:
        """Judges a list that was visited, with its links in ascending order."""
        ids, shares = self.map.show(id, links)
        if self.focus.can_tell:
            self.table.lean_to_topic(ids, shares)

    def hold_again(self, version: VersionId) -> bool:
        """Whether a version that was undecided when the crawl ended must still wait."""
        if self.focus.verdicts.get(version) is not Verdict.UNSURE:
            return False
        self.teller.held[version] = None
        return True

    def mark(self, url: Url, on_topic: bool) -> None:
        """Records what somebody says of a page; it is taken in at the next `look`."""
        if self._run is not None:
            add_mark(self._run, Mark(url, on_topic))

    async def run(self, stopping: asyncio.Event) -> None:
        """Learns and decides, beside the crawl."""
        while not stopping.is_set():
            await self.look()
            await pause(self.clock, LOOK_EVERY, stopping)

    async def look(self) -> None:
        """Takes in new marks, learns if a lesson is due, and decides what can be decided."""
        await self._take_marks()
        lesson = self.focus.lesson() if self.focus.is_due else None
        if lesson is not None:
            self.focus.adopt(await self.offload(lesson.learn))
            await self._judge_links()
        await self._decide_held()
        if lesson is not None:
            self._lean_all()

    def _lean_all(self) -> None:
        """Updates all pages with where the topic is; all alike while there are no verdicts."""
        pages, shares = self.map.settle()
        can_tell = self.focus.can_tell
        self.table.lean_to_topic(pages, shares if can_tell else np.ones(len(pages)))
        self.focus.share = self.map.share if can_tell else 1.0
        self.thrift.topical = self.focus.share**RARE

    async def _judge_links(self) -> None:
        """Judges the words of links anew after a lesson."""
        links = list(self._links.items())
        for first in range(0, len(links), BATCH):
            ids, heads = zip(*links[first : first + BATCH], strict=True)
            odds = await self.offload(partial(self.focus.odds, heads))
            self.map.hear(np.array(ids, dtype=np.int64), odds)

    async def _take_marks(self) -> None:
        place = None if self._run is None else self._run / MARKS
        if place is None or not place.is_file() or place.stat().st_size <= self._taken:
            return
        with place.open("rb") as file:
            file.seek(self._taken)
            lines = file.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._taken += len(whole)
        for line in whole.splitlines():
            try:
                mark = msgspec.json.decode(line, type=Mark)
            except msgspec.MsgspecError as trouble:
                _log.warning("%s: a line is no mark: %s", place, trouble)
                continue
            await self._take(mark)

    async def _take(self, mark: Mark) -> None:
        url = canonical(mark.url)
        id = None if url is None else self.store.find(url)
        version = None if id is None else self.store.known(id).version
        if id is None or version is None:
            _log.warning("%s was marked, but this crawl has not read it", mark.url)
            return
        _, _, stored = await self.store.version(version)
        before = self.focus.verdicts.get(version)
        self.focus.mark(version, f"{stored.title}\n{stored.text}", mark.on_topic)
        if before is not self.focus.verdicts[version]:
            self._tell(id, version, self.clock.now(), before or "")

    async def _decide_held(self) -> None:
        """Reports or drops the held documents on which there is a verdict now."""
        for version in list(self.teller.held):
            verdict = self.focus.verdicts[version]
            if verdict is Verdict.UNSURE and self.focus.doubt:
                continue
            id, _, stored = await self.store.version(version)
            if verdict is Verdict.UNSURE:
                text = f"{stored.title}\n{stored.text}"
                verdict = self.focus.judge_again(version, text, self.map.listed(id))
                self._tell(id, version, self.clock.now(), Verdict.UNSURE)
            published = 0.0 if stored.published is None else stored.published.time
            nobodys = Finding(NOBODY, id, version, stored.text_print, published, UrlId(-1))
            accepted = self.teller.held.pop(version) or Reinforcement(nobodys, 0.0, True)
            await self.teller.decide(version, accepted if verdict is Verdict.ON else None)

    def _tell(self, id: UrlId, version: int, at: float, before: str) -> None:
        verdict = self.focus.verdicts[version]
        if verdict is not Verdict.UNSURE:
            self.map.read(id, verdict is Verdict.ON)
        self.note(TopicJudged(at, id, version, verdict.value, before))
