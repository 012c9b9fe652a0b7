"""Which URLs belong to a crawl: the sites of its seeds, the rules of the operator, and nothing that looks like a trap.

URLs that are left out, before they enter the crawl or when their turn comes, are counted by reason and host, with an
example.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from forager.engine.traps import Ground
from forager.errors import SettingsError, StoreError
from forager.pages.urls import host, site
from forager.terms import Trouble, Url
from forager.web.web_settings import ScopeSettings

_FILES = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|css|js|mjs|json|woff2?|ttf|mp[34]|m4[av]|webm|ogg|wav|avi|mov|pdf|zip|gz|rar|7z|exe|dmg"
    r"|apk|docx?|xlsx?|pptx?|epub)$",
    re.IGNORECASE,
)
_FEED_LIKE = re.compile(r"(?:feed|rss|atom|sitemap)[^/]*\.(?:json|gz)$", re.IGNORECASE)


class Scope:
    """Answers whether a URL may enter the crawl, and counts what did."""

    def __init__(
        self, seeds: Iterable[Url], settings: ScopeSettings, before: Callable[[str], Iterable[Url]] | None = None
    ) -> None:
        """`before`: which URLs of a host had entered before. It is asked once for each host, when one of its URLs comes."""
        self.settings = settings
        self._before, self._counted = before, set[str]()
        self.sites = {site(url) for url in seeds}
        self._allow, self._deny = _pattern("allow", settings.allow), _pattern("deny", settings.deny)
        self._folders: Counter[str] = Counter()
        self.ground = Ground(settings.barren_after)

    def __repr__(self) -> str:
        return f"<Scope of {len(self.sites)} sites, {sum(self._folders.values())} URLs entered, {self.ground!r}>"

    def objection(self, url: Url, depth: int, *, announced: bool = False) -> str:
        """Why the URL must stay out, in a few words; empty if it may enter. `announced`: by a feed or sitemap."""
        if self._deny and self._deny.search(url):
            return "denied by scope.deny"
        name = host(url)
        if _site_of_host(name) not in self.sites and not (self._allow and self._allow.search(url)):
            return "another site"
        path, _, query = url.partition("?")
        if depth > self.settings.max_depth:
            return "too many clicks from a seed"
        if _FILES.search(path) and not _FEED_LIKE.search(path):
            return "not a page by its name"
        segments = path.split("/")[3:]
        if len(segments) > self.settings.max_segments or _repeats(segments):
            return "a trap: path too deep or repeating"
        if query.count("&") >= self.settings.max_parameters:
            return "a trap: too many query parameters"
        if not announced and self.ground.is_barren(url):
            return "a trap: many pages in this place, no document"
        self._count(name)
        folder = _folder(url)
        if self._folders[folder] >= self.settings.max_per_folder and not self.ground.is_fertile(f"{folder}/"):
            return "a trap: too many URLs in one folder"
        return ""

    def enter(self, url: Url) -> None:
        """Note that a new URL was taken in, before it is known to those who are asked what had entered."""
        self._count(host(url))
        self._folders[_folder(url)] += 1

    def _count(self, name: str) -> None:
        """See that what had entered of a host is counted."""
        if self._before is not None and name not in self._counted:
            self._counted.add(name)
            self._folders.update(map(_folder, self._before(name)))


@lru_cache(maxsize=4096)
def _site_of_host(name: str) -> str:
    return site(Url(f"http://{name}/"))


def _folder(url: Url) -> str:
    """Host and path up to the last slash; URLs that differ in their query alone share the whole path."""
    path, question, _ = url.partition("?")
    return path if question else path.rstrip("/").rpartition("/")[0]


def _repeats(segments: list[str]) -> bool:
    """The same name three times in one path (`/a/b/a/b/a/b`) is a loop of relative links, not an address."""
    named = [segment for segment in segments if segment]
    return len(named) >= 6 and any(named.count(name) >= 3 for name in set(named))


def _pattern(name: str, expressions: tuple[str, ...]) -> re.Pattern[str] | None:
    try:
        return re.compile("|".join(f"(?:{expression})" for expression in expressions)) if expressions else None
    except re.error as error:
        raise SettingsError(f"scope.{name}: not a regular expression: {error}") from None


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
NO_ANSWER = "pages like it do not answer"


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
