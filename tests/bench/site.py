"""A made-up news site on loopback for the throughput bench: pages of 41 KB with 79 links, gzipped, ready in memory.

    python tests/bench/site.py --pages 20000 --core 1
    python tests/bench/site.py --recorded

Prints its port and the number of its pages once it serves, and ends with its standard input. Every page is reachable from
`/`: 26 links are the same on all pages, the other 53 lead to pages spread over the whole site. The story of a page is dated
within the last year. With `--recorded` the pages are real ones instead, see `recorded_site.py`.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from isal import isal_zlib
from recorded_site import recorded_documents

LINKS, TEASERS = 79, 53
SECTIONS = ("world", "business", "sport", "culture", "science", "local", "opinion", "travel")
PROSE = (
    "the council said on Monday that a new bridge over the river would open next year after long talks about money and "
    "land while farmers in the valley wait for rain and the harbour master counts ships from many countries"
)
WORDS = PROSE.split()
ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /*?print=\nDisallow: /account/\nAllow: /account/help\n"


def sentence(number: int, length: int = 18) -> str:
    words = [WORDS[(number * 7 + place * (number % 5 + 1)) % len(WORDS)] for place in range(length)]
    return " ".join(words).capitalize() + "."


def path(number: int) -> str:
    if number == 0:
        return "/"
    return f"/{SECTIONS[number % 8]}/2024/{number % 12 + 1:02d}/a-story-of-some-length-{number}"


def targets(number: int, pages: int) -> list[int]:
    """The pages that the teasers lead to: the next ones in a tree of 13 branches, so that all are reached, and others."""
    tree = [number * 13 + branch for branch in range(1, 14) if number * 13 + branch < pages]
    step = pages // (TEASERS + 1) + 1
    others = ((number * 31 + place * step + 1) % pages for place in range(1, 4 * TEASERS))
    return list(dict.fromkeys([*tree, *(other for other in others if other != number)]))[:TEASERS]


def page(number: int, pages: int, now: datetime) -> bytes:
    """About 41 KB of markup with 79 different links."""
    date = (now - timedelta(hours=number * 7 % 8760 + 1)).isoformat(timespec="seconds")
    top = "".join(
        f'<li class="menu__item"><a href="{path(item + 1)}">{SECTIONS[item].title()}</a></li>' for item in range(8)
    )
    low = "".join(f'<li><a href="{path(item + 9)}">About {SECTIONS[item]}</a></li>' for item in range(8))
    teasers = "".join(
        f'<div class="teaser teaser--small" data-id="{item}"><a class="teaser__link" href="{path(target)}">'
        f'<img class="teaser__image" src="/i/{item}.jpg" alt="Picture {item}" loading="lazy" width="320" height="180">'
        f'<h3 class="teaser__title">{sentence(target, 9)}</h3></a>'
        f'<p class="teaser__kicker">{sentence(item, 12)}</p></div>'
        for item, target in enumerate(targets(number, pages))
    )
    paragraphs = "".join(
        f'<p class="article__paragraph">{" ".join(sentence(number * 16 + 3 * part + i) for i in range(4))}'
        + (f' <a href="{path(part + 17)}">more on {WORDS[part]}</a>' if part < 10 else "")
        + "</p>"
        for part in range(16)
    )
    script = "window.dataLayer=window.dataLayer||[];" + "".join(f"dataLayer.push({{k{i}:'v{i}'}});" for i in range(210))
    style = "".join(f".c{i}{{margin:{i}px;padding:0 {i}px;color:#333}}" for i in range(90))
    return (
        f'<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>{sentence(number, 8)} | Gazette</title>'
        '<meta property="og:type" content="article"><meta property="og:site_name" content="Gazette">'
        f'<meta property="article:published_time" content="{date}"><meta name="robots" content="index">'
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle",'
        f'"headline":"Story {number}","datePublished":"{date}","dateModified":"{date}"}}</script>'
        f"<style>{style}</style><script>{script}</script></head><body>"
        f'<header class="site-header"><nav class="menu"><ul>{top}</ul></nav></header>'
        f'<main><article class="article"><h1>{sentence(number, 8)}</h1>'
        f'<time datetime="{date}">a while ago</time>{paragraphs}</article></main>'
        f'<aside class="related">{teasers}</aside><footer class="site-footer"><ul>{low}</ul></footer></body></html>'
    ).encode()


def made_up(pages: int, now: datetime) -> Iterator[tuple[str, bytes]]:
    return ((path(number), page(number, pages, now)) for number in range(pages))


def answers(documents: Iterable[tuple[str, bytes]], now: datetime) -> dict[bytes, bytes]:
    """The whole answer to each path, as bytes on the wire."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(ROBOTS)}\r\n\r\n"
    ready = {b"/robots.txt": head.encode() + ROBOTS}
    for number, (path, document) in enumerate(documents):
        body = isal_zlib.compress(document, 2, 31)
        head = (
            f"HTTP/1.1 200 OK\r\nDate: {format_datetime(now, usegmt=True)}\r\nServer: bench\r\n"
            f"Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
            f'ETag: "{number:08x}"\r\nContent-Length: {len(body)}\r\n\r\n'
        )
        ready[path.encode()] = head.encode() + body
    return ready


class Server(asyncio.Protocol):
    """Answers GETs on a kept connection, nothing else: it must not be what limits the crawl."""

    ready: dict[bytes, bytes]
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport, self.rest = transport, b""

    def data_received(self, data: bytes) -> None:
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for request in requests:
            self.transport.write(self.ready.get(request.split(b" ", 2)[1], self.missing))


async def serve(documents: Iterable[tuple[str, bytes]], now: datetime) -> None:
    Server.ready = answers(documents, now)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], len(Server.ready) - 1, flush=True)  # one is robots.txt
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--recorded", action="store_true", help="serve real pages")
    parser.add_argument("--core", type=int, help="the processor core to run on")
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    now = datetime.now(UTC)
    served = serve(recorded_documents() if options.recorded else made_up(options.pages, now), now)
    try:
        import uvloop
    except ImportError:
        asyncio.run(served)
    else:
        uvloop.run(served)


if __name__ == "__main__":
    main()
