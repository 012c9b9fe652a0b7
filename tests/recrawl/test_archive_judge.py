"""The evaluation of HACS on a log small enough to follow by hand."""

import math

import numpy as np
import pytest

from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import _model, judge_window, quality, weighted_precision


def test_precision_recall_and_f1_by_hand() -> None:
    found = quality(predicted=4, right=3, relevant=6)
    assert (found.precision, found.recall) == (0.75, 0.5)
    assert found.f1 == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert quality(0, 0, 5).f1 == 0.0


def test_weighted_precision_weighs_the_top_most() -> None:
    # P@1 = 1, P@2 = 1/2 with weights 1 and 1/log2(3).
    weight = 1 / math.log2(3)
    assert weighted_precision(np.array([True, False])) == pytest.approx((1 + weight / 2) / (1 + weight))
    assert weighted_precision(np.array([False, True])) < weighted_precision(np.array([True, False]))


def test_pages_that_always_change_are_foretold_and_quiet_ones_are_not() -> None:
    changed = np.zeros((4, 12), dtype=bool)
    changed[0, 1:] = True
    judged = judge_window(ChangeLog(changed), window=2, horizon=1, thresholds=(0.5,))
    assert judged.micro[0].precision == judged.micro[0].recall == judged.macro[0].f1 == 1.0
    assert judged.brute.precision == 0.25
    assert judged.weighted_precision > judged.weighted_precision_last_seen


def test_pages_with_the_same_captures_are_foretold_together_and_as_if_alone() -> None:
    rng = np.random.default_rng(3)
    log = ChangeLog(rng.random((60, 80)) < rng.random((60, 1)))
    for window in (3, 70):  # more than fit into a word of 64 bits
        rate, update = _model(log, 75, window)
        alone = [_model(log.part(np.array([page])), 75, window) for page in range(60)]
        assert rate.tolist() == pytest.approx([one[0] for one, _ in alone])
        assert update.tolist() == [one[0] for _, one in alone]


def test_without_enough_cycles_nothing_is_judged() -> None:
    judged = judge_window(ChangeLog(np.zeros((3, 2), dtype=bool)), window=5)
    assert judged.micro[0].f1 == 0.0
    assert judged.weighted_precision == 0.0
