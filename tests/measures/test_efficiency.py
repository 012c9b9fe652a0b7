import math

import numpy as np
import pytest

from forager.measures import Efficiency, series


def test_the_ratios_are_those_of_the_paper() -> None:
    run = Efficiency(downloaded=200, sent=40, relevant=30, found_urls=500)
    assert (run.download, run.submission, run.relative_found_url) == (0.15, 0.75, 2.5)
    assert run.requests_per_story == pytest.approx(200 / 30)


def test_nothing_divided_by_nothing_is_no_number() -> None:
    assert math.isnan(Efficiency(0, 0, 0, 0).download)
    assert math.isnan(Efficiency(5, 0, 0, 5).requests_per_story)


def test_a_series_has_the_ratio_of_each_window() -> None:
    hits = np.array([0.0, 9.0, 10.0, 35.0, 45.0])
    tries = np.array([0.0, 5.0, 9.0, 9.5, 10.0, 19.0, 30.0, 50.0])
    # windows of 10 from 0, the last one cut short at 35: 2 of 4, 1 of 2, 0 of 0, 0 of 1 (35 is past the end)
    beginnings, ratios = series(hits, tries, start=0.0, end=35.0, window=10.0)
    assert beginnings.tolist() == [0.0, 10.0, 20.0, 30.0]
    assert ratios == pytest.approx([0.5, 0.5, math.nan, 0.0], nan_ok=True)
