"""The live World: fetch a page, read it, keep what is new, and share one fetch among all who ask for it.

Between two waits everything is decided synchronously: whether the page changed, what is kept of it, which of its links
belong to the crawl, and which date to believe.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from forager.clock import Clock
from forager.events import Event, Fetched
from forager.foragers.sighting import NO_LINKS, Sighting
from forager.frontier.scope import Scope
from forager.pages.changes import Change, has_changed
from forager.pages.reader import Page, read
from forager.pages.settings import PagesSettings
from forager.pages.trust import Trust
from forager.pages.urls import UrlMemo, canonical, host, site
from forager.store.protocol import Found, Known, Lease, Store, Version, VersionId, Visit
from forager.terms import (
    NOBODY,
    Channel,
    Dated,
    DateSource,
    ForagerId,
    Kind,
    Outcome,
    Request,
    Response,
    Url,
    UrlId,
    Validators,
)
from forager.units import Duration
from forager.world.protocol import Web
from forager.world.shares import Shares

_ORDER = list(DateSource)


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """When a page is looked at again, and what counts as a change."""

    revisit_after: Duration = 600.0
    """One fetch serves everybody who asks for the page within this time; the sweep comes back after it. Ours."""
    retry_after: Duration = 3600.0
    """A page that failed, is gone or is disallowed is asked for again after this time. Ours."""
    change: Change = Change.AUTO
    """What counts as a change: bytes, text (main text), links (a new link), or auto: links for hubs, text for the rest."""
    keep_text: bool = True
    """Keep the main text of every version, not only its fingerprints."""


class States(Protocol):
    """Turns the texts of pages, and the words of links, into states."""

    def read(self, id: UrlId, page: Page) -> None:
        """A page was read."""

    def found(self, source: UrlId, ids: Sequence[UrlId], found: Sequence[Found]) -> None:
        """New links were found on a page."""

    def settle(self) -> None:
        """Somebody is about to ask for the states."""


class Focus(Protocol):
    """Judges whether a document is on the topic of the crawl."""

    def read(self, version: int, text: str) -> bool:
        """A document was read, and its version is stored."""


class WebWorld:
    """What foragers and the recrawl cycle see of the live web."""

    def __init__(
        self,
        web: Web,
        store: Store,
        clock: Clock,
        scope: Scope,
        shares: Shares,
        settings: VisitSettings,
        pages: PagesSettings,
        note: Callable[[Event], None],
        *,
        sitemaps: Callable[[str], Sequence[str]] = lambda host: (),
        states: States | None = None,
        focus: Focus | None = None,
    ) -> None:
        """`sitemaps` tells which sitemaps the robots.txt of a host names."""
        self.web, self.store, self.clock, self.scope, self.shares = web, store, clock, scope, shares
        self.settings, self.pages, self.note, self.states = settings, pages, note, states
        self.sitemaps = sitemaps
        self.focus = focus
        self.trust = Trust()
        self.skipped: Counter[str] = Counter()
        """Links that stayed out, by the reason why."""
        self._announced: dict[UrlId, float] = {}
        """Dates that feeds and news sitemaps gave for pages known before."""
        self._first: dict[UrlId, float] = {}
        """When the pages that revealed others were first kept."""
        self._memo = UrlMemo()
        self._seen: dict[UrlId, Sighting] = {}
        self._flights: dict[UrlId, asyncio.Task[Sighting]] = {}
        self._hosts: set[str] = set()
        """Those whose robots.txt was asked for sitemaps."""
        self._draining = False
        self._stack = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None

    def __repr__(self) -> str:
        return f"<WebWorld {len(self._seen)} pages seen, {len(self._flights)} being fetched>"

    async def __aenter__(self) -> Self:
        self._group = await self._stack.enter_async_context(asyncio.TaskGroup())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the fetches in flight; their visits are kept."""
        await self._stack.__aexit__(kind, error, trace)

    def drain(self) -> None:
        """Begin no more fetches: the crawl is about to end."""
        self._draining = True

    async def visit(self, urls: Sequence[UrlId], by: ForagerId = NOBODY) -> list[Sighting]:
        """Look at pages, all at once; what was fetched by somebody a moment ago is not fetched again."""
        joined = [id in self._flights for id in urls]
        flights = [self._shared(id, by) for id in urls]
        seen = [one if isinstance(one, Sighting) else await asyncio.shield(one) for one in flights]
        if self.states is not None:
            self.states.settle()
        return [replace(one, free=True) if was else one for one, was in zip(seen, joined, strict=True)]

    def _shared(self, id: UrlId, by: ForagerId) -> Sighting | asyncio.Task[Sighting]:
        """A sighting young enough to be shared, a fetch under way, or a new one."""
        seen = self._seen.get(id)
        if seen is not None and self.clock.now() - seen.when < self.settings.revisit_after:
            return replace(seen, free=True)
        if id not in self._flights:
            assert self._group is not None, "a world is entered with `async with`"
            flight = self._flights[id] = self._group.create_task(self._fly(id, by))
            flight.add_done_callback(lambda _: self._flights.pop(id, None))
        return self._flights[id]

    async def _fly(self, id: UrlId, by: ForagerId) -> Sighting:
        """A visit in its turn: the fleet and the recrawl cycle share each host."""
        async with self.shares.turn(host(self.store.url(id)), int(by == NOBODY)):
            leases = [] if self._draining else await self.store.lease(1, self.clock.now(), only=[id])
            if not leases:  # the crawl ends, or its host is blocked: nothing was asked
                return Sighting(id, self.clock.now(), ok=False, free=True)
            return await self.look(leases[0], by)

    async def look(self, lease: Lease, by: ForagerId = NOBODY) -> Sighting:
        """Fetch a leased page and keep what it shows."""
        try:
            response = await self.web.fetch(Request(lease.url, lease.validators))
            await self._enter_sitemaps(lease)
            id = await self._arrived(lease, response, by)
            sighting = await self._keep(id, lease.depth, response, by)
        except BaseException:
            await self.store.release([lease])
            raise
        self._seen[lease.id] = self._seen[sighting.url] = sighting
        return sighting

    async def _enter_sitemaps(self, lease: Lease) -> None:
        """The sitemaps of a host, once its robots.txt was read."""
        name = host(lease.url)
        if name in self._hosts:
            return
        self._hosts.add(name)
        now = self.clock.now()
        urls = (canonical(text, lease.url) for text in self.sitemaps(name))
        chosen = [url for url in urls if url is not None and not self.scope.objection(url, 1)]
        await self.store.put([Found(url, Channel.ROBOTS, now, lease.id, depth=1, due=now) for url in chosen])

    async def _arrived(self, lease: Lease, response: Response, by: ForagerId) -> UrlId:
        """The URL that answered: after a redirect it is entered, and the visit to the old one is closed."""
        if response.url == lease.url:
            return lease.id
        now = self.clock.now()
        moved = Visit(
            lease.id, response.asked, Outcome.MOVED, by=by, final_url=response.url, due=now + self.settings.retry_after
        )
        objection = self.scope.objection(response.url, lease.depth)
        if objection:
            self.skipped[objection] += 1
            await self.store.ack(moved)
            return lease.id
        (id,) = await self.store.put([Found(response.url, Channel.REDIRECT, now, lease.id, depth=lease.depth)])
        await self.store.ack(moved)
        return id

    async def _keep(self, id: UrlId, depth: int, response: Response, by: ForagerId) -> Sighting:
        before = self.store.known(id)
        if before.url != response.url:  # it led out of the crawl
            return Sighting(id, response.asked, ok=False)
        if response.outcome is not Outcome.FETCHED:
            return await self._keep_nothing(before, response, by)
        page = read(response, memo=self._memo, settings=self.pages)
        same_bytes = before.version is not None and page.byte_print == before.byte_print
        if same_bytes:
            return await self._keep_nothing(before, response, by)
        old = await self.links(before)
        links, new = self._links(page, before, response.asked)
        fresh = links.size if before.version is None else np.setdiff1d(links, old).size
        kind = page.kind
        changed = before.version is not None and has_changed(
            self.settings.change,
            kind,
            bytes_differ=True,
            text_differs=page.text_print != before.text_print,
            new_links=fresh,
        )
        wanted = before.version is None or changed
        dated = await self._date(before, page, response.asked) if wanted and kind is Kind.ARTICLE else None
        version = self._version(page, links, dated) if wanted else None
        number = await self.store.ack(self._visit(before, response, by, changed, version))
        self._tell(before, response, by, kind, changed, new)
        if self.states is not None:
            self.states.read(id, page)
        if self.focus is not None and number is not None and dated is not None:
            self.focus.read(number, f"{page.title}\n{page.text}")
        seen = number if number is not None else before.version
        return self._sighting(before, response.asked, seen, page.text_print, dated, links, kind)

    async def _keep_nothing(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """The page is as it was, or there is none."""
        await self.store.ack(self._visit(before, response, by, changed=False, version=None))
        self._tell(before, response, by, before.kind, changed=False, new=0)
        if response.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return Sighting(before.id, response.asked, ok=False)
        seen = self._seen.get(before.id)
        if seen is not None and seen.ok:
            return replace(seen, when=response.asked)
        return self._sighting(
            before, response.asked, before.version, before.text_print, None, await self.links(before), before.kind
        )

    async def links(self, page: Known) -> NDArray[np.int64]:
        """The links of the last stored version of a page."""
        seen = self._seen.get(page.id)
        if seen is not None and seen.ok:
            return seen.links
        if page.version is None:
            return NO_LINKS
        _, _, version = await self.store.version(page.version)
        return np.asarray(version.links, dtype=np.int64)

    def _links(self, page: Page, source: Known, now: float) -> tuple[NDArray[np.int64], int]:
        """The numbers of the links that belong to the crawl, and how many of them are new to it."""
        if not page.robots.follow:
            return NO_LINKS, 0
        ids: list[UrlId] = []
        entering: list[Found] = []
        for link in page.links:
            known = self.store.find(link.url)
            if known is not None:
                ids.append(known)
                if link.published is not None:
                    self._announced.setdefault(known, link.published)
                continue
            objection = "nofollow" if "nofollow" in link.rel else self.scope.objection(link.url, source.depth + 1)
            if objection:
                self.skipped[objection] += 1
                continue
            self.scope.enter(link.url)
            entering.append(
                Found(
                    link.url,
                    link.channel,
                    now,
                    source.id,
                    link.anchor or link.title,
                    source.depth + 1,
                    link.published,
                    now,
                )
            )
        new = self.store.enter(entering)
        if self.states is not None and new:
            self.states.found(source.id, new, entering)
        return np.unique(np.asarray([*ids, *new], dtype=np.int64)), len(new)

    async def _date(self, page: Known, read_page: Page, now: float) -> Dated | None:
        """The publication date to believe: from the page, from the feed that announced it, or our first sighting."""
        where = site(page.url)
        on_page = read_page.published
        if on_page is not None and page.version is None:
            self.trust.learn(where, on_page, now)
        if on_page is not None and not self.trust.believes(where, on_page.source):
            on_page = read_page.published_but(self.trust.liars(where))
        stated = self._announced.get(page.id) if page.published is None else page.published
        announced = None if stated is None else Dated(stated, DateSource.FEED)
        first = await self._first_sighting(page)
        candidates = sorted(filter(None, (on_page, announced, first)), key=lambda dated: _ORDER.index(dated.source))
        chosen = self.trust.choose(where, candidates, now)
        if chosen is not None and not chosen.exact:  # only the day: a finer date of that day is better
            finer = (one for one in candidates if one.exact and chosen.time <= one.time < chosen.time + 86_400)
            chosen = next(finer, chosen)
        return chosen

    async def _first_sighting(self, page: Known) -> Dated | None:
        """When its link appeared; unknown if it stood there already when we first looked at the linking page."""
        if page.source is None:
            return None
        first = self._first.get(page.source)
        if first is None:
            versions = await self.store.versions(page.source)
            if not versions:
                return None
            first = self._first[page.source] = versions[0][1]
        if first >= page.found:
            return None
        return Dated(page.found, DateSource.FIRST_SEEN)

    def _version(self, page: Page, links: NDArray[np.int64], dated: Dated | None) -> Version:
        return Version(
            kind=page.kind,
            byte_print=page.byte_print,
            text_print=page.text_print,
            simhash=page.simhash,
            title=page.title,
            text=page.text if self.settings.keep_text and page.robots.index else "",
            lang=page.lang,
            canonical=page.canonical or "",
            published=dated,
            modified=page.modified,
            links=tuple(links.tolist()),
        )

    def _visit(self, before: Known, response: Response, by: ForagerId, changed: bool, version: Version | None) -> Visit:
        fine = response.outcome in (Outcome.FETCHED, Outcome.UNCHANGED)
        etag, modified = response.header("etag"), response.header("last-modified")
        validators = Validators(etag, modified) if etag or modified else before.validators if fine else Validators()
        wait = self.settings.revisit_after if fine else self.settings.retry_after
        return Visit(
            id=before.id,
            at=response.asked,
            outcome=response.outcome,
            status=response.status,
            seconds=response.seconds,
            wire_bytes=response.wire_bytes,
            trouble=response.trouble,
            error=response.error,
            by=by,
            changed=changed,
            validators=validators,
            due=response.asked + wait,
            version=version,
        )

    def _sighting(
        self,
        before: Known,
        when: float,
        version: VersionId | None,
        text_print: int,
        dated: Dated | None,
        links: NDArray[np.int64],
        kind: Kind,
    ) -> Sighting:
        return Sighting(
            url=before.id,
            when=when,
            version=-1 if version is None else version,
            text_print=text_print,
            published=np.nan if dated is None else dated.time,
            links=links,
            hub=kind in (Kind.HUB, Kind.FEED, Kind.SITEMAP),
        )

    def _tell(self, before: Known, response: Response, by: ForagerId, kind: Kind, changed: bool, new: int) -> None:
        self.note(
            Fetched(
                at=response.asked,
                id=before.id,
                url=Url(before.url),
                by=by,
                outcome=response.outcome,
                status=response.status,
                trouble=response.trouble,
                error=response.error,
                seconds=response.seconds,
                wire_bytes=response.wire_bytes,
                kind=kind,
                changed=changed,
                new_links=new,
            )
        )
