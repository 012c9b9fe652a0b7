"""The settings of the frontier: what belongs to a crawl, and when each host may be asked."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.units import Count, Duration, Size

HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What belongs to a crawl beyond the sites of its seeds."""

    allow: tuple[str, ...] = ()
    """Regular expressions; a URL in which one is found is in scope even on another site."""
    deny: tuple[str, ...] = ()
    """Regular expressions; a URL in which one is found is never visited."""
    max_depth: Count = 12
    """Clicks from a seed. Ours."""
    max_segments: Count = 12
    """Path segments of a URL; more look like a trap. Ours."""
    max_parameters: Count = 6
    """Query parameters of a URL; more look like a trap. Ours."""
    max_per_folder: Count = 20_000
    """Known URLs that share host and folder; beyond it new ones are refused, unless documents were found there. Ours."""
    barren_after: Count = 8
    """Different pages seen in one place (a folder, or a path with the same parameters) without a document among them and
    without a new document that they revealed; then no new link enters there (calendars, facets, visitor numbers). Five
    times as many where links read like headlines. Ours."""


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
