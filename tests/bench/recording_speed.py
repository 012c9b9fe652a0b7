"""How fast recordings are written and read, and what recording costs the event loop.

The peers, in the same run on the same exchanges: warcio for writing, fastwarc and warcio for reading. The exchanges are
pages of the newsroom with a random token each, so that none repeats another. Two rates of writing: of the writer alone
(one thread does nothing else), and through the recorder while the loop goes on. All rates are per second of processor
time, so they mean something on a busy machine. The loop's own share is the processor time of the loop's thread for each
exchange, with and without a recording round the same web.

    python tests/bench/recording_speed.py                 # half a minute
    python tests/bench/recording_speed.py --exchanges 20000
"""

import argparse
import asyncio
import io
import tempfile
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from isal import isal_zlib
from rich.console import Console
from rich.table import Table
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from forager.clock import LoopClock, WallClock, run_virtual
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.terms import Outcome, Request, Response, Url
from forager.warc.captures import captures
from forager.warc.exchange import Exchange
from forager.warc.recorder import BackgroundRecorder, Recording
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import WarcWriter, warcs_in
from forager.web.web_settings import RecordingSettings

AGENT = "Forager/0.1 (+https://example.org/bot)"


def sample(count: int) -> list[Exchange]:
    """Pages as a crawl meets them: home pages, sections, articles, each different from every other."""

    async def fetch() -> list[Response]:
        settings = NewsroomSettings(days=2, latency=0.0, resets=0.0, errors=0.0, busy=0.0)
        room = Newsroom(settings, LoopClock(settings.start + 1.5 * 86400))
        articles = [Url(f"{room.bases[settings.papers[a.paper].name]}{a.path}") for a in room.plan.articles[:200]]
        pages = [await room.fetch(Request(url)) for url in [*room.homes * 10, *articles]]
        return [page for page in pages if page.outcome is Outcome.FETCHED]

    pages = run_virtual(fetch())
    made = []
    for number in range(count):
        page = pages[number % len(pages)]
        body = page.body + f"<!-- {number:032x} -->".encode()
        url = Url(f"{page.url}?n={number}")
        response = replace(page, url=url, body=body, wire_bytes=len(body), seconds=0.1, asked=1.7e9 + number)
        made.append(Exchange(Request(url), response, 0.1))
    return made


def as_they_came(exchanges: list[Exchange]) -> list[Exchange]:
    """The same from a server that compresses, as most do: bodies are kept as they came."""

    def coded(exchange: Exchange) -> Exchange:
        response = exchange.response
        packed = isal_zlib.compress(response.body, 2, 31)
        headers = (*response.headers, ("content-encoding", "gzip"), ("content-length", str(len(packed))))
        return replace(exchange, response=replace(response, headers=headers, coded=packed, wire_bytes=len(packed)))

    return [coded(exchange) for exchange in exchanges]


class Replies:
    """A web that answers at once from a list."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._answers = iter(exchanges)

    async def fetch(self, request: Request) -> Response:
        await asyncio.sleep(0)
        return next(self._answers).response


def seconds_of(work: object) -> float:
    assert callable(work)
    started = time.process_time()
    work()
    return time.process_time() - started


def write_ours(exchanges: list[Exchange], directory: Path, level: int) -> int:
    writer = WarcWriter(directory, RecordingSettings(level=level), AGENT)
    writer.write(exchanges)
    writer.close()
    return sum(path.stat().st_size for path in warcs_in(directory))


def write_warcio(exchanges: list[Exchange], path: Path) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.1")
        for exchange in exchanges:
            response = exchange.response
            asked = StatusAndHeaders("GET / HTTP/1.1", [("User-Agent", AGENT)], is_http_request=True)
            headers = StatusAndHeaders("200 OK", list(response.headers), protocol="HTTP/1.1")
            answer = writer.create_warc_record(
                response.url, "response", io.BytesIO(response.body), http_headers=headers
            )
            question = writer.create_warc_record(response.url, "request", http_headers=asked)
            writer.write_request_response_pair(question, answer)


async def through_the_recorder(
    exchanges: list[Exchange], directory: Path | None, callers: int = 16
) -> tuple[float, float]:
    """Processor seconds until everything is on disk: of all threads, and of the loop's thread."""
    web: Replies | Recording = Replies(exchanges)
    recorder = None
    if directory is not None:
        recorder = BackgroundRecorder(WarcWriter(directory, RecordingSettings(), AGENT))
        web = Recording(web, recorder, WallClock())
    todo = iter([exchange.request for exchange in exchanges])
    started, loop_started = time.process_time(), time.thread_time()

    async def caller() -> None:
        for request in todo:
            await web.fetch(request)

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(caller())
    if recorder is not None:
        await recorder.close()
    return time.process_time() - started, time.thread_time() - loop_started


def read_fastwarc(path: Path) -> None:
    with path.open("rb") as file:
        for record in FastIterator(file, parse_http=True):
            record.reader.read()


def read_warcio(path: Path) -> None:
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            record.content_stream().read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchanges", type=int, default=4000)
    exchanges = sample(parser.parse_args().exchanges)
    count, volume = len(exchanges), sum(len(exchange.response.body) for exchange in exchanges)
    table = Table(title=f"{count} exchanges, {volume / count / 1000:.1f} kB each (a request and a response record)")
    for column in ("what", "exchanges/s", "MB/s", "size, % of body", "against the peer"):
        table.add_column(column, justify="left" if column == "what" else "right")

    def row(name: str, seconds: float, peer: float | None = None, size: int | None = None) -> None:
        share = "" if size is None else f"{100 * size / volume:.1f}"
        ratio = "" if peer is None else f"{peer / seconds:.1f} x"
        table.add_row(name, f"{count / seconds:,.0f}", f"{volume / seconds / 1e6:.0f}", share, ratio)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer_file = folder / "peer.warc.gz"
        peer = seconds_of(lambda: write_warcio(exchanges, peer_file))
        row("write: warcio (zlib 9)", peer, None, peer_file.stat().st_size)
        for level in (0, 1, 2, 3, 6, 9):
            directory = folder / f"level-{level}"
            sizes: list[int] = []
            took = seconds_of(lambda into=directory, at=level, out=sizes: out.append(write_ours(exchanges, into, at)))
            row(f"write: level {level}", took, peer, sizes[0])
        packed = as_they_came(exchanges)
        sizes = []
        took = seconds_of(lambda out=sizes: out.append(write_ours(packed, folder / "packed", 2)))
        row("write: bodies that came compressed", took, peer, sizes[0])
        _, bare_loop = asyncio.run(through_the_recorder(exchanges, None))
        both, loop = asyncio.run(through_the_recorder(packed, folder / "recorder"))
        row("record these while the loop runs", both, peer)
        (ours,) = warcs_in(folder / "level-2")
        warcio = seconds_of(lambda: read_warcio(ours))
        row("read: warcio", warcio)
        row("read: fastwarc", seconds_of(lambda: read_fastwarc(ours)), warcio)
        row("read: captures, all decoded and understood", seconds_of(lambda: deque(captures([ours]), maxlen=0)), warcio)
        row("open a WarcWeb", seconds_of(lambda: WarcWeb([ours], WallClock())), warcio)
    console = Console()
    console.print(table)
    console.print(
        f"the loop's thread spends {1e6 * (loop - bare_loop) / count:.0f} µs per exchange on recording "
        f"({1e6 * loop / count:.0f} with, {1e6 * bare_loop / count:.0f} without)"
    )


if __name__ == "__main__":
    main()
