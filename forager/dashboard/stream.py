"""Server-sent events: once a second the figures and the new stories, to everyone who listens.

A listener that was away asks its page anew when it comes back, so nothing has to be remembered for it; a listener that
reads too slowly is let go, and comes back by itself.
"""

import asyncio
import contextlib
from typing import Any

import msgspec
from aiohttp import web

from forager.dashboard.views import Views

EVERY = 1.0
LISTENERS = 32
PATIENCE = 10.0
"""Seconds between messages, most listeners at once, seconds that a message may take to be sent (ours)."""


class Stream:
    """All listeners of a dashboard."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.listeners = 0
        self._closing = asyncio.Event()
        self.pace = Pace(views)

    def __repr__(self) -> str:
        return f"<Stream {self.listeners} listeners>"

    def close(self) -> None:
        """Let everyone go."""
        self._closing.set()

    async def listen(self, request: web.Request) -> web.StreamResponse:
        """Send events until the listener goes or the crawl ends."""
        if self.listeners >= LISTENERS:
            return web.Response(status=503, text="503 Too many listeners.\n", headers={"Retry-After": "10"})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        self.listeners += 1
        try:
            await self._tell(response)
        except (ConnectionError, TimeoutError):
            pass
        finally:
            self.listeners -= 1
        return response

    async def _tell(self, response: web.StreamResponse) -> None:
        account = self.views.chronicle.account
        last = account.stories
        await response.write(b"retry: 1000\n\n")
        while not self._closing.is_set():
            stories = self.views.stories(after=last) if account.stories > last else []
            last = account.stories
            async with asyncio.timeout(PATIENCE):
                await response.write(message(self.pace.figures() | {"new": stories}))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._closing.wait()


class Pace:
    """The figures, with requests per second of the watcher's time and how fast the crawl's clock runs against it."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self._asked = -1.0
        self._marks: list[tuple[float, float, int]] = []
        self._figures: dict[str, Any] = {}

    def figures(self) -> dict[str, Any]:
        """At most as old as half a message: listeners share them."""
        now = asyncio.get_running_loop().time()
        if now - self._asked > EVERY / 2:
            self._asked = now
            self._figures = self.views.figures()
            self._marks = [*self._marks[-9:], (now, self._figures["now"], self._figures["requests"])]
            (before, clock, requests), (after, clock_after, requests_after) = self._marks[0], self._marks[-1]
            spent = after - before
            self._figures["requests_per_second"] = round((requests_after - requests) / spent, 2) if spent > 0 else None
            self._figures["speed"] = round((clock_after - clock) / spent, 2) if spent > 0 else None
        return self._figures


def message(content: dict[str, Any]) -> bytes:
    """One event; JSON has no line ends of its own."""
    return b"event: tick\ndata: " + msgspec.json.encode(content) + b"\n\n"
