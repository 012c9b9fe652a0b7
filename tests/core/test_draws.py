"""The random numbers of foragers."""

import numpy as np
from scipy import stats

from forager.core.agent import ReinforcingAgent
from forager.core.draws import draw, draw_normal, nth_number
from forager.core.parameters import ForagerSettings, ReinforcingSettings
from forager.kernel import interpreted

KEY = 2**61 + 7


def test_they_are_even_and_independent_within_a_forager_and_between_foragers() -> None:
    table = np.array([[nth_number(KEY, who, count) for count in range(200)] for who in range(200)])
    assert stats.kstest(table.ravel(), "uniform").pvalue > 0.001
    for one, other in ((table[:, :-1], table[:, 1:]), (table[:-1], table[1:])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.02
    assert len(np.unique(table)) == table.size


def test_they_are_the_same_in_plain_python() -> None:
    compiled = [nth_number(KEY, who, count) for who in (0, 1, 3600) for count in (1, 2, 10**6)]
    with interpreted():
        assert [nth_number(KEY, who, count) for who in (0, 1, 3600) for count in (1, 2, 10**6)] == compiled


def test_drawn_one_by_one_and_normally_distributed() -> None:
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(), seed=1)
    forager, _ = agent.start(np.array([0]), 0.0)
    fleet, first = agent.flock.state, int(agent.flock.state.walkers["drawn"][forager.slot])
    one, other = draw(fleet, forager.slot), draw(fleet, forager.slot)
    key = int(fleet.tally["key"][0])
    assert [one, other] == [nth_number(key, forager.id, first + 1), nth_number(key, forager.id, first + 2)]
    assert stats.kstest([draw_normal(fleet, forager.slot) for _ in range(5000)], "norm").pvalue > 0.001
