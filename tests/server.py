"""A small well-behaved site on loopback that logs every request, for whoever needs something real to fetch."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from forager.terms import Url

LOOPBACK = ("127.0.0.0/8", "::1")
"""What the address guard must allow for these servers."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as the server saw it."""

    at: float
    """Of the event loop."""
    path: str
    headers: dict[str, str]
    port: int


@dataclass(slots=True)
class Served:
    """What a path answers with."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    """Seconds before the answer."""


@dataclass(slots=True)
class Site:
    """Pages by path (with query), and the log; change `pages` at any time. Unknown paths answer 404."""

    pages: dict[str, Served | Callable[[Seen], Served]] = field(default_factory=dict)
    log: list[Seen] = field(default_factory=list)
    ports: tuple[int, ...] = ()

    def url(self, path: str, host: int = 0) -> Url:
        return Url(f"http://127.0.0.1:{self.ports[host]}{path}")

    def asked(self, path: str) -> list[Seen]:
        return [seen for seen in self.log if seen.path == path]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        now = asyncio.get_running_loop().time()
        port = request.transport.get_extra_info("sockname")[1] if request.transport else 0
        headers = {name.lower(): value for name, value in request.headers.items()}
        seen = Seen(now, request.path_qs, headers, port)
        self.log.append(seen)
        page = self.pages.get(seen.path, Served(b"not here", 404))
        served = page if isinstance(page, Served) else page(seen)
        await asyncio.sleep(served.pause)
        etag = served.headers.get("ETag")
        if etag and headers.get("if-none-match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(body=served.body, status=served.status, headers=served.headers)


@asynccontextmanager
async def serving(
    pages: dict[str, Served | Callable[[Seen], Served]] | None = None, hosts: int = 1
) -> AsyncIterator[Site]:
    """A site on `hosts` ephemeral ports of 127.0.0.1; each port counts as a host of its own."""
    site = Site(dict(pages or {}))
    runner = web.ServerRunner(web.Server(site.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        for _ in range(hosts):
            await web.TCPSite(runner, "127.0.0.1", 0).start()
        site.ports = tuple(address[1] for address in runner.addresses)
        yield site
    finally:
        await runner.cleanup()
