"""One step of a forager over any World (Alg 12): choose, visit, select, be judged, learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock
from forager.foragers.forager import Forager
from forager.foragers.shared import Shared
from forager.foragers.sighting import Reinforcement, Sighting
from forager.foragers.thrift import Thrift
from forager.reinforcing.agent import ReinforcingAgent
from forager.terms import ForagerId, UrlId


class World(Protocol):
    """What foragers and the recrawl cycle see: pages, in batches."""

    async def visit(self, urls: Sequence[UrlId], by: ForagerId) -> list[Sighting]:
        """Look at pages now; a page that cannot be had is a sighting too."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken, with all it brought."""

    sightings: list[Sighting]
    reinforcements: list[Reinforcement]

    @property
    def downloads(self) -> int:
        """Pages that were really fetched; shared copies are free."""
        return sum(not sighting.free for sighting in self.sightings)


async def take_step(
    forager: Forager,
    agent: ReinforcingAgent,
    world: World,
    shared: Shared,
    clock: Clock,
    thrift: Thrift,
) -> Taken:
    """The heart of the engine: decide, wait, decide, learn.

    A page that promises too little is not asked for: the step is free and brings nothing.
    """
    step = forager.choose(clock.now(), shared)
    if thrift.allows(step.worth):
        sightings = await world.visit([step.url], forager.id)
        if not sightings[0].free:
            thrift.spend(step.worth)
            if sightings[0].url != step.url:  # redirected
                shared.visits.record(step.url, sightings[0].when)
    else:
        sightings = [Sighting(step.url, clock.now(), ok=False, free=True)]
    if step.links and sightings[0].ok:
        sightings += await world.visit([UrlId(int(url)) for url in sightings[0].links], forager.id)
    now = clock.now()
    findings = forager.see(step, sightings, now, shared)
    reinforcements = agent.judge(findings, now)
    forager.learn(step, reinforcements, now, shared)
    taken = Taken(sightings, reinforcements)
    if forager.id in agent.foragers:
        agent.worked(forager.id, taken.downloads)
    return taken
