"""The settings of fetching: the webs wrapped round each other, from the wire outwards, and visits.

What belongs to a crawl, and when each host may be asked, is set here too.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.pages.changes import Change
from forager.units import Count, Duration, Size


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What we say to servers, and the caps that keep every answer bounded."""

    user_agent: Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[ -~]+$")] = "Forager/0.1"
    """Who we say we are: a product name, then a contact, as in `Forager/0.1 (+https://example.org/bot)` (ours)."""
    body_limit: Size = 10_000_000
    """Bytes of a body at most, on the wire and after decompression (ours)."""
    total_time: Duration = 30.0
    """Seconds from asking to the last byte; a drip feed ends here (ours)."""
    connect_time: Duration = 10.0
    """Seconds for name, connection and TLS handshake (ours)."""
    header_limit: Size = 16_384
    """Bytes of the status line and of each header (ours)."""
    headers_limit: Size = 131_072
    """Bytes of all headers together (ours)."""
    header_count: Count = 200
    """Headers at most (ours)."""
    keep_alive: Duration = 15.0
    """Seconds that an idle connection is kept for the next request (aiohttp's default)."""
    allow_addresses: tuple[str, ...] = ()
    """Addresses and networks to talk to although they are not public, such as `127.0.0.0/8` or `::1` (ours)."""


@dataclass(frozen=True, slots=True)
class PoliteSettings:
    """Requests at once, over all hosts."""

    concurrent_requests: Count = 64
    """Requests under way at most, over all hosts (ours)."""


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """robots.txt: how long it is kept, and how much of it is read."""

    keep: Duration = 86_400.0
    """Seconds to keep a robots.txt at most (RFC 9309, 2.4)."""
    keep_at_least: Duration = 300.0
    """Seconds to keep it even if its Cache-Control says less (ours)."""
    retry_after_failure: Duration = 300.0
    """Seconds after which one that could not be had is asked for again (ours)."""
    read: Size = 524_288
    """Bytes to read at most (RFC 9309, 2.5: at least 500 KiB)."""
    crawl_delay_limit: Duration = 60.0
    """Seconds to which a Crawl-delay is believed (ours)."""
    remembered: Count = 20_000
    """Files kept at most; the one unused for longest goes first (ours)."""


@dataclass(frozen=True, slots=True)
class RetryingSettings:
    """Further attempts after trouble that may pass."""

    retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Further attempts after the first (ours)."""
    backoff: Duration = 1.0
    """Seconds before the second attempt, give or take half of it by chance; doubled each time (ours)."""
    retry_after_limit: Duration = 60.0
    """The longest Retry-After, in seconds, that we wait for (ours)."""


@dataclass(frozen=True, slots=True)
class FollowingSettings:
    """Redirects."""

    redirects: Annotated[int, Field(ge=0, le=50)] = 10
    """Hops at most (ours; browsers allow 20)."""
    remembered: Count = 10_000
    """Redirecting URLs whose target is remembered (ours)."""


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """When a page is looked at again, and what counts as a change."""

    revisit_after: Duration = 600.0
    """One fetch serves everybody who asks for the page within this time; the sweep comes back after it. Ours."""
    retry_after: Duration = 3600.0
    """A page that failed, is gone or is disallowed is asked for again after this time. Ours."""
    change: Change = Change.AUTO
    """What counts as a change: bytes, text (main text), links (a new link), or auto: links for hubs, text for the rest."""
    keep_text: bool = True
    """Keep the main text of every version, not only its fingerprints."""


HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What belongs to a crawl beyond the sites of its seeds."""

    allow: tuple[str, ...] = ()
    """Regular expressions; a URL in which one is found is in scope even on another site."""
    deny: tuple[str, ...] = ()
    """Regular expressions; a URL in which one is found is never visited."""
    max_depth: Count = 12
    """Clicks from a seed at most. Ours."""
    max_segments: Count = 12
    """Path segments of a URL at most; more look like a trap. Ours."""
    max_parameters: Count = 6
    """Query parameters of a URL at most; more look like a trap. Ours."""
    max_per_folder: Count = 20_000
    """Known URLs that share host and folder; beyond it new ones are refused, unless documents were found there. Ours."""
    barren_after: Count = 8
    """Different pages seen in one place (a folder, or a path with the same parameters) that neither were nor revealed a new
    document; after so many, new links to that place are refused (calendars, facets, visitor numbers). Five times as many
    where links read like headlines. Ours."""


@dataclass(frozen=True, slots=True)
class TimetableSettings:
    """When each host may be asked: delays, back-off and budgets."""

    download_delay: Duration = 1.0
    """Seconds between the starts of two visits to a host, at least (ours; the paper's crawls name none)."""
    concurrent_requests_per_host: Count = 1
    """Visits under way to one host at most (ours)."""
    latency_factor: Annotated[float, Field(ge=0, le=100)] = 1.0
    """The delay is at least this many times the smoothed latency; 0 ignores latency (ours)."""
    longest_delay: Duration = 60.0
    """Seconds to which latency and back-off may stretch the delay; Crawl-delay has its own cap (ours)."""
    longest_wait: Duration = 300.0
    """Seconds that a visit may be booked ahead; beyond it is refused, so that callers do not pile up (ours)."""
    longest_block: Duration = DAY
    """Seconds for which a Retry-After is believed at most (ours)."""
    requests_per_hour: Count | None = None
    """Visits to a host that may start in any hour; none: no such budget (ours)."""
    bytes_per_day: Size | None = None
    """Bytes of bodies that may arrive from a host in any day; none: no such budget (ours)."""
    largest_body: Size = 10_000_000
    """Bytes that one visit may bring at most: the body limit of the web below (ours)."""
    forget_after: Duration = HOUR
    """Seconds without a visit after which a host without blocks and spent budgets is forgotten (ours)."""
