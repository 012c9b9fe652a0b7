"""From trials to a judgement: the best with other luck, few changes, paired intervals, an honest verdict."""

import math
from pathlib import Path

import pytest

from forager.settings import Settings, changed_keys
from forager.simulation.replay_account import ReplayFigures
from forager.tuning.goals import GOALS, balance, goals_named
from forager.tuning.held_out import (
    choose_trial,
    judge_held_out,
    lucks_to,
    paired_interval,
)
from forager.tuning.space import Point
from forager.tuning.study import Trial
from tests.tuning.fake_split import figures, late, orders, replays

BASE = Settings()
LATE = (GOALS["late"],)
FOUND = {"crawl.least_worth": 0.5, "crawl.explore": 0.2, "forager.max_step": 40}
BY_LATENESS = replays(lambda settings: figures(late(settings)))


def trial(ticket: int, value: float, changes: Point, **more: object) -> Trial:
    return Trial(ticket, bool(more.get("pruned", False)), (value,), {}, changes, float(str(more.get("shortfall", 0.0))))


def test_the_interval_of_paired_differences() -> None:
    # differences 1, 2, 3: mean 2, s = 1, t(.975; 2) = 4.3027, 4.3027 / √3 = 2.4841
    difference = paired_interval([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert (difference.mean, difference.low) == (2.0, pytest.approx(-0.4841, abs=1e-4))
    assert difference.high == pytest.approx(4.4841, abs=1e-4)
    assert str(paired_interval([1.0, 1.0], [2.0, 2.0])) == "-1 [-1, -1]"
    assert math.isnan(paired_interval([1.0], [2.0]).low)
    assert math.isnan(paired_interval([math.nan], [2.0]).mean)


def test_the_luck_of_trials_choice_and_judgement_never_meets() -> None:
    lucks = [*lucks_to("trial", 1, 20), *lucks_to("check", 1, 20), *lucks_to("judge", 1, 20)]
    assert len(lucks) == len(set(lucks)) == 60


def test_gains_are_shares_of_the_old_value_and_the_least_counts() -> None:
    goals = goals_named(["late,coverage"])
    assert balance(goals, (0.5, 0.9), (1.0, 0.8)) == pytest.approx(0.125)  # late halved, coverage up by an eighth
    assert balance(goals, (0.5, 0.6), (1.0, 0.8)) == pytest.approx(-0.25)


def test_changes_that_make_no_difference_are_taken_back(tmp_path: Path) -> None:
    trials = [trial(0, 1.18, {}), trial(4, 1.0, FOUND), trial(5, 0.2, {"crawl.explore": 0.1}, pruned=True)]
    chosen = choose_trial(orders(tmp_path), trials, (1.18,), (7, 8, 9), replays=BY_LATENESS)
    assert chosen.changes == {"crawl.least_worth": 0.5}
    assert chosen.taken_back == ("crawl.explore", "forager.max_step")
    assert (chosen.trial, chosen.before, chosen.after) == (4, pytest.approx((1.18,)), pytest.approx((1.0,)))


def test_a_trial_that_was_only_lucky_is_not_chosen(tmp_path: Path) -> None:
    lucky, good = {"crawl.explore": 0.2}, {"crawl.least_worth": 0.6}
    trials = [trial(3, 0.1, lucky), trial(4, 1.02, good)]
    chosen = choose_trial(orders(tmp_path), trials, (1.18,), (7,), replays=BY_LATENESS)
    assert chosen.changes == good


def test_where_nothing_is_better_nothing_changes(tmp_path: Path) -> None:
    trials = [trial(1, 1.0, {"crawl.explore": 0.2}), trial(2, 0.5, {"crawl.least_worth": 0.5}, shortfall=0.2)]
    chosen = choose_trial(orders(tmp_path), trials, (1.18,), (7,), replays=BY_LATENESS)
    assert (chosen.changes, chosen.trial) == ({}, None)


@pytest.mark.parametrize(
    ("limit", "changes", "taken_back"),
    [
        (0, FOUND, ()),  # not even the settings as they were: the best as it came out
        (5, {}, ()),  # these, but no trial
        (6, FOUND, ()),  # trials, but nothing is taken back
        (99, {"crawl.least_worth": 0.5}, ("crawl.explore", "forager.max_step")),
    ],
)
def test_what_there_is_no_time_for_is_left_out(
    limit: int, changes: Point, taken_back: tuple[str, ...], tmp_path: Path
) -> None:
    played = replays(lambda settings: figures(late(settings)), limit)
    chosen = choose_trial(orders(tmp_path), [trial(4, 1.0, FOUND)], (1.18,), (7, 8, 9), replays=played)
    assert (chosen.changes, chosen.taken_back) == (changes, taken_back)


@pytest.mark.parametrize(("limit", "seeds"), [(3, 0), (4, 2), (5, 2), (6, 3)])
def test_only_seeds_with_which_both_were_replayed_are_judged_and_one_is_too_few(
    limit: int, seeds: int, tmp_path: Path
) -> None:
    part, new = orders(tmp_path).parts[0], changed_keys(BASE, {"crawl.explore": 0.2})
    judged = judge_held_out(part, LATE, BASE, new, (1, 2, 3), replays(lambda settings: figures(), limit))
    assert (len(judged.before.repeats) if judged else 0) == seeds
    if judged:
        assert all(one.job.settings == new for one in judged.after.repeats)
        assert [one.job.seed for one in judged.after.repeats] == [one.job.seed for one in judged.before.repeats]


@pytest.mark.parametrize(
    ("goals", "old", "new", "better"),
    [
        (("late",), figures(late=2.0), figures(late=1.0), True),
        (("late",), figures(late=1.0), figures(late=1.0), False),
        (("late",), figures(late=1.0), figures(late=2.0), False),
        (("requests",), figures(requests=4.0), figures(requests=3.0), True),
        (("requests",), figures(requests=4.0), figures(requests=3.0, coverage=0.9), False),  # by finding less
        (("late", "requests"), figures(2.0, 4.0), figures(1.0, 4.0), True),
        (("late", "requests"), figures(2.0, 4.0), figures(1.0, 5.0), False),
    ],
)
def test_better_means_something_gained_and_nothing_sought_lost(
    goals: tuple[str, ...], old: ReplayFigures, new: ReplayFigures, better: bool, tmp_path: Path
) -> None:
    other = changed_keys(BASE, {"crawl.explore": 0.2})
    part = orders(tmp_path).parts[0]
    played = replays(lambda settings: old if settings == BASE else new)
    judged = judge_held_out(part, goals_named(goals), BASE, other, (1, 2, 3), played)
    assert judged is not None
    assert judged.better is better
