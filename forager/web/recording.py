"""Records every exchange with the web, including robots.txt, redirects, errors and timeouts.

The recording is innermost, `Polite(Recording(Live))`, so it holds what really went over the wire, each exchange with
its start and duration on the clock of the crawl. The recorder decides how to store it (see `warc.recorder`).
"""

from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock
from forager.terms import Request, Response
from forager.web.web import Web


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, its response, and how long the caller waited."""

    request: Request
    response: Response
    took: float
    """Seconds on the crawl's clock; `response.seconds` may differ if that clock is accelerated."""


class Recorder(Protocol):
    async def take(self, exchange: Exchange) -> None:
        """Keeps an exchange. It is accepted at once, even if the caller is cancelled while waiting here."""


class Recording:
    """A web that passes every exchange to a recorder."""

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
