"""A crawl of hosts that want to be left alone, killed with SIGKILL again and again; the log of the server is the judge.

Each host (a port) has its own way to ask for patience. The server notes every request and what it asked for with its
answer; whatever it asked for binds all later requests, in this life of the crawl or another, robots.txt included. An answer
that was under way at a kill (`UNHEARD` seconds or less before it) binds nobody: it may never have arrived.
"""

import asyncio
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from os import kill
from pathlib import Path

from aiohttp import web

from forager.chance import stream
from tests.faults.crashing import PATIENCE, Started
from tests.faults.launching import nursery

DELAY = 1.0
"""Seconds of `timetable.download_delay`."""
WAIT = 15
"""Seconds for which a Retry-After asks."""
UNHEARD = 0.3
JITTER = 0.35
"""Seconds by which the way to a busy server may vary."""
HOURLY = 6
SETTINGS = (
    "live.user_agent=Forager/0.1 (test; +http://127.0.0.1/)",
    "live.allow_addresses=['127.0.0.0/8']",
    f"timetable.download_delay={DELAY}s",
    "visits.revisit_after=1s",
    "visits.retry_after=1s",
    "crawl.least_worth=0",
)
KINDS = ("free", "429, seconds", "429, date", "503, seconds", "503", "Crawl-delay")
CRAWL_DELAY = 2


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as the server saw it."""

    at: float
    path: str
    status: int
    wait: float
    """Seconds for which the answer asks to be left alone, from its own time on."""


@dataclass(slots=True)
class Waits:
    """The server's hosts and its log."""

    kinds: Sequence[str] = KINDS
    log: defaultdict[str, list[Heard]] = field(default_factory=lambda: defaultdict(list))
    ports: dict[int, str] = field(default_factory=dict)
    kills: list[float] = field(default_factory=list)

    @property
    def seeds(self) -> list[str]:
        return [f"http://127.0.0.1:{port}/" for port in self.ports]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        kind = self.ports[request.transport.get_extra_info("sockname")[1]]
        pages = sum(heard.path != "/robots.txt" for heard in self.log[kind])
        status, wait, headers, body = 200, 0.0, {}, self._page(pages)
        if request.path == "/robots.txt":
            body = "User-agent: *\nDisallow:\n"
            if kind == "Crawl-delay":
                body += f"Crawl-delay: {CRAWL_DELAY}\n"
        elif pages % 4 == 3 and kind.startswith(("429", "503")):
            status = int(kind[:3])
            if kind.endswith("seconds"):
                wait, headers = WAIT, {"Retry-After": str(WAIT)}
            elif kind.endswith("date"):
                until = int(time.time()) + WAIT + 1
                wait, headers = WAIT, {"Retry-After": formatdate(until, usegmt=True)}
            else:
                wait = 2 * DELAY
        self.log[kind].append(Heard(time.time(), request.path, status, wait))
        return web.Response(status=status, headers={"Content-Type": "text/html", **headers}, text=body)

    def _page(self, number: int) -> str:
        links = "".join(f'<a href="/{number}-{one}">Link {number} {one}</a>' for one in range(3))
        return f"<html><title>Page {number}</title><body>{links}</body></html>"

    def broken(self) -> list[str]:
        """Every request that came too early, in words."""
        found = []
        for kind, requests in self.log.items():
            free = 0.0
            for heard in requests:
                if heard.at < free - JITTER:
                    found.append(f"{kind}: {heard.path} came {free - heard.at:.2f} s too early, at {heard.at:.2f}")
                delay = CRAWL_DELAY if kind == "Crawl-delay" and heard is not requests[0] else DELAY
                free = max(free, heard.at + delay)
                if self.is_heard(heard):
                    first = kind == "Crawl-delay" and heard.path == "/robots.txt"
                    free = max(free, heard.at + (CRAWL_DELAY if first else heard.wait))
        return found

    def is_heard(self, heard: Heard) -> bool:
        return not any(heard.at > moment - UNHEARD for moment in self.kills if moment > heard.at - JITTER)


@contextmanager
def served_waits(kinds: Sequence[str] = KINDS) -> Iterator[Waits]:
    """Serve them on ports of loopback, in a thread, until left."""
    waits, ready, done = Waits(kinds), threading.Event(), threading.Event()

    async def main() -> None:
        runner = web.ServerRunner(web.Server(waits.answer), shutdown_timeout=0.1)
        await runner.setup()
        for _ in kinds:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
        waits.ports.update(zip((address[1] for address in runner.addresses), kinds, strict=True))
        ready.set()
        while not done.is_set():
            await asyncio.sleep(0.05)
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield waits
    finally:
        done.set()
        thread.join(10)


def kill_and_resume(waits: Waits, folder: Path, kills: int, seed: int, *settings: str, longest: float = 3.0) -> None:
    """Start a crawl of all hosts, kill it at a random moment after it has come up, and so on.

    The first life lasts until every host that asks for a wait has done so, and it was heard.
    """
    rng = stream(seed, "moments of death")
    chosen = [part for one in (*SETTINGS, *settings) for part in ("-s", one)]
    seeds = [part for seed_url in waits.seeds for part in ("--seed", seed_url)]
    for number in range(kills):
        log = folder / "run" / "crawl.log"
        before = log.stat().st_size if log.exists() else 0
        life = nursery().start(
            ["crawl", str(folder / "run"), *seeds, *chosen, "--no-dashboard", "-q"], folder / "errors"
        )
        _wait_until_up(life, waits, log, before)
        if number == 0:
            _wait_until_told(life, waits)
        time.sleep(float(rng.uniform(0, longest)))
        waits.kills.append(time.time())
        kill(life.pid, signal.SIGKILL)
        assert life.wait(PATIENCE) == -signal.SIGKILL, (folder / "errors").read_text()


def _wait_until_up(life: Started, waits: Waits, log: Path, before: int) -> None:
    """Until a host was asked, or the crawl has written to its log that it waits."""
    asked, deadline = sum(map(len, waits.log.values())), time.monotonic() + PATIENCE
    while life.is_alive() and sum(map(len, waits.log.values())) == asked:
        assert time.monotonic() < deadline, "the crawl asks for nothing"
        if log.exists() and log.stat().st_size > before:
            return
        time.sleep(0.01)


def _wait_until_told(life: Started, waits: Waits) -> None:
    """Until every host that asks for a wait has asked for it, and the crawl has surely heard it."""
    silent, deadline = {kind for kind in waits.kinds if kind[0] in "45"}, time.monotonic() + PATIENCE
    while life.is_alive() and silent and time.monotonic() < deadline:
        silent = {kind for kind in silent if not any(heard.wait for heard in list(waits.log.get(kind, ())))}
        time.sleep(0.01)
    time.sleep(2 * UNHEARD if waits.kinds == KINDS else 0)
