"""The live web: one GET over aiohttp, within limits, to public addresses only.

Whatever a server does ends in a `Response` in bounded time, memory and bytes. Redirects, retries, robots.txt and
politeness belong to the webs around this one.

Exceptions of aiohttp and the operating system become one kind of trouble and one line.

The guard allows connections to public addresses only, whatever a name or a redirect points to. Checking the name or the
URL is not enough: a name can resolve to another address a moment later (DNS rebinding), and an address can be written
in many ways. So the guard checks where a socket is created for one concrete address, and checks the peer of the
connection once more before a request is written to it.
"""

import asyncio
import errno
import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.connector import Connection
from yarl import URL

from forager.clock import Clock
from forager.errors import SettingsError
from forager.terms import Outcome, Request, Response, Trouble
from forager.web.inflate import InflateError, Inflater
from forager.web.web import NO_SUCH_HOST, Answer, decoded_headers, failed, judged, one_line, request_headers
from forager.web.web_settings import LiveSettings

Address = IPv4Address | IPv6Address

_REMEMBERED = 10_000
"""Number of addresses whose verdict is cached (ours)."""

_NAT64 = IPv6Network("64:ff9b::/96")
_NO_SUCH_NAME = frozenset({1, 4, socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
"""Error numbers for an unknown name: c-ares ENODATA and ENOTFOUND, and those of getaddrinfo."""


class AddressRefusedError(OSError):
    """Raised inside the connector instead of creating a socket."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, "the address guard refuses the address")  # one fixed text: see `Live`
        self.address = address


class Guard:
    """Refuses addresses that are not public (loopback, private, link-local, shared, multicast, reserved), unless
    allowed."""

    def __init__(self, allow_addresses: Sequence[str] = ()) -> None:
        try:
            self.allowed = tuple(ip_network(text, strict=False) for text in allow_addresses)
        except ValueError as error:
            message = f"allow_addresses: {error}; write addresses or networks such as 127.0.0.1, 10.0.0.0/8 or ::1"
            raise SettingsError(message) from None
        self.permits = lru_cache(_REMEMBERED)(self._permits)
        """Whether we may connect to this address; refuses anything that is not an address."""

    def __repr__(self) -> str:
        return f"<Guard public addresses{''.join(f' and {network}' for network in self.allowed)}>"

    def _permits(self, address: str) -> bool:
        try:
            written = ip_address(address)
        except ValueError:
            return False
        meant = _embedded(written)
        return _public(meant) or any(one in network for network in self.allowed for one in (written, meant))

    def check(self, address: str) -> None:
        if not self.permits(address):
            raise AddressRefusedError(address)

    def make_socket(
        self, addr_info: tuple[socket.AddressFamily | int, socket.SocketKind | int, int, str, tuple[object, ...]]
    ) -> socket.socket:
        """Makes a socket for one concrete address (aiohttp's `socket_factory`); raises AddressRefusedError."""
        family, kind, proto, _, sockaddr = addr_info
        self.check(str(sockaddr[0]))
        return socket.socket(family=family, type=kind, proto=proto)


def _embedded(address: Address) -> Address:
    """Returns the IPv4 address inside an IPv6 address (mapped, 6to4, NAT64), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _public(address: Address) -> bool:
    odd = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not odd and not site_local


class _LostError(aiohttp.ClientError):
    """The connection broke after the request and before an answer came."""


class _TooManyHeadersError(aiohttp.ClientError):
    """All headers together exceeded their limit."""


def _diagnosis(error: BaseException) -> tuple[Trouble, str]:
    """Names the kind of trouble, with a line for people."""
    refused = next((cause for cause in _causes(error) if isinstance(cause, AddressRefusedError)), None)
    if refused is not None:
        return Trouble.ADDRESS, f"{refused.address} is not a public address; live.allow_addresses can allow it"
    match error:
        case aiohttp.ClientConnectorDNSError():
            return Trouble.DNS, _dns(error)
        case ssl.SSLError() | aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return Trouble.TLS, f"no secure connection: {_words(error)}"
        case aiohttp.ConnectionTimeoutError():
            return Trouble.CONNECT, "no connection within the connect time"
        case TimeoutError():
            return Trouble.TIMEOUT, "no complete answer within the total time"
        case _LostError() | aiohttp.ClientConnectionError() | OSError():
            return Trouble.CONNECT, f"no connection: {_words(error)}"
        case _TooManyHeadersError():
            return Trouble.HEADERS, "the headers are too large"
        case aiohttp.ClientResponseError():
            return _broken(error)
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError() | ValueError():
            return Trouble.URL, f"not a URL we can ask for: {_words(error)}"
        case _:
            return Trouble.PROTOCOL, _words(error)


def _broken(error: aiohttp.ClientResponseError) -> tuple[Trouble, str]:
    if error.message.startswith(("Got more than", "Too many headers")):  # aiohttp has no exception of its own for it
        return Trouble.HEADERS, f"the headers are too large: {one_line(error.message, 120)}"
    return Trouble.PROTOCOL, f"not an HTTP answer: {one_line(error.message, 120)}"


def _dns(error: aiohttp.ClientConnectorDNSError) -> str:
    codes = {cause.args[0] for cause in _causes(error) if cause.args and isinstance(cause.args[0], int)}
    what = NO_SUCH_HOST if codes & _NO_SUCH_NAME else "the name cannot be looked up"
    return f"{what}: {error.host}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _words(error: BaseException) -> str:
    return one_line(str(error), 200) or type(error).__name__


@dataclass(slots=True)
class _Asking:
    """What is known of the current request, in case it fails."""

    guard: Guard
    address: str = ""
    body: Inflater | None = None

    @property
    def wire_bytes(self) -> int:
        return self.body.wire_bytes if self.body else 0


_ASKABLE = re.compile(r"https?://[!-~]+")
_asking: ContextVar[_Asking] = ContextVar("asking")


class _GuardedRequest(aiohttp.ClientRequest):
    """Checks the peer before a byte is written to it; only here does aiohttp reliably expose the connection."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        peer = conn.transport.get_extra_info("peername") if conn.transport else None
        asking = _asking.get()
        asking.address = str(peer[0]) if peer else ""
        asking.guard.check(asking.address)
        return await super().send(conn)


async def _ask_once(request: aiohttp.ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """Makes exactly one request per visit; aiohttp alone would repeat it at once if a kept connection broke."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError, AddressRefusedError) as error:
        raise _LostError(f"lost before an answer came ({error})") from error


class Live:
    """A web on sockets; close it, or use it as `async with Live(clock) as web`."""

    def __init__(self, clock: Clock, settings: LiveSettings | None = None, *, keep_coded: bool = False) -> None:
        """`keep_coded`: responses also carry their bodies as transferred."""
        self.clock, self.keep_coded = clock, keep_coded
        self.settings = settings or LiveSettings()
        self.guard = Guard(self.settings.allow_addresses)
        self._session: aiohttp.ClientSession | None = None
        self._asked = 0

    def __repr__(self) -> str:
        return f"<Live {self._asked} asked, {'closed' if self._session is None else 'open'}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections; a later fetch opens new ones."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def fetch(self, request: Request) -> Response:
        self._asked += 1
        asked, loop = self.clock.now(), asyncio.get_running_loop()
        started = loop.time()
        asking = _Asking(self.guard)
        _asking.set(asking)
        try:
            async with asyncio.timeout(self.settings.total_time):
                response = await self._ask(request, asking, asked, started)
            await asyncio.sleep(0)  # lets all tasks take in what has arrived: batching is faster
            return response
        except (aiohttp.ClientError, OSError, ValueError) as error:
            trouble, words = _diagnosis(error)
        response = failed(request, trouble, words, asked=asked, seconds=loop.time() - started)
        return replace(response, wire_bytes=asking.wire_bytes, address=asking.address)

    async def _ask(self, request: Request, asking: _Asking, asked: float, started: float) -> Response:
        if not _ASKABLE.fullmatch(request.url):
            raise aiohttp.InvalidURL(request.url)
        url = URL(request.url, encoded=True)  # sent unchanged
        headers = request_headers(request, self.settings.user_agent)
        async with self._open().get(url, headers=headers, allow_redirects=False) as wire:
            begun = self.clock.now()
            received = decoded_headers(wire.raw_headers)
            if sum([len(name) + len(value) for name, value in received]) > self.settings.headers_limit:
                raise _TooManyHeadersError
            trouble, words = await self._read(wire, request, asking)
            inflated = asking.body.body if asking.body else b""
            coded = asking.body.coded if asking.body and trouble is Trouble.NONE and not asking.body.full else b""
            answer = Answer(wire.status, received, inflated, asking.wire_bytes, asking.address, coded)
        seconds = asyncio.get_running_loop().time() - started
        response = replace(judged(request, answer, asked=asked, seconds=seconds), begun=begun)
        if trouble is Trouble.NONE or response.outcome is not Outcome.FETCHED:
            return response  # the status of an error page matters, not problems with its body
        return replace(response, outcome=Outcome.FAILED, body=b"", trouble=trouble, error=words)

    async def _read(self, wire: aiohttp.ClientResponse, request: Request, asking: _Asking) -> tuple[Trouble, str]:
        """Fills `asking.body`; returns what is wrong with it, if anything. A connection with unread bytes is not
        reused."""
        cap = self.settings.body_limit
        keep = request.body_limit is not None
        limit = request.body_limit if request.body_limit is not None else cap
        try:
            encoding = ", ".join(wire.headers.getall("Content-Encoding", []))
            asking.body = Inflater(encoding, limit, keep_coded=self.keep_coded)
            if not keep and (wire.content_length or 0) > cap:
                wire.close()
                return Trouble.SIZE, f"Content-Length {wire.content_length} passes the cap of {cap} bytes"
            while piece := await wire.content.read(asking.body.room):
                asking.body.feed(piece)
                if asking.body.full:
                    wire.close()
                    return (Trouble.NONE, "") if keep else (Trouble.SIZE, f"the body passes the cap of {cap} bytes")
                if wire.content.at_eof():
                    break
            asking.body.finish()
        except InflateError as error:
            wire.close()
            return Trouble.PROTOCOL, str(error)
        except (aiohttp.ClientError, ConnectionError) as error:
            return Trouble.PROTOCOL, f"the body broke off: {_diagnosis(error)[1]}"
        return Trouble.NONE, ""

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            caps = self.settings
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    socket_factory=self.guard.make_socket, limit=0, keepalive_timeout=caps.keep_alive
                ),
                request_class=_GuardedRequest,
                middlewares=(_ask_once,),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=caps.connect_time, sock_connect=caps.connect_time),
                auto_decompress=False,
                trust_env=False,
                max_line_size=caps.header_limit,
                max_field_size=caps.header_limit,
                max_headers=caps.header_count,
            )
        return self._session
