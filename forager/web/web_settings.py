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
    """Our user agent: a product name, then a contact, as in `Forager/0.1 (+https://example.org/bot)` (ours)."""
    body_limit: Size = 10_000_000
    """Maximum size of a body in bytes, on the wire and after decompression (ours)."""
    total_time: Duration = 30.0
    """Maximum seconds from the request to the last byte, also for slow drip feeds (ours)."""
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
    """Addresses and networks to allow although they are not public, such as `127.0.0.0/8` or `::1` (ours)."""


@dataclass(frozen=True, slots=True)
class PoliteSettings:
    """Concurrent requests over all hosts."""

    concurrent_requests: Count = 64
    """Maximum number of concurrent requests over all hosts; as many more may wait for hosts that take longer than 2 s,
    so that others need not wait for these (ours)."""


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """robots.txt: how long it is kept, and how much of it is read."""

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
    """Retries after trouble that may pass."""

    retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Maximum number of retries after the first attempt (ours)."""
    backoff: Duration = 1.0
    """Seconds before the second attempt, varied at random by half; doubled each time (ours)."""
    retry_after_limit: Duration = 60.0
    """Maximum Retry-After in seconds that we wait for (ours)."""


@dataclass(frozen=True, slots=True)
class FollowingSettings:
    """Redirects."""

    redirects: Annotated[int, Field(ge=0, le=50)] = 10
    """Maximum number of hops (ours; browsers allow 20)."""
    remembered: Count = 10_000
    """Number of redirecting URLs whose target is remembered (ours)."""


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """When a page is visited again, and what counts as a change."""

    revisit_after: Duration = 600.0
    """One fetch serves all requests for the page within this time; the sweep returns after it. Ours."""
    retry_after: Duration = 3600.0
    """Time after which a page that failed, is gone or is disallowed is requested again. Ours."""
    change: Change = Change.AUTO
    """What counts as a change: bytes, text (main text), links (a new link), or auto: links for hubs, text for the rest."""
    keep_text: bool = True
    """Keep the main text of every version, not only its fingerprints."""


HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What belongs to a crawl besides the sites of its seeds."""

    allow: tuple[str, ...] = ()
    """Regular expressions; a URL that contains a match is in scope even on another site."""
    deny: tuple[str, ...] = ()
    """Regular expressions; a URL that contains a match is never visited."""
    max_depth: Count = 12
    """Maximum number of clicks from a seed. Ours."""
    max_segments: Count = 12
    """Maximum number of path segments of a URL; more look like a trap. Ours."""
    max_parameters: Count = 6
    """Maximum number of query parameters of a URL; more look like a trap. Ours."""
    max_per_folder: Count = 20_000
    """Maximum number of known URLs with the same host and folder; beyond it new ones are refused, unless documents were
    found there. Ours."""
    barren_after: Count = 8
    """Number of different pages visited in one place (a folder, or a path with the same parameters) that neither were
    nor revealed a new document, after which new links to that place are refused (calendars, facets, visitor numbers).
    Five times as many where links read like headlines. Ours."""


@dataclass(frozen=True, slots=True)
class TimetableSettings:
    """When each host may be asked: delays, back-off and budgets."""

    download_delay: Duration = 1.0
    """Minimum seconds between the starts of two visits to a host (ours; the paper's crawls name none)."""
    concurrent_requests_per_host: Count = 1
    """Maximum number of concurrent visits to one host (ours)."""
    latency_factor: Annotated[float, Field(ge=0, le=100)] = 1.0
    """The delay is at least this many times the smoothed latency; 0 ignores latency (ours)."""
    longest_delay: Duration = 60.0
    """Maximum seconds to which latency and back-off may raise the delay; Crawl-delay has its own limit (ours)."""
    longest_wait: Duration = 300.0
    """Maximum seconds that a visit may be booked ahead; later ones are refused, so that callers do not pile up (ours)."""
    longest_block: Duration = DAY
    """Maximum seconds for which a Retry-After is obeyed (ours)."""
    requests_per_hour: Count | None = None
    """Maximum number of visits to a host that start in any hour; none: no such budget (ours)."""
    bytes_per_day: Size | None = None
    """Maximum bytes of bodies from a host in any day; none: no such budget (ours)."""
    largest_body: Size = 10_000_000
    """Maximum bytes that one visit may bring: the body limit of the web below (ours)."""
    forget_after: Duration = HOUR
    """Seconds without a visit after which a host without blocks and spent budgets is forgotten (ours)."""


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """The WARC recording of a crawl."""

    enabled: bool = True
    """Whether a crawl writes WARC files (ours)."""
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
