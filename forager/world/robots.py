"""robots.txt by RFC 9309: asked for through the inner web (so politely, and on the tape), obeyed, and explained.

| robots.txt                                | means                                                            |
|-------------------------------------------|------------------------------------------------------------------|
| 2xx                                       | its rules hold                                                   |
| 4xx (401 and 403 too), ≥ 6 redirects      | there are none: everything is allowed (2.3.1.3, 2.3.1.2)         |
| 429, 5xx, no answer, a broken answer      | everything is disallowed (2.3.1.4) and asked again soon; rules   |
|                                           | read before go on to hold (2.4)                                  |
| refused by address guard or budget        | the page is refused for the same reason                          |

A file is kept for a day, or for what its Cache-Control says within bounds. Only its first 512 KiB are read.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from forager.clock import Clock
from forager.frontier.timetable import Timetable
from forager.pages.urls import canonical, host
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.world.http import failed, max_age, origin, validators_of
from forager.world.protocol import Web
from forager.world.rules import Rules
from forager.world.settings import RobotsSettings

REDIRECTS = 5
"""Hops to follow at least, across hosts too (RFC 9309, 2.3.1.2)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """May we fetch a URL, and which line says so."""

    url: Url
    allowed: bool
    rule: str
    """The deciding line as written, or in words why there is none."""
    line: int
    """Its number, from 1; 0 if no line decides."""
    group: str
    """The User-agent group that speaks to us; empty if none does."""
    source: Url
    """Where the rules were read: the last URL after redirects."""
    fetched: float
    """When they were, UTC seconds since the epoch."""
    crawl_delay: float
    """Seconds, after our cap; 0 if none is asked for."""
    trouble: Trouble = Trouble.NONE
    """Why we may not ask, if we may not."""


@dataclass(frozen=True, slots=True)
class _File:
    """A robots.txt as we hold it: its rules, or why there are none."""

    source: Url
    fetched: float
    expires: float
    rules: Rules | None = None
    trouble: Trouble = Trouble.NONE
    reason: str = ""
    validators: Validators = field(default_factory=Validators)
    crawl_delay: float = 0.0
    """Seconds, as the file states them for us; 0 if it does not."""


class Robots:
    """Refuses what robots.txt disallows; one instance knows the files of all hosts."""

    def __init__(
        self, inner: Web, timetable: Timetable, clock: Clock, agent: str, settings: RobotsSettings | None = None
    ) -> None:
        """`agent` is our product token, see `http.product_token`."""
        self.inner, self.timetable, self.clock, self.agent = inner, timetable, clock, agent
        self.settings = settings or RobotsSettings()
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        without = sum(file.rules is None for file in self._files.values())
        return f"<Robots for {self.agent}: {len(self._files)} files, {without} of them without rules>"

    async def fetch(self, request: Request) -> Response:
        file = await self._file(request.url)
        if file.trouble is Trouble.NONE and self._allows(file, request.url):
            self.timetable.set_crawl_delay(host(request.url), self._crawl_delay(file))
            return await self.inner.fetch(request)
        verdict = self._verdict(file, request.url)
        where = f" (line {verdict.line} of {verdict.source})" if verdict.line else ""
        return failed(request, verdict.trouble, verdict.rule + where, asked=self.clock.now())

    async def explain(self, url: Url) -> Verdict:
        """The verdict on a URL; fetches robots.txt if it is not known."""
        return self._verdict(await self._file(url), url)

    def known_verdict(self, url: Url) -> Verdict | None:
        """The verdict on a URL by the file at hand, be it old; None if none was read yet."""
        file = self._files.get(origin(url))
        return None if file is None else self._verdict(file, url)

    def sitemaps(self, name: str) -> tuple[str, ...]:
        """The Sitemap lines of the files known of a host (with port if any), as written."""
        files = (self._files.get(f"{scheme}://{name}") for scheme in ("https", "http"))
        found = (line for file in files if file and file.rules for line in file.rules.sitemaps)
        return tuple(dict.fromkeys(found))

    # Judging.

    def _allows(self, file: _File, url: Url) -> bool:
        return file.rules is None or file.rules.allows(url, self.agent)

    def _crawl_delay(self, file: _File) -> float:
        return min(file.crawl_delay, self.settings.crawl_delay_limit)

    def _verdict(self, file: _File, url: Url) -> Verdict:
        if file.trouble is not Trouble.NONE or file.rules is None:
            allowed = file.trouble is Trouble.NONE
            return Verdict(url, allowed, file.reason, 0, "", file.source, file.fetched, 0.0, file.trouble)
        rule = file.rules.deciding(url, self.agent)
        allowed = rule is None or rule.allow
        return Verdict(
            url=url,
            allowed=allowed,
            rule=rule.text if rule else "no rule matches",
            line=rule.line if rule else 0,
            group=file.rules.group(self.agent) or "",
            source=file.source,
            fetched=file.fetched,
            crawl_delay=self._crawl_delay(file),
            trouble=Trouble.NONE if allowed else Trouble.ROBOTS,
        )

    # Getting the files.

    async def _file(self, url: Url) -> _File:
        """The file that speaks for a URL. Whoever comes first asks; if that caller is cancelled, the next one asks."""
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
                rules = Rules.read(text)
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
