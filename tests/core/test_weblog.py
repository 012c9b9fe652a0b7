import numpy as np
import pytest

from forager.core.parameters import WeblogSettings
from forager.core.weblog import Weblog, learned

YES = [True] * 3


def update(weblog: Weblog, path: list[int], earned: list[float], may: list[bool]) -> Weblog:
    """The weblog after a path, with its earnings and which of its pages may be entries."""
    columns = np.array(path, np.int64), np.array(earned, np.float64), np.array(may, np.bool_)
    urls, values = learned(weblog.urls, weblog.values, *columns, weblog.settings.step)
    return Weblog(weblog.settings, zip(urls.tolist(), values.tolist(), strict=True))


def test_a_finished_path_moves_known_entries_and_enters_new_ones() -> None:
    weblog = Weblog(WeblogSettings(start_size=2), [(1, 10.0), (2, 5.0)])
    # earned 1, 0, 100: reverse cumulated sums 101, 100, 100; page 2 was known: 5 + .3·(101 − 5) = 33.8
    weblog = update(weblog, [2, 3, 4], [1.0, 0.0, 100.0], YES)
    assert weblog.entries == [(3, 100.0), (4, 100.0), (2, pytest.approx(33.8)), (1, 10.0)]
    assert weblog.start_list == [3, 4]


def test_equal_entries_stay_in_the_order_in_which_they_came() -> None:
    weblog = Weblog(WeblogSettings(), [(7, 0.0), (3, 0.0), (5, 0.0)])
    weblog = update(weblog, [9, 1], [0.0, 0.0], [True, True])
    assert [url for url, _ in weblog.entries] == [7, 3, 5, 9, 1]


def test_only_the_best_entries_are_kept() -> None:
    weblog = Weblog(WeblogSettings(size=2), [(1, 10.0), (2, 5.0)])
    weblog = update(weblog, [3], [7.0], [True])
    assert weblog.entries == [(1, 10.0), (3, 7.0)]


def test_new_and_known_are_decided_before_anything_is_entered() -> None:
    # A page twice on a path is new both times: the later sum stands, 4, and is not mixed with the earlier one, 5.
    weblog = Weblog(WeblogSettings())
    weblog = update(weblog, [1, 1], [1.0, 4.0], [True, True])
    assert weblog.entries == [(1, 4.0)]


def test_an_empty_path_teaches_nothing() -> None:
    weblog = Weblog(WeblogSettings(), [(1, 3.0)])
    assert update(weblog, [], [], []).entries == [(1, 3.0)]


def test_pages_that_bring_no_news_again_are_no_entries_but_their_earnings_count() -> None:
    weblog = Weblog(WeblogSettings())
    weblog = update(weblog, [1, 2], [0.0, 100.0], [True, False])  # the article 2 earned 100, the list 1 led to it
    assert weblog.entries == [(1, 100.0)]
