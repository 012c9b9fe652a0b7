"""A long crawl: memory, file handles, latency of the loop and growth of the database over time.

python tests/bench/soak.py --hours 24           simulated: the real engine in virtual time, without sockets and disk
python tests/bench/soak.py --real-minutes 60    `forager crawl` of a Newsroom over real HTTP, watched from outside

Simulated, each part's bytes are counted object by object (so it is exact, and the Newsroom does not count); the latency is
the processor time between two waits of the loop. Real, memory is the resident set of the crawl's process, and the latency
is that of `/healthz`, which the same loop answers, beside the oversleeping of the watcher itself: what the machine adds.
"""

import argparse
import asyncio
import os
import re
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import aiohttp
import numpy as np

from forager.assembly import make_crawl, wire
from forager.clock import LoopClock, VirtualLoop
from forager.engine.crawl import stop_after
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.report.account import Account
from forager.settings import load_settings
from forager.store.store import Store
from tests.bench.sizes import held
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


async def simulate(hours: float, pace: float, samples: int) -> None:
    settings = load_settings(None, [*SIMULATED, f"newsroom.pace={pace}", f"newsroom.days={hours / 24 + 1}"]).settings
    clock = LoopClock(settings.newsroom.start)
    newsroom = Newsroom(settings.newsroom, clock)
    store, account, stopping = Store(), Account(), asyncio.Event()
    rules = wire(settings, clock, newsroom)
    crawl = await make_crawl(settings, clock, rules, store, newsroom.homes, account)
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
            sizes = held(parts, [newsroom, clock, settings, store._archive])
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
        group.create_task(crawl.run(newsroom.homes, stopping))
        group.create_task(watch())


async def watch_real(minutes: float, pace: float, samples: int, folder: Path, more: list[str]) -> None:
    """Run `forager crawl` and look at its process from outside."""
    with served_newsroom(replace(NewsroomSettings(), pace=pace, log=1000), backlog_hours=1.0) as newsroom:
        seeds = [part for home in newsroom.homes for part in ("--seed", home)]
        chosen = [part for one in (*REAL, *more) for part in ("-s", one)]
        command = [sys.executable, "-m", "forager", "crawl", str(folder), *seeds, *chosen, "-q"]
        command += ["-o", str(folder.parent / "stories.jsonl")]
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        assert process.stderr is not None
        try:
            address = ""
            while not address:
                line = (await process.stderr.readline()).decode()
                assert line, "the crawl ended at once"
                found = re.search(r"http://\S+", line)
                address = found[0] if found else ""
            await _sample(process.pid, address, minutes, samples, folder)
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = await process.communicate()
            print(f"ended with {process.returncode} {errors.decode()[-500:]}")


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
    parser.add_argument("-s", dest="settings", action="append", default=[], help="of the real crawl")
    given = parser.parse_args()
    if given.hours:
        with asyncio.Runner(loop_factory=WatchedLoop) as runner:
            runner.run(simulate(given.hours, given.pace, given.samples))
        print(f"peak of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
    if given.real_minutes:
        with tempfile.TemporaryDirectory() as aside:
            folder = Path(aside) / "run"
            asyncio.run(watch_real(given.real_minutes, given.pace, given.samples, folder, given.settings))


if __name__ == "__main__":
    main()
