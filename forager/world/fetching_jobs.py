"""What goes back and forth between a crawl and the processes that fetch for it: frames of a length and a packed record."""

import asyncio
import struct
from collections.abc import Iterator

import msgspec

from forager.pages.settings import PagesSettings
from forager.terms import DateSource, Outcome, Trouble, Url
from forager.world.settings import LiveSettings

LENGTH = struct.Struct("<I")
"""What stands before every record: its length. A length of 0 says "I have started"."""
NUMBER = struct.Struct("<q")
"""The number of the job whose page is being read, or −1: in memory that both processes see."""


class Arrangement(msgspec.Struct):
    """What a process that fetches is told once."""

    live: LiveSettings
    pages: PagesSettings
    seconds: float
    """What reading one page may take; then the process ends."""
    is_raw: bool
    """Bodies are sent along, also as they were transferred: the crawl records them."""


class Job(msgspec.Struct, array_like=True):
    """A URL to be asked for once."""

    number: int
    url: Url
    asked: float
    etag: str = ""
    last_modified: str = ""
    body_limit: int | None = None
    ignored: tuple[DateSource, ...] = ()
    """Sources of dates that are not believed on this site."""
    is_read: bool = True
    """False: nobody must try to read the page; it crashed those who did."""


class Told(msgspec.Struct, array_like=True):
    """How a job ended: a `Response` without what the crawl knows already."""

    number: int
    outcome: Outcome
    seconds: float
    status: int
    headers: tuple[tuple[str, str], ...]
    wire_bytes: int
    trouble: Trouble
    error: str
    address: str
    facts: bytes = b""
    body: bytes = b""
    coded: bytes = b""


class Frames:
    """Cuts what arrives into records."""

    def __init__(self) -> None:
        self._received = bytearray()

    def fed(self, data: bytes) -> Iterator[memoryview]:
        """The records that are complete now; each may be looked at until the next one is asked for."""
        received = self._received
        received += data
        at = 0
        while len(received) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(received, at)
            if len(received) - at - LENGTH.size < length:
                break
            at += LENGTH.size
            with memoryview(received) as view, view[at : at + length] as record:
                yield record
            at += length
        del received[:at]


class Outbox:
    """Sends records, all of one round of the event loop together.

    Each sending wakes the process at the other end, and on a busy machine it then takes the place of this one.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._waiting: list[bytes] = []

    def put(self, record: bytes) -> None:
        """Send a record soon; nothing is sent if the connection ends before."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send)
        self._waiting += LENGTH.pack(len(record)), record

    def _send(self) -> None:
        records, self._waiting = self._waiting, []
        if not self._transport.is_closing():
            self._transport.write(b"".join(records))
