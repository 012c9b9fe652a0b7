"""A run directory becomes a tape of what the crawl saw, and when. URLs keep their numbers."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from forager.arrays import FloatArray
from forager.core.parameters import StateSettings
from forager.core.states import States, document
from forager.errors import InputError
from forager.importers.collector import PageFacts, TextStates
from forager.importers.identity import with_documents
from forager.store.protocol import Version, VersionId, Visit
from forager.store.store import Store
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape
from forager.terms import LISTS, Channel, DateSource, Outcome, UrlId


async def tape_of_run(directory: Path, *, identity: str = "url", states: StateSettings | None = None) -> Tape:
    """Compiles the tape of a crawl, finished or running."""
    reader = await Store.view(directory)
    try:
        return await tape_of_store(reader, directory.name, identity=identity, states=states)
    finally:
        await reader.close()


async def tape_of_store(
    store: Store, origin: str, *, identity: str = "url", states: StateSettings | None = None
) -> Tape:
    """Compiles what a store holds. States are those that the crawl learned, or are computed now from its texts."""
    kept = await store.recall("states")
    settings = states or StateSettings()
    text_states = TextStates(States(settings) if kept is None else States.load(kept, settings))
    compiling = _Compiling(store, TapeBuilder(origin), text_states)
    return with_documents(await compiling.run(), identity, mentions=compiling.mentions, kinds="read", date=False)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a page showed at a visit."""

    id: UrlId
    at: float
    seconds: float
    facts: PageFacts | None
    """None: the page is gone."""
    since: float
    """The visit before; -inf if there was none."""


class _Compiling:
    """Goes through the visits in order, and knows what each page showed last.

    A crawl visits a page some time after it appeared. The tape shows a page from its publication on, and its link on a
    list from then on, unless the list was visited in between. A page that states no time may always have been there.
    Links to pages that were never visited are left out, because nobody knows what they show.
    """

    def __init__(self, store: Store, builder: TapeBuilder, text_states: TextStates) -> None:
        self._store, self._builder, self._text_states = store, builder, text_states
        self._versions: dict[tuple[UrlId, float], PageFacts] = {}
        self._shown: dict[UrlId, PageFacts] = {}
        self._gone: set[UrlId] = set()
        self._visited: dict[UrlId, float] = {}
        self._changes: list[_Shown] = []
        self._linked: dict[int, float] = {}
        """When each page was first linked to."""
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
        appeared = np.full(counts.known, np.inf)
        appeared[list(self._visited)] = first
        for shown in self._changes:
            if shown.since == -np.inf:
                appeared[shown.id] = max(first, self._appeared(shown))
        for shown in self._changes:
            self._add(shown, appeared)
        tape = self._builder.finish(start=first, end=last, states=self._text_states.finish())
        seeds = (id for id in self._visited if self._store.known(id).channel is Channel.SEED)
        return replace(tape, seeds=tuple(sorted(seeds)))

    def _facts(self, version: Version) -> PageFacts:
        links = np.asarray(version.links, np.int32)
        row = self._text_states.row(document(version.title, version.text))
        return PageFacts(version.byte_print, version.text_print, version.published, version.kind, links, row)

    def _take(self, visit: Visit) -> None:
        fresh, since = None, self._visited.get(visit.id, -np.inf)
        if visit.outcome is Outcome.GONE:
            if visit.id not in self._gone:
                self._changes.append(_Shown(visit.id, visit.at, visit.seconds, None, since))
            self._gone.add(visit.id)
        elif visit.outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
            fresh = self._versions.pop((visit.id, visit.at), None)
            back = self._shown.get(visit.id) if visit.id in self._gone else None
            facts = fresh or back
            if facts is not None:
                self._shown[visit.id] = facts
                self._changes.append(_Shown(visit.id, visit.at, visit.seconds, facts, since))
            self._gone.discard(visit.id)
        else:
            return
        self._visited[visit.id] = visit.at
        if fresh is not None:
            for link in fresh.links.tolist():
                self._linked.setdefault(link, visit.at)

    def _appeared(self, shown: _Shown) -> float:
        """Returns when a page appeared, judged by its first visit."""
        if shown.facts is None:
            return shown.at
        published = shown.facts.published
        if published is None:
            return -np.inf
        stated = published.exact and published.source is not DateSource.TEXT
        return min(shown.at, self._linked.get(shown.id, np.inf), published.time if stated else np.inf)

    def _add(self, shown: _Shown, appeared: FloatArray) -> None:
        """Adds what a page showed from a visit on, and before it what it must have shown since the last one."""
        url, facts, at = self._store.url(shown.id), shown.facts, shown.at
        if facts is None:
            self._builder.add(url, at, gone=True, seconds=shown.seconds)
            return
        facts = replace(facts, links=facts.links[np.isfinite(appeared[facts.links])])
        when, begin = appeared[facts.links], shown.since
        moments = [moment for moment in np.unique(when).tolist() if begin < moment < at] if facts.kind in LISTS else []
        if begin == -np.inf:
            begin = float(appeared[shown.id])
            moments = [begin, *(moment for moment in moments if moment > begin)]
        for moment in moments:
            part = replace(facts, links=facts.links[when <= moment])
            part.add_to(self._builder, self.mentions, url, moment, shown.seconds)
        if not moments or (when > moments[-1]).any():
            facts.add_to(self._builder, self.mentions, url, at, shown.seconds)
