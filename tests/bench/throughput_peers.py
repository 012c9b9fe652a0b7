"""The peers of the throughput bench: Scrapy, Scrapy with lexbor, and a loop written by hand for this very site.

Each fetches all pages of the site, reads title and links, follows every link once, and stores the page with its links in
SQLite, a commit every 500 pages. None of them reads text, dates or fingerprints, asks robots.txt, guards addresses or
survives a kill: what Forager does besides is its handicap.
"""

import asyncio
import sqlite3
import tempfile
from array import array
from pathlib import Path
from types import TracebackType
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

BATCH = 500
CONCURRENT = 48


class Pages:
    """The pages in SQLite and the URLs met so far."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="throughput-")
        self._connection = sqlite3.connect(Path(self._folder.name, "pages.db"), isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE pages (url TEXT, title TEXT, size INTEGER, links BLOB)")
        self._rows: list[tuple[str, str, int, bytes]] = []
        self.numbers: dict[str, int] = {}
        self.stored = 0

    def __enter__(self) -> "Pages":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()
        self._connection.close()
        self._folder.cleanup()

    def meet(self, urls: list[str]) -> list[str]:
        """Those not met before."""
        new = [url for url in dict.fromkeys(urls) if url not in self.numbers]
        for url in new:
            self.numbers[url] = len(self.numbers)
        return new

    def store(self, url: str, title: str, size: int, links: list[str]) -> None:
        self._rows.append((url, title, size, array("i", [self.numbers[link] for link in links]).tobytes()))
        self.stored += 1
        if len(self._rows) >= BATCH:
            self._write()

    def _write(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO pages VALUES (?,?,?,?)", self._rows)
        self._connection.execute("COMMIT")
        self._rows.clear()


def scrapy(start: str, *, lexbor: bool) -> int:
    """Scrapy with everything off that costs and is not needed here; the number of pages stored."""
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.http import Response

    settings = {
        "CONCURRENT_REQUESTS": CONCURRENT,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT,
        "DOWNLOAD_DELAY": 0,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "HTTPCACHE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
        "LOGSTATS_INTERVAL": 0,
        "DEPTH_STATS_VERBOSE": False,
        "DNSCACHE_ENABLED": True,
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "SPIDER_MIDDLEWARES": {
            "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
            "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
            "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        },
    }
    with Pages() as pages:

        class Sweep(Spider):  # type: ignore[misc]
            name = "sweep"
            custom_settings = settings

            async def start(self):  # type: ignore[no-untyped-def]
                pages.meet([start])
                yield Request(start, dont_filter=True)

            def parse(self, response: Response):  # type: ignore[no-untyped-def]
                if lexbor:
                    tree = LexborHTMLParser(response.body)
                    named = tree.css_first("title")
                    title = "" if named is None else named.text()
                    hrefs = [node.attributes["href"] or "" for node in tree.css("a[href]")]
                else:
                    title = response.xpath("//title/text()").get()
                    hrefs = response.xpath("//a/@href").getall()
                links = [urljoin(response.url, href) for href in hrefs]
                new = pages.meet(links)
                pages.store(response.url, title, len(response.body), links)
                for url in new:
                    yield Request(url, dont_filter=True)

        process = CrawlerProcess(settings)
        process.crawl(Sweep)
        process.start()
        return pages.stored


async def by_hand(start: str) -> int:
    """What Python can do at best with these libraries: aiohttp, ISA-L, lexbor, a memo of joined links."""
    import aiohttp
    import can_ada
    from isal import igzip

    joined: dict[str, str] = {}
    base = can_ada.parse(start)
    queue: asyncio.Queue[str] = asyncio.Queue()
    connector = aiohttp.TCPConnector(limit=0)
    with Pages() as pages:
        async with aiohttp.ClientSession(
            connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:

            async def work() -> None:
                while True:
                    url = await queue.get()
                    async with session.get(url) as response:
                        body = igzip.decompress(await response.read())
                    tree = LexborHTMLParser(body)
                    links = []
                    for node in tree.css("a[href]"):
                        href = node.attributes["href"] or ""
                        link = joined.get(href)
                        if link is None:
                            link = joined[href] = (base + href).href
                        links.append(link)
                    for new in pages.meet(links):
                        queue.put_nowait(new)
                    title = tree.css_first("title")
                    pages.store(url, title.text() if title else "", len(body), links)
                    queue.task_done()

            for url in pages.meet([start]):
                queue.put_nowait(url)
            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(work()) for _ in range(CONCURRENT)]
                await queue.join()
                for worker in workers:
                    worker.cancel()
        return pages.stored
