"""A run directory becomes a tape: what the crawl saw, when it saw it. URLs keep their numbers."""

from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError
from forager.store.protocol import Version, VersionId, Visit
from forager.store.reader import SqliteReader
from forager.terms import Kind, Outcome, UrlId
from forager.world.tape.build import TapeBuilder
from forager.world.tape.columns import Tape


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a tape keeps of a version."""

    digest: int
    text_print: int
    published: float
    kind: Kind
    links: NDArray[np.int32]


async def tape_of_run(directory: Path, *, identity: str = "url") -> Tape:
    """The tape of a crawl, finished or under way; page states can be added to it later."""
    reader = await SqliteReader.open(directory)
    try:
        return await _Compiling(reader, TapeBuilder(directory.name, identity)).run()
    finally:
        await reader.close()


class _Compiling:
    """Goes through the visits in order and knows what each page showed last."""

    def __init__(self, reader: SqliteReader, builder: TapeBuilder) -> None:
        self._reader, self._builder = reader, builder
        self._versions: dict[tuple[UrlId, float], _Facts] = {}
        self._shown: dict[UrlId, _Facts] = {}
        self._gone: set[UrlId] = set()

    async def run(self) -> Tape:
        counts = self._reader.counts()
        if not counts.versions:
            raise InputError("the run has no page yet; crawl first")
        self._builder.numbers(self._reader.url(UrlId(id)) for id in range(counts.known))
        for number in range(counts.versions):
            id, at, version = await self._reader.version(VersionId(number))
            self._versions[id, at] = _facts(version)
        first, last = np.inf, -np.inf
        async for visit in self._reader.visits():
            first, last = min(first, visit.at), max(last, visit.at)
            self._take(visit)
        return self._builder.finish(start=first, end=last)

    def _take(self, visit: Visit) -> None:
        if visit.outcome is Outcome.GONE:
            if visit.id not in self._gone:
                self._builder.add(self._reader.url(visit.id), visit.at, gone=True, seconds=visit.seconds)
            self._gone.add(visit.id)
        elif visit.outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
            fresh = self._versions.pop((visit.id, visit.at), None)
            back = self._shown.get(visit.id) if visit.id in self._gone else None
            facts = fresh or back
            if facts is not None:
                self._add(visit, facts)
            self._gone.discard(visit.id)

    def _add(self, visit: Visit, facts: _Facts) -> None:
        """Add what the page showed at a visit: something new, or again what it had shown before it was gone."""
        self._shown[visit.id] = facts
        self._builder.add(
            self._reader.url(visit.id),
            visit.at,
            digest=facts.digest,
            text_print=facts.text_print,
            published=facts.published,
            link_ids=facts.links.tolist(),
            kind=facts.kind,
            seconds=visit.seconds,
        )


def _facts(version: Version) -> _Facts:
    published = nan if version.published is None else version.published.time
    links = np.asarray(version.links, np.int32)
    return _Facts(version.byte_print, version.text_print, published, version.kind, links)
