"""Visits young stories again: corrections come in the first hours, and nothing else leads there because they are no new
stories.

A small share of the requests to each host is spent on this, even while there is other work, because a site with a long
backlog is never idle. First come the stories of which a feed or sitemap says something else than before, then the story
visited longest ago, if it may well have changed. How often stories change is learned for each host.
"""

import math
from dataclasses import dataclass, field

import msgspec

from forager.events import Event, Fetched, Told
from forager.pages.urls import host
from forager.terms import Outcome, Url, UrlId

YOUNG = 6 * 3600.0
"""Age in seconds from which on a story is left alone."""
HOURS, CHANGES = 1.0, 0.3
"""First guess of how often a story changes: in this many hours of watching, this many times."""
APART = 450.0
"""Seconds between two visits of a story without a sign of a correction. A correction seen within a quarter of an hour
is seen soon enough, and requests spent on the newest stories are missing elsewhere when there are many stories.
"""
SIGNLESS = 0.9
"""The part of the share that may be spent without a sign of a correction, so that the rest is left when a feed shows
one.
"""
PROBABLE = 0.02
"""The probability of a change from which on a story is worth a second visit."""


@dataclass(slots=True)
class _HostStories:
    """The young stories of one host, and what second visits showed."""

    seen: dict[UrlId, float] = field(default_factory=dict)
    """When each was last visited, the longest ago first."""
    published: dict[UrlId, float] = field(default_factory=dict)
    suspects: dict[UrlId, None] = field(default_factory=dict)
    """The stories of which a feed or sitemap says something else, in order."""
    chosen: UrlId | None = None
    """The story that is being visited now."""
    requests: int = 0
    looks: int = 0
    changes: float = CHANGES
    hours: float = HOURS

    def forget(self, id: UrlId) -> None:
        self.seen.pop(id, None)
        self.published.pop(id, None)
        self.suspects.pop(id, None)


class Corrections:
    """Reads the journal, and chooses the stories that deserve a second visit."""

    def __init__(self, share: float, saved: bytes | None = None) -> None:
        """At most `share` of the requests to each host is spent; `saved` is what `save` gave in an earlier run."""
        self.share = share
        self._hosts: dict[str, _HostStories] = {}
        if saved is not None:
            for name, figures in msgspec.json.decode(saved, type=dict[str, tuple[int, int, float, float]]).items():
                here = self._of_host(name)
                here.requests, here.looks, here.changes, here.hours = figures

    def __repr__(self) -> str:
        looks = sum(one.looks for one in self._hosts.values())
        return f"<Corrections {sum(len(one.seen) for one in self._hosts.values())} young stories, {looks} second looks>"

    def save(self) -> bytes:
        """Encodes what was spent and learned at each host; the stories themselves are in the store."""
        figures = {name: (one.requests, one.looks, one.changes, one.hours) for name, one in self._hosts.items()}
        return msgspec.json.encode(figures)

    def hear(self, event: Event) -> None:
        """Learns from a visit or a new story."""
        match event:
            case Fetched() if event.outcome is not Outcome.REFUSED:
                self._fetched(self._of(event.url), event)
            case Told() if self.share > 0:
                self.add(event.id, event.url, event.published, event.at)

    def add(self, id: UrlId, url: Url, published: float, seen: float) -> None:
        """Adds a story that was last seen at this time."""
        here = self._of(url)
        here.seen[id], here.published[id] = seen, published

    def suspect(self, id: UrlId, url: Url) -> None:
        """Records that a feed or sitemap says something new of a page."""
        here = self._of(url)
        if id in here.seen:
            here.suspects[id] = None

    def wants(self, id: UrlId, url: Url) -> bool:
        """Whether to visit a page although there is a fresh copy."""
        here = self._of(url)
        return id in here.suspects or id == here.chosen

    def choose(self, name: str, now: float) -> UrlId | None:
        """Chooses a story of a host to visit again, or None."""
        here = self._hosts.get(name)
        if here is None or here.looks + 1 > self.share * here.requests:
            return None
        for id, published in list(here.published.items()):
            if now - published <= YOUNG:
                break
            here.forget(id)
        here.chosen = None
        if here.suspects:
            here.chosen = next(iter(here.suspects))
        elif here.seen and here.looks + 1 <= self.share * SIGNLESS * here.requests:
            id, last = next(iter(here.seen.items()))
            if now - last >= APART and 1 - math.exp(-here.changes / here.hours * (now - last) / 3600) >= PROBABLE:
                here.chosen = id
        return here.chosen

    def _fetched(self, here: _HostStories, event: Fetched) -> None:
        here.requests += 1
        last = here.seen.pop(event.id, None)
        if last is None:
            return
        here.looks += 1
        here.chosen = None if event.id == here.chosen else here.chosen
        here.suspects.pop(event.id, None)
        if event.outcome is Outcome.GONE:
            here.forget(event.id)
            return
        here.seen[event.id] = event.at
        here.hours += (event.at - last) / 3600
        here.changes += event.changed

    def _of(self, url: Url) -> _HostStories:
        return self._of_host(host(url))

    def _of_host(self, name: str) -> _HostStories:
        here = self._hosts.get(name)
        if here is None:
            here = self._hosts[name] = _HostStories()
        return here
