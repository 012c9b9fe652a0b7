"""The focus of a crawl at work: it judges what is read, learns beside the crawl, and takes in what people mark.

A document of which it cannot tell yet is kept but not told. As soon as it can tell, or somebody has marked the document, it
is decided: told late, or dropped. Marks are lines of `marks.jsonl` in the run directory, so that the command line can add
some while a crawl runs; all lines are read again when the crawl goes on, and change nothing then.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from forager.clock import Clock, Offload, pause
from forager.core.findings import Finding, Reinforcement
from forager.core.focus import Focus
from forager.engine.stories import Teller
from forager.errors import OutputError
from forager.events import Event, TopicJudged
from forager.pages.urls import canonical
from forager.store.protocol import VersionId
from forager.store.store import Store
from forager.terms import NOBODY, Url, UrlId, Verdict

MARKS = "marks.jsonl"
"""In the run directory."""
LOOK_EVERY = 5.0
"""Seconds between two looks whether there is something to learn or to decide (ours)."""

_log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """What somebody says of a document."""

    url: str
    on_topic: bool


def add_mark(run: Path, mark: Mark) -> None:
    """Append a mark for whoever crawls into this directory, now or later."""
    try:
        with (run / MARKS).open("ab") as file:
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
        run: Path | None = None,
    ) -> None:
        """`run` is the directory whose marks are read; None: nobody can mark anything."""
        self.focus, self.store, self.teller, self.note = focus, store, teller, note
        self.clock, self.offload, self._run = clock, offload, run
        self._taken = 0
        """Bytes of the marks that were read."""

    def __repr__(self) -> str:
        return f"<TopicDesk of {self.focus!r}, {len(self.teller.held)} documents held>"

    def read(self, id: UrlId, version: int, text: str, at: float) -> None:
        """A document was read, and its version is stored."""
        if version in self.focus.verdicts:  # before the crawl was interrupted
            return
        self.focus.read(version, text)
        self._tell(id, version, at, "")

    def hold_again(self, version: VersionId) -> bool:
        """Whether a version that was not decided when the crawl ended has to wait on."""
        if self.focus.verdicts.get(version) is not Verdict.UNSURE:
            return False
        self.teller.held[version] = None
        return True

    def mark(self, url: Url, on_topic: bool) -> None:
        """Somebody says what a page is about; taken in at the next look."""
        if self._run is not None:
            add_mark(self._run, Mark(url, on_topic))

    async def run(self, stopping: asyncio.Event) -> None:
        """Learn and decide, beside the crawl."""
        while not stopping.is_set():
            await self.look()
            await pause(self.clock, LOOK_EVERY, stopping)

    async def look(self) -> None:
        """Take in new marks, learn if a lesson is due, and decide what can be decided."""
        await self._take_marks()
        lesson = self.focus.lesson() if self.focus.is_due else None
        if lesson is not None:
            self.focus.adopt(await self.offload(lesson.learn))
        await self._decide_held()

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
        """Tell or drop the held documents on which there is a verdict now."""
        for version in list(self.teller.held):
            verdict = self.focus.verdicts[version]
            if verdict is Verdict.UNSURE and self.focus.doubt:
                continue
            id, _, stored = await self.store.version(version)
            if verdict is Verdict.UNSURE:
                verdict = self.focus.judge_again(version, f"{stored.title}\n{stored.text}")
                self._tell(id, version, self.clock.now(), Verdict.UNSURE)
            published = 0.0 if stored.published is None else stored.published.time
            nobodys = Finding(NOBODY, id, version, stored.text_print, published, UrlId(-1))
            accepted = self.teller.held.pop(version) or Reinforcement(nobodys, 0.0, True)
            await self.teller.decide(version, accepted if verdict is Verdict.ON else None)

    def _tell(self, id: UrlId, version: int, at: float, before: str) -> None:
        self.note(TopicJudged(at, id, version, self.focus.verdicts[version].value, before))
