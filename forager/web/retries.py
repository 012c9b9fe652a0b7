"""Repeats requests that may succeed the second time, after a wait, a limited number of times.

Worth repeating: no connection, a DNS error that may pass, no answer in time, 408, 425, 429 and 5xx (except 501 and
505), and, once only, an answer that broke the protocol. The wait doubles and is jittered, so that many callers do not
come back at the same time. A short Retry-After is obeyed; a long one ends the attempts, and the timetable blocks the
host.
"""

from collections.abc import Callable

import numpy as np

from forager.clock import Clock
from forager.terms import Outcome, Request, Response, Trouble
from forager.web.web import HOPELESS, NO_SUCH_HOST, Web, retry_after
from forager.web.web_settings import RetryingSettings

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
        if not worth_retrying(response) or (response.trouble is Trouble.PROTOCOL and attempt > 0):
            return None
        asked_to_wait = retry_after(response, self.clock.now()) or 0.0
        if asked_to_wait > self.settings.retry_after_limit:
            return None
        backoff = self.settings.backoff * 2.0**attempt * float(self.rng.uniform(0.5, 1.5))
        return max(backoff, asked_to_wait)


def worth_retrying(response: Response) -> bool:
    """Whether the same request may succeed a little later."""
    if response.outcome is not Outcome.FAILED:
        return False
    match response.trouble:
        case Trouble.STATUS:
            return response.status not in HOPELESS and response.status < 600
        case Trouble.DNS:
            return not response.error.startswith(NO_SUCH_HOST)
        case trouble:
            return trouble in (Trouble.CONNECT, Trouble.TIMEOUT, Trouble.PROTOCOL)
