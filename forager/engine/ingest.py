"""From a response to what is kept of it: reads the page, compares it with the version before, and stores the rest in
one transaction.

Everything is decided synchronously between two waits: whether the page changed, what is kept of it, and which of its
links belong to the crawl.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from forager.arrays import IntArray
from forager.clock import Offload, inline
from forager.core.addresses import form_of, names_one_page
from forager.core.findings import NO_LINKS, Sighting
from forager.core.page_table import PageTable
from forager.engine.corrections import Corrections
from forager.engine.memory import SIGHTINGS, ArchiveOrder, Dating, FirstTexts, ShownLinks, remember
from forager.engine.scope import REFUSALS, Scope, Skipped
from forager.engine.stories import fetched
from forager.engine.walls import Walls
from forager.events import Event
from forager.pages.feeds import Entry, told_by
from forager.pages.page import Page
from forager.pages.pages_settings import Change, PagesSettings, has_changed
from forager.pages.trust import DAY
from forager.pages.urls import UrlMemo
from forager.store.protocol import Found, Known, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import (
    LISTS,
    NOTHING,
    About,
    Channel,
    Dated,
    ForagerId,
    Kind,
    Outcome,
    Region,
    Response,
    Url,
    UrlId,
    Validators,
)
from forager.web.web import validators_of
from forager.web.web_settings import VisitSettings

if TYPE_CHECKING:  # few crawls have these, and they are slow to load
    from forager.engine.page_states import LiveStates
    from forager.engine.topic import TopicDesk

PIECE = 200  # links that are processed at a time, which holds the event loop for about 10 ms
ENTRIES = 2_000  # entries of feeds that are kept for unread pages: about 5 MB. Ours


class Ingest:
    """Reads pages, stores them, and remembers what each looked like last."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        settings: VisitSettings,
        pages: PagesSettings,
        table: PageTable,
        corrections: Corrections,
        note: Callable[[Event], None],
        *,
        offload: Offload = inline,
        states: "LiveStates | None" = None,
        topic: "TopicDesk | None" = None,
        on_page: Callable[[Page], None] | None = None,
        texts: bool = False,
    ) -> None:
        """`table` receives the dates that feeds and lists give for known pages, `corrections` their news about stories.

        `offload` reads very long pages. `on_page` is called with every page that was fetched. `texts`: each new text is
        a document, at whatever address, even one that looks like a list.
        """
        self.store, self.scope, self.settings, self.pages, self.note = store, scope, settings, pages, note
        self.table, self.corrections, self.offload = table, corrections, offload
        self.states, self.topic, self.on_page, self.texts = states, topic, on_page, texts
        self.dating = Dating(store)
        self.skipped = Skipped()  # links that were left out, and why
        self.walls = Walls(settings.retry_after)
        self.first_texts = FirstTexts()
        self.shown_links = ShownLinks(store)
        self.archives = ArchiveOrder()
        self.sightings: dict[UrlId, Sighting] = {}  # the last sightings of the pages visited last
        self._entries: dict[tuple[UrlId, UrlId], float] = {}
        """What each feed said of each page, as fingerprints, and each sitemap, as dates."""
        self._listed: dict[UrlId, list[UrlId]] = {}  # the pages that each feed named last, in its order
        self._announced: dict[UrlId, Entry] = {}
        """What feeds say of pages that were not read yet: many a page names no author where its feed does."""
        self._memo = UrlMemo()

    def __repr__(self) -> str:
        return f"<Ingest of {len(self.sightings)} pages, {self.skipped!r}>"

    async def recall(self) -> None:
        """Restores from the store what earlier runs learned."""
        trust, ground, skipped, walls = [
            await self.store.recall(name) for name in ("trust", "ground", "skipped", "walls")
        ]
        if trust is not None:
            self.dating.trust.load(msgspec.json.decode(trust))
        if ground is not None:
            self.scope.places.load(ground)
        if skipped is not None:
            self.skipped = Skipped.load(skipped)
        if walls is not None:
            self.walls.load(walls)

    def learned(self) -> dict[str, Callable[[], bytes]]:
        """Returns what to keep in the store for `recall`, by name."""
        return {
            "trust": lambda: msgspec.json.encode(self.dating.trust.save()),
            "ground": self.scope.places.save,
            "skipped": self.skipped.save,
            "walls": self.walls.save,
        }

    async def keep(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """Keeps what a visit showed of a page."""
        page = await self._read(response) if response.outcome is Outcome.FETCHED else None
        if page is None or (before.version is not None and page.byte_print == before.byte_print):
            sighting = await self._keep_nothing(before, response, by)
        else:
            sighting = await self._keep_page(before, page, by)
        self.keep_sighting(before.id, sighting)
        return sighting

    def keep_sighting(self, id: UrlId, sighting: Sighting) -> None:
        """Remembers what a page shows now."""
        remember(self.sightings, id, sighting, SIGHTINGS)

    async def _read(self, response: Response) -> Page:
        page = Page(response, memo=self._memo, settings=self.pages)
        if page.is_long:
            page = Page(response, settings=self.pages)  # the memo belongs to this thread
            await self.offload(page.read_ahead)
        if self.on_page is not None:
            self.on_page(page)
        return page

    async def _keep_page(self, before: Known, page: Page, by: ForagerId) -> Sighting:
        """Records a visit of a page that is new or differs from its last version."""
        now, kind = page.response.asked, self._kind(page)
        links, new = await self._links(page, before, now)
        if self.topic is not None and kind in LISTS:
            self.topic.shown(before.id, links)
        changed = before.version is not None and await self._has_changed(before, page, kind, links)
        dated, version = None, None
        if before.version is None or changed:
            dated = await self._date(before, page, now)
            version = self._version(before, page, links, dated)
        self._learn_place(before, page, dated, now)
        await self._date_by_lists(before, page, dated, now)
        visit = self._visit(before, page.response, by, changed, version)
        self.note(fetched(visit, before.url, kind, new))  # now, so that events have the order of stored visits
        number = before.version
        if version is None:
            await self.store.ack(visit)
        else:
            number = self.store.record(visit)  # the version is judged once it is on disk
            self.shown_links.kept(before.id, links)
            if new:
                self.dating.kept(before, now)
        if self.states is not None:
            self.states.read(before.id, page)
        if self.topic is not None and number is not None and dated is not None:
            self.topic.read(before.id, number, f"{page.title}\n{page.text}", now)
        return make_sighting(before.id, now, number, page.text_print, dated, links, kind)

    async def _has_changed(self, before: Known, page: Page, kind: Kind, links: IntArray) -> bool:
        """Whether a known page with other bytes has changed, as the settings define a change."""
        by_links = kind in LISTS or self.settings.change is Change.LINKS
        return has_changed(
            self.settings.change,
            kind,
            bytes_differ=True,
            text_differs=page.text_print != before.text_print,
            new_links=await self.shown_links.new(before.id, links) if by_links else 0,
        )

    async def _date(self, before: Known, page: Page, now: float) -> Dated | None:
        """Returns when a document was published; None for other pages."""
        if not self._is_document(page) or not page.robots.index:
            return None
        return await (self.dating.published_text if self.texts else self.dating.published)(before, page, now)

    def _learn_place(self, before: Known, page: Page, dated: Dated | None, now: float) -> None:
        """Learns where pages answer and, from a page seen for the first time, where documents are. A young document
        also counts for the page that revealed it.
        """
        is_copy = before.version is None and self._is_copy(before.url, page)
        for_walls = is_copy and page.kind not in LISTS
        self.walls.learn(before.url, page.response.outcome, now, first=_is_first(before), is_copy=for_walls)
        if before.version is not None or page.kind in (Kind.FEED, Kind.SITEMAP):
            return
        places = self.scope.places
        places.seen(
            before.url,
            document=self._is_document(page),
            canonical=page.canonical or "",
            is_copy=is_copy and page.text != "",
        )
        if before.source is not None and dated is not None and now - dated.time < DAY:
            places.revealed(self.store.url(before.source))

    def _kind(self, page: Page) -> Kind:
        return Kind.OTHER if self.texts and page.kind is Kind.HUB else page.kind

    def _is_document(self, page: Page) -> bool:
        return page.kind is Kind.ARTICLE or (self.texts and page.kind is Kind.HUB)

    def _is_copy(self, url: Url, page: Page) -> bool:
        """Whether another page of the host showed this text first. Feeds, sitemaps and lists without text do not count."""
        is_bare = page.kind in (Kind.FEED, Kind.SITEMAP) or (page.kind is Kind.HUB and not page.text)
        return not is_bare and self.first_texts.stood_elsewhere(url, page.text_print)

    async def _date_by_lists(self, before: Known, page: Page, dated: Dated | None, now: float) -> None:
        """Learns how old pages are from the dates beside their links, and from their order in lists."""
        old = []
        if dated is not None:
            old = self.archives.dated(before.id, dated.time + (0.0 if dated.exact else DAY), now - DAY)
        if page.kind in LISTS:
            rows = await self._rows(page)
            at_latest = page.latest_dates
            known = [(id, at_latest[url]) for row in rows.values() for url, id in row.items() if url in at_latest]
            if known:
                self.table.bound(np.array([id for id, _ in known]), np.array([date for _, date in known]))
            if page.kind is not Kind.SITEMAP:
                for id, date in known:
                    self.archives.dated(id, date, now - DAY)
            old += self.archives.read(
                before.id, form_of(before.url), [list(row.values()) for row in rows.values()], now - DAY
            )
        for ids, date in old:
            self.table.bound(np.array(ids, dtype=np.int64), date)

    async def _rows(self, page: Page) -> dict[str, dict[Url, UrlId]]:
        """Returns the links to single pages in the main part of a list, in order, by form of address."""
        rows: dict[str, dict[Url, UrlId]] = {}
        async for targets in self._pieces(page.targets):
            for target, id in zip(targets, self.store.find_all(targets), strict=True):
                form = form_of(target)
                if id is not None and names_one_page(form) and page.link(target).region is Region.MAIN:
                    rows.setdefault(form, {})[target] = id
        return rows

    async def _pieces(self, targets: Sequence[Url]) -> AsyncIterator[Sequence[Url]]:
        """Yields the links of a page, some at a time, so that other tasks can run in between if there are very many."""
        size = (
            PIECE if self.offload is not inline else max(1, len(targets))
        )  # in simulated time there is nobody to wait
        for begin in range(0, len(targets), size):
            if begin > 0:
                self.table.meet_addresses()
                await asyncio.sleep(0)
            yield targets[begin : begin + size]

    async def _keep_nothing(self, before: Known, response: Response, by: ForagerId) -> Sighting:
        """Records a visit that brought nothing new: the page is as it was, or there is none."""
        visit = self._visit(before, response, by, changed=False, version=None)
        self.note(fetched(visit, before.url, before.kind))
        await self.store.ack(visit)
        if response.outcome is Outcome.REFUSED:
            self.skipped.add(REFUSALS.get(response.trouble, response.trouble.value), before.url)
        for_good = response.status == 410
        self.walls.learn(before.url, response.outcome, response.asked, first=_is_first(before), for_good=for_good)
        if response.outcome is Outcome.GONE and before.visits == 0:
            self.scope.places.seen(before.url)
        if response.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return Sighting(before.id, response.asked, ok=False, gone=response.outcome is Outcome.GONE)
        seen = self.sightings.get(before.id)
        if seen is not None and seen.ok:
            return replace(seen, when=response.asked)
        links = await self._old_links(before)
        return make_sighting(before.id, response.asked, before.version, before.text_print, None, links, before.kind)

    async def _old_links(self, page: Known) -> IntArray:
        """Returns the links that a page showed last."""
        seen = self.sightings.get(page.id)
        if seen is not None and seen.ok:
            return seen.links
        if page.version is None:
            return NO_LINKS
        _, _, version = await self.store.version(page.version)
        return np.asarray(version.links, dtype=np.int64)

    async def _links(self, page: Page, source: Known, now: float) -> tuple[IntArray, int]:
        """Returns the numbers of the links that belong to the crawl, and how many of them are new to it."""
        if not page.robots.follow:
            return NO_LINKS, 0
        is_announcing = page.kind in (Kind.FEED, Kind.SITEMAP)
        if is_announcing:
            self._compare_entries(page, source)
        ids: list[UrlId] = []
        count = 0
        async for targets in self._pieces(page.targets):
            found = self.store.find_all(targets)
            if is_announcing:
                self._announce(page, targets, found)
            ids += [id for id in found if id is not None]
            if None in found:
                unknown = [target for target, id in zip(targets, found, strict=True) if id is None]
                new = self._enter(page, unknown, source, now)
                ids += new
                count += len(new)
        return np.sort(np.array(ids, dtype=np.int64)), count

    def _enter(self, page: Page, unknown: Sequence[Url], source: Known, now: float) -> list[UrlId]:
        """Enters those of the unknown links of a page that belong to the crawl."""
        entering = self._entering(page, unknown, source, now)
        new = self.store.enter(entering)
        for id, link in zip(new, entering, strict=True):
            self._note_entry(id, page.announced(link.url))
        if self.states is not None and new:
            self.states.found(source.id, new, entering, [page.link(one.url).region.value for one in entering])
        if self.topic is not None and new:
            self.topic.found(new, entering)
        return new

    def _compare_entries(self, page: Page, source: Known) -> None:
        """Suspects corrections of stories of which a feed or sitemap says something new, and of stories that a feed
        drops.
        """
        said = page.entry_prints if page.kind is Kind.FEED else page.latest_dates
        listed: list[UrlId] = []
        for target, number in said.items():
            id = self.store.find(target)
            if id is not None:
                listed.append(id)
                before = self._entries.get((source.id, id))
                remember(self._entries, (source.id, id), number, SIGHTINGS)
                if before not in (None, number):
                    self.corrections.suspect(id, target)
        if page.kind is Kind.FEED:
            for id in missing_between(self._listed.get(source.id, []), listed):
                self.corrections.suspect(id, self.store.url(id))
            self._listed[source.id] = listed

    def _announce(self, page: Page, targets: Sequence[Url], found: Sequence[UrlId | None]) -> None:
        """Records what a feed or sitemap says of known pages, with their dates."""
        dates: dict[UrlId, float] = {}
        for target, id in zip(targets, found, strict=True):
            if id is None:
                continue
            self._note_entry(id, page.announced(target))
            published = page.link(target).published
            if published is not None:
                self.dating.announce(id, published)
                dates[id] = published
        if dates:
            self.table.date(np.array(list(dates)), np.array(list(dates.values())))

    def _note_entry(self, id: UrlId, entry: Entry | None) -> None:
        """Remembers what a feed says of a page; the first feed counts."""
        if entry is not None and id not in self._announced:
            remember(self._announced, id, entry, ENTRIES)

    def _entering(self, page: Page, unknown: Sequence[Url], source: Known, now: float) -> list[Found]:
        """Returns those of the unknown links of a page that may enter the crawl."""
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
            self.scope.places.met(target, anchor, source.url)
            entering.append(Found(target, link.channel, now, source.id, anchor, depth, link.published, now))
        return entering

    def _objection(self, page: Page, target: Url, depth: int) -> str:
        """Returns why a link stays out of the crawl, or nothing. Of ordinary links, which are many, it reads no more
        than needed.
        """
        if target not in page.related:
            return self.scope.objection(target, depth)
        link = page.link(target)
        if "nofollow" in link.rel:
            return "nofollow"
        return self.scope.objection(target, depth, announced=link.channel is not Channel.LINK)

    def _version(self, before: Known, page: Page, links: IntArray, dated: Dated | None) -> Version:
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
            about=self._about(before, page) if is_text else NOTHING,
        )

    def _about(self, before: Known, page: Page) -> About:
        """Returns what the page says of its story, completed by the first feed that announced it. The entry of that
        feed is dropped.
        """
        entry = self._announced.pop(before.id, None)
        return page.about if entry is None else page.about.filled(told_by(entry))

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


def missing_between(before: Sequence[UrlId], now: Sequence[UrlId]) -> list[UrlId]:
    """Returns the pages that a feed dropped although it still names some that stood after them."""
    there = set(now)
    last = max((place for place, id in enumerate(before) if id in there), default=0)
    return [id for id in before[:last] if id not in there]


def _is_first(before: Known) -> bool:
    """Whether this is the first visit of a page, or a visit of a page that has answered before."""
    return before.visits == 0 or before.version is not None


def _validators(before: Known, response: Response) -> Validators:
    """Returns the validators for the next request: those of this response, or after a failure those of the one before."""
    given = validators_of(response)
    if response.outcome is Outcome.FETCHED or (response.outcome is Outcome.UNCHANGED and given != Validators()):
        return given
    return Validators() if response.outcome is Outcome.GONE else before.validators


def make_sighting(
    id: UrlId,
    when: float,
    version: VersionId | None,
    text_print: int,
    dated: Dated | None,
    links: IntArray,
    kind: Kind,
) -> Sighting:
    """Makes the sighting of a page as a stored version shows it."""
    return Sighting(
        url=id,
        when=when,
        version=-1 if version is None else version,
        text_print=text_print,
        published=np.nan if dated is None else dated.time,
        links=links,
        hub=kind in LISTS,
    )
