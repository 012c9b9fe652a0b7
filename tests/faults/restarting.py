"""A Newsroom whose servers can be stopped and started again on the same ports."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from aiohttp import web

from forager.clock import WallClock
from forager.newsroom.newsroom import Newsroom, _handler
from forager.newsroom.newsroom_settings import NewsroomSettings


class Restarting:
    """Runs in a thread of its own; `up` may be cleared and set at any time."""

    def __init__(self, settings: NewsroomSettings) -> None:
        ports = {paper.name: _free_port() for paper in settings.papers}
        bases = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        clock = WallClock()
        self.newsroom = Newsroom(replace(settings, start=clock.now(), days=1.0, latency=0.0), clock, bases)
        self.up, self.is_up, self.done = threading.Event(), threading.Event(), threading.Event()
        self.up.set()
        self._ports = ports

    async def serve(self) -> None:
        while not self.done.is_set():
            runners = [await self._started(name, port) for name, port in self._ports.items()]
            self.is_up.set()
            while self.up.is_set() and not self.done.is_set():
                await asyncio.sleep(0.02)
            for runner in runners:
                await runner.cleanup()
            self.is_up.clear()
            while not self.up.is_set() and not self.done.is_set():
                await asyncio.sleep(0.02)

    async def _started(self, name: str, port: int) -> web.ServerRunner:
        handler = _handler(self.newsroom, self.newsroom.bases[name])
        runner = web.ServerRunner(web.Server(handler, access_log=None), shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        return runner


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@contextmanager
def restarting_newsroom(settings: NewsroomSettings) -> Iterator[Restarting]:
    restarting = Restarting(settings)
    thread = threading.Thread(target=lambda: asyncio.run(restarting.serve()), daemon=True)
    thread.start()
    assert restarting.is_up.wait(30)
    try:
        yield restarting
    finally:
        restarting.done.set()
        thread.join(10)
