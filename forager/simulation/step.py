"""One step of a forager on a tape: what `engine.step.take_step` does, without waiting, linked pages as columns.

In the paper's mode a step visits dozens of linked pages. They are looked up and noted as columns; only those young enough
to be documents are handed to the forager one by one. A test holds this step and that of the engine equal.
"""

from dataclasses import dataclass

from forager.foragers.forager import Forager
from forager.foragers.shared import Shared
from forager.foragers.sighting import NO_LINKS, Reinforcement, Sighting, Sightings
from forager.foragers.thrift import Thrift
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.reading import read_off, read_off_all
from forager.world.tape.player import TapeWorld


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step that was taken, with all it brought."""

    page: Sighting
    linked: Sightings | None
    reinforcements: list[Reinforcement]
    downloads: int
    """Pages that were really fetched; shared copies are free."""


def take_step(forager: Forager, agent: ReinforcingAgent, world: TapeWorld, shared: Shared, thrift: Thrift) -> Stepped:
    """Decide, look, decide, learn."""
    clock, before = world.clock, world.downloads
    step = forager.choose(clock.time, shared)
    if thrift.allows(step.worth):
        page = world.look(step.url)
        if not page.free:
            thrift.spend(step.worth)
    else:
        page = Sighting(step.url, clock.time, False, free=True, links=NO_LINKS)
    linked, seen, noted = None, [page], False
    if step.links and page.ok and len(page.links):
        first, noted = shared.note(page), True
        unseen = ~shared.visits.visited(page.links)
        linked = world.look_at_all(page.links)
        shared.note_many(linked)
        young = clock.time - forager.settings.max_age
        seen = [world.shared_copy(page), *world.shared_copies(linked, young)]
        if world.reads_off:
            there = world.copies(linked)
            new = [first, *unseen[linked.version >= 0].tolist()]
            seen += read_off_all([page, *there], world, shared, first=new, since=young)
    elif world.reads_off and page.ok and not page.free:
        first, young, noted = shared.note(page), clock.time - forager.settings.max_age, True
        seen = [world.shared_copy(page), *read_off(page, world, shared, first=first, since=young)]
    now, downloads = clock.time, world.downloads - before
    findings = forager.see(step, seen, now, shared)
    if noted:
        shared.pace.downloaded(downloads)
    reinforcements = agent.judge(findings, now) if findings else []
    forager.learn(step, reinforcements, now, shared)
    agent.worked(forager.id, downloads)
    return Stepped(page, linked, reinforcements, downloads)
