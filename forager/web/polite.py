"""Waits for the turn of a host, repeats what may succeed the second time, and follows redirects: a web for each.

`Polite` waits until the timetable allows a visit, so that no host is asked more often than its rules allow.

A caller waits for its turn at the host without holding one of the `concurrent_requests`, and slow hosts have places of
their own: were there one set of places, a few dozen hosts that take half a minute for each answer would hold them all,
and everybody would wait for them.

Waits survive a kill: news of a host (see `Timetable.news`) is committed before the request that spends a budget is
made, and before the answer that asked for a wait is returned.

`Retrying` repeats after no connection, a DNS error that may pass, no answer in time, 408, 425, 429 and 5xx (except 501
and 505), and, once only, an answer that broke the protocol. The wait doubles and is jittered, so that many callers do
not come back at the same time. A short Retry-After is obeyed; a long one ends the attempts, and the timetable blocks
the host.

`Following` follows redirects hop by hop; every hop passes the whole inner web: robots, politeness, address guard.

- A Location is resolved against the page that sent it and made canonical, so its fragment is dropped. One that is no
  http(s) URL is a protocol failure. The step down from https to http is followed; `hops` shows it.
- A repeated URL is a loop, and more than `redirects` hops are too many: both are FAILED with REDIRECTS.
- Validators belong to the page that gave them. If a URL redirected last time, they belong to the target, and are sent
  when (and only when) we reach that page again; otherwise they go with the first hop. So a redirect that now leads to
  another page can never be answered by "unchanged" for the old one. The targets of the last `remembered` redirects
  are remembered.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol
from weakref import WeakValueDictionary

import numpy as np

from forager.clock import Clock
from forager.pages.urls import canonical, host
from forager.terms import Hop, Outcome, Request, Response, Trouble, Url, Validators
from forager.web.timetable import Booking, HostFacts, Refusal, Timetable
from forager.web.web import HOPELESS, NO_SUCH_HOST, Web, failed, one_line, retry_after
from forager.web.web_settings import FollowingSettings, PoliteSettings, RetryingSettings


class WaitKeeper(Protocol):
    """Keeps what a resumed run must know of hosts."""

    def note_host(self, host: str, state: bytes) -> None:
        """Keeps the state of a host; committed together with, or before, whatever is kept next."""

    async def commit(self) -> None:
        """Returns when everything noted is committed."""


SLOW = 2.0
"""Seconds: who usually takes longer for an answer is slow (ours)."""


class _Lane:
    """A number of places; requests are served in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._asked: deque[asyncio.Future[None]] = deque()

    def ask(self) -> asyncio.Future[None]:
        """Asks for a place; the future is done when the place is free. `leave` ends waiting as well as holding."""
        place = asyncio.get_running_loop().create_future()
        if self._free:
            self._free -= 1
            place.set_result(None)
        else:
            self._asked.append(place)
        return place

    def leave(self, place: asyncio.Future[None]) -> None:
        if place.cancelled() or place.cancel():
            return
        while self._asked:
            following = self._asked.popleft()
            if not following.done():  # else it was cancelled
                following.set_result(None)
                return
        self._free += 1


class _Place:
    """A place in one lane, which moves to another as soon as that has one free."""

    def __init__(self, lane: _Lane) -> None:
        self._lane, self.had = lane, lane.ask()
        self._wanted: tuple[_Lane, asyncio.Future[None]] | None = None

    def move(self, lane: _Lane) -> None:
        place = lane.ask()
        self._wanted = lane, place
        place.add_done_callback(self._arrive)

    def _arrive(self, place: asyncio.Future[None]) -> None:
        if self._wanted is not None:
            self._lane.leave(self.had)
            (self._lane, self.had), self._wanted = self._wanted, None

    def leave(self) -> None:
        if self._wanted is not None:
            (lane, place), self._wanted = self._wanted, None
            lane.leave(place)
        self._lane.leave(self.had)


class Places:
    """Limits the requests over all hosts: a number of places for quick hosts and as many for slow ones, which wait only
    for each other.

    A request that turns out to be slow moves to the slow places as soon as one is free. Hosts that never answered may
    take half of the quick places; beyond that they are taken for slow.
    """

    def __init__(self, count: int) -> None:
        self._quick, self._slow = _Lane(count), _Lane(count)
        self._new, self._most_new = 0, max(1, count // 2)

    @asynccontextmanager
    async def hold(self, latency: float) -> AsyncIterator[None]:
        """Holds a place for a request to a host with this latency (0: unknown); waits for a place if needed."""
        slow = latency > SLOW or (latency == 0 and self._new >= self._most_new)
        is_new = latency == 0 and not slow
        self._new += is_new
        place, timer = _Place(self._slow if slow else self._quick), None
        try:
            await place.had
            if not slow:
                timer = asyncio.get_running_loop().call_later(SLOW, place.move, self._slow)
            yield
        finally:
            if timer is not None:
                timer.cancel()
            place.leave()
            self._new -= is_new


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
        """Returns when what is new about a host is kept."""
        if self._note(name) and self.waits is not None:
            await self.waits.commit()

    def _turn(self, name: str) -> asyncio.Semaphore:
        """Returns the queue of a host; it exists as long as somebody waits in it."""
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
        response = None
        try:
            response = await self.inner.fetch(request)
        finally:
            self._asking -= 1
            now = self.clock.now()
            wait = self.timetable.note(booking.host, None if response is None else _facts(response, now), now)
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


Retry = Callable[[int, Response, float], None]
"""Called before a retry with the number of the failed attempt, from 1, its response, and the seconds to wait."""


class Retrying:
    """Returns the last attempt that made a request."""

    def __init__(
        self,
        inner: Web,
        clock: Clock,
        rng: np.random.Generator,
        settings: RetryingSettings | None = None,
        tell: Retry = lambda attempt, response, wait: None,
    ) -> None:
        self.inner, self.clock, self.rng, self.tell = inner, clock, rng, tell
        self.settings = settings or RetryingSettings()
        self._retried = 0

    def __repr__(self) -> str:
        return f"<Retrying {self._retried} retried>"

    async def fetch(self, request: Request) -> Response:
        response = await self.inner.fetch(request)
        for attempt in range(self.settings.retries):
            wait = self._wait(response, attempt)
            if wait is None:
                break
            self.tell(attempt + 1, response, wait)
            await self.clock.sleep(wait)
            self._retried += 1
            again = await self.inner.fetch(request)
            if again.trouble is Trouble.BUDGET:
                break  # no request was made: the earlier answer still holds
            response = again
        return response

    def _wait(self, response: Response, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None if it is not worth one."""
        if not _may_succeed_later(response) or (response.trouble is Trouble.PROTOCOL and attempt > 0):
            return None
        asked_to_wait = retry_after(response, self.clock.now()) or 0.0
        if asked_to_wait > self.settings.retry_after_limit:
            return None
        backoff = self.settings.backoff * 2.0**attempt * float(self.rng.uniform(0.5, 1.5))
        return max(backoff, asked_to_wait)


def _may_succeed_later(response: Response) -> bool:
    if response.outcome is not Outcome.FAILED:
        return False
    match response.trouble:
        case Trouble.STATUS:
            return response.status not in HOPELESS and response.status < 600
        case Trouble.DNS:
            return not response.error.startswith(NO_SUCH_HOST)
        case trouble:
            return trouble in (Trouble.CONNECT, Trouble.TIMEOUT, Trouble.PROTOCOL)


class Following:
    """Returns the page at the end of the redirects, with the hops."""

    def __init__(self, inner: Web, settings: FollowingSettings | None = None) -> None:
        self.inner = inner
        self.settings = settings or FollowingSettings()
        self._led_to: OrderedDict[Url, Url] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Following remembers where {len(self._led_to)} URLs led>"

    async def fetch(self, request: Request) -> Response:
        owner = self._led_to.get(request.url, request.url)
        hops: tuple[Hop, ...] = ()
        url = request.url
        while True:
            if url != request.url or owner != url:
                validators = request.validators if url == owner else Validators()
                response = await self.inner.fetch(replace(request, url=url, validators=validators))
            else:
                response = await self.inner.fetch(request)
            if response.outcome is not Outcome.MOVED:
                self._remember(request.url, response)
                return replace(response, hops=hops) if hops else response
            hops = (*hops, Hop(url, response.status, response.asked))
            location = response.header("location")
            target = canonical(location, url)
            if target is None:
                error = f"redirected to no URL we can ask for: {one_line(location, 120)!r}"
                return _stopped(response, hops, Trouble.PROTOCOL, error)
            if any(hop.url == target for hop in hops):
                return _stopped(response, hops, Trouble.REDIRECTS, f"redirected in a loop back to {target}")
            if len(hops) > self.settings.redirects:
                return _stopped(response, hops, Trouble.REDIRECTS, f"more than {self.settings.redirects} redirects")
            url = target

    def _remember(self, first: Url, response: Response) -> None:
        if response.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return
        self._led_to.pop(first, None)
        if response.url != first:
            self._led_to[first] = response.url
            if len(self._led_to) > self.settings.remembered:
                self._led_to.popitem(last=False)


def _stopped(response: Response, hops: tuple[Hop, ...], trouble: Trouble, error: str) -> Response:
    return replace(response, outcome=Outcome.FAILED, trouble=trouble, error=one_line(error), hops=hops[:-1], body=b"")
