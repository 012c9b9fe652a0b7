"""A run directory becomes a tape: what the crawl saw, when it saw it. URLs keep their numbers."""

from pathlib import Path

import numpy as np

from forager.core.parameters import StateSettings
from forager.core.states import States, document
from forager.errors import InputError
from forager.importers.captures import PageFacts, TextStates
from forager.importers.identity import with_documents
from forager.store.protocol import Version, VersionId, Visit
from forager.store.store import Store
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape
from forager.terms import Outcome, UrlId


async def tape_of_run(directory: Path, *, identity: str = "url", states: StateSettings | None = None) -> Tape:
    """The tape of a crawl, finished or under way."""
    reader = await Store.view(directory)
    try:
        return await tape_of_store(reader, directory.name, identity=identity, states=states)
    finally:
        await reader.close()


async def tape_of_store(
    store: Store, origin: str, *, identity: str = "url", states: StateSettings | None = None
) -> Tape:
    """The same of what a store holds. States are those that the crawl learned, or worked out now from its texts."""
    kept = await store.recall("states")
    settings = states or StateSettings()
    text_states = TextStates(States(settings) if kept is None else States.load(kept, settings))
    compiling = _Compiling(store, TapeBuilder(origin), text_states)
    return with_documents(await compiling.run(), identity, mentions=compiling.mentions, kinds="read", date=False)


class _Compiling:
    """Goes through the visits in order and knows what each page showed last."""

    def __init__(self, store: Store, builder: TapeBuilder, text_states: TextStates) -> None:
        self._store, self._builder, self._text_states = store, builder, text_states
        self._versions: dict[tuple[UrlId, float], PageFacts] = {}
        self._shown: dict[UrlId, PageFacts] = {}
        self._gone: set[UrlId] = set()
        self.mentions: list[tuple[int, float]] = []
        """Page and time of versions that only mention a day in their text."""

    async def run(self) -> Tape:
        counts = self._store.counts()
        if not counts.versions:
            raise InputError("the run has no page yet; crawl first")
        self._builder.numbers(self._store.url(UrlId(id)) for id in range(counts.known))
        for number in range(counts.versions):
            id, at, version = await self._store.version(VersionId(number))
            self._versions[id, at] = self._facts(version)
        first, last = np.inf, -np.inf
        async for visit in self._store.visits():
            first, last = min(first, visit.at), max(last, visit.at)
            self._take(visit)
        return self._builder.finish(start=first, end=last, states=self._text_states.finish())

    def _facts(self, version: Version) -> PageFacts:
        links = np.asarray(version.links, np.int32)
        row = self._text_states.row(document(version.title, version.text))
        return PageFacts(version.byte_print, version.text_print, version.published, version.kind, links, row)

    def _take(self, visit: Visit) -> None:
        if visit.outcome is Outcome.GONE:
            if visit.id not in self._gone:
                self._builder.add(self._store.url(visit.id), visit.at, gone=True, seconds=visit.seconds)
            self._gone.add(visit.id)
        elif visit.outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
            fresh = self._versions.pop((visit.id, visit.at), None)
            back = self._shown.get(visit.id) if visit.id in self._gone else None
            facts = fresh or back
            if facts is not None:
                self._add(visit, facts)
            self._gone.discard(visit.id)

    def _add(self, visit: Visit, facts: PageFacts) -> None:
        """Add what the page showed at a visit: something new, or again what it had shown before it was gone."""
        self._shown[visit.id] = facts
        facts.add_to(self._builder, self.mentions, self._store.url(visit.id), visit.at, visit.seconds)
