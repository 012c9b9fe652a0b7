"""One step of a forager over any World (Alg 12): choose, visit, select, be judged, learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock
from forager.foragers.forager import Forager
from forager.foragers.shared import Shared
from forager.foragers.sighting import Reinforcement, Sighting
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


async def take_step(forager: Forager, agent: ReinforcingAgent, world: World, shared: Shared, clock: Clock) -> Taken:
    """The heart of the engine: decide, wait, decide, learn."""
    step = forager.choose(clock.now(), shared)
    sightings = await world.visit([step.url], forager.id)
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
