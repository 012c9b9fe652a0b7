"""The store: known URLs, their visits and versions, the stories, and whatever a part wants to keep.

A URL is *pending* (waits for its due time), *leased* (somebody is visiting it) or *done* (no visit planned). A lease
that is never acknowledged returns: when its time is over, or when the run directory is opened again. A call returns
when its effect is committed; what was acknowledged survives `kill -9`.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NewType, Protocol

from forager.terms import NOBODY, Channel, Dated, ForagerId, Kind, Outcome, Trouble, Url, UrlId, Validators

if TYPE_CHECKING:  # settings are read through here, and need no arrays
    import numpy as np
    from numpy.typing import NDArray

VersionId = NewType("VersionId", int)
"""The number of a stored page version; dense, from 0."""


@dataclass(frozen=True, slots=True)
class Found:
    """A URL met somewhere; only the first meeting is remembered."""

    url: Url
    channel: Channel
    at: float
    source: UrlId | None = None
    """The page that revealed it; None for seeds."""
    anchor: str = ""
    depth: int = 0
    """Clicks from a seed."""
    published: float | None = None
    """What a feed or news sitemap says."""
    due: float | None = None
    """When it should be visited first; None means it is not to be visited by itself (state done)."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right, and duty, to visit a URL until a time."""

    id: UrlId
    url: Url
    validators: Validators
    depth: int
    until: float


@dataclass(frozen=True, slots=True)
class Version:
    """What is kept of a page when it is new or has changed."""

    kind: Kind
    byte_print: int
    text_print: int
    simhash: int
    """The three fingerprints are unsigned 64-bit numbers. The simhash is 0 if the text is kept: of the few versions that
    become stories it is worked out then."""
    title: str = ""
    text: str = ""
    lang: str = ""
    canonical: str = ""
    published: Dated | None = None
    modified: Dated | None = None
    links: tuple[UrlId, ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at a URL, with what is learned from it."""

    id: UrlId
    at: float
    outcome: Outcome
    status: int = 0
    seconds: float = 0.0
    wire_bytes: int = 0
    trouble: Trouble = Trouble.NONE
    error: str = ""
    by: ForagerId = NOBODY
    changed: bool = False
    """A change in the sense of the settings was seen against the last stored version."""
    validators: Validators = Validators()  # noqa: RUF009 - frozen
    """To ask with next time."""
    final_url: str = ""
    """Where redirects led; empty if nowhere else."""
    due: float | None = None
    """When to look again; None: not by itself."""
    version: Version | None = None
    """None if nothing new has to be kept."""


@dataclass(frozen=True, slots=True)
class Story:
    """A new, young document that was accepted; the unit that people want."""

    id: UrlId
    version: VersionId
    url: Url
    site: str
    title: str
    published: float
    published_source: str
    first_seen: float
    """When its URL was met first."""
    fetched: float
    discovered_from: Url | None
    discovered_via: Channel
    forager: ForagerId = NOBODY
    duplicate_of: Url | None = None
    text_print: int = 0
    simhash: int = 0

    @property
    def delay(self) -> float:
        """Seconds from publication to fetch."""
        return max(0.0, self.fetched - self.published)


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of one URL without reading the disk."""

    id: UrlId
    url: Url
    found: float
    channel: Channel
    source: UrlId | None
    depth: int
    published: float | None
    kind: Kind
    visits: int
    changes: int
    last_visit: float | None
    last_change: float | None
    due: float | None
    version: VersionId | None
    byte_print: int
    text_print: int
    validators: Validators


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is."""

    known: int = 0
    pending: int = 0
    leased: int = 0
    done: int = 0
    visits: int = 0
    versions: int = 0
    stories: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    troubles: dict[str, int] = field(default_factory=dict)


class Store(Protocol):
    # Asking, from memory: never waits.
    def find(self, url: Url) -> UrlId | None:
        """The number of a known URL."""

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        """The number of each URL; None for those that are not known."""

    def url(self, id: UrlId) -> Url: ...

    def urls_of(self, host: str) -> list[Url]:
        """The known URLs of a host, which is named as in the URL."""

    def hosts(self, begin: int = 0) -> "NDArray[np.int64]":
        """The host of each URL from a number on: hosts have numbers of their own, dense, from 0."""

    def known(self, id: UrlId) -> Known: ...

    def last_visits(self) -> "NDArray[np.float64]":
        """By number, when each URL was visited last; NaN for those that never were."""

    def counts(self) -> Counts: ...

    def next_due(self, now: float) -> float | None:
        """When the next lease can be had: `now` or later; None if nothing is pending.

        A lease counts as pending again only once its time is over.
        """

    # Changing: returns when committed.
    def enter(self, found: Sequence[Found]) -> list[UrlId]:
        """As `put`, without waiting: committed together with, or before, whatever is changed next."""

    async def put(self, found: Sequence[Found]) -> list[UrlId]:
        """Enter URLs not yet known; the numbers of all, in order. Known ones stay as they are."""

    async def lease(
        self, count: int, now: float, *, seconds: float = 600.0, only: Sequence[UrlId] | None = None
    ) -> list[Lease]:
        """Up to `count` pending URLs that are due, of hosts not blocked: earliest due first, hosts taking turns.

        A host with fewer leases goes before one with more, then the one whose last visit is longest ago. With `only`,
        exactly those among them that are not leased, in this order, due, done or not; a blocked host stays blocked.
        """

    async def ack(self, visit: Visit) -> VersionId | None:
        """End a lease with its visit: everything learned from it in one transaction. The number of the new version.

        A visit of a URL that was not leased is recorded just so.
        """

    def record(self, visit: Visit) -> VersionId | None:
        """As `ack`, without waiting: committed soon, together with, or before, whatever is changed next."""

    async def release(self, leases: Sequence[Lease]) -> None:
        """Give leases back unvisited; they are pending (or done) again as before."""

    async def settle(self, version: VersionId, story: Story | None) -> None:
        """The decision on a version: a story, or not. Only the first decision counts."""

    async def block(self, host: str, until: float) -> None:
        """No leases for this host (as in the URL, with port if any) before `until`; a longer block stays."""

    async def keep(self, name: str, value: bytes) -> None:
        """Store a part's state under its name, replacing what was there."""

    async def recall(self, name: str) -> bytes | None: ...

    # Reading back.
    async def unsettled(self) -> list[VersionId]:
        """Versions on which no decision was stored, in order."""

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        """A version with its URL and the time it was fetched."""

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        """The versions of a URL with their times, oldest first."""

    def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        """Visits of a URL, or of all, without the first `after` of all, in the order of acknowledgement.

        `version` is not filled in.
        """

    def stories(self, after: int = 0) -> AsyncIterator[Story]:
        """Stories in the order of acceptance, without the first `after`."""

    async def close(self) -> None:
        """Commit everything and let go of the run directory."""
