"""Recording on the way: nothing is lost, nobody is held up without need, and trouble is said."""

import asyncio
import gzip
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from forager.assembly import open_wire
from forager.clock import LoopClock, WallClock, run_virtual
from forager.errors import OutputError
from forager.settings import load_settings
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.warc.captures import Capture, captures
from forager.warc.exchange import Exchange
from forager.warc.recorder import BackgroundRecorder, Recording
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import WarcWriter, warcs_in
from forager.web.live import Live
from forager.web.web_settings import LiveSettings, RecordingSettings
from tests.server import LOOPBACK, Served, serving
from tests.virtual import InlineRecorder

AGENT = "Forager/0.1 (+https://example.org/bot)"
PAGE = Url("https://paper.example/")
BODY = b"x" * 10_000


class Slow:
    """A web that takes three seconds of its clock."""

    def __init__(self, clock: LoopClock) -> None:
        self.clock = clock

    async def fetch(self, request: Request) -> Response:
        asked = self.clock.now()
        await self.clock.sleep(3.0)
        return Response(request.url, Outcome.FETCHED, asked, 3.0, 200, body=b"slow", wire_bytes=4)


class Echo:
    """A web that answers at once, with a body for each URL."""

    async def fetch(self, request: Request) -> Response:
        body = BODY + request.url.encode()
        return Response(request.url, Outcome.FETCHED, 1.76e9, 0.0, 200, body=body, wire_bytes=len(body))


class Still:
    """A clock that stands until it is set; sleeping takes no time."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        pass


class GatedWriter(WarcWriter):
    """Writes only while its gate is open."""

    def __init__(self, directory: Path, settings: RecordingSettings) -> None:
        super().__init__(directory, settings, AGENT)
        self.gate = threading.Event()

    def write(self, exchanges: Iterable[Exchange]) -> None:
        assert self.gate.wait(30)
        super().write(exchanges)


class CountingWriter(WarcWriter):
    """Counts its batches."""

    batches = 0

    def write(self, exchanges: Iterable[Exchange]) -> None:
        self.batches += 1
        super().write(exchanges)


def page(number: int) -> Request:
    return Request(Url(f"{PAGE}{number}"))


def taped(directory: Path) -> list[Capture]:
    return [found for found in captures(warcs_in(directory)) if isinstance(found, Capture)]


def test_an_exchange_is_taped_with_when_it_was_asked_and_how_long_it_took(tmp_path: Path) -> None:
    async def crawl() -> Response:
        clock = LoopClock(1.76e9)
        recorder = InlineRecorder(WarcWriter(tmp_path, RecordingSettings(), AGENT))
        response = await Recording(Slow(clock), recorder, clock).fetch(Request(PAGE))
        await recorder.close()
        return response

    response = run_virtual(crawl())
    (capture,) = taped(tmp_path)
    assert capture.response == response
    assert (capture.response.asked, capture.took) == (1.76e9, 3.0)


async def test_closing_writes_everything_that_waits(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path, RecordingSettings())
    recorder = BackgroundRecorder(writer)
    web = Recording(Echo(), recorder, WallClock())
    for number in range(50):
        await web.fetch(page(number))
    writer.gate.set()
    await recorder.close()
    assert [capture.request for capture in taped(tmp_path)] == [page(number) for number in range(50)]


async def test_whoever_fetches_waits_when_the_queue_is_full(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path, RecordingSettings(queue=3 * len(BODY)))
    recorder = BackgroundRecorder(writer)
    web = Recording(Echo(), recorder, WallClock())
    for number in range(2):
        await web.fetch(page(number))  # two bodies with their overhead fit, a third does not
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(web.fetch(page(2)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        writer.gate.set()
    assert waiting.result().outcome is Outcome.FETCHED
    await recorder.close()
    assert len(taped(tmp_path)) == 3


async def test_an_exchange_is_taped_even_if_its_asker_gives_up_waiting(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path, RecordingSettings(queue=1))
    recorder = BackgroundRecorder(writer)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Recording(Echo(), recorder, WallClock()).fetch(page(0))
    writer.gate.set()
    await recorder.close()
    assert len(taped(tmp_path)) == 1


async def test_a_recording_that_cannot_be_written_stops_the_crawl_with_a_reason(tmp_path: Path) -> None:
    recorder = BackgroundRecorder(WarcWriter(tmp_path / "warc", RecordingSettings(queue=1), AGENT))
    shutil.rmtree(tmp_path / "warc")
    with pytest.raises(OutputError, match="cannot write the recording"):
        await Recording(Echo(), recorder, WallClock()).fetch(page(0))
    with pytest.raises(OutputError, match="cannot write the recording"):
        await recorder.close()


async def test_a_crawl_in_a_hurry_is_written_in_few_batches(tmp_path: Path) -> None:
    writer = CountingWriter(tmp_path, RecordingSettings(), AGENT)
    recorder = BackgroundRecorder(writer)
    web = Recording(Echo(), recorder, WallClock())
    for number in range(200):
        await web.fetch(page(number))
    await recorder.close()
    assert len(taped(tmp_path)) == 200
    assert writer.batches < 50


async def test_nothing_is_taken_after_closing(tmp_path: Path) -> None:
    recorder = BackgroundRecorder(WarcWriter(tmp_path, RecordingSettings(), AGENT))
    await recorder.close()
    with pytest.raises(OutputError, match="closed"):
        await Recording(Echo(), recorder, WallClock()).fetch(page(0))


@pytest.mark.parametrize("coded", [True, False])
async def test_the_live_web_is_taped_and_replayed_with_its_errors(tmp_path: Path, coded: bool) -> None:
    packed = gzip.compress(b"<p>packed</p>")
    pages: dict[str, Served] = {
        "/": Served(packed, headers={"Content-Encoding": "gzip", "ETag": '"1"', "X-Title": "Gr\u00fc\u00dfe"}),
        "/robots.txt": Served(b"User-agent: *\nDisallow: /private\n" * 9),
        "/moved": Served(b"", 301, {"Location": "/"}),
        "/error": Served(b"broken", 500),
        "/big": Served(b"x" * 5000),
        "/late": Served(b"late", pause=5.0),
        "/torn": Served(packed[:-9], headers={"Content-Encoding": "gzip"}),
    }
    settings = LiveSettings(user_agent=AGENT, allow_addresses=LOOPBACK, body_limit=1000, total_time=0.3)
    async with serving(dict(pages)) as site, Live(WallClock(), settings, keep_coded=coded) as live:
        recorder = BackgroundRecorder(WarcWriter(tmp_path, RecordingSettings(), AGENT))
        web = Recording(live, recorder, WallClock())
        asked = [Request(site.url(path)) for path in [*pages, "/nothing"]]
        asked += [Request(site.url("/"), Validators('"1"')), Request(site.url("/robots.txt"), body_limit=40)]
        asked += [Request(Url("http://127.0.0.1:1/"))]
        answers = [await web.fetch(request) for request in asked]
        await recorder.close()
    troubles = [answer.trouble for answer in answers]
    assert troubles[3:7] == [Trouble.STATUS, Trouble.SIZE, Trouble.TIMEOUT, Trouble.PROTOCOL]
    assert answers[0].coded == (packed if coded else b"")
    assert troubles[-1] is Trouble.CONNECT
    read = taped(tmp_path)
    assert [capture.request for capture in read] == asked
    assert [capture.response for capture in read] == answers

    clock = Still()
    replay = WarcWeb(warcs_in(tmp_path), clock)
    for request, answer in zip(asked, answers, strict=True):
        clock.time = answer.asked
        assert await replay.fetch(request) == answer


async def test_the_first_record_tells_the_settings_of_the_crawl_but_no_secret(tmp_path: Path) -> None:
    live = f"live.allow_addresses=[{LOOPBACK[0]}]"
    secret = "dashboard.token=0123456789abcdef"
    settings = load_settings(Path("/dev/null"), [f"live.user_agent={AGENT}", live, "crawl.cycle=5m", secret]).settings
    async with serving({"/": Served(b"x")}) as site, open_wire(settings, WallClock(), tmp_path) as wire:
        await wire.web.fetch(Request(site.url("/")))
    with gzip.open(warcs_in(tmp_path)[0]) as file:
        told = file.read().decode()
    assert '"crawl.cycle":300.0' in told
    assert "0123456789abcdef" not in told
