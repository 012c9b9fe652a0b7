"""The events of a crawl, and the journal, which hands each to the account, the dashboard, the log and tests, in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from forager.terms import About, Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId


@dataclass(frozen=True, slots=True)
class Fetched:
    """The crawl requested a page, for a forager or for the recrawl cycle."""

    at: float
    id: UrlId
    url: Url
    by: ForagerId
    outcome: Outcome
    status: int
    trouble: Trouble
    error: str
    seconds: float
    wire_bytes: int
    kind: Kind
    changed: bool
    new_links: int


@dataclass(frozen=True, slots=True)
class Told:
    """The crawl accepted a new, young document as a story."""

    at: float
    id: UrlId
    url: Url
    site: str
    title: str
    published: float
    published_source: str
    delay: float | None
    """Seconds from publication to fetch; None if only the day of publication is known."""
    via: Channel
    by: ForagerId
    about: About | None = None


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A forager received the reward or penalty for one of its findings."""

    at: float
    forager: ForagerId
    url: UrlId
    amount: float


@dataclass(frozen=True, slots=True)
class Born:
    """A forager was created, by splitting its parent or at the start of the crawl."""

    at: float
    forager: ForagerId
    kind: str
    parent: ForagerId


@dataclass(frozen=True, slots=True)
class Deleted:
    """The agent deleted a forager because its score was too low."""

    at: float
    forager: ForagerId
    score: float


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A recrawl cycle chose the pages to visit."""

    at: float
    policy: str
    known: int
    chosen: int


@dataclass(frozen=True, slots=True)
class CycleDone:
    """A recrawl cycle ended; the fields say how well it chose its visits."""

    at: float
    policy: str
    visits: int
    """Pages that the cycle visited and that the crawl had visited before."""
    changes: int
    """How many of those visits found a changed page."""
    change_rate: float
    ndcg: float
    """Quality of the visit order: 1 if the changed pages came first."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The crawl learned a score function from its visits and judged it on held-out pages."""

    at: float
    formula: str
    fitness: str
    """The measure: late, discovery, ndcg, changerate or freshness."""
    new: float
    """Fitness of the function just learned, on held-out pages."""
    old: float
    """Fitness of the function in use, on the same pages."""
    replaced: bool
    """Whether the new function is in use from now on."""
    visits: int
    """Number of visits it was learned from."""
    kind: str = ""
    """Which pages it is for: lists, texts, or all of them if empty."""

    @property
    def verdict(self) -> str:
        """The result in words; a new function is rejected if chance alone can explain its lead."""
        if self.replaced:
            return "taken"
        return "perhaps chance" if self.new > self.old else "not better"


@dataclass(frozen=True, slots=True)
class TopicJudged:
    """A document was held against the topic of the crawl, for the first time or once more."""

    at: float
    id: UrlId
    version: int
    verdict: str
    """`on topic`, `off topic` or `cannot tell yet` …"""
    before: str
    """… and what it was before; empty if there was no verdict."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A crawl continues an earlier run, however that ended; its foragers are announced again."""

    at: float
    known: int
    stories: int
    foragers: int


@dataclass(frozen=True, slots=True)
class AskedToWait:
    """A host asks for a pause; also written when a crawl resumes before that is over."""

    at: float
    host: str
    until: float
    why: str


Event = (
    AskedToWait | Fetched | Told | Reinforced | Born | Deleted | Scheduled | CycleDone | Learned | Resumed | TopicJudged
)


class Journal:
    """Hands each event to its readers, in the order in which things happened."""

    def __init__(self, readers: Sequence[Callable[[Event], None]] = ()) -> None:
        self._readers = tuple(readers)
        self.count = 0

    def __repr__(self) -> str:
        return f"<Journal {self.count} events>"

    def write(self, event: Event) -> None:
        self.count += 1
        for reader in self._readers:
            reader(event)


def event_line(event: Event) -> bytes:
    """The event as one line of JSON; the same event always gives the same bytes. Leads and tags stand in the store."""
    fields = {name: getattr(event, name) for name in event.__slots__ if name != "about"}
    return msgspec.json.encode({"event": type(event).__name__, **fields}) + b"\n"


class JournalFile:
    """A reader that appends every event to a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __call__(self, event: Event) -> None:
        self._file.write(event_line(event))
