"""Which URLs belong to a crawl: the sites of its seeds, the rules of the operator, and nothing that looks like a trap.

URLs that are left out, before they enter the crawl or when their turn comes, are counted by reason and host, with an
example.

`SitePlaces` learns where on a site documents are, and where a crawl could go on for ever and find none. Calendars,
facets, endless pages, mazes of folders, numbers of visitors in links, error pages with status 200: traps differ, but in
each of them pages lead to pages in the same place, none is a document, none reveals a new one, and many are copies. A
*place* is a folder of the first or second level, a path with parameter names, or a path with certain parameter values.
After a number of different pages that yield nothing, a place is *barren*: new links there do not enter the crawl, and
of the pages that entered only one in twenty is visited. The first page that yields something opens the place again. A
place whose links read like headlines gets five times as many pages, because what sections promise is seen only when
articles are visited. Each yield adds as many pages again, so that one lucky find (a box of headlines on every page)
does not keep a trap open for good.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

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
    """Decides whether a URL may enter the crawl, and counts those that did."""

    def __init__(
        self, seeds: Iterable[Url], settings: ScopeSettings, before: Callable[[str], Iterable[Url]] | None = None
    ) -> None:
        """`before` returns the URLs of a host that entered in earlier runs; it is called once for each host."""
        self.settings = settings
        self._before, self._counted = before, set[str]()
        self.sites = {site(url) for url in seeds}
        self._allow, self._deny = _pattern("allow", settings.allow), _pattern("deny", settings.deny)
        self._folders: Counter[str] = Counter()
        self.places = SitePlaces(settings.barren_after)

    def __repr__(self) -> str:
        return f"<Scope of {len(self.sites)} sites, {sum(self._folders.values())} URLs entered, {self.places!r}>"

    def objection(self, url: Url, depth: int, *, announced: bool = False) -> str:
        """Returns why the URL must stay out, in a few words; empty if it may enter. `announced`: by a feed or sitemap."""
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
        if not announced and self.places.is_barren(url):
            return "a trap: many pages in this place, no document"
        self._count(name)
        folder = _folder(url)
        if self._folders[folder] >= self.settings.max_per_folder and not self.places.is_fertile(f"{folder}/"):
            return "a trap: too many URLs in one folder"
        return ""

    def enter(self, url: Url) -> None:
        """Notes that a new URL enters."""
        self._count(host(url))
        self._folders[_folder(url)] += 1

    def _count(self, name: str) -> None:
        """Counts, once for each host, what entered in earlier runs."""
        if self._before is not None and name not in self._counted:
            self._counted.add(name)
            self._folders.update(map(_folder, self._before(name)))


@lru_cache(maxsize=4096)
def _site_of_host(name: str) -> str:
    return site(Url(f"http://{name}/"))


def _folder(url: Url) -> str:
    """Host and path up to the last slash; for URLs with a query the whole path."""
    path, question, _ = url.partition("?")
    return path if question else path.rstrip("/").rpartition("/")[0]


def _repeats(segments: list[str]) -> bool:
    """Whether a name occurs three times in one path (`/a/b/a/b/a/b`): a loop of relative links, not an address."""
    named = [segment for segment in segments if segment]
    return len(named) >= 6 and any(named.count(name) >= 3 for name in set(named))


def _pattern(name: str, expressions: tuple[str, ...]) -> re.Pattern[str] | None:
    try:
        return re.compile("|".join(f"(?:{expression})" for expression in expressions)) if expressions else None
    except re.error as error:
        raise SettingsError(f"scope.{name}: not a regular expression: {error}") from None


HOSTS = 500
"""Number of hosts distinguished for each reason (ours): a news site links to any number of others."""
OTHERS = "(other hosts)"
REFUSALS = {
    Trouble.ROBOTS: "robots.txt does not allow it",
    Trouble.ADDRESS: "a private address",
    Trouble.BUDGET: "the host has had its share for now",
    Trouble.URL: "not an address that can be asked",
}
"""Reasons for not requesting a known URL, in words."""
NO_ANSWER = "pages like it do not answer"


@dataclass(slots=True)
class Skip:
    """How often URLs of one host were left out for one reason."""

    reason: str
    host: str
    count: int
    """Links seen, not different URLs: a link in the footer of every page counts each time such a page is read."""
    example: Url
    """The latest of these URLs."""


class Skipped:
    """Counts the URLs that were left out, in bounded memory."""

    def __init__(self) -> None:
        self._by_reason: dict[str, dict[str, Skip]] = {}

    def __repr__(self) -> str:
        return f"<Skipped {sum(self.counts().values())} links for {len(self._by_reason)} reasons>"

    def __iter__(self) -> Iterator[Skip]:
        """Yields counts by reason and host, most frequent first."""
        every = [skip for hosts in self._by_reason.values() for skip in hosts.values()]
        return iter(sorted(every, key=lambda skip: (-skip.count, skip.reason, skip.host)))

    def add(self, reason: str, url: Url) -> None:
        """Counts a URL that was left out."""
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
        """Returns the counts by reason, most frequent first."""
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


_LEVELS = 2
_ONE_IN = 20
_HOPE = 5
_HEADLINE = 25
"""Characters of an anchor from which on it may be a headline, not the name of a section or a number."""


@dataclass(slots=True)
class SitePlace:
    """Counts of the pages of a place, as they were when first visited."""

    pages: int = 0
    copies: int = 0
    """Pages that state or prove to be another page of the site."""
    yields: int = 0
    """Documents among the other pages, and new documents that these revealed."""
    hope: bool = False
    """Whether a link that reads like a headline was on a page of this place, or leads to one."""

    def is_barren(self, patience: int) -> bool:
        if self.copies >= max(patience, 0.9 * self.pages):
            return True
        longer = _HOPE * (1 + self.yields) if self.hope or self.yields else 1
        return self.pages >= patience * longer


class SitePlaces:
    """Learns from first visits in which places of a site documents are."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self._places: dict[str, SitePlace] = {}
        self._barren: set[str] = set()
        self._passed = 0

    def __repr__(self) -> str:
        return f"<SitePlaces of {len(self._places)} places, {len(self._barren)} of them barren>"

    def is_barren(self, url: Url) -> bool:
        """Whether a URL lies in a place without documents."""
        return bool(self._barren) and any(place in self._barren for place in places_of(url))

    def skips(self, url: Url) -> bool:
        """Whether to skip a known page; of those in barren places one in twenty is visited."""
        if not self.is_barren(url):
            return False
        self._passed += 1
        return self._passed % _ONE_IN > 0

    def is_fertile(self, place: str) -> bool:
        """Whether a place has yielded anything."""
        known = self._places.get(place)
        return known is not None and known.yields > 0

    def met(self, url: Url, anchor: str, source: Url) -> None:
        """Records a new link found on a page."""
        if len(anchor) >= _HEADLINE:
            for name in (*places_of(url), *places_of(source)):
                place = self._place(name)
                if not place.hope:
                    place.hope = True
                    self._judge(name, place)

    def seen(self, url: Url, *, document: bool = False, canonical: str = "", is_copy: bool = False) -> None:
        """Records the first visit of a page.

        `canonical` is the address that the page gives for itself; `is_copy`: another page of its host showed the same
        text. A page that names another page as canonical counts against the narrowest of its places, and against those
        in which the other page is as well: besides `/?visitor=1`, a copy of the home page, other parameters may well
        matter.
        """
        found = places_of(url)
        other = url if is_copy else Url(canonical) if canonical and canonical != url else None
        if other is not None:
            found = [name for name in found if name in places_of(other) or name == found[-1]]
        for name in found:
            place = self._place(name)
            place.pages += 1
            place.copies += other is not None
            place.yields += document and other is None
            self._judge(name, place)

    def revealed(self, source: Url) -> None:
        """Records that a page brought the first link to a new document."""
        for name in places_of(source):
            if name in self._places:
                self._places[name].yields += 1
                self._judge(name, self._places[name])

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self._places)

    def load(self, saved: bytes) -> None:
        """Takes over what another one learned."""
        try:
            self._places = msgspec.msgpack.decode(saved, type=dict[str, SitePlace])
        except msgspec.MsgspecError as error:
            raise StoreError(f"the kept places cannot be read ({error}); start a new run directory") from None
        for name, place in self._places.items():
            self._judge(name, place)

    def _place(self, name: str) -> SitePlace:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = SitePlace()
        return place

    def _judge(self, name: str, place: SitePlace) -> None:
        if place.is_barren(self.patience):
            self._barren.add(name)
        else:
            self._barren.discard(name)


def places_of(url: Url) -> list[str]:
    """Returns the places in which a URL is, the widest first; none if it is at the top of its site."""
    path, _, query = url.partition("?")
    parts = path.split("/")
    found = ["/".join(parts[: 4 + level]) + "/" for level in range(min(len(parts) - 4, _LEVELS))]
    if query:
        names = "&".join(field.partition("=")[0] for field in query.split("&"))
        found += [f"{path}?", f"{path}?{names}"]
    return found
