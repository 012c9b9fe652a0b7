"""How long `forager crawl` takes from the command to its first request: a new crawl, one that goes on, one with many URLs.

    python tests/bench/opening.py                               # new and resumed, a minute
    python tests/bench/opening.py --urls 100000 1000000         # resumed with so many known URLs, all visited once

The last column is the longest that the event loop is held up while everything learned is saved, as happens every minute:
processor time of its thread between two turns of the loop.

Seconds of processor time, as the machine may have other work; beside them seconds by the clock. Modules are compiled
beforehand, as installers do it. The site is served by this process on loopback, under a thousand addresses.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import rmtree
from statistics import median

import numpy as np

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.report.account import Account
from forager.settings import Settings
from forager.store.snapshot import FILE
from forager.store.store import Store
from forager.terms import Url
from tests.bench.filling import enter_many, note_visits

TICK = os.sysconf("SC_CLK_TCK")
HOSTS = 1000
PAGE = (
    b"<html><title>A page</title><body><p>"
    + b"A text of some length about a bridge. " * 20
    + b"".join(b'<a href="/news/%d">Story number %d of today</a> ' % (number, number) for number in range(20))
    + b"</body></html>"
)


class Site(BaseHTTPRequestHandler):
    """Gives every address the same page, and notes the first request."""

    protocol_version = "HTTP/1.1"
    asked = threading.Event()

    def do_GET(self) -> None:
        Site.asked.set()
        found = self.path != "/robots.txt"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE) if found else 0))
        self.end_headers()
        self.wfile.write(PAGE if found else b"")

    def handle(self) -> None:
        with suppress(ConnectionError):  # the crawl was killed
            super().handle()

    def log_message(self, *args: object) -> None:
        pass


def address(port: int, number: int) -> str:
    return f"http://127.0.{number % HOSTS // 250}.{number % HOSTS % 250 + 1}:{port}"


def url(port: int, number: int) -> Url:
    """About 80 characters long, as news URLs are."""
    return Url(f"{address(port, number)}/news/2024/05/17/a-headline-of-usual-length-{number:010d}.html")


def command(folder: Path, port: int) -> list[str]:
    chosen = ("live.allow_addresses=['127.0.0.0/8']", "live.user_agent=Forager/0.1 (+http://127.0.0.1/)")
    settings = [part for one in chosen for part in ("-s", one)]
    return [sys.executable, "-m", "forager", "crawl", str(folder), "--seed", f"{address(port, 0)}/", *settings]


def spent(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid: int) -> float:
    """Megabytes of memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def first_request(
    folder: Path, port: int, *, stay: float = 0.0, kill: bool = True, columns: bool = True
) -> tuple[float, float, float]:
    """Start the crawl: processor seconds and seconds to the first request, and megabytes then; ended after `stay`.

    Without `columns` it must read all rows of crawl.db.
    """
    Site.asked.clear()
    if not columns:
        (folder / FILE).unlink(missing_ok=True)
    began = time.perf_counter()
    with subprocess.Popen(command(folder, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as crawl:
        if not Site.asked.wait(600):
            crawl.kill()
            sys.exit("the crawl asked for nothing")
        figures = spent(crawl.pid), time.perf_counter() - began, resident(crawl.pid)
        time.sleep(stay)
        crawl.send_signal(signal.SIGKILL if kill else signal.SIGINT)
        crawl.wait(60)
    return figures


async def fill(folder: Path, port: int, count: int) -> None:
    """Bring a run directory to so many known URLs, all visited once, as a crawl would have them."""
    plain, clock = Settings(), WallClock()
    settings = replace(plain, live=replace(plain.live, allow_addresses=("127.0.0.0/8",)))
    store = await Store.open(folder)
    try:
        async with open_wire(settings, clock) as wire:
            crawl = await make_crawl(settings, clock, wire, store, [Url(f"{address(port, 0)}/")], Account())
            now = clock.now()
            new = await enter_many(store, lambda number: url(port, number), count, now)
            note_visits(crawl.shared.visits, new, now)
            ids = np.arange(new.start, new.stop)
            crawl.shared.visits.recall(ids, np.full(len(ids), now), np.zeros(len(ids), dtype=np.bool_))
            await crawl.save()
    finally:
        await store.close()


async def stall(folder: Path, port: int) -> float:
    """Seconds of the longest pause of the event loop during a save."""
    plain, clock, longest = Settings(), WallClock(), 0.0
    store = await Store.open(folder)
    try:
        async with open_wire(plain, clock) as wire:
            crawl = await make_crawl(plain, clock, wire, store, [Url(f"{address(port, 0)}/")], Account())
            await crawl.save()  # everything is loaded now
            async with asyncio.TaskGroup() as group:
                saving = group.create_task(crawl.save())
                while not saving.done():
                    before = time.thread_time()
                    await asyncio.sleep(0.001)
                    longest = max(longest, time.thread_time() - before)
    finally:
        await store.close()
    return longest


def row(name: str, folder: Path, port: int, rounds: int, *, columns: bool = True) -> None:
    told = [first_request(folder, port, columns=columns) for _ in range(rounds)]
    cpu, wall, size = (median(column) for column in zip(*told, strict=True))
    held_up = asyncio.run(stall(folder, port))
    print(f"{name:32}{cpu:14.2f}{wall:12.2f}{size:12.0f}{held_up:18.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, nargs="*", default=[], help="known URLs")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    server = ThreadingHTTPServer(("0.0.0.0", 0), Site)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{'to the first request':32}{'processor s':>14}{'clock s':>12}{'MB':>12}{'longest pause, s':>18}")
    with tempfile.TemporaryDirectory(prefix="opening-") as place:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{place}/compiled"
        first_request(Path(place, "compiling"), port)
        fresh = []
        for number in range(options.rounds):
            fresh.append(first_request(Path(place, str(number)), port))
        cpu, wall, size = (median(column) for column in zip(*fresh, strict=True))
        print(f"{'a new crawl':32}{cpu:14.2f}{wall:12.2f}{size:12.0f}", flush=True)
        used = Path(place, "used")
        first_request(used, port, stay=5, kill=False)
        row("resumed, a few pages", used, port, options.rounds)
        for count in options.urls:
            asyncio.run(fill(used, port, count))
            row(f"resumed, {count:,} known URLs", used, port, options.rounds)
            row("the same without crawl.columns", used, port, options.rounds, columns=False)
        rmtree(used)
    server.shutdown()


if __name__ == "__main__":
    main()
