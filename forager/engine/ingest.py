"""From a response to what is kept of it: the page is read, compared with what we had, and stored in one transaction.

Between two waits everything is decided synchronously: whether the page changed, what is kept of it, and which of its
links belong to the crawl.

When a page was published is judged by what it says, what a feed announced, and when we first met its link, weighed by
trust. The last sighting of each page is kept, of so many pages as memory is given; one that dropped out is no loss:
what it showed is in the store.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from forager.core.sighting import NO_LINKS, Sighting
from forager.engine.scope import REFUSALS, Scope, Skipped
from forager.events import Event, Fetched
from forager.pages.changes import has_changed
from forager.pages.page import Page, read
from forager.pages.pages_settings import PagesSettings
from forager.pages.trust import DAY, Trust
from forager.pages.urls import UrlMemo, site
from forager.store.protocol import Found, Known, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import Channel, Dated, DateSource, ForagerId, Kind, Outcome, Response, Url, UrlId, Validators
from forager.web.web_settings import VisitSettings


class Dating:
    """Chooses the publication date to believe, and learns which sources lie where."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.trust = Trust()
        self._announced: dict[UrlId, float] = {}
        self._first: dict[UrlId, float] = {}
        """When the pages that revealed others were first kept."""

    def __repr__(self) -> str:
        return f"<Dating by {self.trust!r}, {len(self._announced)} dates announced>"

    def announce(self, id: UrlId, published: float) -> None:
        """A feed or news sitemap gives a date for a page that was known before; the first one counts."""
        self._announced.setdefault(id, published)

    def kept(self, before: Known, now: float) -> None:
        """A version of a page is kept: its first one dates the links that appear on it later."""
        if before.version is None:
            self._first.setdefault(before.id, now)

    async def published(self, known: Known, page: Page, now: float) -> Dated | None:
        """The date to believe: from the page, from the feed that announced it, or our first sighting."""
        stated = self._announced.get(known.id) if known.published is None else known.published
        announced = None if stated is None else Dated(stated, DateSource.FEED)
        others = (announced, await self._first_sighting(known))
        return self.trust.published(site(known.url), page, others, now, new=known.version is None)

    async def _first_sighting(self, known: Known) -> Dated | None:
        """When its link appeared; unknown if it stood there already when we first looked at the linking page."""
        if known.source is None:
            return None
        first = self._first.get(known.source)
        if first is None:
            versions = await self.store.versions(known.source)
            if not versions:
                return None
            first = self._first[known.source] = versions[0][1]
        return None if first >= known.found else Dated(known.found, DateSource.FIRST_SEEN)


MOST = 10_000
"""Sightings kept: about 10 MB with the links of usual pages. Ours."""


class Lately:
    """The sightings of the pages visited last, one for each."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._seen: dict[UrlId, Sighting] = {}  # in the order in which they were made

    def __len__(self) -> int:
        return len(self._seen)

    def of(self, id: UrlId) -> Sighting | None:
        """The last sighting of a page; None if it was never made, or too many others since."""
        return self._seen.get(id)

    def note(self, id: UrlId, sighting: Sighting) -> None:
        """Remember what a page shows now."""
        self._seen.pop(id, None)
        self._seen[id] = sighting
        if len(self._seen) > self.most:
            del self._seen[next(iter(self._seen))]


LISTS = (Kind.HUB, Kind.FEED, Kind.SITEMAP)


class StateReader(Protocol):
    """Turns the texts of pages, and the words of links, into states."""

    def read(self, id: UrlId, page: Page) -> None:
        """A page was read."""

    def found(self, source: UrlId, ids: Sequence[UrlId], found: Sequence[Found]) -> None:
        """New links were found on a page."""

    def settle(self) -> None:
        """Somebody is about to ask for the states."""


class FocusReader(Protocol):
    """Judges whether a document is on the topic of the crawl."""

    def read(self, version: int, text: str) -> bool:
        """A document was read, and its version is stored."""


class Ingest:
    """Reads pages, keeps them, and remembers what each looked like last."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        settings: VisitSettings,
        pages: PagesSettings,
        note: Callable[[Event], None],
        states: StateReader | None = None,
        focus: FocusReader | None = None,
        on_page: Callable[[Page], None] | None = None,
    ) -> None:
        """`on_page` is shown every page that was fetched."""
        self.store, self.scope, self.settings, self.pages, self.note = store, scope, settings, pages, note
        self.states, self.focus, self.on_page = states, focus, on_page
        self.dating = Dating(store)
        self.skipped = Skipped()
        """Links that stayed out, and why."""
        self.lately = Lately()
        self._memo = UrlMemo()

    def __repr__(self) -> str:
        return f"<Ingest of {len(self.lately)} pages, {self.skipped!r}>"

    async def keep(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """Keep what a visit showed of a page."""
        sighting = await self._kept(before, response, by)
        self.lately.note(before.id, sighting)
        return sighting

    async def _kept(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        if response.outcome is not Outcome.FETCHED:
            return await self._keep_nothing(before, response, by)
        page = read(response, memo=self._memo, settings=self.pages)
        if self.on_page is not None:
            self.on_page(page)
        if before.version is not None and page.byte_print == before.byte_print:
            return await self._keep_nothing(before, response, by)
        old = await self._old_links(before)
        links, new = self._links(page, before, response.asked)
        changed = before.version is not None and has_changed(
            self.settings.change,
            page.kind,
            bytes_differ=True,
            text_differs=page.text_print != before.text_print,
            new_links=np.setdiff1d(links, old).size,
        )
        dated, version = None, None
        if before.version is None or changed:
            is_document = page.kind is Kind.ARTICLE and page.robots.index
            dated = await self.dating.published(before, page, response.asked) if is_document else None
            version = self._version(page, links, dated)
        if before.version is None:
            self._survey(before, page, dated, response.asked)
        visit = self._visit(before, response, by, changed, version)
        self._tell(before, response, by, page.kind, changed, new)
        if version is not None:
            number = self.store.record(visit)  # whoever judges the version waits until it is on disk
            if new:
                self.dating.kept(before, response.asked)
        else:
            number = await self.store.ack(visit)
        if self.states is not None:
            self.states.read(before.id, page)
        if self.focus is not None and number is not None and dated is not None:
            self.focus.read(number, f"{page.title}\n{page.text}")
        shown = before.version if number is None else number
        return _sighting(before.id, response.asked, shown, page.text_print, dated, links, page.kind)

    def _survey(self, before: Known, page: Page, dated: Dated | None, now: float) -> None:
        """Learn where documents stand; a young one speaks for the page that revealed it as well."""
        if page.kind in (Kind.FEED, Kind.SITEMAP):
            return
        is_document, ground = page.kind is Kind.ARTICLE, self.scope.ground
        ground.seen(before.url, document=is_document, canonical=page.canonical or "", text_print=page.text_print)
        if before.source is not None and dated is not None and now - dated.time < DAY:
            ground.revealed(self.store.url(before.source))

    async def _keep_nothing(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """The page is as it was, or there is none."""
        self._tell(before, response, by, before.kind, changed=False, new=0)
        await self.store.ack(self._visit(before, response, by, changed=False, version=None))
        if response.outcome is Outcome.REFUSED:
            self.skipped.add(REFUSALS.get(response.trouble, response.trouble.value), before.url)
        if response.outcome is Outcome.GONE and before.visits == 0:
            self.scope.ground.seen(before.url)
        if response.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return Sighting(before.id, response.asked, ok=False, gone=response.outcome is Outcome.GONE)
        seen = self.lately.of(before.id)
        if seen is not None and seen.ok:
            return replace(seen, when=response.asked)
        links = await self._old_links(before)
        return _sighting(before.id, response.asked, before.version, before.text_print, None, links, before.kind)

    async def _old_links(self, page: Known) -> NDArray[np.int64]:
        """The links of a page as it looked last."""
        seen = self.lately.of(page.id)
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
        targets = page.targets
        found = self.store.find_all(targets)
        if page.kind in (Kind.FEED, Kind.SITEMAP):
            self._announce(page, found)
        if None not in found:
            return _rising(cast("list[UrlId]", found)), 0
        known = [id for id in found if id is not None]
        unknown = [target for target, id in zip(targets, found, strict=True) if id is None]
        entering = self._entering(page, unknown, source, now)
        new = self.store.enter(entering)
        if self.states is not None and new:
            self.states.found(source.id, new, entering)
        return _rising(known + new), len(new)

    def _announce(self, page: Page, found: Sequence[UrlId | None]) -> None:
        """Note the dates that a feed or sitemap gives for pages known before."""
        for target, id in zip(page.targets, found, strict=True):
            published = None if id is None else page.link(target).published
            if id is not None and published is not None:
                self.dating.announce(id, published)

    def _entering(self, page: Page, unknown: Sequence[Url], source: Known, now: float) -> list[Found]:
        """Those of the unknown links of a page that may enter the crawl."""
        entering: list[Found] = []
        depth = source.depth + 1
        for target in unknown:
            objection = self._objection(page, target, depth)
            if objection:
                self.skipped.add(objection, target)
                continue
            link = page.link(target)
            self.scope.enter(target)
            anchor = link.anchor or link.title
            self.scope.ground.met(target, anchor, source.url)
            entering.append(Found(target, link.channel, now, source.id, anchor, depth, link.published, now))
        return entering

    def _objection(self, page: Page, target: Url, depth: int) -> str:
        """Why a link stays out, or nothing; what an ordinary one says is not read for that."""
        if target not in page.related:
            return self.scope.objection(target, depth)
        link = page.link(target)
        if "nofollow" in link.rel:
            return "nofollow"
        return self.scope.objection(target, depth, announced=link.channel is not Channel.LINK)

    def _version(self, page: Page, links: NDArray[np.int64], dated: Dated | None) -> Version:
        is_text = page.kind is Kind.ARTICLE
        text = page.text if self.settings.keep_text and page.robots.index else ""
        return Version(
            kind=page.kind,
            byte_print=page.byte_print,
            text_print=page.text_print,
            simhash=page.simhash if is_text and not text else 0,
            title=page.title,
            text=text,
            lang=page.lang,
            canonical=page.canonical or "",
            published=dated,
            modified=page.modified if is_text else None,
            links=tuple(links.tolist()),
        )

    def _visit(self, before: Known, response: Response, by: ForagerId, changed: bool, version: Version | None) -> Visit:
        fine = response.outcome in (Outcome.FETCHED, Outcome.UNCHANGED)
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
            validators=_validators(before, response),
            due=response.asked + wait,
            version=version,
        )

    def tell_moved(self, before: Known, visit: Visit, status: int) -> None:
        """A page was asked for and had moved; what was found at its new place is told by itself."""
        response = Response(before.url, visit.outcome, visit.at, visit.seconds, status)
        self._tell(before, response, visit.by, Kind.OTHER, changed=False, new=0)

    def _tell(self, before: Known, response: Response, by: ForagerId, kind: Kind, changed: bool, new: int) -> None:
        """Told in the moment in which the store takes the visit, so that events have the order of stored visits."""
        self.note(
            Fetched(
                at=response.asked,
                id=before.id,
                url=before.url,
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


def _rising(ids: list[UrlId]) -> NDArray[np.int64]:
    """Numbers that differ, the lowest first."""
    numbers = np.array(ids, dtype=np.int64)
    numbers.sort()
    return numbers


def _validators(before: Known, response: Response) -> Validators:
    """What to ask with next time: as the server gave them now; a failure leaves those we had, a page gone has none."""
    etag, modified = response.header("etag"), response.header("last-modified")
    if response.outcome is Outcome.FETCHED or (response.outcome is Outcome.UNCHANGED and (etag or modified)):
        return Validators(etag, modified)
    return Validators() if response.outcome is Outcome.GONE else before.validators


def _sighting(
    id: UrlId,
    when: float,
    version: VersionId | None,
    text_print: int,
    dated: Dated | None,
    links: NDArray[np.int64],
    kind: Kind,
) -> Sighting:
    return Sighting(
        url=id,
        when=when,
        version=-1 if version is None else version,
        text_print=text_print,
        published=np.nan if dated is None else dated.time,
        links=links,
        hub=kind in LISTS,
    )
