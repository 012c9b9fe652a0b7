"""From an accepted document to a story: stores the decision on every new version, and reports it in the journal.

The events of a visit and of a story are made here, from what the store holds of both.
"""

from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass

from forager.core.findings import Reinforcement, Sighting
from forager.events import Event, Fetched, Told
from forager.pages.fingerprints import Copies, simhash
from forager.pages.urls import site
from forager.store.protocol import AcceptedStory, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import DateSource, ForagerId, Kind, Url


@dataclass(frozen=True, slots=True)
class Taken:
    """What a step, or a single visit, brought."""

    sightings: list[Sighting]
    reinforcements: list[Reinforcement]

    @property
    def downloads(self) -> int:
        """Number of pages that were fetched; shared copies do not count."""
        return sum(not sighting.free for sighting in self.sightings)


class Teller:
    """Decides versions: one story per accepted document; copies refer to the first."""

    def __init__(
        self,
        store: Store,
        note: Callable[[Event], None],
        accept: Callable[[AcceptedStory, Version], bool] | None = None,
        is_unsure: Callable[[VersionId], bool] | None = None,
    ) -> None:
        """`accept` has the last word on what becomes a story. Versions that are `is_unsure` are held until they are
        decided.
        """
        self.store, self.note, self.accept, self.is_unsure = store, note, accept, is_unsure
        self.held: dict[VersionId, Reinforcement | None] = {}
        """Accepted documents that are held, with what they earned; None if that was before the crawl was interrupted."""
        self.copies = Copies()

    async def settle(self, taken: Taken) -> None:
        """Stores the decisions on the versions of a step; a story is reported once it is stored."""
        relevant = {one.finding.version: one for one in taken.reinforcements if one.relevant}
        for sighting in taken.sightings:
            accepted = relevant.get(sighting.version)
            if sighting.version < 0 or (sighting.free and accepted is None):
                continue
            number = VersionId(sighting.version)
            if number in self.held:  # visited again before it is decided
                continue
            if accepted is not None and self.is_unsure is not None and self.is_unsure(number):
                self.held[number] = accepted
            else:
                await self.decide(number, accepted)

    async def decide(self, number: VersionId, accepted: Reinforcement | None) -> None:
        """Stores the decision on a version; None: it is no story."""
        if accepted is None:
            await self.store.settle(number, None)
            return
        _, fetched, version = await self.store.version(number)
        story = self.story(number, fetched, version, accepted)
        if self.accept is not None and not self.accept(story, version):
            await self.store.settle(number, None)
            return
        if story.simhash and self.copies.first(story.simhash) is None:
            self.copies.learn(story.simhash, story.id)
        try:
            await self.store.settle(number, story)
        except CancelledError:  # the forager was deleted while it waited, but its story is stored
            self.note(told(story))
            raise
        self.note(told(story))

    def story(self, number: VersionId, fetched: float, version: Version, accepted: Reinforcement) -> AcceptedStory:
        """Makes the story of an accepted document."""
        finding = accepted.finding
        page = self.store.known(finding.url)
        likeness = version.simhash or simhash(version.text)
        first = self.copies.first(likeness) if likeness else None
        return AcceptedStory(
            id=page.id,
            version=number,
            url=page.url,
            site=site(page.url),
            title=version.title,
            published=finding.published,
            published_source=(version.published.source if version.published else DateSource.FIRST_SEEN).value,
            first_seen=page.found,
            fetched=fetched,
            discovered_from=None if page.source is None else Url(self.store.url(page.source)),
            discovered_via=page.channel,
            forager=ForagerId(finding.by),
            duplicate_of=None if first is None or first == page.id else self.store.url(first),
            text_print=version.text_print,
            simhash=likeness,
            about=version.about,
            exact=version.published is None or version.published.exact,
        )


def told(story: AcceptedStory) -> Told:
    return Told(
        at=story.fetched,
        id=story.id,
        url=story.url,
        site=story.site,
        title=story.title,
        published=story.published,
        published_source=story.published_source,
        delay=story.delay,
        via=story.discovered_via,
        by=story.forager,
        about=story.about,
    )


def fetched(visit: Visit, url: Url, kind: Kind = Kind.OTHER, new_links: int = 0) -> Fetched:
    """Makes the event of a visit. Kind and new links are not stored with the visit, and the account does not use them."""
    return Fetched(
        at=visit.at,
        id=visit.id,
        url=url,
        by=visit.by,
        outcome=visit.outcome,
        status=visit.status,
        trouble=visit.trouble,
        error=visit.error,
        seconds=visit.seconds,
        wire_bytes=visit.wire_bytes,
        kind=kind,
        changed=visit.changed,
        new_links=new_links,
    )
