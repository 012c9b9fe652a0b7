"""The types that packages exchange: requests, responses, links, and how a fetch ended."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

import msgspec

Url = NewType("Url", str)
"""An absolute http(s) URL in canonical form (see `pages.urls.canonical`)."""

UrlId = NewType("UrlId", int)
"""Number of a URL in the store or tape; numbers are dense and start at 0."""

ForagerId = NewType("ForagerId", int)

NOBODY = ForagerId(-1)
"""Visitor of a page that no forager requested (recrawl cycle, commands)."""


class Outcome(StrEnum):
    """How a fetch ended. Failure is an outcome, never an exception."""

    FETCHED = "fetched"  # a body was received (status 2xx)
    UNCHANGED = "unchanged"  # 304: our copy is current
    MOVED = "moved"  # a redirect that this web did not follow
    GONE = "gone"  # 4xx: the page does not exist, or we may not read it
    REFUSED = "refused"  # we did not ask: robots, address guard, budget, scheme
    FAILED = "failed"  # network trouble, 5xx, 429, a cap was hit
    UNRECORDED = "unrecorded"  # a replay has no capture of it at this time


class Trouble(StrEnum):
    """Why a fetch did not end in FETCHED or UNCHANGED; errors are counted by these kinds."""

    NONE = ""
    STATUS = "status"  # the server answered with an error; see Response.status
    ROBOTS = "robots"  # robots.txt disallows it, or could not be fetched
    ADDRESS = "address"  # the address guard refused the connected IP
    BUDGET = "budget"  # the host's hourly or daily budget is spent
    URL = "url"  # not an http(s) URL we can ask for
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"  # no answer, or not complete, within the total time
    SIZE = "size"  # the body, after decompression, exceeded the limit
    HEADERS = "headers"  # too many or too long headers
    PROTOCOL = "protocol"  # not HTTP: broken chunking, wrong lengths, bad compression
    REDIRECTS = "redirects"  # too many hops, or a loop


@dataclass(frozen=True, slots=True)
class Validators:
    """Headers with which a server lets us ask "has it changed?"; we send them back verbatim."""

    etag: str = ""
    last_modified: str = ""


class Verdict(StrEnum):
    """Whether a document is on the topic of the crawl."""

    ON = "on topic"
    OFF = "off topic"
    UNSURE = "cannot tell yet"


@dataclass(frozen=True, slots=True)
class Request:
    """A GET request, conditional if it has validators."""

    url: Url
    validators: Validators = Validators()
    body_limit: int | None = None
    """Limit in bytes after decompression, in place of the web's own; reading stops there and keeps what arrived."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A redirect on the way to the answer; `asked` is when we requested it."""

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
    """When the last request was sent, UTC seconds since the epoch."""
    seconds: float = 0.0
    """Time from sending the request to the last byte."""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    """Headers as received, in order, with names in lower case."""
    body: bytes = b""
    """Body after decompression."""
    wire_bytes: int = 0
    """Size of the body as transferred."""
    hops: tuple[Hop, ...] = ()
    trouble: Trouble = Trouble.NONE
    error: str = ""
    """One line for people; empty if nothing went wrong."""
    address: str = ""
    """The IP address that answered."""
    begun: float | None = field(default=None, repr=False, compare=False)
    """When the answer began, UTC seconds since the epoch; None if that is unknown."""
    coded: bytes = field(default=b"", repr=False, compare=False)
    """The whole body as transferred, for recordings: compressed as its Content-Encoding says; empty if not compressed."""

    def header(self, name: str) -> str:
        """First header of this lower-case name, or the empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""

    @property
    def first_url(self) -> Url:
        """The URL that was requested, before redirects."""
        return self.hops[0].url if self.hops else self.url


class Region(StrEnum):
    """Where on a page a link is."""

    NAV = "nav"
    MAIN = "main"
    ASIDE = "aside"
    FOOTER = "footer"


class Channel(StrEnum):
    """How the crawl first found a URL."""

    SEED = "seed"
    LINK = "link"
    FEED = "feed"
    SITEMAP = "sitemap"
    ALTERNATE = "alternate"
    CANONICAL = "canonical"
    REDIRECT = "redirect"
    ROBOTS = "robots"  # a Sitemap line of robots.txt
    ARCHIVE = "archive"  # captures made by other crawlers


class Kind(StrEnum):
    """What kind of document a page is."""

    HUB = "hub"  # a list of links: home, section, topic
    ARTICLE = "article"  # one text
    FEED = "feed"
    SITEMAP = "sitemap"
    OTHER = "other"  # images, PDFs, unreadable bytes


LISTS = (Kind.HUB, Kind.FEED, Kind.SITEMAP)
"""Pages that list others."""


class Link(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A link on a page, in document order. A page has about a hundred, so they must be cheap."""

    url: Url
    anchor: str = ""
    region: Region = Region.MAIN
    rel: tuple[str, ...] = ()
    channel: Channel = Channel.LINK
    published: float | None = None
    """When the target was published, according to a feed or news sitemap."""
    title: str = ""
    """Title of the target in a feed or news sitemap."""


class About(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a page, or the feed that announced it, says about its story besides title, text and dates."""

    authors: tuple[str, ...] = ()
    lead: str = ""
    """The description or teaser; plain text."""
    image: str = ""
    """The URL of its picture."""
    section: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    """As stated, in lower case (`en-gb`), or as detected from the words of the text (`en`); empty if unknown."""
    paywalled: bool | None = None
    """None if the page does not state it."""
    word_count: int = 0
    """Of the main text."""

    def filled(self, other: "About") -> "About":
        """A copy with missing values filled in from the other."""
        return About(*(getattr(self, name) or getattr(other, name) for name in ABOUT)) if other != NOTHING else self


ABOUT = About.__struct_fields__
NOTHING = About()


class DateSource(StrEnum):
    """Where a date was read, most reliable first."""

    JSON_LD = "json-ld"
    META = "meta"
    TIME = "time"
    FEED = "feed"
    TEXT = "text"
    URL = "url"
    LAST_MODIFIED = "last-modified"
    FIRST_SEEN = "first-seen"
    TAPE = "tape"  # the recording gives the date but not where it was read


@dataclass(frozen=True, slots=True)
class Dated:
    """A point in time and where it was read."""

    time: float
    """UTC seconds since the epoch."""
    source: DateSource
    exact: bool = True
    """False if only the day is known; `time` is then the start of that day in the stated zone, else UTC."""
    zone: float | None = field(default=None, compare=False)
    """Offset from UTC in seconds of the zone of the publisher, as far as the page tells; None if unknown. It is not stored."""
