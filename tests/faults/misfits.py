"""Hosts of ten kinds of misbehaviour, in virtual time (`MisfitWeb`) or on loopback (`served_misfits`).

Each looks worth a crawl: its home page lists articles, new ones every other hour. Which host does what is in its number, and
what it does follows from the path and the hour, so that two runs meet the same.
"""

import asyncio
import html
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from enum import StrEnum
from socket import SO_LINGER, SOL_SOCKET

from xxhash import xxh3_64_intdigest

from forager.clock import Clock, WallClock
from forager.terms import Request, Response, Trouble, Url
from forager.web.web import Answer, Web, failed, judged

HTML = "text/html; charset=utf-8"
EVERY = 7200.0
"""Seconds between two articles of a host."""
SLOW, LONGEST, POURED = 25.0, 30.0, 20.0
"""Seconds that a slow host takes at least, after which a request is given up (`live.total_time`), and after which a body that
never ends is too long (`live.body_limit`)."""


class Misfit(StrEnum):
    """What is wrong with a host."""

    SLOW = "slow"
    RESETTING = "resetting"
    LYING = "lying lengths"
    ENDLESS = "endless"
    CHARSETS = "wrong charsets"
    ROBOTS = "flapping robots.txt"
    SKEWED = "clock skew"
    MAZE = "redirect maze"
    SOFT = "soft 404"
    CALENDAR = "infinite calendar"


KINDS = tuple(Misfit)


@dataclass(frozen=True, slots=True)
class Deed:
    """What a host does when it is asked."""

    answer: Answer | None
    """None: the connection is reset."""
    wait: float = 0.05
    lies: bool = False
    """More is announced than comes."""
    endless: bool = False
    """The body goes on after what the answer holds."""


def lot(*parts: object) -> int:
    """A large number that follows from the parts alone."""
    return xxh3_64_intdigest("\t".join(map(str, parts)).encode())


def misdeed(number: int, target: str, now: float, asked: int) -> Deed:
    """What host `number`, asked for something `asked` times before, does now."""
    kind, luck = KINDS[number % len(KINDS)], lot(number, target, int(now))
    if target == "/robots.txt":
        return _robots(kind, asked, luck)
    page = Deed(_page(number, kind, target, now))
    match kind:
        case Misfit.SLOW:
            return Deed(page.answer, SLOW * (1 + luck % 100 / 100))
        case Misfit.RESETTING:
            return Deed(None) if luck % 2 else page
        case Misfit.LYING:
            return Deed(page.answer, lies=luck % 3 > 0)
        case Misfit.ENDLESS:
            return Deed(page.answer, endless=target != "/")
        case Misfit.SKEWED if luck % 20 == 0:
            return Deed(_later(number, now))
        case Misfit.MAZE if target.startswith("/story") or target.startswith("/maze"):
            return Deed(_plain(302, now, ("location", f"/maze/{luck % 1000}" if luck % 4 else f"/maze/again?{target}")))
        case _:
            return page


def _robots(kind: Misfit, asked: int, luck: int) -> Deed:
    allowed = _plain(200, 0.0, body=b"User-agent: *\nDisallow: /private\n", mime="text/plain")
    if kind is not Misfit.ROBOTS:
        return Deed(allowed, lies=kind is Misfit.LYING and luck % 3 == 0)
    refused = _plain(200, 0.0, body=b"User-agent: *\nDisallow: /\n", mime="text/plain")
    turns = (allowed, _plain(503, 0.0), refused, None, _plain(404, 0.0), _plain(200, 0.0, body=b"<html>\xff\xfe" * 50))
    return Deed(turns[asked % len(turns)])


def _page(number: int, kind: Misfit, target: str, now: float) -> Answer:
    """A home page, an article, or whatever else the kind shows."""
    latest = int(now / EVERY)
    if target == "/":
        links = [f"/story/{one}-{lot(number, one) % 997}" for one in range(latest - 12, latest + 1)]
        links += [f"/calendar/{_day(now, 0)}"] * (kind is Misfit.CALENDAR)
        return _html(number, kind, now, f"Misfit {number}", "", links)
    if kind is Misfit.CALENDAR and target.startswith("/calendar/"):
        at = _moment(target.removeprefix("/calendar/"), now)
        days = [f"/calendar/{_day(at, off)}" for off in (-30, -7, -1, 1, 7, 30, 365)]
        events = [f"/calendar/{_day(at, 0)}?event={one}" for one in range(5)]
        return _html(number, kind, now, f"Events of {_day(at, 0)}", "", days + events)
    if kind is Misfit.SOFT and not target.startswith("/story"):
        links = [f"/p/{lot(number, target, one) % 10**8}" for one in range(8)]
        return _html(number, kind, now, "Page not found", f"We looked for {target}, in vain.", links)
    if target.startswith("/story/"):
        links = ["/"] + [f"/p/{lot(number, target, one) % 10**8}" for one in range(3)] * (kind is Misfit.SOFT)
        when = _moment(target, now)
        text = " ".join(f"word{lot(number, target, one) % 5000}" for one in range(150))
        return _html(number, kind, when, f"Story {target[7:]} of {number}", text, links, sent=now)
    return _plain(404, now)


def _html(
    number: int, kind: Misfit, now: float, title: str, text: str, links: list[str], sent: float | None = None
) -> Answer:
    skew = (lot(number) % 2001 - 1000) * 3600.0 if kind is Misfit.SKEWED else 0.0
    stamp = datetime.fromtimestamp(now + skew, UTC).isoformat()
    date = f'<meta property="article:published_time" content="{stamp}">' if text else ""
    items = "".join(f"<li><a href='{html.escape(link)}'>Read {html.escape(link)}</a></li>" for link in links)
    body = (
        f"<!doctype html><title>{title}</title>{date}<article><h1>{title}</h1><p>{text}</p></article><ul>{items}</ul>"
    )
    mime, raw = HTML, body.encode()
    if kind is Misfit.CHARSETS:
        codes = ("utf-16", "utf-7", "cp500", "shift_jis", "utf-32-be")
        mime, raw = (
            f"text/html; charset={codes[number // 10 % 5]}",
            body.encode(codes[(number // 10 + 2) % 5], "replace"),
        )
    headers = (("date", formatdate((now if sent is None else sent) + skew, usegmt=True)), ("content-type", mime))
    return Answer(200, (*headers, ("last-modified", formatdate(now + skew, usegmt=True))), raw, len(raw))


def _later(number: int, now: float) -> Answer:
    skew = (lot(number) % 2001 - 1000) * 3600.0
    until, date = formatdate(now + skew + 120, usegmt=True), formatdate(now + skew, usegmt=True)
    return Answer(429, (("date", date), ("retry-after", until)))


def _plain(status: int, now: float, *headers: tuple[str, str], body: bytes = b"?", mime: str = HTML) -> Answer:
    return Answer(status, (("content-type", mime), *headers), body, len(body))


def _day(at: float, off: int) -> str:
    with suppress(OverflowError, ValueError):
        return f"{datetime.fromtimestamp(at, UTC) + timedelta(days=off):%Y-%m-%d}"
    return "2000-01-01"


def _moment(text: str, now: float) -> float:
    """Of a day, or of the path of an article."""
    if text.startswith("/story/"):
        first = text.removeprefix("/story/").partition("-")[0]
        return min(now, int(first) * EVERY) if first.isdigit() else now
    with suppress(ValueError):
        return datetime.fromisoformat(text[:10]).replace(tzinfo=UTC).timestamp()
    return now


class MisfitWeb:
    """So many misfits, named `m0.misfit.example` and so on, beside another web."""

    def __init__(self, inner: Web, clock: Clock, count: int) -> None:
        self.inner, self.clock, self.count = inner, clock, count
        self.asked: Counter[str] = Counter()
        """Requests by kind of host."""
        self._robots: Counter[int] = Counter()

    @property
    def homes(self) -> list[Url]:
        return [Url(f"http://m{number}.misfit{number}.example/") for number in range(self.count)]

    async def fetch(self, request: Request) -> Response:
        name, _, rest = request.url.split("://", 1)[1].partition("/")
        if ".misfit" not in name:
            self.asked["good"] += 1
            return await self.inner.fetch(request)
        number, asked = int(name[1:].partition(".")[0]), self.clock.now()
        self.asked[KINDS[number % len(KINDS)]] += 1
        done = misdeed(number, f"/{rest}", asked, self._robots[number])
        self._robots[number] += rest == "robots.txt"
        wait = (POURED if number % 20 < 10 else LONGEST) if done.endless else done.wait
        await self.clock.sleep(min(wait, LONGEST))
        seconds = self.clock.now() - asked
        if wait >= LONGEST:
            return failed(request, Trouble.TIMEOUT, "it took too long", asked=asked, seconds=seconds)
        if done.answer is None:
            return failed(request, Trouble.CONNECT, "the connection was reset", asked=asked, seconds=seconds)
        if done.lies:
            return failed(request, Trouble.PROTOCOL, "the body is cut off", asked=asked, seconds=seconds)
        if done.endless:
            return failed(request, Trouble.SIZE, "the body is too long", asked=asked, seconds=seconds)
        return judged(request, done.answer, asked=asked, seconds=seconds)


@dataclass(slots=True)
class ServedMisfits:
    """The servers, and what they were asked for, by kind."""

    homes: list[Url]
    asked: Counter[str]


def _handler(
    number: int, served: ServedMisfits
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    robots = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal robots
        with suppress(ConnectionError, IndexError, ValueError, asyncio.IncompleteReadError):
            target = (await reader.readline()).split(b" ")[1].decode()
            while (await reader.readline()).strip():
                pass
            served.asked[KINDS[number % len(KINDS)]] += 1
            done = misdeed(number, target, WallClock().now(), robots)
            robots += target == "/robots.txt"
            await asyncio.sleep(done.wait)
            await _send(writer, done, number)
        writer.close()

    return handle


async def _send(writer: asyncio.StreamWriter, done: Deed, number: int) -> None:
    answer = done.answer
    if answer is None:
        writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return
    length = f"content-length: {len(answer.body) + 1000 * done.lies}\r\n" if not done.endless else ""
    lines = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    writer.write(f"HTTP/1.1 {answer.status} Some\r\nconnection: close\r\n{length}{lines}\r\n".encode() + answer.body)
    await writer.drain()
    while done.endless:  # some pour, some drip
        writer.write(b"x" * (10_000 if number % 20 < 10 else 1))
        await writer.drain()
        await asyncio.sleep(0.02)


@contextmanager
def served_misfits(count: int) -> Iterator[ServedMisfits]:
    """So many misfits on addresses of their own, 127.1.0.1 and on, until left."""
    ready, done = threading.Event(), threading.Event()
    served = ServedMisfits([], Counter())

    async def main() -> None:
        servers = []
        for number in range(count):
            address = f"127.1.{number // 250}.{number % 250 + 1}"
            server = await asyncio.start_server(_handler(number, served), address, 0)
            servers.append(server)
            served.homes.append(Url(f"http://{address}:{server.sockets[0].getsockname()[1]}/"))
        ready.set()
        while not done.is_set():
            await asyncio.sleep(0.05)
        for server in servers:
            server.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(120), "the misfits did not open"
    try:
        yield served
    finally:
        done.set()
        thread.join(10)
