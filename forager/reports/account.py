"""A run, read from its store alone: what was found, how soon, what it cost, and what went wrong."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from forager.engine.remembering import Schedule, recall_schedule
from forager.foragers.settings import ForagerSettings
from forager.frontier.skipped import REFUSALS, Skipped
from forager.pages.urls import site as site_of
from forager.reinforcing.saving import load_agent
from forager.reinforcing.scores import Record
from forager.reinforcing.settings import ReinforcingSettings
from forager.reports.dossier import Records
from forager.store.protocol import Story, Visit
from forager.store.store import Store
from forager.terms import NOBODY, Outcome, Trouble, Url, UrlId

EXAMPLES = 5
"""URLs named for each kind of error (ours)."""
SLICES = 96
"""Slices of the run's time in which things are counted (ours)."""


@dataclass(slots=True)
class SiteAccount:
    """What one site gave and cost."""

    requests: int = 0
    wire_bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    delays: list[float] = field(default_factory=list)
    channels: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Errors:
    """All errors, or refusals, of one kind."""

    count: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[Url, None] = field(default_factory=dict)


@dataclass(slots=True)
class Side:
    """The visits of the fleet, or of the recrawl cycle."""

    visits: int = 0
    changed: int = 0
    stories: int = 0


@dataclass(slots=True)
class Account:
    """A run as its store tells it."""

    known: int
    pages: int
    versions: int
    stories: list[Story]
    began: float
    ended: float
    visits: int = 0
    sites: defaultdict[str, SiteAccount] = field(default_factory=lambda: defaultdict(SiteAccount))
    errors: defaultdict[str, Errors] = field(default_factory=lambda: defaultdict(Errors))
    refusals: defaultdict[str, Errors] = field(default_factory=lambda: defaultdict(Errors))
    """Visits that were not made, because a rule or a budget forbids them."""
    schedule: Schedule | None = None
    """The recrawl policy and what was learned; None if the run kept nothing of it."""
    skipped: Skipped = field(default_factory=Skipped)
    """Links that never entered the crawl, and refusals, as the run itself counted them."""
    fleet: Side = field(default_factory=Side)
    recrawl: Side = field(default_factory=Side)
    records: list[Record] = field(default_factory=list)
    requests_over_time: list[int] = field(default_factory=lambda: [0] * SLICES)
    stories_over_time: list[int] = field(default_factory=lambda: [0] * SLICES)
    looks: list[list[bool]] = field(default_factory=lambda: [[] for _ in range(SLICES)])
    """In each slice, for every visit of the recrawl cycle to a page seen before, in order, whether it saw a change."""

    @property
    def requests(self) -> int:
        return sum(site.requests for site in self.sites.values())

    @property
    def delays(self) -> list[float]:
        return [story.delay for story in self.stories]

    def slice(self, at: float) -> int:
        """The slice of time in which a moment lies."""
        span = max(1e-9, self.ended - self.began)
        return min(SLICES - 1, max(0, int(SLICES * (at - self.began) / span)))


async def read_account(reader: Store) -> Account:
    """Read a run once through."""
    sites: dict[UrlId, str] = {}
    began, ended, pages = _times(reader)
    counts = reader.counts()
    stories = [story async for story in reader.stories()]
    account = Account(counts.known, pages, counts.versions, stories, began, ended)
    async for visit in reader.visits():
        _enter_visit(account, visit, reader, sites)
    for story in stories:
        _enter_story(account, story)
    account.records = await _records(reader)
    account.schedule = await recall_schedule(reader)
    skipped = await reader.recall("skipped")
    account.skipped = Skipped() if skipped is None else Skipped.load(skipped)
    return account


def _times(reader: Records) -> tuple[float, float, int]:
    """When the first URL was entered, when the last visit was made, and how many pages were visited."""
    known = [reader.known(UrlId(id)) for id in range(reader.counts().known)]
    began = min((page.found for page in known), default=0.0)
    ended = max((page.last_visit for page in known if page.last_visit is not None), default=began)
    return began, ended, sum(page.visits > 0 for page in known)


def _enter_visit(account: Account, visit: Visit, reader: Store, sites: dict[UrlId, str]) -> None:
    first = visit.id not in sites
    if first:
        sites[visit.id] = site_of(reader.url(visit.id))
    site = account.sites[sites[visit.id]]
    side, place = account.recrawl if visit.by == NOBODY else account.fleet, account.slice(visit.at)
    account.visits += 1
    side.visits += 1
    side.changed += visit.changed
    site.outcomes[visit.outcome.value] += 1
    site.wire_bytes += visit.wire_bytes
    if visit.outcome is not Outcome.REFUSED:
        site.requests += 1
        account.requests_over_time[place] += 1
    if visit.by == NOBODY and not first and visit.outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
        account.looks[place].append(visit.changed)
    if visit.trouble is not Trouble.NONE:
        _enter_error(account, visit, reader.url(visit.id))


def _enter_error(account: Account, visit: Visit, url: Url) -> None:
    if visit.outcome is Outcome.REFUSED:
        errors = account.refusals[REFUSALS.get(visit.trouble, visit.trouble.value)]
    else:
        errors = account.errors[f"status {visit.status}" if visit.trouble is Trouble.STATUS else visit.trouble.value]
    errors.count += 1
    errors.reasons[visit.error] += 1
    if len(errors.examples) < EXAMPLES:
        errors.examples[url] = None


def _enter_story(account: Account, story: Story) -> None:
    site = account.sites[story.site]
    site.delays.append(story.delay)
    site.channels[story.discovered_via.value] += 1
    account.stories_over_time[account.slice(story.fetched)] += 1
    (account.recrawl if story.forager == NOBODY else account.fleet).stories += 1


async def _records(reader: Store) -> list[Record]:
    """Everyone who ever lived; nobody if the run has kept no fleet."""
    saved = await reader.recall("fleet")
    return [] if saved is None else [*load_agent(saved, ReinforcingSettings(), ForagerSettings()).records.values()]
