"""Wait for the turn that the timetable gives: no host is asked more often than it likes, whoever asks.

A caller waits for its turn at the host without holding one of the `concurrent_requests`, so slow hosts never starve
others.
"""

import asyncio
from dataclasses import dataclass
from weakref import WeakValueDictionary

from forager.clock import Clock
from forager.pages.urls import host
from forager.terms import Outcome, Request, Response, Trouble
from forager.web.timetable import Booking, HostFacts, Refusal, Timetable
from forager.web.web import Web, failed, retry_after
from forager.web.web_settings import PoliteSettings


class Polite:
    """Asks the inner web when the timetable allows it; a spent budget or a long block is a refusal."""

    def __init__(self, inner: Web, timetable: Timetable, clock: Clock, settings: PoliteSettings | None = None) -> None:
        self.inner, self.timetable, self.clock = inner, timetable, clock
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
            async with self._turn(booking.host):
                return await self._in_turn(request, visit)
        finally:
            self._waiting -= not visit.started
            self.timetable.give_back(booking, started=visit.started)

    def _turn(self, name: str) -> asyncio.Semaphore:
        """The queue of a host; it lives as long as somebody stands in it."""
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = asyncio.Semaphore(self.timetable.settings.concurrent_requests_per_host)
        return turn

    async def _in_turn(self, request: Request, visit: "_Visit") -> Response:
        while True:
            wait = self.timetable.wait(visit.booking, self.clock.now())
            if wait > 0:
                await self.clock.sleep(wait)
                continue  # a Crawl-delay or a block may have come in the meantime
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
            return response
        finally:
            self._asking -= 1
            self.timetable.note(booking.host, facts, self.clock.now())


@dataclass(slots=True)
class _Visit:
    booking: Booking
    started: bool = False


def _facts(response: Response, now: float) -> HostFacts:
    asked_to_wait = retry_after(response, now) if response.outcome is Outcome.FAILED else None
    return HostFacts(response.seconds, response.status, response.wire_bytes, asked_to_wait)
