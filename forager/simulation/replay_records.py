"""The journal of a replay, as far as a tape knows the events, and its pages in the form of a store, for the dashboard.

A tape has neither titles nor texts. The versions are those that had appeared by the current time.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np

from forager.core import agent as population
from forager.core.agent import ReinforcingAgent
from forager.core.findings import NO_LINKS
from forager.core.judge import RELEVANT
from forager.events import Born, Deleted, Event, Fetched, Reinforced, Told
from forager.pages.urls import site
from forager.simulation.bundles import BORN, DELETED, VISIT, Records
from forager.store.protocol import AcceptedStory, Counts, Known, Version, VersionId, Visit
from forager.tape.tape import KINDS, Tape
from forager.tape.tape_world import TapeWorld
from forager.terms import NOBODY, Channel, Dated, DateSource, ForagerId, Outcome, Trouble, Url, UrlId, Validators

OUTCOMES = tuple(Outcome)


class ReplayRecords:
    """Reads the journal and answers like a store; takes about 20 bytes per download."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._at, self._page, self._by, self._how = array("d"), array("i"), array("i"), array("b")
        self._changed = array("b")
        self._visits, self._changes = array("i", bytes(4 * tape.pages)), array("i", bytes(4 * tape.pages))
        self._last = array("d", bytes(8 * tape.pages))
        self._told: list[Told] = []
        self._codes = {outcome: code for code, outcome in enumerate(OUTCOMES)}
        self._ids: dict[Url, UrlId] | None = None

    def __repr__(self) -> str:
        return f"<ReplayRecords {len(self._at):,} downloads, {len(self._told):,} stories>"

    def __call__(self, event: Event) -> None:
        if isinstance(event, Fetched):
            id = event.id
            self._at.append(event.at)
            self._page.append(id)
            self._by.append(event.by)
            self._how.append(self._codes[event.outcome])
            self._changed.append(event.changed)
            self._visits[id] += 1
            self._changes[id] += event.changed
            self._last[id] = event.at
        elif isinstance(event, Told):
            self._told.append(event)

    def find(self, url: Url) -> UrlId | None:
        if self._ids is None:
            self._ids = {known: UrlId(id) for id, known in enumerate(self.tape.urls())}
        return self._ids.get(url)

    def url(self, id: UrlId) -> Url:
        return self.tape.url(id)

    def known(self, id: UrlId) -> Known:
        begin, kind = int(self.tape.version_start[id]), KINDS[int(self.tape.url_kind[id])]
        return Known(
            id=id,
            url=self.tape.url(id),
            found=float(self.tape.time[begin]) if begin < self.tape.version_start[id + 1] else self.tape.start,
            channel=Channel.LINK,
            source=None,
            depth=0,
            published=None,
            kind=kind,
            visits=self._visits[id],
            changes=self._changes[id],
            last_visit=self._last[id] if self._visits[id] else None,
            last_change=None,
            due=None,
            version=None,
            byte_print=0,
            text_print=0,
            validators=Validators(),
        )

    def counts(self) -> Counts:
        return Counts(known=self.tape.pages, visits=len(self._at), stories=len(self._told))

    async def unsettled(self) -> list[VersionId]:
        return []

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        page = UrlId(int(np.searchsorted(self.tape.version_start, version, side="right")) - 1)
        date = float(self.tape.published[version])
        shown = Version(
            kind=KINDS[int(self.tape.url_kind[page])],
            byte_print=int(self.tape.digest[version]),
            text_print=int(self.tape.text_print[version]),
            simhash=0,
            published=Dated(date, DateSource.TAPE) if date == date else None,
        )
        return page, float(self.tape.time[version]), shown

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        now = self._at[-1] if self._at else self.tape.start
        versions = range(int(self.tape.version_start[id]), int(self.tape.version_start[id + 1]))
        return [(VersionId(one), at) for one in versions if (at := float(self.tape.time[one])) <= now]

    async def visits(self, id: UrlId | None = None) -> AsyncIterator[Visit]:
        places = range(len(self._at)) if id is None else np.flatnonzero(np.array(self._page) == id).tolist()
        for place in places:
            how = OUTCOMES[self._how[place]]
            yield Visit(
                id=UrlId(self._page[place]),
                at=self._at[place],
                outcome=how,
                trouble=Trouble.STATUS if how is Outcome.GONE else Trouble.NONE,
                by=ForagerId(self._by[place]),
                changed=bool(self._changed[place]),
            )

    async def stories(self, after: int = 0) -> AsyncIterator[AcceptedStory]:
        for told in self._told[after:]:
            yield AcceptedStory(
                id=told.id,
                version=self._shown(told.id, told.at),
                url=told.url,
                site=told.site,
                title=told.title or told.url,
                published=told.published,
                published_source=told.published_source,
                first_seen=told.at,
                fetched=told.at,
                discovered_from=None,
                discovered_via=told.via,
                forager=told.by,
            )

    def _shown(self, id: UrlId, at: float) -> VersionId:
        """The version that the page showed at this time."""
        begin, end = int(self.tape.version_start[id]), int(self.tape.version_start[id + 1])
        return VersionId(max(begin, begin + int(np.searchsorted(self.tape.time[begin:end], at, side="right")) - 1))


STATUS = {Outcome.FETCHED: 200, Outcome.UNCHANGED: 304, Outcome.GONE: 404, Outcome.UNRECORDED: 0}


class Telling:
    """Turns records into events and passes them on. A tape has neither titles nor sizes."""

    def __init__(
        self, world: TapeWorld, agent: ReinforcingAgent, seeds: set[UrlId], tell: Callable[[Event], None]
    ) -> None:
        self.world, self.agent, self.seeds, self.tell = world, agent, seeds, tell
        self._shown = np.full(world.tape.pages, -1, dtype=np.int64)
        """The last version of each page in an event."""
        self._met = np.zeros(world.tape.pages, dtype=np.bool_)
        columns = world.columns
        self._gone, self._published, self._kind = columns.gone, columns.published, np.asarray(world.tape.url_kind)
        for record in agent.records.values():
            tell(Born(record.born, record.id, record.kind.value, NOBODY))

    def happened(self, records: Records) -> None:
        """Writes the events of records: downloads, births and deletions, and for each step its reinforcements, then its
        stories.
        """
        waiting: list[Told] = []
        step = None
        for at, what, by, own, page, version, amount in records.tolist():
            if what <= VISIT or (by, own) != step:
                self._tell_all(waiting)
            if what == VISIT:
                self._fetched(UrlId(page), version, at, ForagerId(by))
                continue
            if what == BORN:
                self.tell(Born(at, ForagerId(by), self.agent.records[ForagerId(by)].kind.value, ForagerId(page)))
                continue
            if what == DELETED:
                self.tell(Deleted(at, ForagerId(by), amount))
                continue
            step = by, own
            if by != NOBODY:
                self.tell(Reinforced(at, ForagerId(by), UrlId(page), amount))
            if what & RELEVANT:
                waiting.append(self._told(UrlId(page), self._published.item(version), at, ForagerId(by)))
        self._tell_all(waiting)

    def managed(self, happened: Sequence[population.Multiplied | population.Removal]) -> None:
        """Writes births and deletions that happened outside the loop."""
        for one in happened:
            if isinstance(one, population.Removal):
                self.tell(Deleted(one.at, one.forager, one.score))
            else:
                self.tell(Born(one.at, one.child, self.agent.records[one.child].kind.value, one.parent))

    def _tell_all(self, waiting: list[Told]) -> None:
        for told in waiting:
            self.tell(told)
        waiting.clear()

    def _fetched(self, page: UrlId, version: int, at: float, by: ForagerId) -> None:
        before, self._shown[page] = int(self._shown[page]), version
        if version < 0:
            outcome, links = Outcome.UNRECORDED, NO_LINKS
        elif self._gone.item(version):
            outcome, links = Outcome.GONE, NO_LINKS
        else:
            outcome = Outcome.UNCHANGED if version == before else Outcome.FETCHED
            links = self.world.links_of(version, at)
        new_links = int(np.count_nonzero(~self._met[links]))
        self._met[links] = True
        self.tell(
            Fetched(
                at=at,
                id=page,
                url=self.world.tape.url(page),
                by=by,
                outcome=outcome,
                status=STATUS[outcome],
                trouble=Trouble.STATUS if outcome is Outcome.GONE else Trouble.NONE,
                error="",
                seconds=self.world.seconds,
                wire_bytes=0,
                kind=KINDS[self._kind.item(page)],
                changed=outcome is Outcome.FETCHED and before >= 0,
                new_links=new_links,
            )
        )

    def _told(self, page: UrlId, published: float, at: float, by: ForagerId) -> Told:
        url = self.world.tape.url(page)
        return Told(
            at=at,
            id=page,
            url=url,
            site=site(url),
            title="",
            published=published,
            published_source="tape",
            delay=max(0.0, at - published),
            via=Channel.SEED if page in self.seeds else Channel.LINK,
            by=by,
        )
