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

from forager.arrays import FloatArray, IntArray
from forager.core.addresses import form_of, names_one_page
from forager.core.findings import NO_LINKS, Sighting
from forager.engine.archive_order import ArchiveOrder
from forager.engine.corrections import Corrections
from forager.engine.scope import REFUSALS, Scope, Skipped
from forager.engine.walls import Walls
from forager.events import Event, Fetched
from forager.pages.changes import Change, has_changed
from forager.pages.feeds import Entry, told_by
from forager.pages.page import Page, read
from forager.pages.pages_settings import PagesSettings
from forager.pages.trust import DAY, Trust
from forager.pages.urls import UrlMemo, site
from forager.store.protocol import Found, Known, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import (
    NOTHING,
    About,
    Channel,
    Dated,
    DateSource,
    ForagerId,
    Kind,
    Outcome,
    Region,
    Response,
    Url,
    UrlId,
    Validators,
)
from forager.web.web_settings import VisitSettings

MOST_TEXTS = 200_000
"""Texts remembered where each is a document: about 20 MB. Ours."""


class Dating:
    """Chooses the publication date to believe, and learns which sources lie where."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.trust = Trust()
        self._announced: dict[UrlId, float] = {}
        self._first: dict[UrlId, float] = {}
        """When the pages that revealed others were first kept."""
        self._texts: dict[int, None] = {}
        """Prints of texts seen, where texts are the documents."""

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

    async def published_text(self, known: Known, page: Page, now: float) -> Dated | None:
        """The same where each new text is a document: one that a known page has now is new, unless it stood elsewhere."""
        texts = self._texts
        is_new = page.text_print not in texts
        texts[page.text_print] = None
        if len(texts) > MOST_TEXTS:
            del texts[next(iter(texts))]
        if not is_new:
            return None
        stated = page.published_but({DateSource.TEXT})  # a day that a text mentions is not its date
        if known.version is None:
            return stated or await self._first_sighting(known)
        return stated if stated is not None and now - stated.time < DAY else Dated(now, DateSource.FIRST_SEEN)

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


ENTRIES = 2_000
"""Entries of feeds that are kept for pages not yet read: about 5 MB. Ours."""


class Announced:
    """What feeds say of pages, until the pages are read: many a page names no author where its feed does."""

    def __init__(self) -> None:
        self._said: dict[UrlId, Entry] = {}  # in the order in which they came

    def note(self, id: UrlId | None, entry: Entry | None) -> None:
        """Remember what a feed says of a page; the first feed counts."""
        if id is None or entry is None or id in self._said:
            return
        self._said[id] = entry
        if len(self._said) > ENTRIES:
            del self._said[next(iter(self._said))]

    def of(self, id: UrlId) -> About:
        """What was said of a page; it is forgotten with that."""
        entry = self._said.pop(id, None)
        return NOTHING if entry is None else told_by(entry)


class ShownLinks:
    """Every link that the kept versions of a page showed, of the lists visited last; of the others the store knows.

    What brings a list a link that it never had makes a version, so nothing else that it showed need be kept.
    """

    def __init__(self, store: Store, most: int = MOST) -> None:
        self.store, self.most = store, most
        self._shown: dict[UrlId, NDArray[np.int32]] = {}  # in the order in which they were asked for

    async def new(self, id: UrlId, links: NDArray[np.int64]) -> int:
        """How many of these links no kept version of a page showed."""
        shown = self._shown.pop(id, None)
        if shown is None:
            shown = (await self.store.links_shown(id)).astype(np.int32)
        self._shown[id] = shown
        if len(self._shown) > self.most:
            del self._shown[next(iter(self._shown))]
        return np.setdiff1d(links, shown).size

    def kept(self, id: UrlId, links: NDArray[np.int64]) -> None:
        """A version with these links is kept."""
        if id in self._shown:
            self._shown[id] = np.union1d(self._shown[id], links).astype(np.int32)


LISTS = (Kind.HUB, Kind.FEED, Kind.SITEMAP)


class StateReader(Protocol):
    """Turns the texts of pages, and the words of links, into states."""

    def read(self, id: UrlId, page: Page) -> None:
        """A page was read."""

    def found(self, source: UrlId, ids: Sequence[UrlId], found: Sequence[Found], regions: Sequence[str]) -> None:
        """New links were found on a page, in these regions of it."""

    def settle(self) -> None:
        """Somebody is about to ask for the states."""


class FocusReader(Protocol):
    """Judges whether a document is on the topic of the crawl."""

    def read(self, id: UrlId, version: int, text: str, at: float) -> None:
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
        *,
        texts: bool = False,
    ) -> None:
        """`on_page` is shown every page that was fetched. `texts`: each new text is a document, at whatever address; what
        looks like a list is a text too then."""
        self.store, self.scope, self.settings, self.pages, self.note = store, scope, settings, pages, note
        self.states, self.focus, self.on_page, self.texts = states, focus, on_page, texts
        self.dating = Dating(store)
        self.skipped = Skipped()
        """Links that stayed out, and why."""
        self.lately, self.shown_links = Lately(), ShownLinks(store)
        self.date: Callable[[IntArray, FloatArray], None] | None = None
        """Told of the dates that feeds give for pages known before."""
        self.bound: Callable[[IntArray, FloatArray | float], None] | None = None
        """Told of pages that were published no later than a time."""
        self.order = ArchiveOrder()
        self.is_list: Callable[[UrlId], bool] = lambda id: False
        """Whether a page turned out to be a list, whatever it looks like."""
        self.corrections: Corrections | None = None
        """Told of stories of which a feed or sitemap says something else than before."""
        self._entries: dict[tuple[UrlId, UrlId], float] = {}
        """What each feed said of each page, as fingerprints, and each sitemap, as dates."""
        self._listed: dict[UrlId, list[UrlId]] = {}
        """The pages that each feed named last, in its order."""
        self.announced = Announced()
        self.walls = Walls(settings.retry_after)
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
        links, new = self._links(page, before, response.asked)
        kind = self._kind(page)
        by_links = before.version is not None and (kind in LISTS or self.settings.change is Change.LINKS)
        new_here = await self.shown_links.new(before.id, links) if by_links else 0
        changed = before.version is not None and has_changed(
            self.settings.change,
            kind,
            bytes_differ=True,
            text_differs=page.text_print != before.text_print,
            new_links=new_here,
        )
        dated, version = None, None
        if before.version is None or changed:
            dating = self.dating.published_text if self.texts else self.dating.published
            is_document = self._is_document(page) and page.robots.index
            dated = await dating(before, page, response.asked) if is_document else None
            version = self._version(before, page, links, dated)
        first = before.visits == 0 or before.version is not None
        told = page.text_print if before.version is None and page.kind not in LISTS else 0
        self.walls.learn(before.url, response.outcome, response.asked, first=first, text_print=told)
        if before.version is None:
            self._survey(before, page, dated, response.asked)
        self._date_by_lists(before, page, dated, response.asked)
        visit = self._visit(before, response, by, changed, version)
        self._tell(before, response, by, kind, changed, new)
        if version is not None:
            number = self.store.record(visit)  # whoever judges the version waits until it is on disk
            self.shown_links.kept(before.id, links)
            if new:
                self.dating.kept(before, response.asked)
        else:
            number = await self.store.ack(visit)
        if self.states is not None:
            self.states.read(before.id, page)
        if self.focus is not None and number is not None and dated is not None:
            self.focus.read(before.id, number, f"{page.title}\n{page.text}", response.asked)
        shown = before.version if number is None else number
        return _sighting(before.id, response.asked, shown, page.text_print, dated, links, kind)

    def _kind(self, page: Page) -> Kind:
        return Kind.OTHER if self.texts and page.kind is Kind.HUB else page.kind

    def _is_document(self, page: Page) -> bool:
        return page.kind is Kind.ARTICLE or (self.texts and page.kind is Kind.HUB)

    def _survey(self, before: Known, page: Page, dated: Dated | None, now: float) -> None:
        """Learn where documents stand; a young one speaks for the page that revealed it as well."""
        if page.kind in (Kind.FEED, Kind.SITEMAP):
            return
        document, ground = self._is_document(page), self.scope.ground
        ground.seen(before.url, document=document, canonical=page.canonical or "", text_print=page.text_print)
        if before.source is not None and dated is not None and now - dated.time < DAY:
            ground.revealed(self.store.url(before.source))

    def _date_by_lists(self, before: Known, page: Page, dated: Dated | None, now: float) -> None:
        """What lists say of the age of pages: by dates beside their links, and by their order."""
        if self.bound is None:
            return
        old = []
        if dated is not None:
            old = self.order.dated(before.id, dated.time + (0.0 if dated.exact else DAY), now - DAY)
        if page.kind in LISTS:
            rows = self._rows(page)
            at_latest = page.latest_dates
            known = [(id, at_latest[url]) for row in rows.values() for url, id in row.items() if url in at_latest]
            if known:
                self.bound(np.array([id for id, _ in known]), np.array([date for _, date in known]))
            if page.kind is not Kind.SITEMAP:
                for id, date in known:
                    self.order.dated(id, date, now - DAY)
            old += self.order.read(
                before.id, form_of(before.url), [list(row.values()) for row in rows.values()], now - DAY
            )
        for ids, date in old:
            self.bound(np.array(ids, dtype=np.int64), date)

    def _rows(self, page: Page) -> dict[str, dict[Url, UrlId]]:
        """The links in the main part of a list to single pages of the crawl, by the form of their addresses, in order."""
        rows: dict[str, dict[Url, UrlId]] = {}
        for target, id in zip(page.targets, self.store.find_all(page.targets), strict=True):
            form = form_of(target)
            if id is not None and names_one_page(form) and page.link(target).region is Region.MAIN:
                rows.setdefault(form, {})[target] = id
        return rows

    async def _keep_nothing(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """The page is as it was, or there is none."""
        self._tell(before, response, by, before.kind, changed=False, new=0)
        await self.store.ack(self._visit(before, response, by, changed=False, version=None))
        if response.outcome is Outcome.REFUSED:
            self.skipped.add(REFUSALS.get(response.trouble, response.trouble.value), before.url)
        first = before.visits == 0 or before.version is not None
        self.walls.learn(before.url, response.outcome, response.asked, first=first)
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
            self._announce(page, source, found)
        if None not in found:
            return _rising(cast("list[UrlId]", found)), 0
        known = [id for id in found if id is not None]
        unknown = [target for target, id in zip(targets, found, strict=True) if id is None]
        entering = self._entering(page, unknown, source, now)
        new = self.store.enter(entering)
        for id, link in zip(new, entering, strict=True):
            self.announced.note(id, page.announced(link.url))
        if self.states is not None and new:
            self.states.found(source.id, new, entering, [page.link(one.url).region.value for one in entering])
        return _rising(known + new), len(new)

    def _compare_entries(self, page: Page, source: Known) -> None:
        """Stories of which a feed or sitemap says something else than at the last look have probably been corrected, and
        those that a feed no longer names taken down."""
        assert self.corrections is not None
        said = page.entry_prints if page.kind is Kind.FEED else page.latest_dates
        listed: list[UrlId] = []
        for target, number in said.items():
            id = self.store.find(target)
            if id is not None:
                listed.append(id)
                before = self._entries.pop((source.id, id), None)
                self._entries[source.id, id] = number
                if before not in (None, number):
                    self.corrections.suspect(id, target)
        if page.kind is Kind.FEED:
            for id in missing_between(self._listed.get(source.id, []), listed):
                self.corrections.suspect(id, self.store.url(id))
            self._listed[source.id] = listed
        while len(self._entries) > MOST:
            del self._entries[next(iter(self._entries))]

    def _announce(self, page: Page, source: Known, found: Sequence[UrlId | None]) -> None:
        """Note the dates that a feed or sitemap gives for pages known before, and what it says of them."""
        dates: dict[UrlId, float] = {}
        if self.corrections is not None:
            self._compare_entries(page, source)
        for target, id in zip(page.targets, found, strict=True):
            self.announced.note(id, page.announced(target))
            published = None if id is None else page.link(target).published
            if id is not None and published is not None:
                self.dating.announce(id, published)
                dates[id] = published
        if dates and self.date is not None:
            self.date(np.array(list(dates)), np.array(list(dates.values())))

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

    def _version(self, before: Known, page: Page, links: NDArray[np.int64], dated: Dated | None) -> Version:
        is_text = page.kind is Kind.ARTICLE
        text = page.text if self.settings.keep_text and page.robots.index else ""
        return Version(
            kind=self._kind(page),
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
            about=page.about.filled(self.announced.of(before.id)) if is_text else NOTHING,
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


def missing_between(before: Sequence[UrlId], now: Sequence[UrlId]) -> list[UrlId]:
    """The pages that a feed named before and no longer names, though it still names some that came after them there."""
    there = set(now)
    last = max((place for place, id in enumerate(before) if id in there), default=0)
    return [id for id in before[:last] if id not in there]


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
