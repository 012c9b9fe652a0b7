"""CG, NAD, SAD, AAD, GAD and the index, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from forager.recrawl import terminals as estimators
from forager.recrawl.history import History
from forager.recrawl.policies import index_of, least_delay, named
from forager.recrawl.terminals import TERMINALS


@pytest.fixture
def history() -> History:
    """One page visited in cycles 0, 1, 2, 5 with I = 0, 1, 0, 1; the last visit of the second page found nothing."""
    history = History(2)
    for cycle, changed in ((0, False), (1, True), (2, False), (5, True)):
        history.note(0, cycle, changed)
    history.note(1, 0, True)  # a first visit can detect nothing
    history.note(1, 4, False)
    return history


def test_a_history_keeps_the_figures_of_the_papers(history: History) -> None:
    states = history.states(8.0)
    assert states.n.tolist() == [4, 2]
    assert states.X.tolist() == [2, 0]
    assert states.t.tolist() == [3, 4]
    assert states.T.tolist() == [5, 4]
    assert states.recent.tolist() == [1, 0]
    assert states.ranked.tolist() == [2 + 4, 0]  # visits 2 and 4 found a change
    assert states.last_change.tolist() == [5, 0]


def test_the_estimators_give_what_the_definitions_give_by_hand(history: History) -> None:
    states = history.states(8.0)

    def value(name: str) -> float:
        return float(TERMINALS[name](states)[0])

    assert value("cg") == pytest.approx(-math.log(2.5 / 4.5))  # n − X + .5 = 2.5, n + .5 = 4.5
    assert value("nad") == pytest.approx(1 - math.exp(-(2 / 4) * 3))
    assert value("sad") == pytest.approx(1 - math.exp(-1 * 3))
    assert value("aad") == pytest.approx(1 - math.exp(-((2 + 4) / (1 + 2 + 3 + 4)) * 3))
    assert value("gad") == pytest.approx(1 - math.exp(-((2 + 8) / (1 + 2 + 4 + 8)) * 3))
    assert value("lam") == pytest.approx(2.5 / 6)
    assert value("since") == 3


def test_a_page_without_changes_has_no_rate_but_a_little_hope_by_the_observed_rate(history: History) -> None:
    states = history.states(8.0)
    assert [float(TERMINALS[name](states)[1]) for name in ("nad", "sad", "aad", "gad", "cg")] == [0, 0, 0, 0, 0]
    assert float(TERMINALS["lam"](states)[1]) == pytest.approx(0.5 / 5)


def test_the_index_of_azar_and_its_rate_weighted_form() -> None:
    rate, t = np.array([0.5]), np.array([2.0])  # λt = 1
    gain = 1 - 2 / math.e
    assert estimators.index_gain(rate, t)[0] == pytest.approx(gain)
    history = History(1)
    history.note(0, 0, False)
    history.note(0, 3, True)  # λ = (1 + 1)/(3 + 1) = .5 with prior 1
    states = history.states(5.0)
    assert index_of(states, 0.0, prior=1.0)[0] == pytest.approx(gain / 0.5)
    assert index_of(states, 1.0, prior=1.0)[0] == pytest.approx(gain)
    assert index_of(states, 0.5, prior=1.0)[0] == pytest.approx(gain / math.sqrt(0.5))
    assert least_delay(states, prior=1.0)[0] == pytest.approx(2 * 2 * 0.5)


def test_rules_for_news_count_every_document_and_the_rule_for_fresh_copies_counts_changes() -> None:
    history = History(2)
    both, none = np.array([0, 1]), np.array([False, False])
    history.note_all(both, 0.0, none)
    history.note_all(both, 3.0, ~none, np.array([7, 1]))  # λ = (7 + 1)/(3 + 1) and (1 + 1)/(3 + 1) with prior 1
    states = history.states(5.0)
    assert least_delay(states, prior=1.0).tolist() == pytest.approx([4 * 2.0, 4 * 0.5])
    assert index_of(states, 1.0, prior=1.0).tolist() == pytest.approx([1 - 5 * math.exp(-4), 1 - 2 / math.e])
    fresh = index_of(states, 0.0, prior=1.0)
    assert fresh[0] == fresh[1]


def test_the_adaptive_rule_shortens_after_a_change_and_lengthens_otherwise_within_bounds() -> None:
    history = History(1)
    history.note(0, 0, False)
    assert history.states(0).interval[0] == 10
    history.note(0, 1, True)
    assert history.states(1).interval[0] == pytest.approx(8)  # 10 · (1 − 0.2)
    history.note(0, 2, False)
    assert history.states(2).interval[0] == pytest.approx(11.2)  # 8 · (1 + 0.4)
    assert named("adaptive", np.random.default_rng(0)).scores(history.states(5.0))[0] == pytest.approx(3 - 11.2)
    for cycle in range(3, 60):
        history.note(0, cycle, True)
    assert history.states(60).interval[0] == 1
    for cycle in range(60, 120):
        history.note(0, cycle, False)
    assert history.states(120).interval[0] == 365


def test_times_in_seconds_are_counted_in_cycles() -> None:
    history = History(cycle=900.0)
    history.note(0, 1_000_000.0, False)
    history.note(0, 1_000_900.0, True)
    states = history.states(1_002_700.0)
    assert states.t[0] == pytest.approx(2)
    assert states.T[0] == pytest.approx(1)
    assert states.day == 96  # quarters of an hour in a day


def test_a_history_grows_and_tells_its_size() -> None:
    history = History()
    history.note(200, 1.0, False, documents=3)
    history.note(200, 2.0, True, documents=1)
    assert len(history) == 201
    assert history.states(2.0).documents[200] == 4
    assert float(TERMINALS["docs"](history.states(2.0))[200]) == 2
    assert repr(history) == "<History 201 pages, 1 visited, 2 visits>"
