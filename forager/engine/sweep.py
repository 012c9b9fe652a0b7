"""The baseline BFS: every known page in turn, breadth first, and again when it is due.

It knows nothing of news: links are visited in the order in which they were found, pages again after `revisit_after`.
"""

import asyncio

from forager.clock import Clock, rest
from forager.core.agent import ReinforcingAgent
from forager.core.shared import Shared
from forager.engine.step import judge_sighting
from forager.engine.stories import Teller
from forager.engine.world import WebWorld
from forager.store.store import Store
from forager.terms import ForagerId

LONGEST_REST = 60.0
"""Seconds after which a worker without work looks again whether there is some."""


async def sweep(
    workers: int,
    store: Store,
    world: WebWorld,
    agent: ReinforcingAgent,
    shared: Shared,
    teller: Teller,
    clock: Clock,
    stopping: asyncio.Event,
) -> None:
    """Sweep until told to stop; every worker finishes the page it is at."""
    (forager,) = agent.foragers
    bell = asyncio.Event()
    resting = 0

    async def work() -> None:
        nonlocal resting
        while not stopping.is_set():
            leases = await store.lease(1, clock.now())
            if not leases:
                due = store.next_due(clock.now())
                wait = LONGEST_REST if due is None else min(LONGEST_REST, max(due - clock.now(), 0.01))
                resting += 1
                await rest(clock, wait, stopping, bell)
                resting -= 1
                continue
            known = store.counts().known if resting else 0
            sighting = await world.look(leases[0], ForagerId(forager))
            taken = judge_sighting(sighting, agent, shared, clock.now(), ForagerId(forager))
            agent.worked(ForagerId(forager), taken.downloads)
            if resting and store.counts().known > known:  # there is work for those who rest
                bell.set()
                bell.clear()
            await teller.settle(taken)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
