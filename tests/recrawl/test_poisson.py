"""The HACS update rate by maximum likelihood, and the scheduler on top of it."""

import math

import numpy as np
import pytest

from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update, likeliest_rates
from forager.recrawl.policies import Hacs
from forager.recrawl.recrawl_settings import HacsSettings
from tests.recrawl.one_rate import likeliest_rate


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
