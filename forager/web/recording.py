"""Tape every exchange with the web as it happened: robots.txt, redirects, errors and timeouts too.

The recording sits innermost, `Polite(Recording(Live))`, so the tape holds what really went over the wire, each exchange
with when it was asked and how long it took on the clock of the crawl. How an exchange is kept is the recorder's business
(see `warc.recorder`).
"""

from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock
from forager.terms import Request, Response
from forager.web.web import Web


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, its answer, and how long the asker waited."""

    request: Request
    response: Response
    took: float
    """Seconds of the crawl's clock; `response.seconds` may be of another one if the crawl's clock runs fast."""


class Recorder(Protocol):
    async def take(self, exchange: Exchange) -> None:
        """Keep an exchange. It is taken at once and for certain, even if the caller is cancelled while it waits here."""


class Recording:
    """A web that hands every exchange to a recorder, then on."""

    def __init__(self, inner: Web, recorder: Recorder, clock: Clock) -> None:
        self.inner, self.recorder, self.clock = inner, recorder, clock
        self._taken = 0

    def __repr__(self) -> str:
        return f"<Recording {self._taken} taken>"

    async def fetch(self, request: Request) -> Response:
        started = self.clock.now()
        response = await self.inner.fetch(request)
        self._taken += 1
        await self.recorder.take(Exchange(request, response, self.clock.now() - started))
        return response
