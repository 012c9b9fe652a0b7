from dataclasses import replace

import numpy as np
import pytest

from forager.core.agent import ReinforcingAgent
from forager.core.births import poorest
from forager.core.judge import GOES, MULTIPLIES, REPLACES, STAYS, count_judged, fate_of
from forager.core.parameters import ForagerKind, ForagerSettings, PopulationSettings, ReinforcingSettings, ScoreSettings
from forager.terms import ForagerId

PAPER, RELATIVE = ScoreSettings(relative=False), ScoreSettings(relative_gain=20, beyond_chance=2, memory=10**9)
WL = ForagerKind.WL


def fleet(alive: int, scores: ScoreSettings = PAPER, kind: ForagerKind = WL, usual: int = 6) -> ReinforcingAgent:
    settings = ReinforcingSettings(scores=scores, population=PopulationSettings(usual=usual))
    agent = ReinforcingAgent(settings, replace(ForagerSettings(), kind=kind), seed=1)
    agent.start(np.array([0]), 0.0, [kind] * alive)
    return agent


def send(agent: ReinforcingAgent, id: int, *relevant: bool) -> None:
    for one in relevant:
        count_judged(agent.rules[0], agent.flock.state, agent.foragers[ForagerId(id)].slot, one)


def first_fate(agent: ReinforcingAgent) -> int:
    return fate_of(agent.rules[0], agent.flock.state, agent.flock.state.walkers[0])


def fate(score: float, alive: int, scores: ScoreSettings = PAPER, kind: ForagerKind = WL) -> int:
    agent = fleet(alive, scores, kind)
    agent.flock.state.walkers["score"][0] = score
    return first_fate(agent)


def test_every_document_costs_and_a_relevant_one_pays() -> None:
    agent = fleet(1)
    send(agent, 0, True, False)  # 100 − .05 + 1 − .05
    agent.worked(ForagerId(0), 30)
    one = agent.records[ForagerId(0)]
    assert one.score == pytest.approx(100.9)
    assert (one.sent, one.relevant, one.downloads) == (2, 1, 30)


def test_one_that_never_hits_dies_after_two_thousand_documents() -> None:
    agent = fleet(3)
    send(agent, 0, *[False] * 2000)
    assert agent.records[ForagerId(0)].score == pytest.approx(0.0, abs=1e-6)
    send(agent, 0, False)
    assert first_fate(agent) == GOES


def test_relative_scores_count_documents_above_the_mean_of_the_fleet() -> None:
    agent = fleet(2, RELATIVE, usual=2)
    assert agent.rules["first_score"][0] == 0.0
    agent.worked(ForagerId(0), 10)
    agent.worked(ForagerId(1), 30)
    send(agent, 0, *[True] * 8)
    send(agent, 1, *[True] * 2)  # the first has a quarter of the downloads: 8 − 10/4, the other 2 − 30/4
    assert [one.score for one in agent.records.values()] == [pytest.approx(5.5), pytest.approx(-5.5)]


@pytest.mark.parametrize(("alive", "score"), [(2, 4.0), (4, 0.0), (8, -8.0)])
def test_a_document_costs_the_more_the_more_foragers_there_are(alive: int, score: float) -> None:
    agent = fleet(alive, RELATIVE, usual=4)
    agent.worked(ForagerId(0), 10)
    send(agent, 0, *[True] * 8)  # 8 − 8·alive/4
    assert agent.records[ForagerId(0)].score == pytest.approx(score, abs=1e-6)


def test_the_latest_downloads_share_the_cost_of_a_document() -> None:
    agent = fleet(2, ScoreSettings(memory=2), usual=2)
    agent.worked(ForagerId(0), 4)
    send(agent, 0, True)  # all work was its own: 1 − 1; half of its downloads are left
    agent.worked(ForagerId(1), 2)
    send(agent, 1, True)  # each has 2: −.5 and 1 − .5
    assert [one.score for one in agent.records.values()] == [pytest.approx(-0.5), pytest.approx(0.5)]


def test_poor_times_are_no_fault_of_a_forager() -> None:
    agent = fleet(6, ScoreSettings(), usual=6)
    for id in range(6):
        agent.worked(ForagerId(id), 1000)
    assert [one.score for one in agent.records.values()] == [0.0] * 6


def test_a_relative_score_must_be_so_many_times_what_chance_gives() -> None:
    agent = fleet(3, RELATIVE)
    agent.worked(ForagerId(1), 1)
    send(agent, 1, True)  # one download, one document
    walkers = agent.flock.state.walkers
    walkers["expected"][0] = 400.0  # its root is 20
    for score, then in ((39.0, STAYS), (40.0, MULTIPLIES), (-40.0, STAYS), (-41.0, GOES)):
        walkers["score"][0] = score
        assert first_fate(agent) == then


def test_where_a_download_brings_many_documents_chance_gives_more() -> None:
    agent = fleet(3, RELATIVE)
    for documents in (9, 0, 3):  # by one download each: 12 documents, 90 squared, 7.5 at once
        agent.worked(ForagerId(1), 1)
        send(agent, 1, *[True] * documents)
    walkers = agent.flock.state.walkers
    walkers["expected"][0] = 480.0  # 480 · 7.5 = 60²
    for score, then in ((119.0, STAYS), (120.0, MULTIPLIES), (-120.0, STAYS), (-121.0, GOES)):
        walkers["score"][0] = score
        assert first_fate(agent) == then


@pytest.mark.parametrize(
    ("score", "alive", "expected"),
    [
        (200.0, 15, MULTIPLIES),
        (199.9, 15, STAYS),
        (200.0, 16, STAYS),  # full
        (0.0, 3, STAYS),
        (-0.1, 3, GOES),
        (-0.1, 2, STAYS),  # too few
    ],
)
def test_the_score_decides_who_multiplies_and_who_goes(score: float, alive: int, expected: int) -> None:
    assert fate(score, alive) == expected


def test_with_relative_scores_a_good_forager_replaces_the_poorest_of_a_full_fleet() -> None:
    assert fate(20.0, 15, RELATIVE) == MULTIPLIES
    assert fate(20.0, 16, RELATIVE) == REPLACES
    assert fate(-20.1, 16, RELATIVE) == GOES
    agent = fleet(4, RELATIVE)
    agent.flock.state.walkers["score"][:4] = 5.0, -9.0, -9.0, -12.0
    assert poorest(agent.flock.state, 3) == 1  # the oldest of the equals


def test_the_baseline_neither_multiplies_nor_goes() -> None:
    for score in (-1e6, 1e6):
        assert fate(score, 3, kind=ForagerKind.BFS) == STAYS
