"""Waits until the timetable allows a visit, so that no host is asked more often than its rules allow.

A caller waits for its turn at the host without holding one of the `concurrent_requests`, so slow hosts never block
others.

Waits survive a kill: news of a host (see `Timetable.news`) is committed before the request that spends a budget is
made, and before the answer that asked for a wait is returned.
"""

import asyncio
from collections.abc import Callable
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
        self._everywhere = asyncio.Semaphore(self.settings.concurrent_requests)
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
            async with self._everywhere:
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
