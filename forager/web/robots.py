"""robots.txt by RFC 9309: fetched through the inner web (politely, and recorded), obeyed, and explained.

| robots.txt                                | means                                                            |
|-------------------------------------------|------------------------------------------------------------------|
| 2xx                                       | its rules apply                                                  |
| 4xx (401 and 403 too), ≥ 6 redirects      | there are none: everything is allowed (2.3.1.3, 2.3.1.2)         |
| 429, 5xx, no answer, a broken answer      | everything is disallowed (2.3.1.4) and asked again soon; rules   |
|                                           | read before still apply (2.4)                                    |
| refused by address guard or budget        | the page is refused for the same reason                          |

A file is kept for a day, or as its Cache-Control says within bounds. Only its first 512 KiB are read.

The parser finds the line of a robots.txt that decides about a URL, and what else the file asks for. It is as tolerant as
protego, Scrapy's parser, with which the tests compare it: misspelt directives and those without a colon count, a group
applies if its name begins a word of ours, the longest such name wins, and if `/index.html` is allowed, so is `/`. Unlike
protego, it says which line decides.
"""

import asyncio
import math
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import quote
from weakref import WeakValueDictionary

from forager.clock import Clock
from forager.pages.urls import canonical, host
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.web.timetable import Timetable
from forager.web.web import Web, failed, max_age, origin, validators_of
from forager.web.web_settings import RobotsSettings

_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_ALLOW = frozenset({"allow"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_SITEMAP = frozenset({"sitemap", "sitemaps", "site-map"})
_SITE_WIDE = _SITEMAP | {"host"}
_DELAY = frozenset({"crawl-delay", "crawl delay"})
_OTHER = frozenset({"request-rate", "request rate", "visit-time", "visit time"})
_KNOWN = _AGENT | _ALLOW | _DISALLOW | _SITE_WIDE | _DELAY | _OTHER
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """An Allow or Disallow line, as one pattern in normal form."""

    allow: bool
    pattern: str
    line: int
    """Line number, from 1."""
    text: str
    """The line as written."""

    @property
    def rank(self) -> tuple[int, bool]:
        """The longest pattern decides, and Allow among equals (RFC 9309, 2.2.2)."""
        return len(self.pattern), self.allow

    def matches(self, path: str) -> bool:
        anchored = self.pattern.endswith("$")
        if not anchored and "*" not in self.pattern:
            return path.startswith(self.pattern)
        *middle, last = self.pattern.removesuffix("$").split("*")
        if not middle:
            return path == last
        if not path.startswith(middle[0]):
            return False
        at = len(middle[0])
        for part in middle[1:]:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return path.endswith(last) and len(path) - len(last) >= at if anchored else path.find(last, at) >= 0


@dataclass(slots=True)
class Group:
    """What a robots.txt asks of the agents that it names together, or, joined, of one of them."""

    name: str = ""
    """Of the agent; empty if it stands for several, or for none."""
    rules: list[RobotsRule] = field(default_factory=list)
    crawl_delay: float | None = None
    """Seconds; None if none is given."""


@dataclass(slots=True)
class RobotsRules:
    """One robots.txt."""

    groups: dict[str, list[Group]] = field(default_factory=dict)
    """Groups by the name of the agent in lower case; those who are named together share them, however many they are."""
    sitemaps: list[str] = field(default_factory=list)
    """Sitemap URLs as written."""
    _speaking: dict[str, Group] = field(default_factory=dict)
    """What applies to each agent asked about: its groups joined, with rules in order of precedence."""

    @classmethod
    def read(cls, text: str) -> "RobotsRules":
        rules = cls()
        current: Group | None = None
        naming = False
        for number, name, value, line in _directives(text):
            if name in _AGENT:
                current = current if naming and current is not None else Group()
                for agent in _agents(value):
                    groups = rules.groups.setdefault(agent, [])
                    if not groups or groups[-1] is not current:
                        groups.append(current)
            elif value and name in _ALLOW | _DISALLOW:
                if current is not None:
                    current.rules += _rules(name in _ALLOW, value, number, line)
            elif name in _DELAY and (delay := _delay(value)) is not None:
                if current is not None:
                    current.crawl_delay = delay
            elif value and name in _SITEMAP:
                rules.sitemaps.append(value)
            if name not in _SITE_WIDE:
                naming = name in _AGENT
        return rules

    def group(self, agent: str) -> Group:
        """Joins the groups that apply to the agent; the result has no name if none does."""
        if agent not in self._speaking:
            ours = agent.strip().lower()
            scores = {name: 1 if name == "*" else len(name) * _starts_word(name, ours) for name in self.groups}
            best = max(scores, key=scores.__getitem__, default="")
            groups = self.groups[best] if scores.get(best) else []
            found = self._speaking[agent] = Group(best if groups else "")
            found.rules = [rule for group in groups for rule in group.rules]
            found.rules.sort(key=lambda rule: rule.rank, reverse=True)
            found.crawl_delay = next((one.crawl_delay for one in reversed(groups) if one.crawl_delay is not None), None)
        return self._speaking[agent]

    def deciding(self, url: str, agent: str) -> RobotsRule | None:
        """Returns the rule that decides about the URL; None if none matches (then it is allowed)."""
        path = path_of(url)
        if path.partition("?")[0] == "/robots.txt":
            return None
        return next((rule for rule in self.group(agent).rules if rule.matches(path)), None)

    def allows(self, url: str, agent: str) -> bool:
        """Whether the agent may fetch the URL."""
        rule = self.deciding(url, agent)
        return rule is None or rule.allow

    def crawl_delay(self, agent: str) -> float:
        """Seconds between two requests that the file asks of the agent; 0 if none."""
        return self.group(agent).crawl_delay or 0.0


def path_of(url: str) -> str:
    """Returns path and query in normal form, which rules are matched against."""
    rest = url.partition("#")[0].partition("://")[2]
    at = re.search(r"[/?]", rest)
    path = _normal(rest[at.start() :] if at else "", "/%")
    return path if path.startswith("/") else f"/{path}"


def _directives(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yields line number, name in lower case, value, and the line as written, for every line with content."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        name, colon, value = line.partition(":")
        if name.strip().lower() not in _KNOWN and not (colon and (not value or value[0].isspace())):
            words = line.split()
            short = next((n for n in (1, 2) if " ".join(words[:n]).lower() in _KNOWN), None)
            if short is not None:
                name, value = " ".join(words[:short]), " ".join(words[short:])
            elif not colon:
                continue
        yield number, name.strip().lower(), value.strip(), raw.strip()


def _agents(value: str) -> list[str]:
    """Returns the names of a User-agent line; an asterisk inside a name means nothing and may be left out."""
    name = value.lower()
    names = [name] if name == "*" else [name, name.replace("*", "")]
    return [one for one in dict.fromkeys(names) if one]


def _rules(allow: bool, value: str, number: int, line: str) -> Iterator[RobotsRule]:
    spellings = [value.replace("$", "%24"), value] if "$" in value else [value]  # a dollar may be literal
    for pattern in map(_pattern, spellings):
        if pattern:
            yield RobotsRule(allow, pattern, number, line)
            if allow and pattern.endswith("/index.html"):
                yield RobotsRule(allow, pattern.removesuffix("index.html") + "$", number, line)


def _delay(value: str) -> float | None:
    """Reads seconds; None if the value is invalid."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _pattern(value: str) -> str:
    if value.startswith(("https://", "http://")):
        value = f"/{value}"
    return _normal(value.removesuffix("$"), "/%*") + ("$" if value.endswith("$") else "")


def _normal(text: str, kept: str) -> str:
    """Brings a path to its normal form: decodes escapes except those of `kept`, then encodes where needed."""
    raw = _ESCAPE.sub(
        lambda escape: escape[0].upper() if chr(int(escape[1], 16)) in kept else bytes([int(escape[1], 16)]),
        text.encode("utf-8", "replace"),
    )
    return quote(raw.decode("utf-8", "replace"), safe=kept + "=")


def _starts_word(name: str, ours: str) -> bool:
    return name in ours and re.search(rf"(?<![\w-]){re.escape(name)}", ours) is not None


REDIRECTS = 5
"""Minimum number of redirects to follow, across hosts too (RFC 9309, 2.3.1.2)."""


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether we may fetch a URL, and which line decides."""

    url: Url
    allowed: bool
    rule: str
    """The deciding line as written, or why there is none, in words."""
    line: int
    """Its line number, from 1; 0 if no line decides."""
    group: str
    """The User-agent group that applies to us; empty if none does."""
    source: Url
    """Where the rules were read: the last URL after redirects."""
    fetched: float
    """When the rules were read, UTC seconds since the epoch."""
    crawl_delay: float
    """Seconds, limited by our cap; 0 if none is given."""
    trouble: Trouble = Trouble.NONE
    """Why we may not fetch, if so."""


@dataclass(frozen=True, slots=True)
class _File:
    """A cached robots.txt: its rules, or why there are none."""

    source: Url
    fetched: float
    expires: float
    rules: RobotsRules | None = None
    trouble: Trouble = Trouble.NONE
    reason: str = ""
    validators: Validators = field(default_factory=Validators)
    crawl_delay: float = 0.0
    """Seconds stated for us in the file; 0 if none."""


class Robots:
    """Refuses what robots.txt disallows; one instance holds the files of all hosts."""

    def __init__(
        self,
        inner: Web,
        timetable: Timetable,
        clock: Clock,
        agent: str,
        settings: RobotsSettings | None = None,
        keep: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`agent` is our product token, see `web.web.product_token`; `keep` waits until the Crawl-delay of a host is kept."""
        self.inner, self.timetable, self.clock, self.agent, self.keep = inner, timetable, clock, agent, keep
        self.settings = settings or RobotsSettings()
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        without = sum(file.rules is None for file in self._files.values())
        return f"<Robots for {self.agent}: {len(self._files)} files, {without} of them without rules>"

    async def fetch(self, request: Request) -> Response:
        file = await self._file(request.url)
        if file.trouble is Trouble.NONE and (file.rules is None or file.rules.allows(request.url, self.agent)):
            self.timetable.set_crawl_delay(host(request.url), self._crawl_delay(file))
            return await self.inner.fetch(request)
        verdict = self._verdict(file, request.url)
        where = f" (line {verdict.line} of {verdict.source})" if verdict.line else ""
        return failed(request, verdict.trouble, verdict.rule + where, asked=self.clock.now())

    async def explain(self, url: Url) -> RobotsVerdict:
        """Judges a URL; fetches robots.txt if it is not known."""
        return self._verdict(await self._file(url), url)

    def known_verdict(self, url: Url) -> RobotsVerdict | None:
        """Judges a URL by the cached file, even if it is old; None if none was read yet."""
        file = self._files.get(origin(url))
        return None if file is None else self._verdict(file, url)

    def sitemaps(self, name: str) -> tuple[str, ...]:
        """Sitemap lines, as written, of the known files of a host (with port if any)."""
        files = (self._files.get(f"{scheme}://{name}") for scheme in ("https", "http"))
        found = (line for file in files if file and file.rules for line in file.rules.sitemaps)
        return tuple(dict.fromkeys(found))

    # Judging.

    def _crawl_delay(self, file: _File) -> float:
        return min(file.crawl_delay, self.settings.crawl_delay_limit)

    def _verdict(self, file: _File, url: Url) -> RobotsVerdict:
        if file.trouble is not Trouble.NONE or file.rules is None:
            allowed = file.trouble is Trouble.NONE
            return RobotsVerdict(url, allowed, file.reason, 0, "", file.source, file.fetched, 0.0, file.trouble)
        rule = file.rules.deciding(url, self.agent)
        allowed = rule is None or rule.allow
        return RobotsVerdict(
            url=url,
            allowed=allowed,
            rule=rule.text if rule else "no rule matches",
            line=rule.line if rule else 0,
            group=file.rules.group(self.agent).name,
            source=file.source,
            fetched=file.fetched,
            crawl_delay=self._crawl_delay(file),
            trouble=Trouble.NONE if allowed else Trouble.ROBOTS,
        )

    # Fetching the files.

    async def _file(self, url: Url) -> _File:
        """Returns the robots.txt for a URL. The first caller fetches it; if that one is cancelled, the next does."""
        key = origin(url)
        known = self._fresh(key)
        if known is not None:
            return known
        turn = self._turns.get(key)
        if turn is None:
            turn = self._turns[key] = asyncio.Lock()
        async with turn:
            known = self._fresh(key)
            if known is None:
                known = await self._ask(key, self._files.get(key))
                if known.trouble is Trouble.NONE:
                    self.timetable.set_crawl_delay(host(url), self._crawl_delay(known))
                    if self.keep is not None:
                        await self.keep(host(url))
                if known.expires > self.clock.now():
                    self._keep(key, known)
        return known

    def _fresh(self, key: str) -> _File | None:
        file = self._files.get(key)
        if file is None or file.expires <= self.clock.now():
            return None
        self._files.move_to_end(key)
        return file

    def _keep(self, key: str, file: _File) -> None:
        self._files[key] = file
        self._files.move_to_end(key)
        if len(self._files) > self.settings.remembered:
            self._files.popitem(last=False)

    async def _ask(self, key: str, old: _File | None) -> _File:
        url = Url(f"{key}/robots.txt")
        for _ in range(REDIRECTS + 1):
            known = old is not None and old.rules is not None and old.source == url
            validators = old.validators if old is not None and known else Validators()
            response = await self.inner.fetch(Request(url, validators, body_limit=self.settings.read))
            if response.outcome is not Outcome.MOVED:
                return self._read(response, old)
            target = canonical(response.header("location"), url)
            if target is None:
                return self._without(response, "robots.txt redirects to no URL: everything is allowed")
            url = target
        return self._without(response, f"robots.txt redirects more than {REDIRECTS} times: everything is allowed")

    def _read(self, response: Response, old: _File | None) -> _File:
        now = self.clock.now()
        match response.outcome:
            case Outcome.FETCHED:
                text = response.body.decode("utf-8", "replace").removeprefix("\ufeff")
                kept = self._kept_until(response)
                validators = validators_of(response)
                rules = RobotsRules.read(text)
                delay = rules.crawl_delay(self.agent)
                return _File(response.url, now, kept, rules, validators=validators, crawl_delay=delay)
            case Outcome.UNCHANGED if old is not None:
                return replace(old, fetched=now, expires=self._kept_until(response))
            case Outcome.GONE | Outcome.UNRECORDED:
                return self._without(response, f"there is no robots.txt (status {response.status}): all is allowed")
            case Outcome.REFUSED:
                expires = now if response.trouble is Trouble.BUDGET else now + self.settings.retry_after_failure
                return _File(response.url, now, expires, trouble=response.trouble, reason=response.error)
        expires = now + self.settings.retry_after_failure
        if old is not None and old.rules is not None:
            return replace(old, expires=expires)
        reason = f"robots.txt could not be had, so nothing is allowed: {response.error}"
        return _File(response.url, now, expires, trouble=Trouble.ROBOTS, reason=reason)

    def _without(self, response: Response, reason: str) -> _File:
        return _File(response.url, self.clock.now(), self._kept_until(response), reason=reason)

    def _kept_until(self, response: Response) -> float:
        stated = max_age(response)
        keep = self.settings.keep if stated is None else max(self.settings.keep_at_least, stated)
        return self.clock.now() + min(keep, self.settings.keep)
