"""A raw-socket server that breaks every promise of HTTP, one path for each way of misbehaving."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from socket import SO_LINGER, SOL_SOCKET

import brotli
import zstandard

from forager.terms import Url

Misdeed = Callable[[asyncio.StreamWriter], Awaitable[None]]

BOMB_SIZE = 50_000_000


def _ok(body: bytes, *headers: str, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {size}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def send(raw: bytes) -> Misdeed:
    """Send exactly this and close."""

    async def misdeed(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return misdeed


def endlessly(start: bytes, piece: bytes, pause: float = 0.0) -> Misdeed:
    """Send a start, then a piece again and again until the client goes away."""

    async def misdeed(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return misdeed


async def reset_in_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(_ok(b"half of", length=1000))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def smuggle(writer: asyncio.StreamWriter) -> None:
    """A second answer in the tail of the first, on a connection that stays open."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"
    writer.write(answer + b"asked for"[:8] + answer + b"smuggled")
    await writer.drain()
    await asyncio.sleep(3600)


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


def _zlib_bomb(wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return packer.compress(bytes(BOMB_SIZE)) + packer.flush()


@cache
def misdeeds() -> dict[str, Misdeed]:
    """Path -> what the server does when asked for it."""
    bombs = {
        "gzip": _zlib_bomb(31),
        "deflate": _zlib_bomb(15),
        "br": brotli.compress(bytes(BOMB_SIZE), quality=5),
        "zstd": zstandard.compress(bytes(BOMB_SIZE)),
    }
    inner = zlib.compressobj(9, zlib.DEFLATED, 31)
    twice = inner.compress(bombs["gzip"]) + inner.flush()
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return {
        **{f"/bomb/{name}": send(_ok(bomb, f"Content-Encoding: {name}")) for name, bomb in bombs.items()},
        "/bomb/twice": send(_ok(twice, "Content-Encoding: gzip, gzip")),
        "/drip": endlessly(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b".", pause=0.02),
        "/drip/headers": endlessly(b"HTTP/1.1 200 OK\r\n", b"X", pause=0.02),
        "/endless/headers": endlessly(b"HTTP/1.1 200 OK\r\n", b"X-Padding: " + b"x" * 1000 + b"\r\n"),
        "/endless/header": endlessly(b"HTTP/1.1 200 OK\r\nX-Padding: ", b"x" * 10_000),
        "/endless/interim": endlessly(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        "/endless/body": endlessly(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 10_000),
        "/endless/chunks": endlessly(chunked, b"2710\r\n" + b"x" * 10_000 + b"\r\n"),
        "/large": send(_ok(b"", length=10**12)),
        "/broken/chunks": send(chunked + b"5\r\nhello\r\nrubbish\r\n"),
        "/cut/chunks": send(chunked + b"5\r\nhello\r\n"),
        "/length/long": send(_ok(b"short", length=1000)),
        "/length/short": send(_ok(b"exactly this<script>HTTP/1.1 200 OK\r\n\r\n", length=12)),
        "/smuggling": smuggle,
        "/length/wild": send(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello"),
        "/encoding/wrong": send(_ok(b"<html>not gzip at all</html>", "Content-Encoding: gzip")),
        "/encoding/cut": send(_ok(zlib.compress(bytes(range(256)) * 40)[:60], "Content-Encoding: deflate")),
        "/encoding/unknown": send(_ok(b"LZW", "Content-Encoding: compress")),
        "/encoding/charset": send(_ok(b"plain", "Content-Encoding: utf-8")),
        "/encoding/stacked": send(_ok(b"x", "Content-Encoding: " + ", ".join(["gzip"] * 50))),
        "/empty": send(_ok(b"", "Content-Encoding: gzip")),
        "/reset": reset_in_the_body,
        "/silence": silence,
        "/nothing": send(b""),
        "/garbage": send(bytes(range(256)) * 4),
        "/ssh": send(b"SSH-2.0-OpenSSH_9.6\r\n"),
        "/location/long": send(b"HTTP/1.1 302 Found\r\nLocation: /" + b"x" * 1_000_000 + b"\r\n\r\n"),
        "/location/none": send(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        "/header/bytes": send(
            b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nETag: "caf\xe9"\r\n\r\nok'
        ),
        "/status/odd": send(b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n"),
        "/unasked/304": send(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    }


@dataclass(slots=True)
class Hostile:
    """The running server: its port, and what it was asked for."""

    port: int = 0
    asked: list[str] = field(default_factory=list)

    def url(self, path: str, *, scheme: str = "http", host: str = "127.0.0.1") -> Url:
        return Url(f"{scheme}://{host}:{self.port}{path}")


@asynccontextmanager
async def misbehaving(extra: dict[str, Misdeed] | None = None) -> AsyncIterator[Hostile]:
    """The hostile server on an ephemeral port; `/hop/N` redirects to `/hop/N+1` for ever, `/to/URL` to that URL."""
    hostile = Hostile()
    deeds = {**misdeeds(), **(extra or {})}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await reader.readline()
            if line[:1] == b"\x16":  # a TLS hello: the scheme was https
                hostile.asked.append("tls")
                await silence(writer)
            path = line.split(b" ")[1].decode()
            hostile.asked.append(path)
            while (await reader.readline()).strip():
                pass
            await _deed(path, deeds)(writer)
        except (ConnectionError, IndexError, ValueError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    hostile.port = server.sockets[0].getsockname()[1]
    try:
        yield hostile
    finally:
        server.close()


def _deed(path: str, deeds: dict[str, Misdeed]) -> Misdeed:
    target = None
    if path.startswith("/hop/"):
        target = f"/hop/{int(path.removeprefix('/hop/')) + 1}"
    elif path.startswith("/loop/"):
        target = "/loop/b" if path == "/loop/a" else "/loop/a"
    elif path.startswith("/to/"):
        target = path.removeprefix("/to/")
    if target is not None:
        return send(
            f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
    return deeds.get(path, send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
