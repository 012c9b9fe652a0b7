"""Freshness and age of copies."""

import numpy as np

from forager.measures import age, freshness

OUTDATED = np.array([10.0, 40.0, np.inf, np.inf])
"""Two of four pages have changed after our copy, or will."""


def test_the_share_of_current_copies_and_their_mean_age() -> None:
    assert freshness(OUTDATED, 30.0) == 3 / 4
    assert age(OUTDATED, 30.0) == 20 / 4
    assert (freshness(OUTDATED, 50.0), age(OUTDATED, 50.0)) == (2 / 4, (40 + 10) / 4)


def test_without_copies_nothing_is_out_of_date() -> None:
    assert (freshness(np.empty(0), 1.0), age(np.empty(0), 1.0)) == (1.0, 0.0)
