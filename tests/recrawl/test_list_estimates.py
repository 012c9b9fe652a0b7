"""The estimates of lists and texts, against figures worked out by hand and by plain sums."""

import math

import numpy as np
import pytest

from forager.recrawl.list_estimates import (
    add_departures,
    add_watched,
    elsewhere_of,
    hazard_everywhere,
    hazard_of,
    rate_of_list,
    rate_of_text,
    share_left,
    urgency_of,
    waiting,
)
from forager.recrawl.poisson import likeliest_rates


def test_documents_that_left_were_watched_for_half_the_time() -> None:
    gone, time = add_departures(0.0, 0.0, 2.0, 3.0, 4.0)
    assert (gone, time) == (2.0, 16.0)
    assert hazard_of(gone, time, 0.1) == pytest.approx((2 + 1.2) / (16 + 12))
    assert add_departures(2.0, 16.0, 0.0, 0.0, 336.0) == pytest.approx((2 / math.e, 16 / math.e))


def test_a_list_that_nothing_leaves_has_a_small_hazard() -> None:
    assert hazard_of(0.0, 1e6, 0.05) == 1e-3
    assert hazard_everywhere(0.0, 0.0) == pytest.approx(1 / 24)


def test_the_share_left_is_the_mean_of_the_survival() -> None:
    ages = (np.arange(100_000) + 0.5) / 100_000 * 8.0
    assert share_left(8.0, 0.25) == pytest.approx(np.exp(-0.25 * ages).mean(), rel=1e-6)
    assert share_left(1e-3, 0.9) == pytest.approx((1 - math.exp(-9e-4)) / 9e-4, rel=1e-9)
    assert share_left(0.0, 0.5) == 1.0


def test_the_rate_counts_documents_that_came_and_went() -> None:
    """Four documents an hour appear, each stays for two hours in the mean; visits are eight hours apart."""
    brought, watched = 0.0, 0.0
    for _ in range(2000):
        brought = brought * math.exp(-8 / 168) + 4.0 * (1 - math.exp(-4.0)) / 0.5
        watched = add_watched(watched, 8.0, 8.0, 0.5)
    assert rate_of_list(brought, watched, 0.5, 1.0) == pytest.approx(4.0, rel=0.1)
    assert rate_of_list(brought, watched, 0.0, 0.0) == pytest.approx(4.0, rel=1e-9)


@pytest.mark.parametrize(("hours", "hazard"), [(0.01, 0.002), (0.5, 1.9e-3), (3.0, 0.05), (24.0, 0.3), (60.0, 0.05)])
def test_waiting_is_the_delay_saved(hours: float, hazard: float) -> None:
    """A document of age s that still stands there, e^(−μs), counts s, and μ·s·(24 − s) for the risk of losing it."""
    ages = (np.arange(200_000) + 0.5) / 200_000 * min(hours, 24.0)
    here = np.exp(-hazard * ages)
    saved = (ages * here * (1 + hazard * 24.0) - hazard * ages * ages * here).mean() * min(hours, 24.0)
    assert waiting(hours, hazard, 24.0) == pytest.approx(saved / 24.0 / hours, rel=1e-4)


def test_waiting_begins_with_nothing_and_rises() -> None:
    assert waiting(0.0, 0.1, 24.0) == 0.0
    values = [waiting(hours, 0.05, 24.0) for hours in (0.001, 0.01, 0.019, 0.021, 0.1, 1.0, 5.0, 24.0)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(0.348, abs=0.002)


def test_elsewhere_is_a_mean_number_of_lists() -> None:
    assert elsewhere_of(0.0, 0.0) == 0.0
    assert elsewhere_of(10.0, 17.0) == 0.5


def test_the_rate_of_a_text_is_the_likeliest() -> None:
    """Intervals of three hours, 12 with news and 5 without, and two longer ones without."""
    lengths = np.array([3.0] * 17 + [7.0, 9.5])
    changed = np.arange(19) < 12
    likeliest = likeliest_rates(1, np.zeros(19, dtype=np.int64), lengths, changed)[0]
    assert rate_of_text(12.0, 36.0, 31.5, 0.0, 0.0) == pytest.approx(likeliest, rel=1e-9)


def test_the_rate_of_a_text_begins_with_the_prior() -> None:
    assert rate_of_text(0.0, 0.0, 0.0, 0.3, 30.0) == pytest.approx(0.01)
    assert rate_of_text(0.0, 0.0, 70.0, 0.3, 30.0) == pytest.approx(0.003)
    assert rate_of_text(1.0, 1e-4, 10.0, 0.0, 0.0) == pytest.approx(0.1, rel=1e-4)


def test_documents_found_elsewhere_make_a_list_less_urgent() -> None:
    assert urgency_of(0.0, 100.0) == 1.0
    assert urgency_of(97.0, 94.0) == pytest.approx((0.1 / 1.1) ** 0.3)
