"""The journal of a replay: the events of a crawl, as far as a tape knows them."""

from collections.abc import Callable, Sequence

import numpy as np

from forager.core import agent as population
from forager.core.agent import ReinforcingAgent
from forager.core.judge import RELEVANT
from forager.core.sighting import NO_LINKS
from forager.events import Born, Deleted, Event, Fetched, Reinforced, Told
from forager.pages.urls import site
from forager.simulation.bundles import VISIT, Records
from forager.tape.tape import KINDS
from forager.tape.world import TapeWorld
from forager.terms import NOBODY, Channel, ForagerId, Outcome, Trouble, UrlId

STATUS = {Outcome.FETCHED: 200, Outcome.UNCHANGED: 304, Outcome.GONE: 404, Outcome.UNRECORDED: 0}


class Telling:
    """Turns what happens into events and hands them on. A tape knows neither titles nor bytes."""

    def __init__(
        self, world: TapeWorld, agent: ReinforcingAgent, seeds: set[UrlId], tell: Callable[[Event], None]
    ) -> None:
        self.world, self.agent, self.seeds, self.tell = world, agent, seeds, tell
        self._shown = np.full(world.tape.pages, -1, dtype=np.int64)
        """The version of each page that was told of last."""
        self._met = np.zeros(world.tape.pages, dtype=np.bool_)
        columns = world.columns
        self._gone, self._published, self._kind = columns.gone, columns.published, np.asarray(world.tape.url_kind)
        for record in agent.records.values():
            tell(Born(record.born, record.id, record.kind.value, NOBODY))

    def happened(self, records: Records) -> None:
        """What kernels have done, as their records say: downloads, and for each step what it earned, then its stories."""
        waiting: list[Told] = []
        step = None
        for at, what, by, own, page, version, amount in records.tolist():
            if what == VISIT or (by, own) != step:
                self._tell_all(waiting)
            if what == VISIT:
                self._fetched(UrlId(page), version, at, ForagerId(by))
                continue
            step = by, own
            if by != NOBODY:
                self.tell(Reinforced(at, ForagerId(by), UrlId(page), amount))
            if what & RELEVANT:
                waiting.append(self._told(UrlId(page), self._published.item(version), at, ForagerId(by)))
        self._tell_all(waiting)

    def managed(self, happened: Sequence[population.Multiplied | population.Removal]) -> None:
        """Births and deaths."""
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
