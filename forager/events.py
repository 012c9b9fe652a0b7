"""What can happen in a crawl. The journal is a stream of these; dashboard, measures, exports and tests read it."""

from dataclasses import dataclass

from forager.terms import Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page was asked for, by a forager or for the recrawl cycle."""

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
    """A new, young document was accepted: a story."""

    at: float
    id: UrlId
    url: Url
    site: str
    title: str
    published: float
    published_source: str
    delay: float
    via: Channel
    by: ForagerId


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A forager got what a finding earned, reward or penalty."""

    at: float
    forager: ForagerId
    url: UrlId
    amount: float


@dataclass(frozen=True, slots=True)
class Born:
    """A forager came to life, from a parent or at the start."""

    at: float
    forager: ForagerId
    kind: str
    parent: ForagerId


@dataclass(frozen=True, slots=True)
class Deleted:
    """A forager was too poor to go on."""

    at: float
    forager: ForagerId
    score: float


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A recrawl cycle chose its pages."""

    at: float
    policy: str
    known: int
    chosen: int


Event = Fetched | Told | Reinforced | Born | Deleted | Scheduled
