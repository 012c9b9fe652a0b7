"""What a crawl gains from processes that fetch and read beside it: pages a second, and processor time per page of each.

    python tests/bench/processes.py                      # 6,000 pages with 1, 2 and 3 processes, two minutes
    python tests/bench/processes.py --processes 1 2 --rounds 3

The same site as in `throughput.py`, over all cores, the site on the last one. `store`: the crawl of that bench, breadth
first, with everything kept on disk. `wire`: pages are fetched by all rules and read, their links followed once, and nothing
is kept. Rounds are interleaved; the table shows medians.

Processor time is counted from when all processes work to the last page. `attainable` is what it allows on cores of their
own: no process can do more than one page per its own milliseconds. `on N cores` is what it allows on this machine with the
site on it, `alone` without. All three are computed from processor time, `pages/s` is by the clock: on a machine with other
work it says little.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import throughput
import throughput_peers as peers

from forager.allocation import tune_allocation
from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.events import Event, Fetched
from forager.pages.urls import canonical
from forager.reports.account import Account
from forager.store.sqlite import SqliteStore
from forager.terms import Outcome, Request, Url
from forager.world.fetching import LiveBeside
from forager.world.reading import Reader

TICK = os.sysconf("SC_CLK_TCK")
SETTLE = 1000
"""Pages after which every process has loaded and remembered what it will need."""


def spent(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


@dataclass
class Moment:
    pages: int
    at: float
    seconds: list[float]
    """Of the site, of this process, and of those beside it."""


class Watching:
    """Counts pages: the moment from which all processes work, and that of the last page."""

    def __init__(self, pages: int, site: int) -> None:
        """`site` is the number of the process that serves."""
        self.pages, self.site, self.fetched, self.stopping = pages, site, 0, asyncio.Event()
        self.beside: LiveBeside | None = None
        self.started = 0
        self.first: Moment | None = None
        self.last: Moment | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, Fetched) and event.outcome is Outcome.FETCHED:
            self.note()

    def note(self) -> None:
        """A page was fetched."""
        if self.last is not None:
            return
        self.fetched += 1
        self.started += self.beside is None or len(self.beside.ready) == self.beside.processes
        if self.first is None and self.started >= SETTLE:
            self.first = self._moment()
        if self.fetched >= self.pages:
            self.last = self._moment()
            self.stopping.set()

    def _moment(self) -> Moment:
        pids = [] if self.beside is None else self.beside.pids
        return Moment(self.fetched, time.perf_counter(), [spent(self.site), time.process_time(), *map(spent, pids)])


async def ready(beside: LiveBeside | None) -> None:
    while beside is not None and len(beside.ready) < beside.processes:
        await asyncio.sleep(0.05)


async def with_store(seed: Url, processes: int, watching: Watching) -> None:
    clock, chosen = WallClock(), throughput.settings()
    with tempfile.TemporaryDirectory(prefix="processes-") as folder:
        store = await SqliteStore.open(Path(folder), chosen.store)
        try:
            async with open_wire(chosen, clock, processes=processes) as wire:
                watching.beside = wire.beside
                await ready(wire.beside)
                running = await make_crawl(chosen, clock, wire, store, [seed], Account(), [watching])
                await running.run([seed], watching.stopping)
        finally:
            await store.close()


async def wire_alone(seed: Url, processes: int, watching: Watching) -> None:
    clock, chosen = WallClock(), throughput.settings()
    reader, met = Reader(chosen.pages), {seed}
    queue: asyncio.Queue[Url] = asyncio.Queue()
    queue.put_nowait(seed)
    async with open_wire(chosen, clock, processes=processes) as wire:
        watching.beside = wire.beside
        await ready(wire.beside)

        async def work() -> None:
            while True:
                page = reader.page(await wire.web.fetch(Request(await queue.get())))
                _ = page.text_print, page.simhash, page.published, page.title, page.robots, page.lang, page.modified
                watching.note()
                new = [url for url in page.targets if url not in met]
                met.update(new)
                for url in new:
                    queue.put_nowait(url)

        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(work()) for _ in range(peers.CONCURRENT)]
            await watching.stopping.wait()
            for worker in workers:
                worker.cancel()


KINDS = {"store": with_store, "wire": wire_alone}


def measure(kind: str, start: str, pages: int, processes: int, site: int) -> None:
    """Crawl here and print pages per second and milliseconds per page of each process."""
    throughput.warm_up("Forager", start)
    tune_allocation()
    watching, seed = Watching(pages, site), canonical(start)
    assert seed is not None

    async def crawl() -> int:
        await KINDS[kind](seed, processes, watching)
        return 0

    throughput.fast(crawl())
    first, last = watching.first, watching.last
    assert first is not None and last is not None, "the crawl ended before all processes worked: give it more pages"
    count = last.pages - first.pages
    used = [(after - before) / count * 1000 for after, before in zip(last.seconds, first.seconds, strict=True)]
    print(json.dumps({"rate": count / (last.at - first.at), "ms": used}))


def row(kind: str, processes: int, told: list[dict[str, list[float]]]) -> str:
    cores = len(os.sched_getaffinity(0))
    site, own, *beside = [median(column) for column in zip(*(one["ms"] for one in told), strict=True)]
    work = own + sum(beside)
    best, alone = 1000 / max(own, *beside, 0), cores * 1000 / work
    here = min(best, cores * 1000 / (work + site))
    each = " ".join(f"{used:.2f}" for used in beside)
    rate = median(one["rate"] for one in told)  # type: ignore[type-var]
    return (
        f"{kind:>7}{processes:11}{rate:9.0f}{own:10.2f}{each:>16}{site:9.2f}{best:12.0f}{here:12.0f}"
        f"{min(best, alone):9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--kinds", nargs="*", default=["store", "wire"], choices=list(KINDS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    parser.add_argument("--site", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        measure(options.kinds[0], options.start, options.pages, options.processes[0], options.site)
        return
    cores = len(os.sched_getaffinity(0))
    print(f"{options.pages:,} pages of 41 KB with 79 links, {cores} cores")
    print(
        f"{'':7}{'processes':>11}{'pages/s':>9}{'crawl ms':>10}{'beside it ms':>16}{'site ms':>9}{'attainable':>12}"
        f"{f'on {cores} cores':>12}{'alone':>9}"
    )
    told: dict[tuple[str, int], list[dict[str, list[float]]]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="processes-") as place,
        throughput.serving(options.pages, max(os.sched_getaffinity(0))) as start,
    ):
        site = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[-1]
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": place}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        common = [sys.executable, __file__, "--start", start, "--site", site, "--pages", str(options.pages)]
        for _ in range(options.rounds):
            for kind in options.kinds:
                for processes in options.processes:
                    command = [*common, "--kinds", kind, "--processes", str(processes)]
                    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
                    told.setdefault((kind, processes), []).append(json.loads(ran.stdout.splitlines()[-1]))
    for (kind, processes), figures in told.items():
        print(row(kind, processes, figures), flush=True)


if __name__ == "__main__":
    main()
