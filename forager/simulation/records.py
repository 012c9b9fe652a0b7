"""What a replay knows of its pages, asked for like a store: for the dashboard.

It reads the journal along. A tape knows neither titles nor texts; versions are those that had appeared on it by now.
"""

from array import array
from collections.abc import AsyncIterator

import numpy as np

from forager.events import Event, Fetched, Told
from forager.store.protocol import Counts, Known, Story, Version, VersionId, Visit
from forager.tape.tape import KINDS, Tape
from forager.terms import Channel, Dated, DateSource, ForagerId, Outcome, Trouble, Url, UrlId, Validators

OUTCOMES = tuple(Outcome)


class ReplayRecords:
    """A reader of the journal; about 20 bytes for each download."""

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

    async def stories(self, after: int = 0) -> AsyncIterator[Story]:
        for told in self._told[after:]:
            yield Story(
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
        """The version that the page showed at a time."""
        begin, end = int(self.tape.version_start[id]), int(self.tape.version_start[id + 1])
        return VersionId(max(begin, begin + int(np.searchsorted(self.tape.time[begin:end], at, side="right")) - 1))
