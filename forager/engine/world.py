"""The live World: fetches a page, stores what it shows, and shares one fetch among all who ask for it.

Two sides request pages of the same hosts: the fleet and the recrawl cycle. At each host they take turns by their
shares. A host has as many slots as it may have requests at once. While both sides wait for a slot, the side that got
less than its share goes first; one side may use what the other leaves.
"""

import asyncio
import math
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from forager.clock import Clock, inline
from forager.core.findings import Sighting
from forager.core.page_row import LOOKS_APART
from forager.engine.ingest import Ingest
from forager.engine.scope import NO_ANSWER
from forager.engine.stories import fetched
from forager.pages.urls import canonical, host
from forager.store.protocol import Found, Known, Lease, Visit
from forager.terms import NOBODY, Channel, ForagerId, Outcome, Request, Response, Url, UrlId
from forager.web.web import Web

MEMORY = 0.98
"""At each turn, what was spent before counts less by this factor, so that an idle hour earns no monopoly later. Ours."""

FOR_GOOD = frozenset({301, 308})
"""Redirects that say that a page has moved for good."""
MOVED_FOR = 24 * 3600.0
"""Seconds for which such a redirect is believed. Ours."""


@dataclass(slots=True)
class _Host:
    busy: int = 0
    spent: list[float] = field(default_factory=lambda: [0.0, 0.0])
    waiting: tuple[deque[asyncio.Future[None]], deque[asyncio.Future[None]]] = field(
        default_factory=lambda: (deque(), deque())
    )


class Shares:
    """Grants turns at hosts; side 0 is the fleet, side 1 the recrawl cycle."""

    def __init__(self, recrawl_share: float, slots: int = 1) -> None:
        self.weights = (1 - recrawl_share, recrawl_share)
        self.slots = slots
        self.turns = [0, 0]
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    def __repr__(self) -> str:
        return f"<Shares fleet {self.turns[0]} turns, recrawl {self.turns[1]}, {len(self._hosts)} hosts>"

    @asynccontextmanager
    async def turn(self, name: str, side: int) -> AsyncIterator[None]:
        """Waits for a slot of the host, and holds it inside the context."""
        host = self._hosts[name]
        if host.busy >= self.slots:
            waiter = asyncio.get_running_loop().create_future()
            host.waiting[side].append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._leave(host)  # the slot was granted at the same moment: hand it on
                raise
        else:
            host.busy += 1
        self._charge(host, side)
        try:
            yield
        finally:
            self._leave(host)

    def _charge(self, host: _Host, side: int) -> None:
        self.turns[side] += 1
        host.spent = [spent * MEMORY for spent in host.spent]
        host.spent[side] += 1

    def _leave(self, host: _Host) -> None:
        """Gives the slot to the next in turn, or frees it."""
        for side in sorted((0, 1), key=lambda side: host.spent[side] / max(self.weights[side], 1e-9)):
            queue = host.waiting[side]
            while queue:
                waiter = queue.popleft()
                if not waiter.done():
                    waiter.set_result(None)
                    return
        host.busy -= 1


class WebWorld:
    """The live web as foragers and the recrawl cycle see it; use it with `async with`."""

    def __init__(
        self,
        web: Web,
        ingest: Ingest,
        clock: Clock,
        shares: Shares,
        sitemaps: Callable[[str], Sequence[str]] = lambda host: (),
        recorded_from: Callable[[Url], float] | None = None,
    ) -> None:
        """`sitemaps` returns the sitemaps that the robots.txt of a host names.

        `recorded_from` returns from when on a recorded web holds a page, inf for never; None: the web is the live one.
        """
        self.web, self.ingest, self.clock, self.shares, self.sitemaps = web, ingest, clock, shares, sitemaps
        self.store, self.settings = ingest.store, ingest.settings
        self._flights: dict[UrlId, asyncio.Task[Sighting]] = {}
        self.recorded_from = recorded_from
        self.held_from: dict[UrlId, float] = {}
        """Pages that somebody wanted to see before they are in the recording, and from when on they are."""
        self._elsewhere: dict[UrlId, float] = {}
        """Until when pages that moved for good are not asked for."""
        self._hosts: set[str] = set()
        """Those whose robots.txt was asked for sitemaps."""
        self._draining = False
        self._reading = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None

    def __repr__(self) -> str:
        return f"<WebWorld {self.ingest!r}, {len(self._flights)} being fetched>"

    async def __aenter__(self) -> Self:
        self._group = await self._stack.enter_async_context(asyncio.TaskGroup())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for the fetches in flight, whose visits are stored."""
        await self._stack.__aexit__(kind, error, trace)

    def drain(self) -> None:
        """Begins no more fetches, because the crawl is about to end."""
        self._draining = True

    async def visit(self, urls: Sequence[UrlId], by: ForagerId = NOBODY) -> list[Sighting]:
        """Visits pages, all at once; a page fetched a moment ago is not fetched again."""
        now, joined = self.clock.now(), [id in self._flights for id in urls]
        flights = [self._shared(id, by, now) for id in urls]
        seen = [one if isinstance(one, Sighting) else await asyncio.shield(one) for one in flights]
        states = self.ingest.states
        while states is not None and states.settle():  # noqa: ASYNC110  # the rest of the links waits for another turn
            await asyncio.sleep(0)
        return [replace(one, free=True) if was else one for one, was in zip(seen, joined, strict=True)]

    def _shared(self, id: UrlId, by: ForagerId, now: float) -> Sighting | asyncio.Task[Sighting]:
        """Returns a sighting without a request, a fetch under way, or a new one."""
        seen = self._seen_lately(id, now)
        if seen is not None:
            return seen
        known = self.store.known(id)
        if (left := self._left_alone(known, now)) is not None:
            return left
        if id not in self._flights:
            assert self._group is not None, "a world is entered with `async with`"
            work = self._fly(known, by)
            try:
                flight = self._flights[id] = self._group.create_task(work)
            except RuntimeError:  # the crawl is ending
                work.close()
                raise
            flight.add_done_callback(lambda _: self._flights.pop(id, None))
        return self._flights[id]

    def _seen_lately(self, id: UrlId, now: float) -> Sighting | None:
        """Returns a recent sighting that can be shared; None if there is none, or the story is due for a second look."""
        seen = self.ingest.sightings.get(id)
        if seen is None:
            return None
        is_list = seen.hub or self.ingest.table.is_list(id)
        apart = min(self.settings.revisit_after, LOOKS_APART) if is_list else self.settings.revisit_after
        is_young = now - seen.when < apart and not self.ingest.corrections.wants(id, self.store.url(id))
        return replace(seen, free=True) if is_young else None

    def _left_alone(self, page: Known, now: float) -> Sighting | None:
        """Returns an empty sighting of a page that is not requested now; None for any other page.

        Such a page is not in the recording yet, has moved for good, or is in a place where pages bring nothing or do
        not answer.
        """
        begin = max(self.held_from.get(page.id, -math.inf), self._elsewhere.get(page.id, -math.inf))
        if begin > now:
            is_soon = begin < math.inf and page.id in self.held_from
            return Sighting(page.id, now, ok=False, free=True, gone=not is_soon)
        nothing = Sighting(page.id, now, ok=False, free=True, gone=True)
        if page.channel is Channel.LINK and self.ingest.scope.places.skips(page.url):
            return nothing
        return nothing if self._passes_by(page, now) else None

    def _passes_by(self, page: Known, now: float) -> bool:
        """Whether to skip a page because pages like it do not answer."""
        is_new = page.version is None and page.channel is not Channel.SEED
        passes = is_new and self.ingest.walls.skips(page.url, now)
        if passes:
            self.ingest.skipped.add(NO_ANSWER, page.url)
        return passes

    async def _fly(self, page: Known, by: ForagerId) -> Sighting:
        """Visits a page when it is its turn: the fleet and the recrawl cycle share each host."""
        walls = self.ingest.walls
        was_open = walls.at(page.url) is None
        async with self.shares.turn(host(page.url), int(by == NOBODY)):
            now = self.clock.now()
            if was_open and walls.at(page.url) is not None and self._passes_by(page, now):  # learned meanwhile
                return Sighting(page.id, now, ok=False, free=True, gone=True)
            leases = [] if self._draining else await self.store.lease(1, now, only=[page.id])
            if not leases:  # the crawl ends, or another worker has the page: no request
                return Sighting(page.id, now, ok=False, free=True)
            return await self.look(leases[0], by)

    async def look(self, lease: Lease, by: ForagerId = NOBODY) -> Sighting:
        """Fetches a leased page and stores what it shows."""
        try:
            response = await self.web.fetch(Request(lease.url, lease.validators))
            if response.outcome is Outcome.UNRECORDED and self.recorded_from is not None:
                return await self._not_yet(lease, response, self.recorded_from(response.url), by)
            await self._enter_sitemaps(lease)
            await self._wait_to_read()
            if response.url == lease.url:
                return await self.ingest.keep(self.store.known(lease.id), response, by)
            return await self._moved(lease, response, by)
        except BaseException:
            await self.store.release([lease])
            raise

    async def _wait_to_read(self) -> None:
        """Returns when no other page is being read in this turn of the loop: many that arrive at once would hold it for
        long.
        """
        if self.ingest.offload is not inline:  # in simulated time there is nobody to wait
            await self._reading.acquire()
            asyncio.get_running_loop().call_soon(self._reading.release)

    async def _not_yet(self, lease: Lease, response: Response, begin: float, by: ForagerId) -> Sighting:
        """Leaves a page alone that is not in the recording yet, until it is."""
        self.held_from[lease.id] = begin
        if begin < math.inf:
            await self.store.release([lease])
        else:
            await self.store.ack(Visit(lease.id, response.asked, Outcome.UNRECORDED, by=by))
        return Sighting(lease.id, response.asked, ok=False, free=True, gone=begin == math.inf)

    async def _enter_sitemaps(self, lease: Lease) -> None:
        """Enters the sitemaps of a host, once its robots.txt was read."""
        name = host(lease.url)
        if name in self._hosts:
            return
        self._hosts.add(name)
        now = self.clock.now()
        urls = (canonical(text, lease.url) for text in self.sitemaps(name))
        chosen = [url for url in urls if url is not None and not self.ingest.scope.objection(url, 1)]
        await self.store.put([Found(url, Channel.ROBOTS, now, lease.id, depth=1, due=now) for url in chosen])

    async def _moved(self, lease: Lease, response: Response, by: ForagerId) -> Sighting:
        """Follows a redirect: ends the visit of the old URL, and stores the page under the new one if that is in scope."""
        now, first = self.clock.now(), response.hops[0]
        self.ingest.walls.redirected(lease.url, response.url)
        if first.status in FOR_GOOD:
            self._elsewhere[lease.id] = now + MOVED_FOR
        closed = Visit(
            lease.id,
            first.asked,
            Outcome.MOVED,
            seconds=response.asked + response.seconds - first.asked,
            by=by,
            final_url=response.url,
            due=now + self.settings.retry_after,
        )
        objection = self.ingest.scope.objection(response.url, lease.depth)
        if objection:
            self.ingest.skipped.add(objection, response.url)
            found = []
        else:
            found = await self.store.put([Found(response.url, Channel.REDIRECT, now, lease.id, depth=lease.depth)])
        self.ingest.note(
            fetched(replace(closed, status=first.status), lease.url)
        )  # its new place is reported separately
        await self.store.ack(closed)
        if not found:
            return Sighting(lease.id, response.asked, ok=False, gone=True)  # it would lead out of the crawl again
        sighting = await self.ingest.keep(self.store.known(found[0]), response, by)
        self.ingest.keep_sighting(lease.id, sighting)
        return sighting
