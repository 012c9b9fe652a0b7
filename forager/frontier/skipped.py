"""URLs that were left out, before they entered the crawl or when their turn came: by reason and host, with an example."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from forager.errors import StoreError
from forager.pages.urls import host
from forager.terms import Trouble, Url

HOSTS = 500
"""Hosts told apart for each reason (ours): a news site links to any number of others."""
OTHERS = "(other hosts)"
REFUSALS = {
    Trouble.ROBOTS: "robots.txt does not allow it",
    Trouble.ADDRESS: "a private address",
    Trouble.BUDGET: "the host has had its share for now",
    Trouble.URL: "not an address that can be asked",
}
"""Reasons for which a known URL is not asked for, in words."""


@dataclass(slots=True)
class Skip:
    """How often URLs of one host were left out for one reason."""

    reason: str
    host: str
    count: int
    """Links met, not different URLs: one in the footer of every page counts each time such a page is read."""
    example: Url
    """The one met last."""


class Skipped:
    """Counts in bounded memory; survives the crawl by `save` and `load`."""

    def __init__(self) -> None:
        self._by_reason: dict[str, dict[str, Skip]] = {}

    def __repr__(self) -> str:
        return f"<Skipped {sum(self.counts().values())} links for {len(self._by_reason)} reasons>"

    def __iter__(self) -> Iterator[Skip]:
        """By reason and host, most frequent first."""
        every = [skip for hosts in self._by_reason.values() for skip in hosts.values()]
        return iter(sorted(every, key=lambda skip: (-skip.count, skip.reason, skip.host)))

    def add(self, reason: str, url: Url) -> None:
        """A link stayed out."""
        hosts, name = self._by_reason.setdefault(reason, {}), host(url)
        if name not in hosts and len(hosts) >= HOSTS:
            name = OTHERS
        skip = hosts.get(name)
        if skip is None:
            hosts[name] = Skip(reason, name, 1, url)
        else:
            skip.count += 1
            skip.example = url

    def counts(self) -> Mapping[str, int]:
        """All links by reason, most frequent first."""
        totals = {reason: sum(skip.count for skip in hosts.values()) for reason, hosts in self._by_reason.items()}
        return dict(sorted(totals.items(), key=lambda item: -item[1]))

    def save(self) -> bytes:
        return msgspec.json.encode([*self])

    @classmethod
    def load(cls, saved: bytes) -> "Skipped":
        loaded = cls()
        try:
            for skip in msgspec.json.decode(saved, type=list[Skip]):
                loaded._by_reason.setdefault(skip.reason, {})[skip.host] = skip
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"the kept list of skipped URLs cannot be read ({error}); start a new run directory"
            ) from None
        return loaded
