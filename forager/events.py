"""What can happen in a crawl. The journal is a stream of these; account, dashboard, log and tests read it."""

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


@dataclass(frozen=True, slots=True)
class CycleDone:
    """A recrawl cycle is over: how well its visits were chosen."""

    at: float
    policy: str
    visits: int
    """Pages that the cycle looked at and that had been seen before."""
    changes: int
    """Those among them that had changed."""
    change_rate: float
    ndcg: float
    """Whether those that had changed were looked at first; 1 is the best order of the same pages."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A score function was learned from the visits so far and judged on pages that it had not seen."""

    at: float
    formula: str
    fitness: str
    """What was measured: discovery, ndcg, changerate or freshness."""
    new: float
    """Of the function just learned, on held-out pages, …"""
    old: float
    """… and of the one in use."""
    replaced: bool
    """It is in use from now on."""
    visits: int
    """Visits learned from."""

    @property
    def verdict(self) -> str:
        """What came of it: a function that is better, but by no more than chance may give, is not taken."""
        if self.replaced:
            return "taken"
        return "perhaps chance" if self.new > self.old else "not better"


Event = Fetched | Told | Reinforced | Born | Deleted | Scheduled | CycleDone | Learned
