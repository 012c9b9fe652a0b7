"""Settings of the synthetic news site. No paper describes one: all values are ours, chosen to look like news."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from forager.units import Count, Duration, Positive, Share, Size


class Markup(StrEnum):
    """Where a paper's articles state their dates."""

    JSON_LD = "json-ld"
    META = "meta"
    TIME = "time"
    BLOG = "blog"
    """At the foot of the article, as blogging software does, which differs in more: lists show excerpts, the sidebar dates
    other articles, nothing states a type, the feed holds ten entries, and the comments below each article and below all of
    them have feeds."""


class FeedFormat(StrEnum):
    """The kind of feed a paper offers."""

    RSS = "rss"
    ATOM = "atom"
    JSON = "json"
    NONE = "none"


class Honesty(StrEnum):
    """How reliable a paper's ETag and Last-Modified are."""

    HONEST = "honest"  # they change exactly when the content does
    USELESS = "useless"  # they change at every answer
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a paper; sections of the same name in several papers share topics and vocabulary."""

    name: str
    """Its folder in URLs, e.g. `world`; names known to `prose.THEMES` get a vocabulary of their own."""
    per_day: Positive
    """Articles per day, mean over a week."""
    quiet: bool = False
    """Whether it is missing in feeds, sitemaps and on the home page: reachable only through section, topic and author
    pages."""


@dataclass(frozen=True, slots=True)
class Paper:
    """One newspaper: one host."""

    name: str
    """Short name; in process its host is `NAME.example`."""
    title: str
    """Heading of each page."""
    sections: tuple[Section, ...]
    """At least one."""
    markup: Markup = Markup.JSON_LD
    """Where articles state their dates."""
    feed: FeedFormat = FeedFormat.RSS
    """The feed it offers, if any."""
    validators: Honesty = Honesty.HONEST
    """How reliable its ETag and Last-Modified are."""
    deploy_date: bool = False
    """Whether every page has a `<meta name="date">` with the day the site was deployed: a wrong date."""


def _sections(*quiet: str, **per_day: float) -> tuple[Section, ...]:
    """Sections by their rates; `quiet` are some of them."""
    return tuple(Section(name, rate, quiet=name in quiet) for name, rate in per_day.items())


GAZETTE = Paper(
    "gazette",
    "The Gazette",
    _sections(breaking=30, world=16, politics=12, business=9, sport=7, science=3, culture=1.5),
)
HERALD = Paper(
    "herald",
    "The Herald",
    _sections("opinion", business=18, politics=10, technology=6, world=5, opinion=2),
    Markup.META,
    FeedFormat.ATOM,
)
COURIER = Paper(
    "courier",
    "Courier",
    _sections("garden", local=10, sport=6, culture=2, garden=0.5),
    Markup.TIME,
    FeedFormat.JSON,
    Honesty.USELESS,
    deploy_date=True,
)


@dataclass(frozen=True, slots=True)
class NewsroomSettings:
    """A simulated news site of several hosts; the same settings give the same site, byte for byte."""

    seed: int = 1
    """Seed of all random numbers of the site."""
    start: float = 1772409600.0
    """When a crawl begins, UTC seconds; 2026-03-02 00:00, a Monday."""
    days: Positive = 18.0
    """News is published until this many days after `start`; 18 days as in the foragers paper's recording."""
    backlog: Duration = 4 * 86400.0
    """News was published for this long before `start`."""
    papers: Annotated[tuple[Paper, ...], Field(min_length=1)] = (GAZETTE, HERALD, COURIER)
    """The newspapers; the default ones have 16 sections and about 140 articles a day, plus copies."""
    pace: Positive = 1.0
    """Multiplies the rate of every section."""
    weekend: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Rate on Saturday and Sunday against a weekday."""
    rhythm: Share = 1.0
    """How far the rate follows the hour of the day: 1 as newspapers do, 0 the same at any hour."""
    topics: Count = 4
    """Topics per section name: communities of articles that link to each other and share words."""
    related: Count = 6
    """About the mean number of links from an article to earlier ones; a few articles have many more."""
    triads: Share = 0.75
    """Share of such links that follow a link of the article linked just before, which makes the small world."""
    strays: Share = 0.3
    """Share of such links drawn from the whole paper, not the topic. Fewer give more clustering, and fewer articles
    with very many links.
    """
    rewired: bool = False
    """Whether to permute the ends of these links (foragers paper, section 6), which keeps the degrees and removes the
    small world.
    """
    corrections: Share = 0.15
    """Share of articles corrected at least once after publication."""
    correction_delay: Duration = 3 * 3600.0
    """Mean time from publication to a correction."""
    title_changes: Share = 0.3
    """Share of corrections that change the headline as well."""
    live_blogs: Share = 0.02
    """Share of articles that are live blogs."""
    live_for: Duration = 5 * 3600.0
    """Duration of a live blog."""
    live_gap: Annotated[float, Field(gt=0)] = 600.0
    """Mean time between two entries of a live blog, in seconds."""
    removals: Share = 0.01
    """Share of articles that are removed (410) later."""
    removal_delay: Duration = 36 * 3600.0
    """Mean time from publication to removal."""
    moves: Share = 0.01
    """Share of articles that get a new URL (301) later."""
    move_delay: Duration = 12 * 3600.0
    """Mean time from publication to the move."""
    wire: Share = 0.15
    """Share of articles that other papers with a section of the same name print too, each with probability one half."""
    wire_delay: Duration = 2400.0
    """Mean time from the first publication to a copy."""
    missing_dates: Share = 0.02
    """Share of articles without any stated date."""
    day_dates: Share = 0.03
    """Share of articles that state only the day."""
    future_dates: Share = 0.01
    """Share of articles that state a date some days in the future."""
    list_length: Count = 30
    """Articles on a section, topic or author page; older ones are behind `?page=2` and so on."""
    feed_length: Count = 30
    """Articles in a feed: the newest ones only."""
    feed_every: Annotated[float, Field(ge=1)] = 300.0
    """A feed is rewritten every so many seconds, so articles appear in it with a delay."""
    sitemap_every: Annotated[float, Field(ge=1)] = 900.0
    """Sitemaps are rewritten every so many seconds."""
    page_size: Size = 25_000
    """Typical bytes of an HTML page; single pages have 0.6 to 1.6 times this, if their content is not longer."""
    noise_every: Annotated[float, Field(ge=1)] = 30.0
    """Clock, advertisements, tokens and counters on a page change every so many seconds."""
    latency: Duration = 0.08
    """Mean time to an answer."""
    crawl_delay: Duration = 0.0
    """Crawl-delay in robots.txt; 0 leaves it out."""
    errors: Share = 0.0
    """Share of answers that are a 500."""
    busy: Share = 0.0
    """Share of answers that are a 503 with Retry-After."""
    retry_after: Duration = 30.0
    """What those 503s ask for, in whole seconds."""
    slow: Share = 0.0
    """Share of answers that come late."""
    slow_for: Duration = 20.0
    """How many seconds late."""
    resets: Share = 0.0
    """Share of requests whose connection is cut."""
    wall: Share = 0.0
    """Share of sections, drawn by the seed, whose articles answer 403."""
    traps: bool = False
    """Whether the site has traps: two endless calendars, combinable search facets, endless pages and folders, soft
    404s, and different links for each visitor.
    """
    cache: Count = 2000
    """Page contents kept ready for rendering."""
    log: Count = 1_000_000
    """Requests remembered; older ones are forgotten."""
