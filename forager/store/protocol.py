"""The record types of the store: what is found, leased, visited, kept of a page, and accepted as a story; and the
archive.

The structs `Found`, `Visit`, `Version` and `AcceptedStory` map to rows by name: each field is the column of its name (see
`rows`). A new column is a new field with a default, and a migration.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NewType, Protocol

from forager.terms import (
    NOBODY,
    NOTHING,
    About,
    Channel,
    Dated,
    ForagerId,
    Kind,
    Outcome,
    Trouble,
    Url,
    UrlId,
    Validators,
)

VersionId = NewType("VersionId", int)
"""The number of a stored page version; dense, from 0."""

Print = Annotated[int, "unsigned, 64 bits"]
"""A fingerprint."""


@dataclass(frozen=True, slots=True)
class Found:
    """A URL found somewhere; only the first occurrence is kept."""

    url: Url
    channel: Channel
    at: float
    source: UrlId | None = None
    """The page that linked to it; None for seeds."""
    anchor: str = ""
    depth: int = 0
    """Clicks from a seed."""
    published: float | None = None
    """Publication date from a feed or news sitemap."""
    due: float | None = None
    """When to visit it first; None: no visit planned (state done)."""


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
    byte_print: Print
    text_print: Print
    simhash: Print
    """0 if the text is kept: it is computed only for the few versions that become stories."""
    title: str = ""
    text: str = ""
    lang: str = ""
    canonical: str = ""
    published: Dated | None = None
    modified: Dated | None = None
    links: tuple[UrlId, ...] = ()
    about: About = NOTHING


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a URL, with what is learned from it."""

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
    """Whether the visit found a change, as defined by the settings, against the last stored version."""
    validators: Validators = Validators()  # noqa: RUF009 - frozen
    """Validators for the next request."""
    final_url: str = ""
    """Final URL of redirects; empty if there were none."""
    due: float | None = None
    """When to visit again; None: no visit planned."""
    version: Version | None = None
    """The new version; None if nothing new has to be kept."""


@dataclass(frozen=True, slots=True)
class AcceptedStory:
    """A new, young document that was accepted."""

    id: UrlId
    version: VersionId
    url: Url
    site: str
    title: str
    published: float
    published_source: str
    first_seen: float
    """When its URL was first found."""
    fetched: float
    discovered_from: Url | None
    discovered_via: Channel
    forager: ForagerId = NOBODY
    duplicate_of: Url | None = None
    text_print: Print = 0
    simhash: Print = 0
    about: About = NOTHING
    exact: bool = True
    """False if only the day of publication is known."""

    @property
    def delay(self) -> float | None:
        """Seconds from publication to fetch; None if only the day of publication is known."""
        return max(0.0, self.fetched - self.published) if self.exact else None


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
    byte_print: Print
    text_print: Print
    validators: Validators


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of rows."""

    known: int = 0
    pending: int = 0
    leased: int = 0
    done: int = 0
    visits: int = 0
    versions: int = 0
    stories: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    troubles: dict[str, int] = field(default_factory=dict)


class RunRecords(Protocol):
    """What can be read of a run, from its store, open or read-only, or from a replay."""

    def find(self, url: Url) -> UrlId | None: ...
    def url(self, id: UrlId) -> Url: ...
    def known(self, id: UrlId) -> Known: ...
    def counts(self) -> Counts: ...
    async def unsettled(self) -> list[VersionId]: ...
    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]: ...
    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]: ...
    def visits(self, id: UrlId | None = None) -> AsyncIterator[Visit]: ...
    def stories(self, after: int = 0) -> AsyncIterator[AcceptedStory]: ...


class Archive(Protocol):
    """Where a store keeps what its ledger does not hold: visits, versions, stories and states of parts.

    What is added is committed together with, or before, whatever is added next; `commit` waits for that.
    """

    def check(self) -> None:
        """Raises a StoreError if nothing can be added any more."""

    def add_urls(self, new: Sequence[tuple[UrlId, Found]]) -> None: ...

    def add_visit(self, number: int, visit: Visit, version: VersionId | None, same_text: VersionId | None) -> None:
        """Adds a visit, numbered from 1, and the version it made; `same_text` is an older one whose text may be the
        same."""

    def add_decision(self, version: VersionId, number: int, story: AcceptedStory | None) -> None:
        """Adds the decision on a version: the story with this number, from 1, or none."""

    def add_host(self, host: str, state: bytes) -> None: ...

    def add_state(self, name: str, value: bytes) -> None: ...

    async def commit(self) -> None: ...

    async def state(self, name: str) -> bytes | None: ...

    async def hosts(self) -> dict[str, bytes]: ...

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]: ...

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]: ...

    async def links_shown(self, id: UrlId) -> list[tuple[UrlId, ...]]:
        """Returns the links of every version of a URL."""

    def visits(self, id: UrlId | None, after: int, end: int) -> AsyncIterator[Visit]:
        """Visits up to the one with the number `end`."""

    def stories(self, after: int, end: int) -> AsyncIterator[AcceptedStory]: ...

    async def close(self) -> None: ...
