"""The dashboard as a small web server: its routes, and how it is served beside a crawl.

    GET /  /fleet  /sites  /recrawl  /page?url=…   the pages
    GET /api                                       what the JSON API offers: this text
    GET /api/now                                   figures, stories, timeline (counts over time), coverage (over time),
                                                   delays (time, delay, site), hosts (budgets), requests (the latest)
    GET /api/stories?after=N&limit=M               the latest stories with a number above N, newest first; M up to 1000
    GET /api/fleet                                 foragers alive and deleted: parent, score, scores over time, what they
                                                   sent, brought and earned; multiply_at, delete_below
    GET /api/forager?id=N                          one forager, with its weblog and path while it is alive
    GET /api/sites                                 sites (delay, channels, costs, errors, refusals), hosts (robots rule,
                                                   delay in force, budget used), errors (the latest), skipped (URLs left
                                                   out, by reason and host, with an example)
    GET /api/recrawl                               policy, formula, fitness; learned functions; cycles with ChangeRate and
                                                   NDCG; next: the schedule, for each page its rank, worth or score, and why
    GET /api/page?url=…                            all that is known of a page: how it was found, visits, versions with what
                                                   changed, dates with sources, stories, copies, prospects
    GET /api/stream                                server-sent events `tick`: the figures, and new stories in `new`
    GET /stories.atom                              the latest stories as an Atom feed
    GET /metrics                                   for Prometheus
    GET /healthz                                   200 while it runs

A story: number, at (when it was found), url, site, title, published, published_source, delay, via (the channel that
brought its URL first), by (who found it). Times are UTC seconds since the epoch on the crawl's clock, durations seconds;
null means not known. What is unknown is answered with status 404 and {"error": …}. Where a token is set, send
`Authorization: Bearer TOKEN`.

Server-sent events tell once a second the figures and the new stories to everyone who listens. A listener that was away
asks its page anew when it comes back, so nothing has to be remembered for it; a listener that reads too slowly is let
go, and comes back by itself.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from forager.dashboard import access as doors
from forager.dashboard import metrics
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.dashboard_settings import DashboardSettings
from forager.dashboard.views import LATEST, Views
from forager.dashboard.watched import Watched
from forager.errors import SettingsError
from forager.output.atom import feed
from forager.output.fields import row
from forager.pages.urls import canonical
from forager.terms import ForagerId

EVERY = 1.0
LISTENERS = 32
PATIENCE = 10.0
"""Seconds between messages, most listeners at once, seconds that a message may take to be sent (ours)."""


class EventStream:
    """All listeners of a dashboard."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.listeners = 0
        self._closing = asyncio.Event()
        self.pace = StreamPace(views)

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


class StreamPace:
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


STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES = ("/", "/fleet", "/sites", "/recrawl", "/page")
FEED = 50
"""Stories in the Atom feed (ours)."""


@asynccontextmanager
async def serve_dashboard(watched: Watched, chronicle: Chronicle, settings: DashboardSettings) -> AsyncIterator[str]:
    """Serve until left; yields the address to print. `chronicle` must be among the readers of the journal."""
    doors.check_access(settings)
    chronicle.follow(watched.agent)
    if not chronicle.stories:
        await chronicle.remember(watched.store)
    names: set[str] = set()
    dashboard = Dashboard(Views(watched, chronicle))
    runner = web.AppRunner(dashboard.app(settings, names), access_log=None, shutdown_timeout=1.0)
    with _door(settings) as door:
        port = door.getsockname()[1]
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        names |= {f"{name}:{port}" for name in (shown, "localhost", "127.0.0.1", "[::1]")}
        await runner.setup()
        try:
            await web.SockSite(runner, door).start()
            yield f"http://{shown}:{port}/"
        finally:
            dashboard.stream.close()
            await runner.cleanup()


def _door(settings: DashboardSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    door = socket.socket(family)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((settings.host, settings.port))
    except OSError as error:
        door.close()
        raise SettingsError(
            f"dashboard: cannot listen on {settings.host} port {settings.port} ({error.strerror}); choose another "
            "dashboard.port, or 0 for a free one"
        ) from None
    return door


class Dashboard:
    """Answers requests."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.stream = EventStream(views)

    def app(self, settings: DashboardSettings, names: set[str]) -> web.Application:
        app = web.Application(middlewares=[doors.doorkeeper(settings, names)])
        app.on_response_prepare.append(doors.add_headers)
        shell = _file(STATIC / "index.html")
        app.add_routes([web.get(page, shell) for page in PAGES])
        app.add_routes([web.get(f"/static/{file.name}", _file(file)) for file in sorted(STATIC.iterdir())])
        app.add_routes(
            [
                web.get("/api", self.offers),
                web.get("/api/now", self.now),
                web.get("/api/stories", self.stories),
                web.get("/api/fleet", self.fleet),
                web.get("/api/forager", self.forager),
                web.get("/api/sites", self.sites),
                web.get("/api/recrawl", self.recrawl),
                web.get("/api/page", self.page),
                web.get("/api/stream", self.stream.listen, allow_head=False),
                web.get("/stories.atom", self.atom),
                web.get("/metrics", self.metrics),
                web.get("/healthz", self.health),
            ]
        )
        return app

    async def offers(self, request: web.Request) -> web.Response:
        return web.Response(text=__doc__ or "")

    async def now(self, request: web.Request) -> web.Response:
        return _json(self.views.now() | {"figures": self.stream.pace.figures()})

    async def stories(self, request: web.Request) -> web.Response:
        limit = _number(request, "limit", LATEST)
        return _json({"stories": self.views.stories(_number(request, "after", 0), min(limit, 1000))})

    async def fleet(self, request: web.Request) -> web.Response:
        return _json(self.views.fleet())

    async def forager(self, request: web.Request) -> web.Response:
        facts = self.views.forager(ForagerId(_number(request, "id", -1)))
        return _json(facts) if facts is not None else _json({"error": "there never was such a forager"}, 404)

    async def sites(self, request: web.Request) -> web.Response:
        return _json(self.views.sites())

    async def recrawl(self, request: web.Request) -> web.Response:
        return _json(self.views.recrawl())

    async def page(self, request: web.Request) -> web.Response:
        url = canonical(request.query.get("url", ""))
        dossier = None if url is None else await self.views.page(url)
        return _json(dossier) if dossier is not None else _json({"error": "the crawl does not know this URL"}, 404)

    async def atom(self, request: web.Request) -> web.Response:
        store = self.views.watched.store
        first = max(0, store.counts().stories - FEED)
        stories = [story async for story in store.stories(first)]
        rows = [await row(first + place, story, store) for place, story in enumerate(stories)]
        body = feed(rows[::-1], Path("stories.atom"))
        return web.Response(body=body, content_type="application/atom+xml", charset="utf-8")

    async def metrics(self, request: web.Request) -> web.Response:
        text = metrics.exposition(self.views.watched, self.views.chronicle)
        return web.Response(body=text.encode(), headers={"Content-Type": metrics.CONTENT_TYPE})

    async def health(self, request: web.Request) -> web.Response:
        return _json({"ok": True})


def _file(path: Path) -> Handler:
    """A handler that serves a file of ours, read once."""
    body, kind = path.read_bytes(), TYPES[path.suffix]

    async def serve(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return serve


def _json(content: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), status=status, content_type="application/json")


def _number(request: web.Request, name: str, default: int) -> int:
    try:
        return max(-1, min(int(request.query.get(name, default)), 2**53))
    except ValueError:
        return default
