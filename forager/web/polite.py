"""Waits until the timetable allows a visit, so that no host is asked more often than its rules allow.

A caller waits for its turn at the host without holding one of the `concurrent_requests`, and slow hosts have places of
their own: were there one set of places, a few dozen hosts that take half a minute for each answer would hold them all,
and everybody would wait for them.

Waits survive a kill: news of a host (see `Timetable.news`) is committed before the request that spends a budget is
made, and before the answer that asked for a wait is returned.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from forager.clock import Clock
from forager.pages.urls import host
from forager.terms import Outcome, Request, Response, Trouble
from forager.web.timetable import Booking, HostFacts, Refusal, Timetable
from forager.web.web import Web, failed, retry_after
from forager.web.web_settings import PoliteSettings


class WaitKeeper(Protocol):
    """Keeps what a resumed run must know of hosts."""

    def note_host(self, host: str, state: bytes) -> None:
        """Keeps the state of a host; committed together with, or before, whatever is kept next."""

    async def commit(self) -> None:
        """Returns when everything noted is committed."""


SLOW = 2.0
"""Seconds: who usually takes longer for an answer is slow (ours)."""


class Places:
    """Limits the requests over all hosts: so many to quick hosts, and as many to slow ones, who wait for each other only.

    A request that turns out to be slow moves to the others as soon as there is a place. Hosts that never answered may take
    half of the places of the quick; the rest of them are taken for slow.
    """

    def __init__(self, count: int) -> None:
        self._quick, self._slow = asyncio.Semaphore(count), asyncio.Semaphore(count)
        self._new, self._most_new = 0, max(1, count // 2)

    @asynccontextmanager
    async def hold(self, latency: float) -> AsyncIterator[None]:
        """Hold a place, wait for it if need be, to ask a host that takes so many seconds; 0 if that is not known."""
        is_new = latency == 0
        if latency > SLOW or (is_new and self._new >= self._most_new):
            async with self._slow:
                yield
            return
        place = _Place(self._quick)
        self._new += is_new
        try:
            await self._quick.acquire()
            timer = asyncio.get_running_loop().call_later(SLOW, self._begin_move, place)
            try:
                yield
            finally:
                timer.cancel()
                if place.move is not None:
                    place.move.cancel()
                place.lane.release()
        finally:
            self._new -= is_new

    def _begin_move(self, place: "_Place") -> None:
        place.move = asyncio.get_running_loop().create_task(self._move(place))

    async def _move(self, place: "_Place") -> None:
        await self._slow.acquire()
        place.lane.release()
        place.lane = self._slow


@dataclass(slots=True)
class _Place:
    lane: asyncio.Semaphore
    move: asyncio.Task[None] | None = None


class Polite:
    """Asks the inner web when the timetable allows it; refuses if a budget is spent or a block is long."""

    def __init__(
        self,
        inner: Web,
        timetable: Timetable,
        clock: Clock,
        settings: PoliteSettings | None = None,
        waits: WaitKeeper | None = None,
    ) -> None:
        """Without `waits`, nothing is kept for a resumed run."""
        self.inner, self.timetable, self.clock, self.waits = inner, timetable, clock, waits
        self.tell: Callable[[Refusal], None] = lambda wait: None
        """Called with every wait that a host asks for."""
        self.settings = settings or PoliteSettings()
        self._places = Places(self.settings.concurrent_requests)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._waiting = self._asking = 0

    def __repr__(self) -> str:
        return f"<Polite {self._asking} asking, {self._waiting} waiting for their turn>"

    async def fetch(self, request: Request) -> Response:
        now = self.clock.now()
        booking = self.timetable.reserve(host(request.url), now)
        if isinstance(booking, Refusal):
            why = f"{booking.why}; opens again in {booking.until - now:.0f} s"
            return failed(request, Trouble.BUDGET, why, asked=now)
        visit = _Visit(booking)
        self._waiting += 1
        try:
            await self.keep(booking.host)
            async with self._turn(booking.host):
                return await self._in_turn(request, visit)
        finally:
            self._waiting -= not visit.started
            self.timetable.give_back(booking, started=visit.started)
            self._note(booking.host)

    def _note(self, name: str) -> bool:
        """Notes what is new about a host; returns whether there was anything."""
        news = None if self.waits is None else self.timetable.news(name)
        if self.waits is not None and news is not None:
            self.waits.note_host(name, news)
        return news is not None

    async def keep(self, name: str) -> None:
        """Return when what is new about a host is kept."""
        if self._note(name) and self.waits is not None:
            await self.waits.commit()

    def _turn(self, name: str) -> asyncio.Semaphore:
        """The queue of a host; it exists as long as somebody waits in it."""
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = asyncio.Semaphore(self.timetable.settings.concurrent_requests_per_host)
        return turn

    async def _in_turn(self, request: Request, visit: "_Visit") -> Response:
        while True:
            wait = self.timetable.wait(visit.booking, self.clock.now())
            if wait > 0:
                await self.clock.sleep(wait)
                continue  # a Crawl-delay or a block may have been added meanwhile
            async with self._places.hold(self.timetable.latency(visit.booking.host)):
                visit.started = self.timetable.start(visit.booking, self.clock.now())
                if visit.started:
                    return await self._ask(request, visit.booking)

    async def _ask(self, request: Request, booking: Booking) -> Response:
        self._waiting -= 1
        self._asking += 1
        facts = None
        try:
            response = await self.inner.fetch(request)
            facts = _facts(response, self.clock.now())
        finally:
            self._asking -= 1
            wait = self.timetable.note(booking.host, facts, self.clock.now())
        if wait is None:
            self._note(booking.host)
        else:
            self.tell(wait)
            await self.keep(booking.host)
        return response


@dataclass(slots=True)
class _Visit:
    booking: Booking
    started: bool = False


def _facts(response: Response, now: float) -> HostFacts:
    is_fine = response.outcome in (Outcome.FETCHED, Outcome.UNCHANGED)
    asked_to_wait = None if is_fine else retry_after(response, now)
    return HostFacts(response.seconds, response.status, response.wire_bytes, asked_to_wait, response.begun)
