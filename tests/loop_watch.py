"""A short crawl of a served Newsroom in a process of its own: how long its event loop was busy at a time, at most.

Prints the processor time in ms of the longest callback of the loop's thread, which callback it was, and the stories told.
"""

import asyncio
import io
import json
import sys
import tempfile
import time
from contextlib import redirect_stderr
from pathlib import Path
from threading import get_ident
from typing import Any

from forager.cli.crawl import _crawl
from forager.cli.log import CrawlLog
from forager.settings import load_settings
from tests.served import served_newsroom

SETTINGS = (
    "live.allow_addresses=[127.0.0.0/8]",
    "live.user_agent=Forager/0.1 (+http://127.0.0.1/)",
    "timetable.download_delay=30ms",
    "timetable.latency_factor=0",
    "dashboard.enabled=false",
)


def watch_crawl(seconds: float) -> dict[str, Any]:
    """The longest callback of the loop, from its first moment on."""
    longest, run, here = (0.0, ""), asyncio.events.Handle._run, get_ident()

    def timed(handle: asyncio.Handle) -> None:
        nonlocal longest
        used = time.thread_time()
        run(handle)
        used = time.thread_time() - used
        if get_ident() == here:  # the Newsroom has a loop of its own
            longest = max(longest, (used, repr(handle)))

    asyncio.events.Handle._run = timed  # type: ignore[method-assign]
    settings, told = load_settings(Path("/dev/null"), list(SETTINGS)).settings, io.StringIO()
    with served_newsroom() as newsroom, tempfile.TemporaryDirectory() as folder, redirect_stderr(told):
        facts, _ = asyncio.run(_crawl(Path(folder), settings, list(newsroom.homes), [], None, seconds, CrawlLog()))
    return {"busy_ms": longest[0] * 1000, "by": longest[1], "stories": facts["stories"], "log": told.getvalue()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(watch_crawl(float(sys.argv[1]))))
