"""The states of a live crawl: every page that is read gets one, every link that is found an estimate (Alg 2).

At first states are hashed words. Once the crawl has read `states.train_pages` pages, clusters are learned from them
beside the crawl, and the states of all known pages are computed anew from their stored versions. States before and
after cannot be compared, and neither can the weights learned with them. So at the change every forager that learns
long-term profit draws new weights, as at its birth; the others have random weights anyway.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from forager.clock import Clock, Offload, inline, pause
from forager.core.addresses import address_marks
from forager.core.agent import ReinforcingAgent
from forager.core.parameters import ForagerSettings
from forager.core.profit import check_rate
from forager.core.shared import StateMatrix
from forager.core.states import States, document
from forager.errors import ForagerError, InputError
from forager.pages.page import Page
from forager.pages.urls import url_words
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Url, UrlId

LOOK_EVERY = 30.0
"""Seconds between two checks whether there are enough pages to learn from."""
PIECE = 200
"""Links whose states are estimated at a time, which holds the event loop for about 10 ms."""
BATCH = 256
"""Pages whose states are computed in one product when all are computed again."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """Texts and links that have no state yet."""

    texts: dict[UrlId, str] = field(default_factory=dict)
    links: list[tuple[UrlId, UrlId, str]] = field(default_factory=list)
    """The linking page, the page linked to, and the words of the link."""

    def extend(self, other: "_Waiting") -> None:
        self.texts.update(other.texts)
        self.links.extend(other.links)

    def enter(self, states: States, matrix: StateMatrix) -> None:
        """Puts the states into the matrix, those of texts first; a state that is there already is not estimated again."""
        if self.texts:
            urls = np.fromiter(self.texts, dtype=np.int64, count=len(self.texts))
            matrix.put(urls, states.of(list(self.texts.values())))
        unseen = {link[1]: link for link in self.links if not matrix.row(link[1])}
        if unseen:
            sources, urls = np.array([link[:2] for link in unseen.values()], dtype=np.int64).T
            matrix.put(urls, states.estimate([link[2] for link in unseen.values()], matrix.of(sources)))


class _Saved(msgspec.Struct):
    version: int
    pages: bytes


class LiveStates:
    """Fills the state matrix during the crawl, and learns better states once."""

    def __init__(
        self, states: States, matrix: StateMatrix, store: Store, agent: ReinforcingAgent, offload: Offload
    ) -> None:
        self.states, self.matrix, self.store, self.agent, self.offload = states, matrix, store, agent, offload
        self.pages: dict[UrlId, None] = {}
        """Those whose text can be had from the store, in the order in which they were first read."""
        self._waiting = _Waiting()
        self._meanwhile: _Waiting | None = None
        """What was entered with the old states while new ones are computed."""
        self._ready: States | None = None
        """Learned before the crawl was interrupted, but not yet used."""

    @classmethod
    async def open(
        cls, walk: ForagerSettings, matrix: StateMatrix, store: Store, agent: ReinforcingAgent, offload: Offload
    ) -> "LiveStates":
        """Returns the states that the store holds, else those of the file in the settings, else hashed words."""
        kept, saved = await store.recall("states"), await store.recall("stating")
        if kept is not None:
            states = States.load(kept, walk.states)
        elif walk.states.file:
            states = read_states(Path(walk.states.file), walk)
            await store.keep("states", states.save())
        else:
            states = States(walk.states)
        check_rate(walk.profit, states.sample)
        opened = cls(states, matrix, store, agent, offload)
        if saved is not None:
            opened._load(saved)
        return opened

    def __repr__(self) -> str:
        return f"<LiveStates of {len(self.pages)} pages: {self.states!r}>"

    def read(self, id: UrlId, page: Page) -> None:
        """Adds a page that was read; the next `settle` computes its state."""
        self._waiting.texts[id] = document(page.title, page.text)
        if page.text and page.robots.index:
            self.pages.setdefault(id)

    def found(self, source: UrlId, ids: Sequence[UrlId], found: Sequence[Found], regions: Sequence[str]) -> None:
        """Adds links that were found on a page, in these regions; the next `settle` estimates their targets."""
        if self.states.settings.shape:
            told = [address_marks(one.url, one.anchor, place) for one, place in zip(found, regions, strict=True)]
            self.matrix.mark(np.array(ids, dtype=np.int64), np.array(told, dtype=np.uint8))
        self._waiting.links.extend(
            (source, id, _link_words(one.anchor, one.url)) for id, one in zip(ids, found, strict=True)
        )

    def settle(self) -> bool:
        """Computes the states of texts and links, in one product each; returns whether links are left for another call."""
        waiting, self._waiting = self._waiting, _Waiting()
        if self.offload is not inline:  # in simulated time there is nobody to wait
            self._waiting.links = waiting.links[PIECE:]
            del waiting.links[PIECE:]
        waiting.enter(self.states, self.matrix)
        if self._meanwhile is not None:
            self._meanwhile.extend(waiting)
        return bool(self._waiting.links)

    async def run(self, clock: Clock, stopping: asyncio.Event) -> None:
        """Learns clusters, once, when there are enough pages."""
        while not stopping.is_set() and not self.states.trained:
            if self._ready is None and len(self.pages) < self.states.settings.train_pages:
                await pause(clock, LOOK_EVERY, stopping)
                continue
            try:
                await self._change_to(self._ready or await self._learned())
            except ForagerError as trouble:
                _log.warning("states stay hashed words: %s", trouble)
                return

    async def _learned(self) -> States:
        """Learns new states from the first pages of the crawl, and stores them before they are used."""
        texts = [await self._text(id) for id in list(self.pages)[: self.states.settings.train_pages]]
        learned = await self.offload(lambda: self.states.train(texts))
        check_rate(self.agent.forager_settings.profit, learned.sample)
        await self.store.keep("states", await self.offload(learned.save))
        return learned

    async def _change_to(self, learned: States) -> None:
        """Computes all states anew beside the crawl, then replaces them between two steps."""
        self._meanwhile = _Waiting()
        try:
            anew = StateMatrix(self.matrix.dimension)
            async for batch in self._all_known():
                await self.offload(partial(batch.enter, learned, anew))
            self._meanwhile.enter(learned, anew)
        finally:
            self._meanwhile = None
        urls = np.flatnonzero(self.matrix.rows)
        self.matrix.vectors[:] = 0.0
        self.matrix.put(urls, anew.of(urls))
        self.states = learned
        for forager in self.agent.foragers.values():
            if forager.kind.learns_profit:
                self.agent.draw_weights(forager.slot)

    async def _all_known(self) -> AsyncIterator[_Waiting]:
        """Yields all that is known now, in batches: pages that were read, then those that were only found."""
        pages, known = list(self.pages), np.flatnonzero(self.matrix.rows).tolist()
        unseen = [UrlId(id) for id in known if id not in self.pages]
        for first in range(0, len(pages), BATCH):
            yield _Waiting(texts={id: await self._text(id) for id in pages[first : first + BATCH]})
        for first in range(0, len(unseen), BATCH):
            yield _Waiting(links=[self._link(id) for id in unseen[first : first + BATCH]])

    def _link(self, id: UrlId) -> tuple[UrlId, UrlId, str]:
        """Returns a link without its anchor, which is not stored: the linking page and the words of the URL."""
        page = self.store.known(id)
        return (id if page.source is None else page.source), id, _link_words("", page.url)

    async def _text(self, id: UrlId) -> str:
        number = self.store.known(id).version
        if number is None:
            return ""
        _, _, version = await self.store.version(number)
        return document(version.title, version.text)

    def save(self) -> bytes:
        """Encodes the version of the states in the matrix, and the pages that can be read again."""
        pages = np.fromiter(self.pages, dtype=np.int64, count=len(self.pages))
        return msgspec.msgpack.encode(_Saved(self.states.version, pages.tobytes()))

    def _load(self, saved: bytes) -> None:
        try:
            held = msgspec.msgpack.decode(saved, type=_Saved)
        except msgspec.DecodeError as trouble:
            raise InputError(f"the saved states of pages cannot be read ({trouble}); start afresh") from None
        self.pages = {UrlId(id): None for id in np.frombuffer(held.pages, dtype=np.int64).tolist()}
        if held.version != self.states.version:
            self._ready, self.states = self.states, States(self.states.settings)


def read_states(path: Path, walk: ForagerSettings) -> States:
    try:
        return States.load(path.read_bytes(), walk.states)
    except OSError as trouble:
        raise InputError(f"{path}: cannot be read ({trouble.strerror}); make it with `forager learn states`") from None


def _link_words(anchor: str, url: Url) -> str:
    return f"{anchor} {' '.join(url_words(url))}"
