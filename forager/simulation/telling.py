"""The journal of a replay: the events of a crawl, as far as a tape knows them."""

from collections.abc import Callable, Sequence

import numpy as np

from forager.events import Born, Deleted, Event, Fetched, Reinforced, Told
from forager.foragers.sighting import Reinforcement, Sighting
from forager.pages.urls import site
from forager.reinforcing import population
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.step import Stepped
from forager.terms import NOBODY, Channel, ForagerId, Outcome, Trouble, UrlId
from forager.world.tape.columns import KINDS
from forager.world.tape.player import TapeWorld


class Telling:
    """Turns what happens into events and hands them on. A tape knows neither titles nor bytes."""

    def __init__(
        self, world: TapeWorld, agent: ReinforcingAgent, seeds: set[UrlId], tell: Callable[[Event], None]
    ) -> None:
        self.world, self.agent, self.seeds, self.tell = world, agent, seeds, tell
        self._told = np.full(world.tape.pages, -1, dtype=np.int64)
        self._met = np.zeros(world.tape.pages, dtype=np.bool_)
        for record in agent.records.values():
            tell(Born(record.born, record.id, record.kind.value, NOBODY))

    def stepped(self, by: ForagerId, stepped: Stepped) -> None:
        """A forager made a step."""
        self._fetched(stepped.page, by)
        if stepped.linked is not None:
            linked = stepped.linked
            for place in np.flatnonzero(~linked.free).tolist():
                url, version = UrlId(int(linked.urls[place])), int(linked.version[place])
                links = linked.links[linked.begin[place] : linked.end[place]]
                self._fetched(Sighting(url, float(linked.when[place]), version >= 0, version, links=links), by)
        for one in stepped.reinforcements:
            self.tell(Reinforced(self.world.clock.time, by, one.finding.url, one.amount))
        self._stories(stepped.reinforcements)

    def looked(self, sighting: Sighting, reinforcements: Sequence[Reinforcement]) -> None:
        """The recrawl side looked at a page."""
        self._fetched(sighting, NOBODY)
        self._stories(reinforcements)

    def managed(self, happened: Sequence[population.Multiplied | population.Deleted]) -> None:
        """Births and deaths."""
        for one in happened:
            if isinstance(one, population.Deleted):
                self.tell(Deleted(one.at, one.forager, one.score))
            else:
                self.tell(Born(one.at, one.child, self.agent.records[one.child].kind.value, one.parent))

    def _fetched(self, sighting: Sighting, by: ForagerId) -> None:
        if sighting.free:
            return
        url = sighting.url
        version, before = int(self.world.held[url]), int(self._told[url])
        self._told[url] = version
        new_links = int(np.count_nonzero(~self._met[sighting.links]))
        self._met[sighting.links] = True
        if sighting.ok:
            outcome = Outcome.UNCHANGED if version == before else Outcome.FETCHED
        else:
            outcome = Outcome.UNRECORDED if version < 0 else Outcome.GONE
        self.tell(
            Fetched(
                at=sighting.when,
                id=url,
                url=self.world.tape.url(url),
                by=by,
                outcome=outcome,
                status={Outcome.FETCHED: 200, Outcome.UNCHANGED: 304, Outcome.GONE: 404}.get(outcome, 0),
                trouble=Trouble.STATUS if outcome is Outcome.GONE else Trouble.NONE,
                error="",
                seconds=self.world.seconds,
                wire_bytes=0,
                kind=KINDS[int(self.world.tape.url_kind[url])],
                changed=outcome is Outcome.FETCHED and before >= 0,
                new_links=new_links,
            )
        )

    def _stories(self, reinforcements: Sequence[Reinforcement]) -> None:
        for one in reinforcements:
            if one.relevant:
                now, finding = self.world.clock.time, one.finding
                url = self.world.tape.url(finding.url)
                self.tell(
                    Told(
                        at=now,
                        id=finding.url,
                        url=url,
                        site=site(url),
                        title="",
                        published=finding.published,
                        published_source="tape",
                        delay=max(0.0, now - finding.published),
                        via=Channel.SEED if finding.url in self.seeds else Channel.LINK,
                        by=finding.by,
                    )
                )
