"""How many pages a second Forager crawls, beside Scrapy and a loop written by hand.

The same site for all, in the same run: `site.py`, in a process of its own on the last core. Every contender runs in a
fresh process and crawls the whole site once: on the first core alone, two crawls at once on the first two, shared
with the site if there are no more. They do so in turns, several rounds (see `throughput_rounds.py`); the ratios are medians
of those within a round, with the least and the greatest.

    python tests/bench/throughput.py                     # 3 rounds of 2,000 pages, some minutes
    python tests/bench/throughput.py --pages 20000 --rounds 1
    python tests/bench/throughput.py --recorded          # real pages, see `recorded_site.py`
    python tests/bench/throughput.py --profile           # also Forager under cProfile
    pip install 'forager-news[bench,fast]'                    # for Scrapy and uvloop

The peers store title and links only. Forager's "links only" reads links and stores nothing; "+ text, dates, judging" reads
all that is read of a page, with its store in memory; "+ store" writes crawl.db, "+ recording" WARC files too. "links only, 2
processes" are two crawls of one host each: what two cores do with as little work as the peers have.
`pages/cpu s` counts the processor time of all processes of a contender, which is what to compare on a machine with other
work; `pages/s` is by the clock.
"""

import argparse
import asyncio
import cProfile
import importlib.util
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import throughput_peers as peers
from throughput_rounds import Measured, in_turns, table, together

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.core.parameters import ForagerKind
from forager.events import Event, Fetched
from forager.pages.urls import canonical
from forager.report.account import Account
from forager.settings import Settings
from forager.store.store import Store
from forager.terms import Outcome, Url

HERE = Path(__file__).parent


def settings() -> Settings:
    """Breadth first, no politeness: the server is ours."""
    plain = Settings()
    return replace(
        plain,
        forager=replace(plain.forager, kind=ForagerKind.BFS),
        crawl=replace(plain.crawl, workers=peers.CONCURRENT),
        live=replace(plain.live, allow_addresses=("127.0.0.0/8",), user_agent="Forager/0.1 (+http://127.0.0.1/)"),
        timetable=replace(
            plain.timetable, download_delay=0.0, concurrent_requests_per_host=peers.CONCURRENT, latency_factor=0.0
        ),
        visits=replace(plain.visits, revisit_after=86_400.0),
        scope=replace(plain.scope, barren_after=1_000_000),  # its pages are no documents
    )


class Counting:
    """Reads the journal along and ends the crawl after the last page."""

    def __init__(self, pages: int) -> None:
        self.pages, self.fetched, self.stopping = pages, 0, asyncio.Event()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Fetched) and event.outcome is Outcome.FETCHED:
            self.fetched += 1
            if self.fetched >= self.pages:
                self.stopping.set()


async def crawl(start: str, pages: int, *, disk: bool, record: bool = False) -> int:
    """The whole stack: robots, politeness, guard, reading, dates, fingerprints, judging, and files if wanted."""
    clock, chosen, counting = WallClock(), settings(), Counting(pages)
    seed = canonical(start)
    assert seed is not None
    with tempfile.TemporaryDirectory(prefix="throughput-") as folder:
        store: Store = await Store.open(Path(folder), chosen.store) if disk else Store()
        try:
            async with open_wire(chosen, clock, Path(folder, "warc") if record else None) as wire:
                running = await make_crawl(chosen, clock, wire, store, [seed], Account(), [counting])
                await running.run([seed], counting.stopping)
        finally:
            await store.close()
    return counting.fetched


async def links_only(start: str, pages: int) -> int:
    """The wire with all its rules, links read and followed once, nothing kept."""
    from forager.pages.page import Page
    from forager.pages.urls import UrlMemo
    from forager.terms import Request

    clock, chosen, memo = WallClock(), settings(), UrlMemo()
    queue: asyncio.Queue[Url] = asyncio.Queue()
    met: set[Url] = set()
    async with open_wire(chosen, clock) as wire:

        async def work() -> None:
            while True:
                response = await wire.web.fetch(Request(await queue.get()))
                for url in Page(response, memo=memo, settings=chosen.pages).targets:
                    if url not in met:
                        met.add(url)
                        queue.put_nowait(url)
                queue.task_done()

        seed = canonical(start)
        assert seed is not None
        met.add(seed)
        queue.put_nowait(seed)
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(work()) for _ in range(peers.CONCURRENT)]
            await queue.join()
            for worker in workers:
                worker.cancel()
    return len(met)


def fast(work: Coroutine[Any, Any, int]) -> int:
    """On uvloop if it is installed (the extra `fast`)."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.run(work)
    import uvloop

    result: int = uvloop.run(work)
    return result


CONTENDERS: dict[str, Callable[[str, int], int]] = {
    "Scrapy, tuned": lambda start, pages: peers.scrapy(start, lexbor=False),
    "Scrapy, tuned, lexbor": lambda start, pages: peers.scrapy(start, lexbor=True),
    "aiohttp + lexbor by hand": lambda start, pages: fast(peers.by_hand(start)),
    "Forager, links only": lambda start, pages: fast(links_only(start, pages)),
    "  + text, dates, judging": lambda start, pages: fast(crawl(start, pages, disk=False)),
    "  + store": lambda start, pages: fast(crawl(start, pages, disk=True)),
    "  + recording": lambda start, pages: fast(crawl(start, pages, disk=True, record=True)),
}
SHARDS = {"links only, 2 processes, a host each": "Forager, links only"}
"""Contenders that are two crawls at once: the same site under two names, which is how several machines would share hosts."""
CEILING, BASE = "aiohttp + lexbor by hand", "Scrapy, tuned"


def warm_up(name: str, start: str) -> None:
    """Load and compile what a long crawl loads and compiles once."""
    if "Scrapy" in name:
        importlib.import_module("scrapy.crawler")
    else:
        fast(crawl(start, 50, disk=True))


def measure(name: str, start: str, pages: int, profile: bool) -> None:
    """Run one contender here and print its figures."""
    warm_up(name, start)
    watcher = cProfile.Profile()
    if profile:
        watcher.enable()
    began, worked = time.perf_counter(), processor_time()
    done = CONTENDERS[name](start, pages)
    seconds, cpu = time.perf_counter() - began, processor_time() - worked
    watcher.disable()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"pages": done, "seconds": seconds, "cpu": cpu, "peak": peak}))
    if profile:
        pstats.Stats(watcher, stream=sys.stderr).sort_stats("tottime").print_stats(40)


def processor_time() -> float:
    """Seconds of this process and of those it has started and seen end."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@contextmanager
def serving(pages: int | None, core: int) -> Iterator[tuple[str, int]]:
    """The site in its own process, of real pages if no number is given; its address and the number of its pages."""
    served = ["--recorded"] if pages is None else ["--pages", str(pages)]
    command = [sys.executable, str(HERE / "site.py"), *served, "--core", str(core)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            port, count = server.stdout.readline().split()
            yield f"http://127.0.0.1:{port}/", int(count)
        finally:
            server.stdin.close()


def begun(name: str, start: str, pages: int, profile: bool, cores: set[int]) -> "subprocess.Popen[str]":
    """A contender at work in a process of its own."""
    command = [sys.executable, __file__, "--contender", name, "--start", start, "--pages", str(pages)]
    return subprocess.Popen(
        [*command, *(["--profile"] if profile else [])],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )


def ended(contender: "subprocess.Popen[str]") -> Measured:
    """What a contender tells at its end."""
    told, _ = contender.communicate()
    if contender.returncode:
        raise SystemExit(f"a contender has failed with exit code {contender.returncode}")
    return Measured(**json.loads(told.splitlines()[-1]))


def compare(names: list[str], wanted: int | None, rounds: int, profile: bool) -> None:
    """`wanted`: how many made up pages; None for the real ones."""
    cores = sorted(os.sched_getaffinity(0))
    with serving(wanted, cores[-1]) as (start, pages):
        kind = "real pages" if wanted is None else "pages of 41 KB with 79 links"
        print(f"{pages:,} {kind}, {rounds} rounds; one core each, two for two crawls", flush=True)

        def measured(name: str) -> Measured:
            mine = set(cores[: 2 if name in SHARDS else 1])
            starts = [start, start.replace("127.0.0.1", "localhost")] if name in SHARDS else [start]
            running = [begun(SHARDS.get(name, name), one, pages, profile, mine) for one in starts]
            return together([ended(one) for one in running])

        found = in_turns(names, rounds, measured)
    print("\n".join(table(found, names, pages, {"× Scrapy": BASE, "of ceiling": CEILING})))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--recorded", action="store_true", help="real pages instead of those made up")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="contenders whose name contains one of these, parted by commas")
    parser.add_argument(
        "--profile", action="store_true", help="run under cProfile (Forager alone unless --only is given)"
    )
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        measure(options.contender, options.start, options.pages, options.profile)
        return
    only = options.only or ("+ store" if options.profile else "")
    names = [
        name for name in (*CONTENDERS, *SHARDS) if any(part.strip().lower() in name.lower() for part in only.split(","))
    ]
    if importlib.util.find_spec("scrapy") is None:
        print("Scrapy is not installed; pip install 'forager[bench]' brings it")
        names = [name for name in names if "Scrapy" not in name]
    pages = None if options.recorded else options.pages
    compare(names, pages, 1 if options.profile else max(1, options.rounds), options.profile)


if __name__ == "__main__":
    main()
