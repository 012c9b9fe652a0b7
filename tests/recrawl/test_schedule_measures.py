"""ChangeRate, NDCG, freshness and age on examples small enough to do by hand."""

import math

import numpy as np
import pytest

from forager.measures import age, change_rate, discounts, freshness, ndcg


def test_the_change_rate_is_the_share_of_downloads_that_had_changed() -> None:
    assert change_rate(np.array([True, False, True, True])) == 0.75
    assert change_rate(np.array([], dtype=bool)) == 0.0


def test_ranks_below_the_log_base_are_not_discounted() -> None:
    assert discounts(4).tolist() == pytest.approx([1, 1, 1 / math.log(3), 1 / math.log(4)])


def test_ndcg_compares_with_the_ideal_over_all_pages() -> None:
    hits = np.array([True, False, True])
    gain, ideal = 1 + 1 / math.log(3), 2 + 1 / math.log(3)
    assert ndcg(hits, relevant_in_all=10) == pytest.approx(gain / ideal)
    assert ndcg(hits, relevant_in_all=2) == pytest.approx(gain / 2)  # two ones first: 1 + 1
    assert ndcg(np.array([False, False]), relevant_in_all=0) == 0.0


def test_freshness_and_age_follow_from_when_copies_went_out_of_date() -> None:
    outdated_at = np.array([3.0, 7.0, np.inf, 8.0])
    assert freshness(outdated_at, 7.0) == 0.5  # outdated: since 3 and since 7
    assert age(outdated_at, 7.0) == pytest.approx((4 + 0 + 0 + 0) / 4)
    assert freshness(np.array([]), 1.0) == 1.0
