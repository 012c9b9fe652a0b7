"""What a crawl gains from readers in other processes: pages a second, and the processor time of each process per page.

    python tests/bench/processes.py                      # 6,000 pages with 1, 2 and 3 processes, a minute
    python tests/bench/processes.py --processes 1 2 --rounds 3

The same site and crawl as in `throughput.py` (breadth first, store on disk), over all cores, the site on the last one.
Processor time is counted from when all readers have started to the last page. `attainable` is what that allows on cores
of their own: no process can do more than one page per its own milliseconds.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import throughput

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.engine.allocation import tune_allocation
from forager.events import Event, Fetched
from forager.pages.urls import canonical
from forager.store.sqlite import SqliteStore
from forager.terms import Outcome
from forager.world.reading import ReadBeside

TICK = os.sysconf("SC_CLK_TCK")


def spent(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


@dataclass
class Moment:
    pages: int
    at: float
    seconds: list[float]
    """Of each process, this one first."""


class Watching:
    """Reads the journal along: the moment from which all readers work, and that of the last page."""

    def __init__(self, pages: int) -> None:
        self.pages, self.fetched, self.stopping = pages, 0, asyncio.Event()
        self.reader: ReadBeside | None = None
        self.first: Moment | None = None
        self.last: Moment | None = None

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Fetched) or event.outcome is not Outcome.FETCHED or self.last is not None:
            return
        self.fetched += 1
        if self.first is None and (self.reader is None or len(self.reader.ready) == self.reader.processes):
            self.first = self._moment()
        if self.fetched >= self.pages:
            self.last = self._moment()
            self.stopping.set()

    def _moment(self) -> Moment:
        pids = [] if self.reader is None else self.reader.pids
        return Moment(self.fetched, time.perf_counter(), [time.process_time(), *map(spent, pids)])


async def crawl(start: str, pages: int, processes: int) -> Watching:
    clock, watching = WallClock(), Watching(pages)
    chosen = throughput.settings()
    chosen = replace(chosen, crawl=replace(chosen.crawl, processes=processes))
    seed = canonical(start)
    assert seed is not None
    with tempfile.TemporaryDirectory(prefix="processes-") as folder:
        store = await SqliteStore.open(Path(folder), chosen.store)
        try:
            async with open_wire(chosen, clock) as wire:
                running = await make_crawl(chosen, clock, wire, store, [seed], [watching])
                reader = running.world.keeper.reader
                watching.reader = reader if isinstance(reader, ReadBeside) else None
                await running.run([seed], watching.stopping)
        finally:
            await store.close()
    return watching


def measure(start: str, pages: int, processes: int) -> None:
    """Crawl here and print pages per second and milliseconds per page of each process."""
    throughput.warm_up("Forager", start)
    tune_allocation()
    told: list[Watching] = []

    async def keep() -> int:
        told.append(await crawl(start, pages, processes))
        return 0

    throughput.fast(keep())
    first, last = told[0].first, told[0].last
    assert first is not None and last is not None, "the crawl ended before its readers had started: give it more pages"
    count = last.pages - first.pages
    used = [(after - before) / count * 1000 for after, before in zip(last.seconds, first.seconds, strict=True)]
    print(json.dumps({"rate": count / (last.at - first.at), "ms": used}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        measure(options.start, options.pages, options.processes[0])
        return
    cores = len(os.sched_getaffinity(0))
    print(f"{options.pages:,} pages of 41 KB with 79 links, store on disk, {cores} cores")
    print(
        f"{'processes':>9}{'pages/s':>9}{'crawl ms':>10}{'readers ms':>16}{'attainable':>12}{f'on {cores} cores':>12}"
    )
    with throughput.serving(options.pages, max(os.sched_getaffinity(0))) as start:
        for processes in [count for _ in range(options.rounds) for count in options.processes]:
            command = [sys.executable, __file__, "--start", start, "--pages", str(options.pages)]
            ran = subprocess.run(
                [*command, "--processes", str(processes)], stdout=subprocess.PIPE, text=True, check=True
            )
            told = json.loads(ran.stdout.splitlines()[-1])
            own, *readers = told["ms"]
            best = 1000 / max(told["ms"])
            here = min(best, cores * 1000 / sum(told["ms"]))
            each = " ".join(f"{used:.2f}" for used in readers)
            print(f"{processes:9}{told['rate']:9.0f}{own:10.2f}{each:>16}{best:12.0f}{here:12.0f}", flush=True)


if __name__ == "__main__":
    main()
