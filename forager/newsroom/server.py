"""The newsroom over real HTTP on loopback: one port for each paper, any clock."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web
from isal import igzip

from forager.clock import Clock
from forager.newsroom.newsroom import Newsroom
from forager.terms import Validators


@asynccontextmanager
async def serve(newsroom: Newsroom, clock: Clock) -> AsyncIterator[Newsroom]:
    """Serve the same news on free ports of 127.0.0.1 until left.

    Yields the newsroom as served: its `bases` and `homes` are real URLs, its `truth` speaks of them, and its `requests`
    log what came in. Pages carry their real host and port, so the ports are taken before anything is rendered.
    """
    async with AsyncExitStack() as stack:
        doors = {paper.name: _door(stack) for paper in newsroom.settings.papers}
        bases = {name: f"http://127.0.0.1:{door.getsockname()[1]}" for name, door in doors.items()}
        served = newsroom.served_at(bases, clock)
        for name, door in doors.items():
            server = web.Server(_handler(served, bases[name]), access_log=None)
            runner = web.ServerRunner(server)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.SockSite(runner, door).start()
        yield served


def _door(stack: AsyncExitStack) -> socket.socket:
    door = stack.enter_context(socket.socket())
    door.bind(("127.0.0.1", 0))
    return door


def _handler(newsroom: Newsroom, base: str) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        headers = request.headers
        validators = Validators(headers.get("If-None-Match", ""), headers.get("If-Modified-Since", ""))
        reply = newsroom.reply(base, request.raw_path, newsroom.clock.now(), validators)
        await newsroom.clock.sleep(reply.wait)
        if reply.answer is None:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        sent, body = dict(reply.answer.headers), reply.answer.body
        if body and "gzip" in headers.get("Accept-Encoding", ""):
            sent["content-encoding"], body = "gzip", igzip.compress(body, 1)
        return web.Response(status=reply.answer.status, headers=sent, body=body)

    return handle
