"""A whole fleet walks a small news site made of plain arrays, in both modes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from forager.core.agent import ReinforcingAgent
from forager.core.findings import Reinforcement, Sighting
from forager.core.parameters import PAPER_AGENT, PAPER_FORAGER, ForagerKind, ForagerSettings, ReinforcingSettings
from forager.core.shared import Shared
from forager.measures import Delay, delay
from forager.terms import UrlId
from tests.core.lone import next_turn

HOUR = 3600.0
DAY = 24 * HOUR
SECTIONS = 8


class SmallWorld:
    """Eight sections, each showing all sections and its 15 newest articles; section s has one every 1 + s hours."""

    def __init__(self, days: float) -> None:
        born = [(hour * HOUR, s) for s in range(SECTIONS) for hour in range(1 + s, int(24 * days), 1 + s)]
        self.born, self.section = (np.array(column) for column in zip(*sorted(born), strict=True))

    def visit(self, url: UrlId, now: float) -> Sighting:
        if url < SECTIONS:
            shown = np.flatnonzero((self.section == url) & (self.born <= now))[-15:]
            links = np.concatenate([np.arange(SECTIONS), SECTIONS + shown])
            return Sighting(url=url, when=now, version=url, published=0.0, links=links, hub=True, state_row=1 + url)
        born, section = self.born[url - SECTIONS], self.section[url - SECTIONS]
        links = np.array([section, (section + 1) % SECTIONS])
        row = 1 + SECTIONS + int(section)
        return Sighting(url, now, version=url, text_print=url, published=born, links=links, state_row=row)


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in values.items():
        section, dot, key = name.rpartition(".")
        (out.setdefault(section, {}) if dot else out)[key] = value
    return out


class Run:
    """A fleet in slices of five minutes on one clock, at so many downloads an hour."""

    def __init__(
        self, kind: ForagerKind, preset: str, per_hour: float = 30.0, days: float = 4.0, seed: int = 1
    ) -> None:
        paper = preset == "paper"
        settings = TypeAdapter(ForagerSettings).validate_python(
            {"kind": kind} | (nested(PAPER_FORAGER) if paper else {})
        )
        judge = TypeAdapter(ReinforcingSettings).validate_python(nested(PAPER_AGENT) if paper else {})
        self.world = SmallWorld(days)
        self.agent = ReinforcingAgent(judge, settings, seed)
        self.shared = Shared.fresh(settings)
        self.shared.states.add(np.random.default_rng(0).normal(0, 0.1, (2 * SECTIONS, 50)).astype(np.float32))
        self.agent.start(np.array([0]), 0.0)
        self.downloads, self.journal, self.accepted = 0, [], list[Reinforcement]()
        found = np.full(len(self.world.born), np.nan)
        now, gap = 0.0, HOUR / per_hour
        while now < days * DAY:
            forager, end = next_turn(self.agent), now + 300.0
            while now < end:
                step = self.agent.choose(forager, now, self.shared)
                sightings = [self.world.visit(step.url, now)]
                if step.links:
                    sightings += [self.world.visit(UrlId(int(url)), now) for url in sightings[0].links]
                now += gap * len(sightings)
                reinforcements = self.agent.see(forager, step, sightings, now, self.shared)
                self.downloads += len(sightings)
                self.journal.append((forager.id, step.url, len(reinforcements)))
                self.accepted += [each for each in reinforcements if each.relevant]
                for each in reinforcements:
                    if each.relevant and each.finding.url >= SECTIONS:
                        found[each.finding.url - SECTIONS] = now
            self.agent.manage(forager.id, now)
        self.delay: Delay = delay(self.world.born, found)


@pytest.mark.parametrize("kind", ForagerKind)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_economy_and_the_bounds_hold_and_nobody_is_rewarded_twice(kind: ForagerKind, preset: str) -> None:
    run = Run(kind, preset, days=2.0)
    agent = run.agent
    assert run.downloads >= 1400
    assert len({each.finding.version for each in run.accepted}) == len(run.accepted) > 0
    assert sum(record.relevant for record in agent.records.values()) == len(run.accepted)
    assert sum(record.downloads for record in agent.records.values()) == run.downloads
    assert (1 if kind is ForagerKind.BFS else 2) <= len(agent.foragers) <= 16
    for forager in agent.foragers.values():
        values = forager.weblog.values
        assert len(values) <= 100 and (values[:-1] >= values[1:]).all()
        assert np.isfinite(forager.weights).all()


def test_the_same_seed_gives_the_same_walk_and_another_seed_another() -> None:
    first, same, other = (Run(ForagerKind.WL, "default", days=1.0, seed=seed).journal for seed in (1, 1, 2))
    assert first == same != other


def test_the_default_fleet_beats_a_breadth_first_sweep_clearly() -> None:
    # about 2.7 articles an hour appear; at 8 downloads an hour a sweep cannot keep up
    fleet, sweep = (Run(kind, "default", per_hour=8.0, days=6.0) for kind in (ForagerKind.WL, ForagerKind.BFS))
    assert fleet.delay.coverage > 0.95 > sweep.delay.coverage
    assert fleet.delay.late < sweep.delay.late / 4
    assert fleet.delay.median < sweep.delay.median / 4


def test_articles_never_fill_the_weblogs_of_the_default_fleet() -> None:
    run = Run(ForagerKind.WL, "default", days=2.0)
    assert all(url < SECTIONS for forager in run.agent.foragers.values() for url, _ in forager.weblog.entries)
