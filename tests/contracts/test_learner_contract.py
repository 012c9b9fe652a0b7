"""What every learner promises: asking changes nothing; saved and loaded, it makes the same next hundred decisions."""

from dataclasses import replace

import numpy as np
import pytest

from forager.core.agent import ReinforcingAgent
from forager.core.findings import Sighting
from forager.core.fleet import Flock
from forager.core.judge import KeyNumbers
from forager.core.page_table import PageTable
from forager.core.parameters import (
    ExpectationSettings,
    ForagerKind,
    ForagerSettings,
    PopulationSettings,
    ReinforcingSettings,
    ScoreSettings,
    StartSettings,
    StateSettings,
    WeblogSettings,
)
from forager.core.saved import load_agent, load_forager, save_agent, save_forager
from forager.core.shared import Shared, StateMatrix
from forager.core.states import States
from forager.errors import InputError
from tests.core.lone import next_turn

PAGES, STATES = 300, StateSettings(dimension=4)
GRAPH = np.random.default_rng(7).integers(0, PAGES, (PAGES, 12))
VECTORS = np.random.default_rng(8).normal(0, 0.3, (PAGES, 4)).astype(np.float32)

DEFAULT = ForagerSettings(states=STATES)
PAPERISH = replace(
    DEFAULT, order="profit", max_step=20, weblog=WeblogSettings(texts=True), start=StartSettings(by="list")
)
ECONOMY = ReinforcingSettings(
    scores=ScoreSettings(initial=5.0, multiply_at=10.0), population=PopulationSettings(first=2, most=6)
)


def look(url: int, now: float) -> Sighting:
    """A page of a random web: every tenth is a list, the others change once in 20,000 seconds."""
    version = url + PAGES * int((now + 977 * url) // 20_000)
    links, is_hub = GRAPH[url], url % 10 == 0
    return Sighting(url, now, version=version, text_print=version + 1, published=now, links=links, hub=is_hub)


def walk(agent: ReinforcingAgent, shared: Shared, steps: int, now: float) -> list[tuple[int, int, float]]:
    """So many steps, 300 s each, foragers taking turns; every decision and every judgement."""
    journal = []
    for _ in range(steps):
        now += 300.0
        forager = next_turn(agent)
        step = agent.choose(forager, now, shared)
        reinforcements = agent.see(forager, step, [look(step.url, now)], now, shared)
        agent.manage(forager.id, now)
        journal.append((forager.id, step.url, sum(each.amount for each in reinforcements)))
    return journal


def fleet(settings: ForagerSettings, seed: int = 1) -> tuple[ReinforcingAgent, Shared]:
    agent = ReinforcingAgent(ECONOMY, settings, seed)
    shared = Shared.fresh(replace(settings, states=replace(settings.states, dimension=4)))
    shared.states.put(np.arange(PAGES), VECTORS)
    agent.start(np.array([0, 10]), 0.0)
    return agent, shared


@pytest.mark.parametrize("kind", ForagerKind)
@pytest.mark.parametrize("base", [DEFAULT, PAPERISH], ids=["default", "paper"])
@pytest.mark.parametrize("steps", [0, 1, 7, 333])
def test_a_saved_fleet_makes_the_same_next_hundred_decisions(
    kind: ForagerKind, base: ForagerSettings, steps: int
) -> None:
    settings = replace(base, kind=kind)
    agent, shared = fleet(settings)
    walk(agent, shared, steps, 0.0)
    again = load_agent(save_agent(agent), ECONOMY, settings)
    shared_again = Shared.load(shared.save(), settings)
    expected = walk(agent, shared, 100, steps * 300.0)
    assert walk(again, shared_again, 100, steps * 300.0) == expected
    assert again.records == agent.records
    assert save_agent(again) == save_agent(agent)


def test_asking_the_statistics_changes_nothing() -> None:
    agent, shared = fleet(DEFAULT)
    walk(agent, shared, 200, 0.0)
    before, every = shared.save(), np.arange(PAGES)
    shared.visits.worth(every, 1e6)
    shared.visits.chance(every, 1e6)
    shared.visits.rate(every)
    shared.visits.returns(every)
    shared.visits.pick(every, 1e6, np.empty(0), 0.5)
    shared.states.of(every)
    assert shared.save() == before


def test_saved_statistics_foretell_the_same() -> None:
    agent, shared = fleet(DEFAULT)
    walk(agent, shared, 200, 0.0)
    again = PageTable.load(shared.visits.save(), ExpectationSettings())
    every = np.arange(PAGES)
    for one, other in zip(shared.visits.worth(every, 1e5), again.worth(every, 1e5), strict=True):
        assert (one == other).all()
    assert (again.hubs == shared.visits.hubs).all()


def test_asking_states_changes_nothing_and_saved_they_answer_alike() -> None:
    states = States(STATES).train(["rain and storm", "storm and rain", "goal and match", "match and goal"] * 3)
    saved = states.save()
    texts = ["storm", "the match", ""]
    assert (States.load(saved, STATES).of(texts) == states.of(texts)).all()
    assert states.save() == saved


def test_what_is_no_saved_thing_is_an_error_in_one_line() -> None:
    agent, _ = fleet(DEFAULT)
    forager = next(iter(agent.foragers.values()))
    for junk in (b"", b"\x00\xff junk", b"PK\x03\x04 half a file", save_forager(forager, KeyNumbers("story"))[:-9]):
        for load in (
            lambda saved: load_forager(saved, Flock(DEFAULT, 1), KeyNumbers("story")),
            lambda saved: load_agent(saved, ECONOMY, DEFAULT),
            lambda saved: Shared.load(saved, DEFAULT),
            lambda saved: PageTable.load(saved, ExpectationSettings()),
            StateMatrix.load,
            lambda saved: States.load(saved, STATES),
        ):
            with pytest.raises(InputError) as caught:
                load(junk)
            assert "\n" not in str(caught.value)
