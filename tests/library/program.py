"""What the tests of the library share: a Newsroom to crawl, and how a program crawls it."""

import asyncio
from pathlib import Path
from typing import Any

import forager
from forager.library.session import CrawlSession
from forager.newsroom.newsroom import Newsroom

WHO = "Mine/1.0 (+https://example.org/bot)"
LOOPBACK = {
    "live.allow_addresses": ["127.0.0.0/8"],
    "timetable.download_delay": 0.01,
    "timetable.latency_factor": 0.0,
    "recording.enabled": False,
}


def crawling(run_dir: Path, newsroom: Newsroom, **more: Any) -> CrawlSession:
    return forager.crawl(run_dir, seeds=newsroom.homes, user_agent=WHO, settings=LOOPBACK, **more)


async def first_stories(run_dir: Path, newsroom: Newsroom, count: int, after: int | None = None) -> list[forager.Story]:
    """So many stories of a crawl that is left behind them."""
    told: list[forager.Story] = []
    async with asyncio.timeout(120), crawling(run_dir, newsroom) as crawl:
        async for story in crawl.stories(after):
            told.append(story)
            if len(told) == count:
                break
    return told
