"""A forager alone with its agent, walked step by step through pages that a test makes up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forager.core.agent import ReinforcingAgent
from forager.core.findings import Reinforcement, Sighting, Step
from forager.core.fleet import Forager
from forager.core.parameters import ForagerKind, ForagerSettings, ReinforcingSettings, StateSettings
from forager.core.shared import Shared
from forager.terms import ForagerId


def urls(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def article(url: int, now: float, **more: Any) -> Sighting:
    return Sighting(**({"url": url, "when": now, "version": url, "text_print": url + 1, "published": now} | more))


def hub(url: int, now: float, *links: int, free: bool = False) -> Sighting:
    return Sighting(url=url, when=now, version=url, published=now, hub=True, links=urls(*links), free=free)


class Lone:
    """One forager, what it knows, and who judges it."""

    def __init__(
        self,
        settings: ForagerSettings,
        kind: ForagerKind = ForagerKind.WL,
        seeds: Sequence[int] = (0,),
        *,
        agent: ReinforcingAgent | None = None,
        shared: Shared | None = None,
    ) -> None:
        settings = replace(settings, states=StateSettings(dimension=2))
        self.agent = agent or ReinforcingAgent(ReinforcingSettings(), settings, seed=1)
        self.shared = shared or Shared.fresh(settings)
        before = set(self.agent.foragers)
        self.agent.start(urls(*seeds), 0.0, [kind])
        (id,) = set(self.agent.foragers) - before
        self.forager: Forager = self.agent.foragers[ForagerId(id)]

    @property
    def starts(self) -> bool:
        """Whether the step under way begins a path."""
        return len(self.forager.path.urls) == 1

    def choose(self, now: float) -> Step:
        return self.agent.choose(self.forager, now, self.shared)

    def see(self, step: Step, now: float, *sightings: Sighting) -> list[Reinforcement]:
        return self.agent.see(self.forager, step, sightings, now, self.shared)

    def walk(self, now: float, sighting: Sighting) -> Step:
        """One step, expected to lead to the page of the sighting."""
        step = self.choose(now)
        assert step.url == sighting.url
        self.see(step, now, sighting)
        return step


def next_turn(agent: ReinforcingAgent) -> Forager:
    """The forager whose turn it is, where they take turns: round robin, children last."""
    tally, alive = agent.flock.state.tally, list(agent.foragers.values())
    place = int(tally["turns"][0]) if tally["turns"][0] < len(alive) else 0
    tally["turns"] = place + 1
    return alive[place]
