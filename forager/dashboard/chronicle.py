"""Reads the journal and keeps the latest events for the pages, in bounded memory, at a constant cost per event.

Figures come from the account; the chronicle keeps single events, with all text from the web made safe to show.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from forager.core.agent import ReinforcingAgent
from forager.engine.stories import told
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Learned, Reinforced, Scheduled, Told
from forager.pages.urls import host
from forager.report.account import Account
from forager.report.phrases import shown, visitor
from forager.store.protocol import RunRecords
from forager.terms import NOBODY, NOTHING, ForagerId, Outcome, Trouble

JsonFacts = dict[str, Any]


LEAD = 1_000
"""Characters of a lead, or of the address of a picture, that are shown."""


def story_facts(number: int, told: Told) -> JsonFacts:
    about = told.about or NOTHING
    return {
        "number": number,
        "at": told.at,
        "url": told.url,
        "site": told.site,
        "title": shown(told.title) or told.url,
        "published": told.published,
        "published_source": told.published_source,
        "delay": told.delay,
        "via": told.via.value,
        "by": visitor(told.by),
        "authors": [shown(name) for name in about.authors],
        "lead": shown(about.lead, LEAD),
        "section": shown(about.section),
        "tags": [shown(tag) for tag in about.tags],
        "language": shown(about.language),
        "image": shown(about.image, LEAD),
        "paywalled": about.paywalled,
        "word_count": about.word_count,
    }


def request_facts(fetched: Fetched) -> JsonFacts:
    return {
        "at": fetched.at,
        "url": fetched.url,
        "by": visitor(fetched.by),
        "outcome": fetched.outcome.value,
        "status": fetched.status,
        "trouble": fetched.trouble.value,
        "error": shown(fetched.error),
        "changed": fetched.changed,
        "new_links": fetched.new_links,
        "seconds": round(fetched.seconds, 3),
    }


STORIES, ERRORS, FETCHES, CYCLES, LIVES, HOSTS = 5000, 300, 100, 300, 1000, 1000
"""Limits (ours): latest stories, errors, fetches, recrawl cycles and foragers kept, and number of hosts."""
HOUR = 3600.0


class LastHour:
    """Counts how often something happened in the last hour, by minute."""

    __slots__ = ("_counts", "_minute")

    def __init__(self) -> None:
        self._counts = [0] * 60
        self._minute = -1

    def add(self, at: float) -> None:
        minute = int(at // 60)
        if minute > self._minute:
            self._forget(minute)
        self._counts[minute % 60] += 1

    def total(self, now: float) -> int:
        if now // 60 > self._minute:
            self._forget(int(now // 60))
        return sum(self._counts)

    def _forget(self, minute: int) -> None:
        """Moves on to a later minute: clears the counts of an hour before, and of the minutes in between."""
        for passed in range(max(self._minute + 1, minute - 59), minute + 1):
            self._counts[passed % 60] = 0
        self._minute = minute


class Trace:
    """A value over time with at most `most` points; when full, it drops every second point and halves the sampling
    rate."""

    __slots__ = ("_every", "_most", "_skipped", "points")

    def __init__(self, most: int = 64) -> None:
        self.points: list[tuple[float, float]] = []
        self._most, self._every, self._skipped = most, 1, 0

    def add(self, at: float, value: float) -> None:
        self._skipped += 1
        if self._skipped < self._every and self.points:
            return
        self._skipped = 0
        self.points.append((at, value))
        if len(self.points) >= self._most:
            del self.points[1::2]
            self._every *= 2


@dataclass(slots=True)
class Cycle:
    """A recrawl cycle with the results of its visits."""

    at: float
    policy: str
    known: int
    chosen: int
    visited: int = 0
    changed: int = 0
    """Visits of the cycle so far that found a change, including first visits."""
    change_rate: float | None = None
    ndcg: float | None = None
    """NDCG of the visits to pages visited before, once the cycle is over; None if there were none."""


@dataclass(slots=True)
class Life:
    """What a forager earned, from the journal; the agent's records tell the rest."""

    is_over: bool = False
    rewards: float = 0.0
    penalties: float = 0.0
    scores: Trace = field(default_factory=Trace)


class Chronicle:
    """A reader of the journal, called after the account; pages read it at any time."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.stories: deque[tuple[int, Told]] = deque(maxlen=STORIES)
        """The latest stories with their numbers, from 1."""
        self.hosts: dict[str, LastHour] = {}
        """Requests to each host in the last hour."""
        self.fetches: deque[Fetched] = deque(maxlen=FETCHES)
        self.errors: deque[Fetched] = deque(maxlen=ERRORS)
        self.cycles: deque[Cycle] = deque(maxlen=CYCLES)
        self.learned: deque[Learned] = deque(maxlen=CYCLES)
        self.lives: dict[ForagerId, Life] = {}
        """The foragers alive, and the latest deleted ones."""
        self._agent: ReinforcingAgent | None = None

    def __repr__(self) -> str:
        return f"<Chronicle of {self.account!r}, {len(self.stories)} stories at hand>"

    def follow(self, agent: ReinforcingAgent) -> None:
        """Also records the scores of this agent's foragers from now on."""
        self._agent = agent

    async def remember(self, store: RunRecords) -> None:
        """Loads the latest stories of earlier runs from the store."""
        number = max(0, store.counts().stories - STORIES)
        async for story in store.stories(number):
            number += 1
            self.stories.append((number, told(story)))

    def __call__(self, event: Event) -> None:
        match event:
            case Fetched():
                self._fetched(event)
            case Told():
                self.stories.append((self.account.stories, event))
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

    def _fetched(self, event: Fetched) -> None:
        self.fetches.append(event)
        if event.outcome is not Outcome.REFUSED:
            self._count_host(host(event.url), event.at)
            if event.trouble is not Trouble.NONE:
                self.errors.append(event)
        if event.by == NOBODY and self.cycles:
            self.cycles[-1].visited += 1
            self.cycles[-1].changed += event.changed

    def _count_host(self, name: str, at: float) -> None:
        lately = self.hosts.get(name)
        if lately is None:
            if len(self.hosts) >= HOSTS:
                return
            lately = self.hosts[name] = LastHour()
        lately.add(at)

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
            life.scores.add(event.at, record.score)

    def _cycle_done(self, event: CycleDone) -> None:
        if self.cycles and event.visits:
            self.cycles[-1].change_rate = event.change_rate
            self.cycles[-1].ndcg = event.ndcg if event.changes else None  # without a change every order is equally good

    def _born(self, event: Born) -> None:
        self.lives[event.forager] = Life()
        if len(self.lives) > LIVES:
            ended = next((id for id, life in self.lives.items() if life.is_over), None)
            if ended is not None:
                del self.lives[ended]

    def _deleted(self, event: Deleted) -> None:
        life = self.lives.get(event.forager)
        if life is not None:
            life.is_over = True
