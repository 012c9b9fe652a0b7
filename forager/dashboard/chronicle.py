"""Reads the journal along and keeps what happened lately, for the pages: a bounded amount, at a constant cost per event.

Figures are the account's; what is here is shown one by one.
"""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from forager.core.agent import ReinforcingAgent
from forager.engine.stories import told
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Learned, Reinforced, Scheduled, Told
from forager.pages.urls import host
from forager.report.account import Account
from forager.store.protocol import Counts, Story
from forager.terms import NOBODY, ForagerId, Outcome, Trouble

STORIES, ERRORS, FETCHES, CYCLES, LIVES, HOSTS = 5000, 300, 100, 300, 1000, 1000
"""Latest stories, errors, fetches, recrawl cycles and foragers kept; the most hosts (ours)."""
HOUR = 3600.0


class Remembers(Protocol):
    """What is asked of a store."""

    def counts(self) -> Counts: ...
    def stories(self, after: int = 0) -> AsyncIterator[Story]: ...


class LastHour:
    """How often something happened in the last hour, to the minute."""

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
        """A later minute has begun: what was counted an hour before it, and the minutes without anything, go."""
        for passed in range(max(self._minute + 1, minute - 59), minute + 1):
            self._counts[passed % 60] = 0
        self._minute = minute


class Trace:
    """A value over time: at most `most` points; when full, every second one goes and new ones come half as often."""

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
    """A reader of the journal, after the account; asked by the pages at any time."""

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
        """Those alive, and the latest of those deleted."""
        self._agent: ReinforcingAgent | None = None

    def __repr__(self) -> str:
        return f"<Chronicle of {self.account!r}, {len(self.stories)} stories at hand>"

    def follow(self, agent: ReinforcingAgent) -> None:
        """From now on note the scores of this agent's foragers too."""
        self._agent = agent

    async def remember(self, store: Remembers) -> None:
        """Take over the latest stories that the store holds from before."""
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
            life.last_score = record.score
            life.scores.add(event.at, record.score)

    def _cycle_done(self, event: CycleDone) -> None:
        if self.cycles and event.visits:
            self.cycles[-1].change_rate = event.change_rate
            self.cycles[-1].ndcg = event.ndcg if event.changes else None  # without a change every order is as good

    def _born(self, event: Born) -> None:
        self.lives[event.forager] = Life(event.forager, event.kind, event.parent, event.at)
        if len(self.lives) > LIVES:
            ended = next((id for id, life in self.lives.items() if life.deleted is not None), None)
            if ended is not None:
                del self.lives[ended]

    def _deleted(self, event: Deleted) -> None:
        life = self.lives.get(event.forager)
        if life is not None:
            life.deleted, life.last_score = event.at, event.score
