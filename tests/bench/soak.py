"""A long crawl: memory, file handles, latency of the loop and growth of the database over time.

python tests/bench/soak.py --hours 24           simulated: the real engine in virtual time, without sockets and disk
python tests/bench/soak.py --real-minutes 60    `forager crawl` of a Newsroom over real HTTP, watched from outside
    [--misfits 300]    beside so many hosts of ten kinds of misbehaviour, which must not harm the good ones; real, a second
                       crawl of the same good hosts alone runs at the same time, to be compared with

Simulated, each part's bytes are counted object by object (so it is exact, and the Newsroom does not count); the latency is
the processor time between two waits of the loop. Real, memory is the resident set of the crawl's process, and the latency
is that of `/healthz`, which the same loop answers, beside the oversleeping of the watcher itself: what the machine adds.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import numpy as np

from forager.assembly import make_crawl, wire
from forager.clock import LoopClock, VirtualLoop
from forager.engine.crawl import stop_after
from forager.events import Event, Told
from forager.importers.table_columns import time_of
from forager.measures import delay
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.report.account import Account
from forager.settings import load_settings
from forager.store.store import Store
from forager.terms import Url
from tests.bench.sizes import held
from tests.faults.misfits import MisfitWeb, served_misfits
from tests.served import served_newsroom

SIMULATED = ("timetable.download_delay=20s", "newsroom.log=1", "newsroom.cache=200", "newsroom.page_size=6k")
REAL = ("live.user_agent=Forager/0.1 (soak; +http://127.0.0.1/)", "live.allow_addresses=['127.0.0.0/8']")
KB, MB = 1e3, 1e6


class WatchedLoop(VirtualLoop):
    """Virtual time that notes how long, in real processor time, callbacks ran between two waits."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[float] = []
        self._since = time.thread_time()

    def select(self, timeout: float | None) -> list[object]:
        self.ran.append(time.thread_time() - self._since)
        events = super().select(timeout)
        self._since = time.thread_time()
        return events


def tell_delay(newsroom: Newsroom, told: dict[str, float], begin: float, end: float, who: str = "good hosts") -> None:
    """How much of what the good sites published was told, and how late; the first quarter of the time is left out."""
    truth = newsroom.truth.published_between(begin + (end - begin) / 4, end - (end - begin) / 40)
    found = delay(np.array([one.published for one in truth]), np.array([told.get(one.url, np.nan) for one in truth]))
    print(
        f"{who}: {len(truth)} stories, {found.coverage:.1%} told, late {found.late:.0f} s, "
        f"delay median {found.median:.0f} s, 9 of 10 within {found.p90:.0f} s"
    )


async def simulate(hours: float, pace: float, samples: int, misfits: int, more: list[str]) -> None:
    chosen = [*SIMULATED, f"newsroom.pace={pace}", f"newsroom.days={hours / 24 + 1}", *more]
    settings = load_settings(None, chosen).settings
    clock = LoopClock(settings.newsroom.start)
    newsroom = Newsroom(settings.newsroom, clock)
    beside, told = MisfitWeb(newsroom, clock, misfits), dict[str, float]()
    store, account, stopping = Store(), Account(), asyncio.Event()
    rules = wire(settings, clock, beside)
    seeds = [*newsroom.homes, *beside.homes]

    def hear(event: Event) -> None:
        if isinstance(event, Told):
            told.setdefault(event.url, event.at)

    crawl = await make_crawl(settings, clock, rules, store, seeds, account, [hear])
    loop = asyncio.get_running_loop()
    assert isinstance(loop, WatchedLoop)

    async def watch() -> None:
        parts = {
            "ledger": store._ledger,
            "account, copies": [account, crawl.teller.copies],
            "wire": rules,
            "keeping": crawl.world,
            "statistics": crawl.shared,
            "fleet": crawl.agent,
            "all else": crawl,
        }
        print(
            f"| hour | known | visits | {' | '.join(f'{name}, kB' for name in parts)} | all, B per URL | p99, ms | max, ms |"
        )
        print("|---" * (len(parts) + 6) + "|")
        for _ in range(samples):
            await clock.sleep(hours * 3600 / samples)
            counts = store.counts()
            sizes = held(parts, [newsroom, beside, clock, settings, store._archive, told])
            ran, loop.ran = np.array(loop.ran) * 1e3, []
            cells = [f"{size / KB:,.0f}" for size in sizes.values()]
            figures = [
                f"{sum(sizes.values()) / counts.known:,.0f}",
                f"{np.quantile(ran, 0.99):.1f}",
                f"{ran.max():.0f}",
            ]
            hour = (clock.now() - settings.newsroom.start) / 3600
            print(
                f"| {' | '.join([f'{hour:.0f}', f'{counts.known:,}', f'{counts.visits:,}', *cells, *figures])} |",
                flush=True,
            )
            loop._since = time.thread_time()  # counting took its time

    async with asyncio.TaskGroup() as group:
        group.create_task(stop_after(clock, hours * 3600, stopping))
        group.create_task(crawl.run(seeds, stopping))
        group.create_task(watch())
    tell_delay(newsroom, told, settings.newsroom.start, clock.now())
    print("requests:", ", ".join(f"{kind} {count:,}" for kind, count in beside.asked.items()))


async def watch_real(minutes: float, pace: float, samples: int, folder: Path, misfits: int, more: list[str]) -> None:
    """Run `forager crawl` and look at its process from outside."""
    paced, began = replace(NewsroomSettings(), pace=pace, log=1000), time.time()
    with served_newsroom(paced, backlog_hours=1.0) as newsroom, served_misfits(misfits) as beside:
        seeds = {"run": [*newsroom.homes, *beside.homes]} | ({"alone": list(newsroom.homes)} if misfits else {})
        async with AsyncExitStack() as stack:
            started = [
                await stack.enter_async_context(_crawling(folder.parent / name, homes, more))
                for name, homes in seeds.items()
            ]
            await _sample(*started[0], minutes, samples, folder)
        for name in seeds:
            lines = (folder.parent / f"{name}.jsonl").read_text().splitlines()
            stories = [(one["url"], time_of(one["fetched"])) for one in map(json.loads, lines)]
            tell_delay(newsroom, dict(reversed(stories)), began, time.time(), f"good hosts, {name}")
        print("requests:", ", ".join(f"{kind} {count:,}" for kind, count in beside.asked.items()))


@asynccontextmanager
async def _crawling(folder: Path, homes: list[Url], more: list[str]) -> AsyncIterator[tuple[int, str]]:
    """The process of `forager crawl` and the address of its dashboard."""
    file = folder.with_suffix(".txt")
    file.write_text("\n".join(homes))
    chosen = [part for one in (*REAL, *more) for part in ("-s", one)]
    command = [sys.executable, "-m", "forager", "crawl", str(folder), "--seed-file", str(file), *chosen, "-q"]
    command += ["-o", str(folder.with_suffix(".jsonl"))]
    errors = folder.with_suffix(".err")
    with errors.open("wb") as said:
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=said)
    try:
        while not (found := re.search(r"http://\S+", errors.read_text())):
            assert process.returncode is None, "the crawl ended at once"
            await asyncio.sleep(0.1)
        yield process.pid, found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        print(f"ended with {await process.wait()}")


async def _sample(pid: int, address: str, minutes: float, samples: int, folder: Path) -> None:
    names = "minute, known, visits, stories, memory MB, handles, threads, db MB, warc MB, cpu s, p99 ms, max ms, machine p99 ms"
    print(f"| {names.replace(', ', ' | ')} |\n{'|---' * (names.count(',') + 1)}|", flush=True)
    began = time.monotonic()
    async with aiohttp.ClientSession() as session:
        for sample in range(samples):
            until = began + (sample + 1) * minutes * 60 / samples
            latency, overslept = [], []
            while time.monotonic() < until:
                asked = time.monotonic()
                async with session.get(f"{address}healthz") as answer:
                    await answer.read()
                got = time.monotonic()
                latency.append(1e3 * (got - asked))
                await asyncio.sleep(0.2)
                overslept.append(1e3 * (time.monotonic() - got - 0.2))
            print(_row((time.monotonic() - began) / 60, pid, folder, latency, overslept), flush=True)


def _row(minute: float, pid: int, folder: Path, latency: list[float], overslept: list[float]) -> str:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    with sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True) as database:
        known, visits, stories = (
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("urls", "visits", "stories")
        )
    cells = (
        f"{minute:.0f}",
        *(f"{count:,}" for count in (known, visits, stories)),
        f"{int(status['VmRSS'].split()[0]) * 1024 / MB:.1f}",
        str(sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())),
        status["Threads"].strip(),
        *(f"{sum(file.stat().st_size for file in folder.glob(name)) / MB:.1f}" for name in ("crawl.db*", "warc/*")),
        f"{sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK'):.0f}",
        *(f"{value:.0f}" for value in (np.quantile(latency, 0.99), max(latency))),
        f"{np.quantile(overslept, 0.99):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, help="simulated")
    parser.add_argument("--real-minutes", type=float)
    parser.add_argument("--pace", type=float, default=20.0, help="times 140 stories a day")
    parser.add_argument("--samples", type=int, default=12)
    parser.add_argument("--misfits", type=int, default=0)
    parser.add_argument("-s", dest="settings", action="append", default=[])
    given = parser.parse_args()
    if given.hours:
        with asyncio.Runner(loop_factory=WatchedLoop) as runner:
            runner.run(simulate(given.hours, given.pace, given.samples, given.misfits, given.settings))
        print(f"peak of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
    if given.real_minutes:
        with tempfile.TemporaryDirectory() as aside:
            folder = Path(aside) / "run"
            asyncio.run(
                watch_real(given.real_minutes, given.pace, given.samples, folder, given.misfits, given.settings)
            )


if __name__ == "__main__":
    main()
