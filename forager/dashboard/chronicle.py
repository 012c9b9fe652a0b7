"""Reads the journal along and keeps what the pages show: a bounded amount (of stories beyond it the URL number), at a
constant cost per event."""

from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from forager.dashboard.timeline import LastHour, Timeline, Trace
from forager.engine.summary import error_kind
from forager.engine.telling import told
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Learned, Reinforced, Scheduled, Told
from forager.pages.urls import host, site
from forager.reinforcing.agent import ReinforcingAgent
from forager.store.protocol import Counts, Story
from forager.terms import NOBODY, ForagerId, Outcome, Trouble, UrlId

STORIES, DELAYS, ERRORS, FETCHES, CYCLES, LIVES, PLACES, RULES = 5000, 1000, 300, 100, 300, 1000, 1000, 50
"""Latest stories, delays per site, errors, fetches, recrawl cycles and foragers kept; the most sites and hosts, and the
most rules told apart at one site."""
OTHERS = "(other sites)"
HOUR = 3600.0


class Remembers(Protocol):
    """What is asked of a store."""

    def counts(self) -> Counts: ...
    def stories(self, after: int = 0) -> AsyncIterator[Story]: ...


@dataclass(slots=True)
class Place:
    """What one site gave and cost."""

    requests: int = 0
    wire_bytes: int = 0
    stories: int = 0
    delay_sum: float = 0.0
    delays: deque[float] = field(default_factory=lambda: deque(maxlen=DELAYS))
    """Of the latest stories."""
    outcomes: Counter[str] = field(default_factory=Counter)
    channels: Counter[str] = field(default_factory=Counter)
    """Stories by the way in which their URL was found first."""
    errors: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    """What was not asked for, by the rule that forbids it."""
    last_error: str = ""
    last_story: float | None = None


@dataclass(slots=True)
class Cycle:
    """A recrawl cycle with what its visits showed."""

    at: float
    policy: str
    known: int
    chosen: int
    visited: int = 0
    changed: int = 0
    """All visits for the cycle so far, first ones too."""
    change_rate: float | None = None
    ndcg: float | None = None
    """Of the visits to pages seen before, once the cycle is over; None if there were none."""


@dataclass(slots=True)
class Life:
    """What the journal tells of one forager."""

    forager: ForagerId
    kind: str
    parent: ForagerId
    born: float
    deleted: float | None = None
    last_score: float = 0.0
    rewards: float = 0.0
    penalties: float = 0.0
    scores: Trace = field(default_factory=Trace)


class Chronicle:
    """A reader of the journal; asked by the pages at any time."""

    def __init__(self) -> None:
        self.stories: deque[tuple[int, Told]] = deque(maxlen=STORIES)
        """The latest stories with their numbers, from 1."""
        self.told = self.remembered = 0
        """All stories, and those of them from before this run."""
        self.urls: set[UrlId] = set()
        """Those of all stories."""
        self.places: dict[str, Place] = {}
        self.hosts: dict[str, LastHour] = {}
        """Requests to each host in the last hour."""
        self.fetches: deque[Fetched] = deque(maxlen=FETCHES)
        self.errors: deque[Fetched] = deque(maxlen=ERRORS)
        self.cycles: deque[Cycle] = deque(maxlen=CYCLES)
        self.learned: deque[Learned] = deque(maxlen=CYCLES)
        self.lives: dict[ForagerId, Life] = {}
        """Those alive, and the latest of those deleted."""
        self.born = self.deleted = self.requests = self.changes = 0
        self.timeline = Timeline(("requests", "stories", "errors", "born", "deleted"))
        self._agent: ReinforcingAgent | None = None

    def __repr__(self) -> str:
        return f"<Chronicle {self.told} stories, {self.requests} requests, {len(self.places)} sites>"

    def follow(self, agent: ReinforcingAgent) -> None:
        """From now on note the scores of this agent's foragers too."""
        self._agent = agent

    async def remember(self, store: Remembers) -> None:
        """Take over the latest stories that the store holds from before; what they cost is not known any more."""
        self.told = max(0, store.counts().stories - STORIES)
        async for story in store.stories(self.told):
            self._list(told(story))
        self.remembered = self.told

    def __call__(self, event: Event) -> None:
        match event:
            case Fetched():
                self._fetched(event)
            case Told():
                self._told(event)
            case Reinforced():
                self._reinforced(event)
            case Born():
                self._born(event)
            case Deleted():
                self._deleted(event)
            case Scheduled():
                self.cycles.append(Cycle(event.at, event.policy, event.known, event.chosen))
            case CycleDone():
                self._cycle_done(event)
            case Learned():
                self.learned.append(event)

    def place(self, name: str) -> Place:
        """The account of a site; sites beyond the most that are kept share one."""
        place = self.places.get(name)
        if place is None:
            if len(self.places) >= PLACES:
                name = OTHERS
            place = self.places[name] = self.places.get(name) or Place()
        return place

    def _fetched(self, event: Fetched) -> None:
        self.fetches.append(event)
        place = self.place(site(event.url))
        place.outcomes[event.outcome._value_] += 1  # `value` takes five times as long
        place.wire_bytes += event.wire_bytes
        self.changes += event.changed
        if event.outcome is not Outcome.REFUSED:
            place.requests += 1
            self.requests += 1
            self.timeline.add("requests", event.at)
            self._count_host(host(event.url), event.at)
        if event.outcome is Outcome.REFUSED:
            place.refusals[event.error if len(place.refusals) < RULES else error_kind(event)] += 1
        elif event.trouble is not Trouble.NONE:
            self.errors.append(event)
            place.errors[error_kind(event)] += 1
            place.last_error = event.error or error_kind(event)
            self.timeline.add("errors", event.at)
        if event.by == NOBODY and self.cycles:
            self.cycles[-1].visited += 1
            self.cycles[-1].changed += event.changed

    def _count_host(self, name: str, at: float) -> None:
        lately = self.hosts.get(name)
        if lately is None:
            if len(self.hosts) >= PLACES:
                return
            lately = self.hosts[name] = LastHour()
        lately.add(at)

    def _told(self, event: Told) -> None:
        self.timeline.add("stories", event.at)
        self._list(event)

    def _list(self, event: Told) -> None:
        self.told += 1
        self.stories.append((self.told, event))
        self.urls.add(event.id)
        place = self.place(event.site)
        place.stories += 1
        place.delays.append(event.delay)
        place.delay_sum += event.delay
        place.channels[event.via.value] += 1
        place.last_story = event.at

    def _reinforced(self, event: Reinforced) -> None:
        life = self.lives.get(event.forager)
        if life is None:
            return
        if event.amount < 0:
            life.penalties += event.amount
        else:
            life.rewards += event.amount
        record = None if self._agent is None else self._agent.records.get(event.forager)
        if record is not None:
            life.last_score = record.score
            life.scores.add(event.at, record.score)

    def _cycle_done(self, event: CycleDone) -> None:
        if self.cycles and event.visits:
            self.cycles[-1].change_rate = event.change_rate
            self.cycles[-1].ndcg = event.ndcg if event.changes else None  # without a change every order is as good

    def _born(self, event: Born) -> None:
        self.born += 1
        self.timeline.add("born", event.at)
        self.lives[event.forager] = Life(event.forager, event.kind, event.parent, event.at)
        if len(self.lives) > LIVES:
            ended = next((id for id, life in self.lives.items() if life.deleted is not None), None)
            if ended is not None:
                del self.lives[ended]

    def _deleted(self, event: Deleted) -> None:
        self.deleted += 1
        self.timeline.add("deleted", event.at)
        life = self.lives.get(event.forager)
        if life is not None:
            life.deleted, life.last_score = event.at, event.score
