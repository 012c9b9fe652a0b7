"""Which line of a robots.txt decides about a URL (RFC 9309), and what else the file asks for.

It is as generous to sites as protego, Scrapy's parser, which the tests compare it with: misspelt or colon-less directives
count, a group whose name is found at the start of a word of ours applies, the longest one wins, and `/index.html` allowed
allows `/` too. Unlike protego it says which line decides.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

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
class Rule:
    """An Allow or Disallow line, as one pattern in normal form."""

    allow: bool
    pattern: str
    line: int
    """Counted from 1."""
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
    """What a robots.txt asks of one agent."""

    rules: list[Rule] = field(default_factory=list)
    """The one that decides over the others first."""
    crawl_delay: float = 0.0
    """Seconds; 0 if none is asked for."""


@dataclass(slots=True)
class Rules:
    """One robots.txt."""

    groups: dict[str, Group] = field(default_factory=dict)
    """By the name of the agent in lower case."""
    sitemaps: list[str] = field(default_factory=list)
    """As written."""
    _speaking: dict[str, str | None] = field(default_factory=dict)
    """The groups found for agents."""

    @classmethod
    def read(cls, text: str) -> "Rules":
        rules = cls()
        current: list[str] = []
        naming = False
        for number, name, value, line in _directives(text):
            if name in _AGENT:
                current = [*(current if naming else []), *_agents(value)]
                for agent in current:
                    rules.groups.setdefault(agent, Group())
            elif value and name in _ALLOW | _DISALLOW:
                found = list(_rules(name in _ALLOW, value, number, line)) if current else []
                for agent in dict.fromkeys(current):
                    rules.groups[agent].rules += found
            elif name in _DELAY and (delay := _delay(value)) is not None:
                for agent in current:
                    rules.groups[agent].crawl_delay = delay
            elif value and name in _SITEMAP:
                rules.sitemaps.append(value)
            if name not in _SITE_WIDE:
                naming = name in _AGENT
        for group in rules.groups.values():
            group.rules.sort(key=lambda rule: rule.rank, reverse=True)
        return rules

    def group(self, agent: str) -> str | None:
        """The name of the group that speaks to us; None if none does."""
        if agent not in self._speaking:
            ours = agent.strip().lower()
            scores = {name: 1 if name == "*" else len(name) * _starts_word(name, ours) for name in self.groups}
            best = max(scores, key=scores.__getitem__, default=None)
            self._speaking[agent] = best if best is not None and scores[best] else None
        return self._speaking[agent]

    def deciding(self, url: str, agent: str) -> Rule | None:
        """The rule that decides about the URL; None if none matches (then it is allowed)."""
        path, group = path_of(url), self.group(agent)
        if group is None or path.partition("?")[0] == "/robots.txt":
            return None
        return next((rule for rule in self.groups[group].rules if rule.matches(path)), None)

    def allows(self, url: str, agent: str) -> bool:
        """Whether the agent may fetch the URL."""
        rule = self.deciding(url, agent)
        return rule is None or rule.allow

    def crawl_delay(self, agent: str) -> float:
        """Seconds between two requests that the file asks of the agent; 0 if it does not."""
        group = self.group(agent)
        return 0.0 if group is None else self.groups[group].crawl_delay


def path_of(url: str) -> str:
    """Path and query in normal form: what rules are matched against."""
    rest = url.partition("#")[0].partition("://")[2]
    at = re.search(r"[/?]", rest)
    path = _normal(rest[at.start() :] if at else "", "/%")
    return path if path.startswith("/") else f"/{path}"


def _directives(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line number, name in lower case, value, and the line as written, for every line that says something."""
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
    """The names a User-agent line stands for; an asterisk inside a name means nothing and may be left out."""
    name = value.lower()
    names = [name] if name == "*" else [name, name.replace("*", "")]
    return [one for one in dict.fromkeys(names) if one]


def _rules(allow: bool, value: str, number: int, line: str) -> Iterator[Rule]:
    spellings = [value.replace("$", "%24"), value] if "$" in value else [value]  # a dollar may be meant literally
    for pattern in map(_pattern, spellings):
        if pattern:
            yield Rule(allow, pattern, number, line)
            if allow and pattern.endswith("/index.html"):
                yield Rule(allow, pattern.removesuffix("index.html") + "$", number, line)


def _delay(value: str) -> float | None:
    """Seconds; None if the value makes no sense."""
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
    """One spelling for each path: escapes are undone except those of `kept`, then made where they are needed."""
    raw = _ESCAPE.sub(
        lambda escape: escape[0].upper() if chr(int(escape[1], 16)) in kept else bytes([int(escape[1], 16)]),
        text.encode("utf-8", "replace"),
    )
    return quote(raw.decode("utf-8", "replace"), safe=kept + "=")


def _starts_word(name: str, ours: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}", ours) is not None
