"""A short crawl in a process of its own: how long its event loop was busy at a time, at most.

python -m tests.loop_watch SECONDS [crawl | large | demo]

`crawl`: a served Newsroom; `large`: one whose sitemaps name thousands of pages; `demo`: that of `forager demo`. Prints, in ms
of processor time of the loop's thread, the longest callback and which it was, what 99% keep within, the longest turn of the
loop, which is all callbacks that were ready at once, and what 99 of 100 who come at any moment wait for their turn at most;
and how many stories were told and URLs known.
"""

import asyncio
import io
import json
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, redirect_stderr
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from forager.cli.crawl import _crawl, arranged, run_demo
from forager.cli.log import CrawlLog
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import load_settings
from forager.terms import Url
from tests.served import served_newsroom

SETTINGS = (
    "live.allow_addresses=[127.0.0.0/8]",
    "live.user_agent=Forager/0.1 (+http://127.0.0.1/)",
    "timetable.download_delay=30ms",
    "timetable.latency_factor=0",
    "dashboard.enabled=false",
)
LARGE = NewsroomSettings(pace=60.0, page_size=4000)
"""With a day's backlog, its sitemaps name some 8,000 pages."""


def watch_crawl(seconds: float, kind: str = "crawl") -> dict[str, Any]:
    """The longest callback of the loop, from its first moment on."""
    used: list[float] = []
    turns: list[float] = []
    longest, run, here, began = (0.0, ""), asyncio.events.Handle._run, get_ident(), time.monotonic()
    turn = asyncio.base_events.BaseEventLoop._run_once  # type: ignore[attr-defined]

    def timed(handle: asyncio.Handle) -> None:
        nonlocal longest
        before = time.thread_time()
        run(handle)
        spent = time.thread_time() - before
        if get_ident() == here:  # a served Newsroom has a loop of its own
            used.append(spent)
            longest = (spent, repr(handle)) if spent > longest[0] else longest

    def turned(loop: asyncio.BaseEventLoop) -> None:
        before = time.thread_time()
        turn(loop)
        if get_ident() == here:
            turns.append(time.thread_time() - before)

    asyncio.events.Handle._run = timed  # type: ignore[method-assign]
    asyncio.base_events.BaseEventLoop._run_once = turned  # type: ignore[attr-defined]
    settings, told = load_settings(Path("/dev/null"), list(SETTINGS)).settings, io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(told):
        if kind == "demo":
            shown = arranged(settings, None, None)
            shown = replace(shown, demo=replace(shown.demo, time_limit=seconds))
            facts = asyncio.run(run_demo(shown, Path(folder), CrawlLog()))
        else:
            shape, backlog = (LARGE, 24.0) if kind == "large" else (None, 6.0)
            with served_newsroom(shape, backlog_hours=backlog) as newsroom:
                month = time.strftime("%Y-%m", time.gmtime(newsroom.clock.now()))
                lists = [Url(f"{home}sitemap-{month}.xml") for home in newsroom.homes if kind == "large"]
                crawl = _crawl(Path(folder), settings, [*newsroom.homes, *lists], [], None, seconds, CrawlLog())
                facts, *_ = asyncio.run(crawl)
        with closing(sqlite3.connect(f"{folder}/crawl.db")) as database:
            ((known,),) = database.execute("SELECT count(*) FROM urls")
    waits = {"turn_ms": max(turns) * 1000, "wait_p99_ms": _wait(turns, time.monotonic() - began) * 1000}
    most = float(np.quantile(used, 0.99)) * 1000
    told_of = {"stories": facts["stories"], "known": known, "log": told.getvalue()}
    return {"busy_ms": longest[0] * 1000, "by": longest[1], "p99_ms": most} | waits | told_of


def _wait(turns: list[float], seconds: float) -> float:
    """What 99 of 100 who come at any moment wait at most until a turn has ended."""
    times = np.sort(turns)[::-1]
    late = np.cumsum(times) - np.arange(1, len(times) + 1) * times  # who waits longer than each of these turns takes
    return float(times[min(np.searchsorted(late, 0.01 * seconds), len(times) - 1)])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(watch_crawl(float(sys.argv[1]), *sys.argv[2:])))
