"""The measures of a crawl, worked out by hand: delay and coverage, efficiency, freshness and age."""

import math

import numpy as np
import pytest

from forager.measures import Efficiency, age, delay, freshness

HOUR = 3600.0
NEVER = math.nan


def test_the_headline_figures_as_worked_out_by_hand() -> None:
    published = np.array([0.0, 1.0, 2.0, 3.0, 4.0]) * HOUR
    found = np.array([1.0, 4.0, NEVER, 2.5, 30.0]) * HOUR
    vanished = np.array([2.0, NEVER, 20.0, 9.0, 4.5]) * HOUR
    figures = delay(published, found, vanished=vanished)
    # delays 1 h, 3 h, never, 0 (found before its date), 26 h (too old: missed)
    assert (figures.stories, figures.found) == (5, 3)
    assert figures.coverage == pytest.approx(3 / 5)
    assert figures.median == pytest.approx(1 * HOUR)
    assert figures.p90 == pytest.approx(2.6 * HOUR)  # between 1 and 3 at .8 of the way
    assert figures.late == pytest.approx((1 + 3 + 24 + 0 + 24) / 5 * HOUR)
    # lasted 6 h: the second, which stayed, the third for 18 h, the fourth for exactly 6; of these two were found
    assert figures.lasting == pytest.approx(2 / 3)


def test_without_vanishing_times_every_story_lasted() -> None:
    figures = delay(np.array([0.0, 0.0]), np.array([60.0, NEVER]))
    assert figures.lasting == figures.coverage == 0.5


def test_nothing_found_and_nothing_there_are_told_apart() -> None:
    missed = delay(np.array([0.0]), np.array([NEVER]))
    assert (missed.coverage, missed.late) == (0.0, 86400.0)
    assert math.isnan(missed.median) and math.isnan(missed.p90)
    nothing = delay(np.empty(0), np.empty(0))
    assert nothing.stories == 0 and math.isnan(nothing.coverage) and math.isnan(nothing.late)


def test_the_ratios_are_those_of_the_paper() -> None:
    run = Efficiency(downloaded=200, sent=40, relevant=30, found_urls=500)
    assert (run.download, run.submission, run.relative_found_url) == (0.15, 0.75, 2.5)
    assert run.requests_per_story == pytest.approx(200 / 30)


def test_nothing_divided_by_nothing_is_no_number() -> None:
    assert math.isnan(Efficiency(0, 0, 0, 0).download)
    assert math.isnan(Efficiency(5, 0, 0, 5).requests_per_story)


OUTDATED = np.array([10.0, 40.0, np.inf, np.inf])
"""Two of four pages have changed after our copy, or will."""


def test_the_share_of_current_copies_and_their_mean_age() -> None:
    assert freshness(OUTDATED, 30.0) == 3 / 4
    assert age(OUTDATED, 30.0) == 20 / 4
    assert (freshness(OUTDATED, 50.0), age(OUTDATED, 50.0)) == (2 / 4, (40 + 10) / 4)


def test_without_copies_nothing_is_out_of_date() -> None:
    assert (freshness(np.empty(0), 1.0), age(np.empty(0), 1.0)) == (1.0, 0.0)
