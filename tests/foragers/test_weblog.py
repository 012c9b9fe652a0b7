import numpy as np
import pytest

from forager.foragers.settings import WeblogSettings
from forager.foragers.weblog import Weblog

YES = [True] * 3


def test_a_finished_path_moves_known_entries_and_enters_new_ones() -> None:
    weblog = Weblog(WeblogSettings(start_size=2), [(1, 10.0), (2, 5.0)])
    # earned 1, 0, 100: reverse cumulated sums 101, 100, 100; page 2 was known: 5 + .3·(101 − 5) = 33.8
    shares = weblog.update([2, 3, 4], [1.0, 0.0, 100.0], YES)
    assert weblog.entries == [(3, 100.0), (4, 100.0), (2, pytest.approx(33.8)), (1, 10.0)]
    assert weblog.start_list == [3, 4]
    assert shares == [0.3, 1.0, 1.0]


def test_equal_entries_stay_in_the_order_in_which_they_came() -> None:
    weblog = Weblog(WeblogSettings(), [(7, 0.0), (3, 0.0), (5, 0.0)])
    weblog.update([9, 1], [0.0, 0.0], [True, True])
    assert [url for url, _ in weblog.entries] == [7, 3, 5, 9, 1]


def test_only_the_best_entries_are_kept() -> None:
    weblog = Weblog(WeblogSettings(size=2), [(1, 10.0), (2, 5.0)])
    weblog.update([3], [7.0], [True])
    assert weblog.entries == [(1, 10.0), (3, 7.0)]


def test_new_and_known_are_decided_before_anything_is_entered() -> None:
    # A page twice on a path is new both times: the later sum stands, 4, and is not mixed with the earlier one, 5.
    weblog = Weblog(WeblogSettings())
    weblog.update([1, 1], [1.0, 4.0], [True, True])
    assert weblog.entries == [(1, 4.0)]


def test_an_empty_path_teaches_nothing() -> None:
    weblog = Weblog(WeblogSettings(), [(1, 3.0)])
    assert weblog.update([], [], []) == []
    assert weblog.entries == [(1, 3.0)]


def test_pages_that_bring_no_news_again_are_no_entries_but_their_earnings_count() -> None:
    weblog = Weblog(WeblogSettings())
    weblog.update([1, 2], [0.0, 100.0], [True, False])  # the article 2 earned 100, the list 1 led to it
    assert weblog.entries == [(1, 100.0)]


def test_multiplication_gives_away_half_with_its_values_and_keeps_the_odd_one() -> None:
    entries = [(url, float(-url)) for url in range(5)]
    parent = Weblog(WeblogSettings(), entries)
    child = parent.split(np.random.default_rng(1))
    assert (len(parent), len(child)) == (3, 2)
    assert sorted(parent.entries + child.entries) == sorted(entries)


def test_late_earnings_reach_every_page_that_led_to_them() -> None:
    weblog = Weblog(WeblogSettings(), [(1, 10.0)])
    shares = weblog.update([1, 2, 3], [0.0, 0.0, 0.0], YES)  # 1: 10 − .3·10 = 7; 2 and 3 are new: 0
    weblog.top_up([1, 2], shares[:2], 100.0)  # earned by the second step: 7 + .3·100 = 37, 0 + 100, and 3 gets nothing
    assert weblog.entries == [(2, 100.0), (1, pytest.approx(37.0)), (3, 0.0)]


def test_late_earnings_give_the_same_values_as_timely_ones() -> None:
    late, timely = (Weblog(WeblogSettings(), [(1, 10.0), (4, 3.0)]) for _ in range(2))
    timely.update([1, 2, 3], [0.0, 50.0, 0.0], YES)
    shares = late.update([1, 2, 3], [0.0, 0.0, 0.0], YES)
    late.top_up([1, 2], shares[:2], 50.0)
    assert dict(late.entries) == pytest.approx(dict(timely.entries))
