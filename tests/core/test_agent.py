import numpy as np
import pytest

from forager.core.agent import Multiplied, ReinforcingAgent, Removal
from forager.core.findings import Reinforcement, Sighting
from forager.core.parameters import (
    ForagerKind,
    ForagerSettings,
    PopulationSettings,
    ReinforcingSettings,
    ScoreSettings,
    WeblogSettings,
)
from forager.core.shared import Shared
from forager.terms import NOBODY, ForagerId, UrlId
from tests.core.lone import next_turn

SEEDS = np.arange(4)


def give(agent: ReinforcingAgent, id: int, score: float) -> None:
    """From now on a forager has this score."""
    agent.flock.state.walkers["score"][agent.foragers[ForagerId(id)].slot] = score


def judged(agent: ReinforcingAgent, by: int, url: int) -> Reinforcement:
    """What the agent says to a document of somebody."""
    shared, sighting = Shared.fresh(ForagerSettings()), Sighting(UrlId(url), 10.0, version=url, published=0.0)
    (one,) = agent.judge(sighting, UrlId(-1), 10.0, shared, ForagerId(by))
    return one


def started(first: int = 2, scores: ScoreSettings | None = None, most: int = 16, seed: int = 1) -> ReinforcingAgent:
    population = PopulationSettings(first=first, most=most)
    agent = ReinforcingAgent(
        ReinforcingSettings(population=population, scores=scores or ScoreSettings(relative=False)),
        ForagerSettings(),
        seed,
    )
    agent.start(SEEDS, 0.0)
    return agent


def turns(agent: ReinforcingAgent, count: int) -> list[int]:
    return [next_turn(agent).id for _ in range(count)]


def test_the_first_foragers_know_the_seeds_and_differ_in_their_weights() -> None:
    one, other = started().foragers.values()
    assert one.weblog.start_list == other.weblog.start_list == [0, 1, 2, 3]
    assert (one.weights != other.weights)[:50].all()
    assert (np.abs(one.weights) <= 1).all() and not one.weights[50:].any()  # nothing is thought of addresses
    assert [record.score for record in started().records.values()] == [100.0, 100.0]


def test_more_seeds_than_a_weblog_holds_are_dealt_out() -> None:
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(weblog=WeblogSettings(size=3)), 1)
    one, other = agent.start(SEEDS, 0.0)
    assert (one.weblog.start_list, other.weblog.start_list) == ([0, 2], [1, 3])


def test_a_mixed_fleet_is_given_by_its_kinds_and_the_baseline_is_alone() -> None:
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(), 1)
    fleet = agent.start(SEEDS, 0.0, [ForagerKind.WLRL, ForagerKind.WL, ForagerKind.WL])
    assert [forager.kind for forager in fleet] == ["WLRL", "WL", "WL"]
    sweep = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(kind=ForagerKind.BFS), 1)
    assert len(sweep.start(SEEDS, 0.0)) == 1


def test_foragers_take_turns_and_a_child_comes_last() -> None:
    agent = started(first=3)
    assert turns(agent, 4) == [0, 1, 2, 0]
    give(agent, 0, 200.0)
    assert agent.manage(ForagerId(0), 5.0) == [Multiplied(0, 3, 5.0)]
    assert turns(agent, 5) == [1, 2, 3, 0, 1]


def test_a_child_born_at_the_end_of_a_round_has_the_next_turn() -> None:
    agent = started(first=2)
    assert turns(agent, 2) == [0, 1]
    give(agent, 1, 200.0)
    agent.manage(ForagerId(1), 5.0)
    assert turns(agent, 3) == [2, 0, 1]


def test_nobody_loses_a_turn_when_another_is_deleted() -> None:
    agent = started(first=4)
    assert turns(agent, 2) == [0, 1]
    give(agent, 1, -1.0)
    assert agent.manage(ForagerId(1), 5.0) == [Removal(1, 5.0, -1.0)]
    assert turns(agent, 4) == [2, 3, 0, 2]


def test_multiplication_resets_both_scores_and_halves_the_weblog() -> None:
    agent = started()
    give(agent, 0, 250.0)
    agent.manage(ForagerId(0), 5.0)
    child = agent.records[ForagerId(2)]
    assert (agent.records[ForagerId(0)].score, child.score) == (100.0, 100.0)
    assert (child.parent, child.born, child.deleted, child.sent) == (0, 5.0, None, 0)
    assert len(agent.foragers[ForagerId(2)].weblog) == 2 == len(agent.foragers[ForagerId(0)].weblog)


def test_relative_scores_replace_the_poorest_when_the_fleet_is_full() -> None:
    agent = started(first=3, most=3, scores=ScoreSettings(relative=True))
    for id, score in ((0, 20.0), (1, -3.0), (2, -1.0)):
        give(agent, id, score)
    assert agent.manage(ForagerId(0), 5.0) == [Removal(1, 5.0, -3.0), Multiplied(0, 3, 5.0)]
    assert list(agent.foragers) == [0, 2, 3]
    assert agent.records[ForagerId(1)].deleted == 5.0
    assert agent.records[ForagerId(0)].score == agent.records[ForagerId(3)].score == 0.0


def test_two_foragers_with_the_same_document_share_nothing() -> None:
    agent = started()
    first, second = judged(agent, 0, 7), judged(agent, 1, 7)
    assert (first.amount, second.amount) == (100.0, -1.0)
    assert [agent.records[ForagerId(id)].score for id in (0, 1)] == [pytest.approx(100.95), pytest.approx(99.95)]


def test_documents_of_the_recrawl_cycle_and_of_the_dead_are_judged_too() -> None:
    agent = started(first=3)
    give(agent, 1, -1.0)
    agent.manage(ForagerId(1), 5.0)
    nobody, dead, late = judged(agent, NOBODY, 7), judged(agent, 1, 8), judged(agent, 0, 7)
    assert nobody.relevant and dead.relevant and not late.relevant
    assert agent.records[ForagerId(1)].relevant == 0  # whoever is gone earns nothing any more
    assert repr(agent) == "<ReinforcingAgent 2 alive, 3 born, 1 deleted>"
