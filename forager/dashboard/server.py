"""The dashboard as a small web server: its routes, and how it runs beside a crawl.

    GET /  /fleet  /sites  /recrawl  /page?url=…   the pages
    GET /api                                       what the JSON API offers: this text
    GET /api/now                                   figures, stories, timeline (counts over time), coverage (over time),
                                                   delays (time, delay, site), hosts (budgets), requests (the latest)
    GET /api/stories?after=N&limit=M               the latest stories with a number above N, newest first; M up to 1000
    GET /api/fleet                                 foragers alive and deleted: parent, score, scores over time, what they
                                                   sent, brought and earned; multiply_at, delete_below,
                                                   and beyond_chance: whether it takes more after many downloads
    GET /api/forager?id=N                          one forager, with its weblog and path while it is alive
    GET /api/sites                                 sites (delay, channels, costs, errors, refusals), hosts (robots rule,
                                                   delay in force, budget used), errors (the latest), skipped (URLs left
                                                   out, by reason and host, with an example)
    GET /api/recrawl                               policy, formula, fitness; learned functions; cycles with ChangeRate and
                                                   NDCG; next: the schedule, for each page its rank, worth or score, and why
    GET /api/page?url=…                            all that is known of a page: how it was found, visits, versions with what
                                                   changed, dates with sources, stories, copies, prospects
    POST /api/mark {"url", "on_topic"}             teaches the focus what a page is; as JSON, and from the dashboard's own
                                                   pages only, or with its token
    GET /api/stream                                server-sent events `tick`: the figures, and new stories in `new`
    GET /stories.atom                              the latest stories as an Atom feed
    GET /metrics                                   for Prometheus
    GET /healthz                                   200 while it runs

A story: number, at (when it was found), url, site, title, published, published_source, delay, via (the channel that
first found its URL), by (who found it), authors, lead, section, tags, language, image, paywalled, word_count. Times are
UTC seconds since the epoch on the crawl's clock, durations are in seconds; null means unknown. Unknown pages and
foragers give status 404 and {"error": …}. If a token is set, send `Authorization: Bearer TOKEN`.

Server-sent events send the figures and new stories to every listener once a second. A listener that reconnects reloads
its page, so the server keeps no state for it; the server disconnects a listener that reads too slowly, and the browser
reconnects.

The Host header must name the dashboard, so that no web page can reach a dashboard on loopback through a host name that
resolves to 127.0.0.1 (DNS rebinding). On any other address than loopback, a token is required instead.
"""

import asyncio
import contextlib
import hmac
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from forager.dashboard.chronicle import Chronicle
from forager.dashboard.views import LATEST, METRICS_TYPE, Views, metrics
from forager.dashboard.watched import Watched
from forager.engine.crawl_settings import DashboardSettings
from forager.errors import SettingsError
from forager.output.fields import row
from forager.output.writers import feed
from forager.pages.urls import canonical
from forager.terms import ForagerId

COOKIE = "forager_token"
SHORTEST = 16

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""No inline code, nothing from other origins, no HTML from strings, no caching."""


def check_access(settings: DashboardSettings) -> None:
    """Raises a SettingsError if everybody could open the dashboard."""
    if settings.token and len(settings.token) < SHORTEST:
        raise SettingsError(f"dashboard.token: at least {SHORTEST} characters, please; try `openssl rand -hex 16`")
    if not settings.token and not is_loopback(settings.host):
        raise SettingsError(
            f"dashboard.host: {settings.host} is not loopback, so others could look in; set dashboard.token as well"
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def doorkeeper(settings: DashboardSettings, names: set[str]) -> Middleware:
    """Middleware that checks access; `names` are the accepted Host headers, filled in once the port is known."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return _refusal(request, settings, names) or await handler(request)
        except web.HTTPException as answer:
            return web.Response(status=answer.status, text=f"{answer.status} {answer.reason}\n")

    return keep


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)


def _refusal(request: web.Request, settings: DashboardSettings, names: set[str]) -> web.Response | None:
    if not settings.token:
        if request.headers.get("Host", "").lower() in names:
            return None
        return web.Response(status=421, text="421 This name does not mean the dashboard; use the printed address.\n")
    if request.path == "/healthz" or _shows(request, settings.token):
        return None
    if _same(request.query.get("token", ""), settings.token):
        place = request.path if request.path in PAGES else "/"  # any other might lead to another site
        entering = web.Response(status=303, headers={"Location": place})
        entering.set_cookie(COOKIE, settings.token, httponly=True, samesite="Strict", path="/")
        return entering
    return web.Response(status=401, text="401 Open the dashboard with ?token=… (see dashboard.token).\n")


def _is_ours(request: web.Request) -> bool:
    """Whether no page of another origin has sent it: browsers name the origin, and ask first before they send JSON."""
    origin = request.headers.get("Origin")
    same = origin is None or origin.partition("://")[2].lower() == request.headers.get("Host", "").lower()
    return same and request.content_type == "application/json"


def _shows(request: web.Request, token: str) -> bool:
    """Whether the request has the token in a cookie or as `Authorization: Bearer …`."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return _same(request.cookies.get(COOKIE, ""), token) or (scheme.lower() == "bearer" and _same(given.strip(), token))


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


EVERY = 1.0
LISTENERS = 32
PATIENCE = 10.0
"""Seconds between messages, maximum number of listeners, and seconds to send a message (ours)."""


class EventStream:
    """All listeners of a dashboard."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.listeners = 0
        self._closing = asyncio.Event()
        self._asked = -1.0
        self._marks: list[tuple[float, float, int]] = []
        self._figures: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<Stream {self.listeners} listeners>"

    def close(self) -> None:
        self._closing.set()

    async def listen(self, request: web.Request) -> web.StreamResponse:
        """Sends events until the listener disconnects or the crawl ends."""
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

    def figures(self) -> dict[str, Any]:
        """The figures, with requests per second of real time and the speed of the crawl's clock.

        They are shared by all listeners, and at most half a message interval old.
        """
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

    async def _tell(self, response: web.StreamResponse) -> None:
        account = self.views.chronicle.account
        last = account.stories
        await response.write(b"retry: 1000\n\n")
        while not self._closing.is_set():
            stories = self.views.stories(after=last) if account.stories > last else []
            last = account.stories
            async with asyncio.timeout(PATIENCE):
                await response.write(message(self.figures() | {"new": stories}))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._closing.wait()


def message(content: dict[str, Any]) -> bytes:
    """One server-sent event; JSON contains no line breaks."""
    return b"event: tick\ndata: " + msgspec.json.encode(content) + b"\n\n"


STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES = ("/", "/fleet", "/sites", "/recrawl", "/page")
FEED = 50
"""Stories in the Atom feed (ours)."""


@asynccontextmanager
async def serve_dashboard(watched: Watched, chronicle: Chronicle, settings: DashboardSettings) -> AsyncIterator[str]:
    """Serves until the context ends; yields the address to print. `chronicle` must be a reader of the journal."""
    check_access(settings)
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
        app = web.Application(middlewares=[doorkeeper(settings, names)])
        app.on_response_prepare.append(add_headers)
        shell = _file(STATIC / "index.html")
        app.add_routes([web.get(page, shell) for page in PAGES])
        app.add_routes([web.get(f"/static/{file.name}", _file(file)) for file in sorted(STATIC.iterdir())])
        app.add_routes(
            [
                web.get("/api", self.offers),
                web.get("/api/now", _told(self.now)),
                web.get("/api/stories", self.stories),
                web.get("/api/fleet", _told(self.views.fleet)),
                web.get("/api/forager", self.forager),
                web.get("/api/sites", _told(self.views.sites)),
                web.get("/api/recrawl", _told(self.views.recrawl)),
                web.get("/api/page", self.page),
                web.post("/api/mark", self.mark),
                web.get("/api/stream", self.stream.listen, allow_head=False),
                web.get("/stories.atom", self.atom),
                web.get("/metrics", self.metrics),
                web.get("/healthz", _told(lambda: {"ok": True})),
            ]
        )
        return app

    async def offers(self, request: web.Request) -> web.Response:
        return web.Response(text=__doc__ or "")

    def now(self) -> dict[str, Any]:
        return self.views.now() | {"figures": self.stream.figures()}

    async def stories(self, request: web.Request) -> web.Response:
        limit = _number(request, "limit", LATEST)
        return _json({"stories": self.views.stories(_number(request, "after", 0), min(limit, 1000))})

    async def forager(self, request: web.Request) -> web.Response:
        facts = self.views.forager(ForagerId(_number(request, "id", -1)))
        return _json(facts) if facts is not None else _json({"error": "there never was such a forager"}, 404)

    async def page(self, request: web.Request) -> web.Response:
        url = canonical(request.query.get("url", ""))
        dossier = None if url is None else await self.views.page(url)
        return _json(dossier) if dossier is not None else _json({"error": "the crawl does not know this URL"}, 404)

    async def mark(self, request: web.Request) -> web.Response:
        from forager.engine.topic import Mark  # slow to load, and few crawls have a focus

        if not _is_ours(request):
            return _json({"error": "only the dashboard's own pages may change something, and as JSON"}, 403)
        topic = self.views.watched.topic
        try:
            mark = msgspec.json.decode(await request.read(), type=Mark)
        except msgspec.MsgspecError as trouble:
            return _json({"error": str(trouble)}, 400)
        url = canonical(mark.url)
        if topic is None or url is None or self.views.watched.store.find(url) is None:
            return _json({"error": "this crawl has no focus, or does not know this URL"}, 404)
        topic.mark(url, mark.on_topic)
        return _json({"ok": True})

    async def atom(self, request: web.Request) -> web.Response:
        store = self.views.watched.store
        first = max(0, store.counts().stories - FEED)
        stories = [story async for story in store.stories(first)]
        rows = [await row(first + place, story, store) for place, story in enumerate(stories)]
        body = feed(rows[::-1], Path("stories.atom"))
        return web.Response(body=body, content_type="application/atom+xml", charset="utf-8")

    async def metrics(self, request: web.Request) -> web.Response:
        text = metrics(self.views.watched, self.views.chronicle)
        return web.Response(body=text.encode(), headers={"Content-Type": METRICS_TYPE})


def _file(path: Path) -> Handler:
    """A handler that serves a static file, read once."""
    body, kind = path.read_bytes(), TYPES[path.suffix]

    async def serve(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return serve


def _told(facts: Callable[[], object]) -> Handler:
    """A handler that answers with these facts, as of the request."""

    async def answer(request: web.Request) -> web.Response:
        return _json(facts())

    return answer


def _json(content: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), status=status, content_type="application/json")


def _number(request: web.Request, name: str, default: int) -> int:
    try:
        return max(-1, min(int(request.query.get(name, default)), 2**53))
    except ValueError:
        return default
