"""CG, NAD, SAD, AAD, GAD, the index and the HACS update rate, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from forager.recrawl import terminals as estimators
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update, likeliest_rates
from forager.recrawl.policies import Formula, Hacs, index_of, least_delay, named
from forager.recrawl.recrawl_settings import HacsSettings
from tests.recrawl.one_rate import likeliest_rate


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
        return float(Formula.of((name,)).scores(states)[0])

    assert value("cg") == pytest.approx(-math.log(2.5 / 4.5))  # n − X + .5 = 2.5, n + .5 = 4.5
    assert value("nad") == pytest.approx(1 - math.exp(-(2 / 4) * 3))
    assert value("sad") == pytest.approx(1 - math.exp(-1 * 3))
    assert value("aad") == pytest.approx(1 - math.exp(-((2 + 4) / (1 + 2 + 3 + 4)) * 3))
    assert value("gad") == pytest.approx(1 - math.exp(-((2 + 8) / (1 + 2 + 4 + 8)) * 3))
    assert value("lam") == pytest.approx(2.5 / 6)
    assert value("since") == 3


def test_a_page_without_changes_has_no_rate_but_a_little_hope_by_the_observed_rate(history: History) -> None:
    states = history.states(8.0)
    assert [float(Formula.of((name,)).scores(states)[1]) for name in ("nad", "sad", "aad", "gad", "cg")] == [
        0,
        0,
        0,
        0,
        0,
    ]
    assert float(Formula.of(("lam",)).scores(states)[1]) == pytest.approx(0.5 / 5)


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
    assert float(Formula.of(("docs",)).scores(history.states(2.0))[200]) == 2
    assert repr(history) == "<History 201 pages, 1 visited, 2 visits>"


def test_equal_intervals_have_a_closed_form() -> None:
    # m updates in intervals of length 1, q without: m/(e^λ − 1) = q, so λ = ln(1 + m/q).
    assert likeliest_rate([1.0] * 3, [1.0] * 2) == pytest.approx(math.log(2.5))
    assert likeliest_rate([2.0] * 3, [2.0] * 2) == pytest.approx(math.log(2.5) / 2)


def test_a_page_without_updates_has_rate_zero() -> None:
    assert likeliest_rate([], [1.0, 5.0]) == 0.0
    assert likeliest_rate([], []) == 0.0


def test_a_page_updated_in_every_interval_takes_the_formula_of_the_special_case() -> None:
    # n = X = 3 intervals over T = 6: r = −ln(0.5/3.5) = ln 7, λ = r · 3 / 6.
    assert likeliest_rate([1.0, 2.0, 3.0], []) == pytest.approx(math.log(7) / 2)


def test_many_pages_at_once_give_the_rates_of_each_alone() -> None:
    page = np.array([0, 0, 0, 1, 1, 3, 3, 3])
    length = np.array([1.0, 4.0, 2.0, 1.0, 1.0, 2.0, 2.5, 9.0])
    changed = np.array([True, False, True, True, True, True, True, False])
    rates = likeliest_rates(4, page, length, changed)
    assert rates[0] == pytest.approx(likeliest_rate([1.0, 2.0], [4.0]), rel=1e-9)
    assert rates[1] == pytest.approx(likeliest_rate([1.0, 1.0], []))
    assert rates[2] == 0.0
    assert rates[3] == pytest.approx(likeliest_rate([2.0, 2.5], [9.0]), rel=1e-9)


def visited(trail: Trail) -> History:
    """Visits at 0, 4, 6, 10; updates seen at 4 and 10."""
    history = History(trail=trail)
    for time, changed in ((0, False), (4, True), (6, False), (10, True)):
        history.note(0, time, changed)
    return history


def test_observed_updates_lie_at_the_visits_that_saw_them() -> None:
    states = visited(Trail(interpolated=False)).states(12.0)
    assert states.rate[0] == pytest.approx(likeliest_rate([4.0, 4.0], [2.0]))
    assert states.update[0] == 10


def test_interpolated_updates_lie_halfway_between_two_visits() -> None:
    # Points: 0, 2 (update), 6 (none), 8 (update); intervals 2 with, 4 without, 2 with an update.
    states = visited(Trail(interpolated=True)).states(12.0)
    assert states.rate[0] == pytest.approx(likeliest_rate([2.0, 2.0], [4.0]))
    assert states.update[0] == 8


def test_only_visits_within_the_window_count() -> None:
    history = visited(Trail(interpolated=False, window=5.0))
    assert history.states(11.0).rate[0] == pytest.approx(likeliest_rate([4.0], [2.0]))  # ended at 6 and 10
    assert history.states(15.0).rate[0] == pytest.approx(likeliest_rate([4.0], []))  # ended at 10
    assert history.states(16.0).rate[0] == 0.0


def test_the_chance_of_an_update_reaches_to_the_horizon() -> None:
    chance = chance_of_update(np.array([0.1]), np.array([8.0]), 12.0, 3.0)
    assert chance[0] == pytest.approx(1 - math.exp(-0.1 * 7))


def test_pages_below_the_threshold_are_not_visited() -> None:
    history = visited(Trail(interpolated=True))
    history.note(1, 11.0, False)
    scores = Hacs(HacsSettings(threshold=0.5)).scores(history.states(12.0))
    assert scores[0] > 0.5
    assert scores[1] == -math.inf


def test_rates_follow_new_visits() -> None:
    history = visited(Trail(interpolated=False))
    before = history.states(10.0).rate[0]
    history.note(0, 30.0, False)
    assert history.states(30.0).rate[0] == pytest.approx(likeliest_rate([4.0, 4.0], [2.0, 20.0]))
    assert history.states(30.0).rate[0] < before


def test_the_rates_of_some_pages_are_those_of_all_and_nothing_elsewhere() -> None:
    rng, trail = np.random.default_rng(4), Trail()
    history = History(trail=trail)
    for now in range(9):
        history.note_all(np.arange(30), float(now), rng.random(30) < 0.4)
    only = rng.random(30) < 0.3
    assert trail.rates(30, 9.0, only).tolist() == pytest.approx(np.where(only, trail.rates(30, 9.0), 0.0).tolist())
    assert trail.rates(30, 9.0, np.zeros(30, dtype=np.bool_)).tolist() == [0.0] * 30


def test_an_update_between_two_visits_of_the_same_moment_says_nothing() -> None:
    page, changed = np.array([0, 0, 0, 1, 1]), np.array([True, False, True, True, False])
    rates = likeliest_rates(2, page, np.array([2.0, 3.0, 0.0, 2.0, 3.0]), changed)
    assert rates[0] == pytest.approx(rates[1]) and rates[0] > 0
    assert likeliest_rates(1, np.zeros(1, np.int64), np.zeros(1), np.ones(1, np.bool_))[0] == 0
