"""Settings of fetching, from the wire outwards, and of visits, scope and politeness."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.pages.pages_settings import Change
from forager.units import Count, Duration, Size


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What we send to servers, and the limits that keep every answer bounded."""

    user_agent: Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[ -~]+$")] = "Forager/0.1"
    """How the crawl introduces itself: a product name, then a contact, as in `Forager/0.1 (+https://example.org/bot)`
    (ours). A live crawl does not start without a contact.
    """
    body_limit: Size = 10_000_000
    """Maximum size of a body in bytes, on the wire and after decompression (ours). A page with a longer body fails."""
    total_time: Duration = 30.0
    """Maximum seconds from the request to the last byte, even if bytes keep coming slowly (ours)."""
    connect_time: Duration = 10.0
    """Maximum seconds for DNS, connection and TLS handshake (ours)."""
    header_limit: Size = 16_384
    """Maximum bytes of the status line and of each header (ours)."""
    headers_limit: Size = 131_072
    """Maximum bytes of all headers together (ours)."""
    header_count: Count = 200
    """Maximum number of headers (ours)."""
    keep_alive: Duration = 15.0
    """Seconds that an idle connection is kept for the next request (aiohttp's default)."""
    allow_addresses: tuple[str, ...] = ()
    """Addresses and networks to allow although they are not public, such as `127.0.0.0/8` or `::1` (ours). Needed to
    crawl a site on your own network.
    """


@dataclass(frozen=True, slots=True)
class PoliteSettings:
    """How many requests run at the same time, over all hosts."""

    concurrent_requests: Count = 64
    """Maximum number of concurrent requests (ours). As many more may wait for hosts that take longer than 2 s, so that
    these do not hold up the others.
    """


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """How long robots.txt is kept, and how much of it is read."""

    keep: Duration = 86_400.0
    """Maximum seconds to keep a robots.txt (RFC 9309, 2.4)."""
    keep_at_least: Duration = 300.0
    """Minimum seconds to keep it, even if its Cache-Control says less (ours)."""
    retry_after_failure: Duration = 300.0
    """Seconds until a robots.txt that could not be fetched is requested again (ours)."""
    read: Size = 524_288
    """Maximum bytes to read (RFC 9309, 2.5: at least 500 KiB)."""
    crawl_delay_limit: Duration = 60.0
    """Maximum Crawl-delay in seconds that we obey (ours)."""
    remembered: Count = 20_000
    """Maximum number of files kept; the least recently used one is dropped first (ours)."""


@dataclass(frozen=True, slots=True)
class RetryingSettings:
    """Retries after failures that may pass."""

    retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Maximum number of retries after the first attempt (ours)."""
    backoff: Duration = 1.0
    """Seconds before the second attempt, varied at random by half; doubled each time (ours)."""
    retry_after_limit: Duration = 60.0
    """Maximum Retry-After in seconds that we wait for (ours)."""


@dataclass(frozen=True, slots=True)
class FollowingSettings:
    """How redirects are followed."""

    redirects: Annotated[int, Field(ge=0, le=50)] = 10
    """Maximum number of hops (ours; browsers allow 20)."""
    remembered: Count = 10_000
    """Number of redirecting URLs whose target is remembered (ours)."""


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """When a page is visited again, and what counts as a change."""

    revisit_after: Duration = 600.0
    """One fetch of a page serves all requests within this time; the sweep returns to it after this time. Ours."""
    retry_after: Duration = 3600.0
    """Time after which a page that failed, is gone or is disallowed is requested again. Ours."""
    change: Change = Change.AUTO
    """What counts as a change: `bytes`, `text` (the main text), `links` (a new link), or `auto`: links for lists, text
    for other pages.
    """
    keep_text: bool = True
    """Whether to keep the main text of every version, not only its fingerprints. Without it the database is smaller,
    but exported stories have no text.
    """


HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What belongs to a crawl besides the sites of its seeds."""

    allow: tuple[str, ...] = ()
    """Regular expressions: a URL that contains a match belongs to the crawl even on another site."""
    deny: tuple[str, ...] = ()
    """Regular expressions: a URL that contains a match is never visited."""
    max_depth: Count = 12
    """Maximum number of clicks from a seed. Ours."""
    max_segments: Count = 12
    """Maximum number of path segments of a URL; more look like a trap. Ours."""
    max_parameters: Count = 6
    """Maximum number of query parameters of a URL; more look like a trap. Ours."""
    max_per_folder: Count = 20_000
    """Maximum number of known URLs in one folder of a host. Beyond it new ones are refused, unless documents were found
    there. Ours.
    """
    barren_after: Count = 8
    """New links to a place (a folder, or a path with the same parameters) are refused after this many different pages
    there that neither were nor revealed a new document, as in calendars. Five times as many if links read like
    headlines. Ours.
    """


@dataclass(frozen=True, slots=True)
class TimetableSettings:
    """When a host may be requested: delays, back-off and budgets."""

    download_delay: Duration = 1.0
    """Minimum seconds between the starts of two visits to a host (ours; the paper's crawls name none)."""
    concurrent_requests_per_host: Count = 1
    """Maximum number of concurrent visits to one host (ours)."""
    latency_factor: Annotated[float, Field(ge=0, le=100)] = 1.0
    """The delay is at least this many times the smoothed latency; 0 ignores latency (ours)."""
    longest_delay: Duration = 60.0
    """Maximum seconds to which latency and back-off may raise the delay; Crawl-delay has its own limit (ours)."""
    longest_wait: Duration = 300.0
    """Maximum seconds that a visit may be booked ahead; later visits are refused, so that they do not pile up (ours)."""
    longest_block: Duration = DAY
    """Maximum seconds for which a Retry-After is obeyed (ours)."""
    requests_per_hour: Count | None = None
    """Maximum number of visits to a host in any hour; none: no limit (ours)."""
    bytes_per_day: Size | None = None
    """Maximum bytes of bodies from a host in any day; none: no limit (ours)."""
    largest_body: Size = 10_000_000
    """Maximum bytes that one visit may bring, for the daily budget: the same as `live.body_limit` (ours)."""
    forget_after: Duration = HOUR
    """A host without blocks and spent budgets is forgotten after this many seconds without a visit (ours)."""


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """The WARC recording of a crawl."""

    enabled: bool = True
    """Whether a crawl writes WARC files, which `replay --bytes` and `export --wacz` need (ours)."""
    max_size: Size = 250_000_000
    """File size in bytes at which the next file begins (ours)."""
    max_age: Duration = 6 * 3600.0
    """Age in seconds at which a file is closed when the next exchange comes (ours)."""
    level: Annotated[int, Field(ge=0, le=9)] = 2
    """Compression level: 0 to 3 with ISA-L (fast), 4 to 9 with zlib (slow, a few percent smaller) (ours)."""
    queue: Size = 64_000_000
    """Bytes that may wait for the writer; beyond it, fetches wait too (ours)."""
    remember: Count = 1_000_000
    """Number of bodies and URLs remembered, so that a repeated body is written once (ours)."""
