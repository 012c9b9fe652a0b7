"""The nouns that travel between packages: requests, responses, links and how a fetch ended."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

import msgspec

Url = NewType("Url", str)
"""An absolute http(s) URL in canonical form (see `pages.urls.canonical`)."""

UrlId = NewType("UrlId", int)
"""The number the store or the tape gave to a URL; numbers are dense and start at 0."""

ForagerId = NewType("ForagerId", int)

NOBODY = ForagerId(-1)
"""The visitor of a visit that no forager asked for (recrawl cycle, commands)."""


class Outcome(StrEnum):
    """How a fetch ended. Failure is an outcome, never an exception."""

    FETCHED = "fetched"  # a body was received (status 2xx)
    UNCHANGED = "unchanged"  # 304: our copy is current
    MOVED = "moved"  # a redirect that was not followed (by this web)
    GONE = "gone"  # 4xx: it is not there, or not for us
    REFUSED = "refused"  # we do not ask: robots, address guard, budget, scheme
    FAILED = "failed"  # network trouble, 5xx, 429, a cap was hit
    UNRECORDED = "unrecorded"  # a replay has no capture of it at this time


class Trouble(StrEnum):
    """Why a fetch did not end in FETCHED or UNCHANGED; the kinds under which errors are counted."""

    NONE = ""
    STATUS = "status"  # the server said so; see Response.status
    ROBOTS = "robots"  # robots.txt disallows it, or could not be had
    ADDRESS = "address"  # the address guard refused the connected IP
    BUDGET = "budget"  # the host's hourly or daily budget is spent
    URL = "url"  # not an http(s) URL we can ask for
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"  # no answer, or not complete, within the total time
    SIZE = "size"  # the body, after decompression, passed the cap
    HEADERS = "headers"  # too many or too long headers
    PROTOCOL = "protocol"  # not HTTP: broken chunking, wrong lengths, bad compression
    REDIRECTS = "redirects"  # too many hops, or a loop


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave us to ask "has it changed?" with; sent back verbatim."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the web: a GET, conditional if there are validators."""

    url: Url
    validators: Validators = Validators()
    body_limit: int | None = None
    """Bytes after decompression to read at most instead of the web's own cap; reading stops there and keeps what came."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A redirect on the way: who redirected, with which status, and when that was asked."""

    url: Url
    status: int
    asked: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request, or the reason why there is none."""

    url: Url
    """The URL that answered: the last one after redirects."""
    outcome: Outcome
    asked: float
    """When the (last) request went out, UTC seconds since the epoch."""
    seconds: float = 0.0
    """From asking to the last byte."""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    """As received, in order, names in lower case."""
    body: bytes = b""
    """After decompression."""
    wire_bytes: int = 0
    """Bytes of the body as transferred."""
    hops: tuple[Hop, ...] = ()
    trouble: Trouble = Trouble.NONE
    error: str = ""
    """One line for people; empty if nothing went wrong."""
    address: str = ""
    """The IP address that answered."""
    coded: bytes = field(default=b"", repr=False, compare=False)
    """The whole body as it was transferred, compressed as its Content-Encoding says, for recordings; empty if it was not."""

    def header(self, name: str) -> str:
        """The first header of this (lower case) name, or the empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""

    @property
    def first_url(self) -> Url:
        """The URL that was asked for, before redirects."""
        return self.hops[0].url if self.hops else self.url


class Region(StrEnum):
    """Where on a page a link stands."""

    NAV = "nav"
    MAIN = "main"
    ASIDE = "aside"
    FOOTER = "footer"


class Channel(StrEnum):
    """How a URL was found first."""

    SEED = "seed"
    LINK = "link"
    FEED = "feed"
    SITEMAP = "sitemap"
    ALTERNATE = "alternate"
    CANONICAL = "canonical"
    REDIRECT = "redirect"
    ROBOTS = "robots"  # a Sitemap line of robots.txt
    ARCHIVE = "archive"  # captures made by others


class Kind(StrEnum):
    """What a page is good for."""

    HUB = "hub"  # a list of links: home, section, topic
    ARTICLE = "article"  # one text
    FEED = "feed"
    SITEMAP = "sitemap"
    OTHER = "other"  # images, PDFs, unreadable bytes


class Link(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A link on a page, in document order; a page has a hundred of them, so they must be cheap."""

    url: Url
    anchor: str = ""
    region: Region = Region.MAIN
    rel: tuple[str, ...] = ()
    channel: Channel = Channel.LINK
    published: float | None = None
    """When a feed or news sitemap says the target was published."""
    title: str = ""
    """What a feed or news sitemap calls the target."""


class DateSource(StrEnum):
    """Where a date was read, best first."""

    JSON_LD = "json-ld"
    META = "meta"
    TIME = "time"
    FEED = "feed"
    TEXT = "text"
    URL = "url"
    LAST_MODIFIED = "last-modified"
    FIRST_SEEN = "first-seen"
    TAPE = "tape"  # a recording says so, but not where it was read


@dataclass(frozen=True, slots=True)
class Dated:
    """A moment with the place it was read from."""

    time: float
    """UTC seconds since the epoch."""
    source: DateSource
    exact: bool = True
    """False if only the day is known; `time` is then the start of that day in the stated zone, else UTC."""
