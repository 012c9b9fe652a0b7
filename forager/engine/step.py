"""One step of a forager over any World (Alg 12), and visits that are no steps: decide, wait, judge and learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.findings import Reinforcement, Sighting
from forager.core.fleet import Forager
from forager.core.shared import Shared
from forager.terms import NOBODY, ForagerId, UrlId


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

    A page that promises too little is not asked for: the step is free and brings nothing. If the forager is deleted while
    it waits, what it saw is judged in nobody's name.
    """
    step = agent.choose(forager, clock.now(), shared)
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
    if forager.id in agent.foragers:
        return Taken(sightings, agent.see(forager, step, sightings, now, shared))
    taken = [judge_sighting(sighting, agent, shared, now) for sighting in sightings]
    return Taken(sightings, [one for each in taken for one in each.reinforcements])


def judge_sighting(
    sighting: Sighting, agent: ReinforcingAgent, shared: Shared, now: float, by: ForagerId = NOBODY
) -> Taken:
    """Take in a visit that was no step of a forager: of the recrawl cycle, or of the breadth-first sweep (`by`).

    Its document, if it shows one, is judged by the same agent, and pays the page that revealed it. A download of the
    recrawl cycle counts for the forager in whose territory it lies.
    """
    first, earned = shared.note(sighting), []
    if by == NOBODY and not sighting.free:
        earned = agent.look(sighting, first, now, shared)
    elif sighting.ok and not sighting.free:
        revealer = shared.visits.revealer(sighting.url) if first else sighting.url
        earned = agent.judge(sighting, revealer, now, shared, by)
    shared.pace.downloaded(not sighting.free)
    return Taken([sighting], earned)
