"""How fast the store is and what a known URL costs: acknowledged pages, puts, memory, opening; of the whole crawl too.

The peer of the store on disk is the store in memory, in the same run. One core: the process binds itself to the first.
An acknowledged page is what a crawl asks of the store for one: a lease, the numbers of 79 links of which 2 are new and
enter, a visit with a new version of 3 kB of text and those links, and the decision on the version, which is waited for.

    python tests/bench/store_speed.py                           # a minute
    python tests/bench/store_speed.py --urls 100000 1000000     # memory and opening at several sizes
    python tests/bench/store_speed.py --urls 10000000 --pages 0         # ten million; many minutes and 12 GB

"store" is crawl.db opened alone; "crawl" is everything that `forager crawl` holds before it fetches: store, scope, visit
statistics of all pages, scheduler, fleet. Both are opened in fresh processes.
"""

import argparse
import asyncio
import gc
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree

import numpy as np

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.core.shared import Shared
from forager.report.account import Account
from forager.settings import Settings
from forager.store.protocol import Found, Version, Visit
from forager.store.rundir import StoreSettings
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Url, UrlId, Validators
from tests.bench.filling import enter_many, note_visits

SETTINGS = Settings()
LINKS, NEW = 79, 2
STEMS, ENDINGS = ("vote", "rain", "bank", "club", "law", "sea"), ("", "s", "ing", "er", "ed")
WORDS = [f"{stem}{ending}" for stem in STEMS for ending in ENDINGS]


def url(number: int) -> Url:
    """About 80 characters long, as news URLs are; 1000 hosts."""
    return Url(
        f"https://www.paper{number % 1000}.example/news/2024/05/17/a-headline-of-usual-length-{number:010d}.html"
    )


def found(number: int) -> Found:
    return Found(url(number), Channel.LINK, at=1.7e9, anchor="A headline of usual length", due=1.7e9 + number)


def pages(count: int, rng: np.random.Generator) -> Iterator[tuple[list[Found], str]]:
    """The links and the text of each page; made before the clock starts."""
    for page in range(count):
        old = [found(number) for number in rng.integers(0, 1000 + page * NEW, LINKS - NEW)]
        new = [found(1000 + page * NEW + extra) for extra in range(NEW)]
        yield old + new, " ".join(rng.choice(WORDS, 550))


async def acks(store: Store, todo: list[tuple[list[Found], str]], callers: int) -> tuple[float, float]:
    """Pages per second of the wall clock, and per second of processor time (what one core to itself would do)."""
    await store.put([found(number) for number in range(1000)])
    queue = iter([(page, links, [link.url for link in links], text) for page, (links, text) in enumerate(todo)])

    async def call() -> None:
        for page, links, targets, text in queue:
            (lease,) = await store.lease(1, 1.7e9 + page, only=[UrlId(page % 1000)])
            before = store.known(lease.id)
            known = store.find_all(targets)
            new = store.enter([link for link, id in zip(links, known, strict=True) if id is None])
            ids = sorted({*new, *(id for id in known if id is not None)})
            version = Version(Kind.ARTICLE, page, page, page, title=text[:60], text=text, lang="en", links=tuple(ids))
            visit = Visit(
                before.id,
                1.7e9 + page,
                Outcome.FETCHED,
                200,
                changed=True,
                validators=Validators(f'"{page:016x}"', "Fri, 17 May 2024 09:00:00 GMT"),
                due=1.8e9 + page,
                version=version,
            )
            number = store.record(visit)
            assert number is not None
            await store.settle(number, None)

    started, worked = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(call())
    return len(todo) / (time.perf_counter() - started), len(todo) / (time.process_time() - worked)


async def puts(store: Store, count: int, size: int = 100) -> float:
    """New URLs per second, `size` at a time."""
    blocks = [[found(number) for number in range(start, start + size)] for start in range(10**8, 10**8 + count, size)]
    started = time.perf_counter()
    for block in blocks:
        await store.put(block)
    return count / (time.perf_counter() - started)


def resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def filled(directory: Path, count: int, *, visited: bool) -> float:
    """A run directory with so many known URLs, all pending; megabytes on disk."""
    store = await Store.open(directory)
    shared = Shared.fresh(SETTINGS.forager)
    shared.visits.reserve(count)
    new = await enter_many(store, url, count, 1.7e9, visited=visited)
    if visited:
        note_visits(shared.visits, new, 1.7e9)
        shared.visits.recall(np.arange(count), np.full(count, 1.7e9), np.zeros(count, dtype=np.bool_))
    await store.keep("shared", shared.save())
    await store.close()
    return (directory / "crawl.db").stat().st_size / 1e6


def in_fresh_process(work: Callable[[Path], tuple[float, float]], directory: Path) -> tuple[float, float]:
    """In a new process, so that nothing that was freed hides in the figure."""
    with get_context("spawn").Pool(1) as fresh:
        return fresh.apply(work, (directory,))


def opened_store(directory: Path) -> tuple[float, float]:
    """Seconds of processor time to open it, and the bytes of memory it holds."""
    return asyncio.run(_open(directory, crawl=False))


def opened_crawl(directory: Path) -> tuple[float, float]:
    return asyncio.run(_open(directory, crawl=True))


async def _open(directory: Path, *, crawl: bool) -> tuple[float, float]:
    before, started = resident(), time.process_time()
    store = await Store.open(directory)
    if crawl:
        clock = WallClock()
        async with open_wire(SETTINGS, clock) as wire:
            made = await make_crawl(SETTINGS, clock, wire, store, [url(0)], Account())
            seconds, size = time.process_time() - started, resident() - before
            del made
    else:
        seconds, size = time.process_time() - started, resident() - before
    await store.close()
    return seconds, size


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--callers", type=int, default=24)
    parser.add_argument("--urls", type=int, nargs="*", default=[100_000], help="known URLs for memory and opening")
    parser.add_argument("--never", action="store_true", help="only URLs that were never visited")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="where to put the run directories (default: a temporary one)")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        print(
            f"{'':24}{'MB on disk':>12}{'store: bytes/URL':>18}{'opened, s':>11}{'crawl: bytes/URL':>18}{'opened, s':>11}"
        )
        for count in options.urls:
            for visited in (False,) if options.never else (False, True):
                directory = Path(place, f"{count}{visited}")
                disk = await filled(directory, count, visited=visited)
                told = f"{count:>10,} {'visited once' if visited else 'never visited':13}{disk:12.0f}"
                for work in (opened_store, opened_crawl):
                    seconds, size = in_fresh_process(work, directory)
                    told += f"{size / count:18.0f}{seconds:11.2f}"
                print(told, flush=True)
                rmtree(directory)
        if not options.pages:
            return
        todo = list(pages(options.pages, np.random.default_rng(options.seed)))
        print(f"{'':34}  pages/s acknowledged  per processor s  new URLs/s put")
        for name, settings in {
            "memory": None,
            "disk": StoreSettings(),
            "disk, batches wait 20 ms": StoreSettings(batch_wait=0.02),
            "disk, power safe": StoreSettings(power_safe=True),
        }.items():
            store: Store = Store() if settings is None else await Store.open(Path(place, name), settings)
            wall, processor = await acks(store, todo, options.callers)
            print(f"{name:34}  {wall:20,.0f}  {processor:15,.0f}  {await puts(store, 50_000):14,.0f}")
            await store.close()


if __name__ == "__main__":
    asyncio.run(main())
