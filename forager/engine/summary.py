"""The account of a crawl, read from its journal: what was found, how soon, and what it cost."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forager.events import Born, Deleted, Event, Fetched, Told
from forager.pages.urls import site
from forager.reinforcing.agent import ReinforcingAgent
from forager.terms import Outcome, Trouble


@dataclass(slots=True)
class SiteAccount:
    """What one site gave and cost."""

    requests: int = 0
    not_modified: int = 0
    wire_bytes: int = 0
    delays: list[float] = field(default_factory=list)
    channels: Counter[str] = field(default_factory=Counter)
    """Stories by the way in which their URL was found first."""
    errors: Counter[str] = field(default_factory=Counter)
    """What went wrong with requests that were made, by kind."""


class Summary:
    """Reads the journal along; asked at any time."""

    def __init__(self) -> None:
        self.sites: defaultdict[str, SiteAccount] = defaultdict(SiteAccount)
        self.stories: list[Told] = []
        self.pages: set[int] = set()
        self.changes = 0
        self.born = self.deleted = 0

    def __call__(self, event: Event) -> None:
        match event:
            case Fetched():
                self._fetched(event)
            case Told():
                self.stories.append(event)
                account = self.sites[event.site]
                account.delays.append(event.delay)
                account.channels[event.via.value] += 1
            case Born():
                self.born += 1
            case Deleted():
                self.deleted += 1

    def _fetched(self, event: Fetched) -> None:
        account = self.sites[site(event.url)]
        if event.outcome is Outcome.REFUSED:  # nobody was asked: no request and no error, see `frontier.skipped`
            return
        account.requests += 1
        account.wire_bytes += event.wire_bytes
        account.not_modified += event.outcome is Outcome.UNCHANGED
        self.changes += event.changed
        if event.outcome is Outcome.FETCHED:
            self.pages.add(event.id)
        if event.trouble is not Trouble.NONE:
            account.errors[error_kind(event)] += 1

    @property
    def requests(self) -> int:
        return sum(account.requests for account in self.sites.values())

    @property
    def not_modified(self) -> int:
        return sum(account.not_modified for account in self.sites.values())

    @property
    def errors(self) -> Counter[str]:
        """All errors, by kind."""
        total: Counter[str] = Counter()
        for account in self.sites.values():
            total.update(account.errors)
        return total

    def facts(self) -> dict[str, Any]:
        """The account as plain values, for JSON and for people."""
        delays = [told.delay for told in self.stories]
        return {
            "pages": len(self.pages),
            "stories": len(self.stories),
            "delay_median_s": quantile(delays, 0.5),
            "delay_p90_s": quantile(delays, 0.9),
            "requests": self.requests,
            "requests_per_story": round(self.requests / len(self.stories), 2) if self.stories else None,
            "not_modified": self.not_modified,
            "changes": self.changes,
            "wire_bytes": sum(account.wire_bytes for account in self.sites.values()),
            "errors": dict(self.errors),
            "sites": {name: _site_facts(account) for name, account in sorted(self.sites.items())},
        }


def error_kind(event: Fetched) -> str:
    """The kind under which an error is counted; statuses are told apart."""
    return f"status {event.status}" if event.trouble is Trouble.STATUS else event.trouble.value


def fleet_facts(agent: ReinforcingAgent) -> dict[str, Any]:
    """Everyone who ever lived, as plain values."""
    records = agent.records.values()
    return {
        "alive": len(agent.foragers),
        "born": len(agent.records),
        "deleted": len(agent.records) - len(agent.foragers),
        "list": [
            {
                "id": one.id,
                "kind": one.kind.value,
                "score": round(one.score, 3),
                "sent": one.sent,
                "relevant": one.relevant,
                "downloads": one.downloads,
                "parent": one.parent,
                "born": one.born,
                "deleted": one.deleted,
            }
            for one in records
        ],
    }


def quantile(values: list[float], share: float) -> float | None:
    """None if there is nothing to speak of."""
    return round(float(np.quantile(values, share)), 3) if values else None


def _site_facts(account: SiteAccount) -> dict[str, Any]:
    return {
        "stories": len(account.delays),
        "delay_median_s": quantile(account.delays, 0.5),
        "delay_p90_s": quantile(account.delays, 0.9),
        "requests": account.requests,
        "not_modified": account.not_modified,
        "channels": dict(account.channels),
        "errors": dict(account.errors),
    }
