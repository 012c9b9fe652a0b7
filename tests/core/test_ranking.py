"""The pages that promise most, found in one pass, and the list of known pages that is kept as they become known."""

import numpy as np
import pytest

from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.terms import UrlId
from tests.watched import watched

HOUR = 3600.0
NOTHING = np.empty(0)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("plain", [True, False])
def test_one_pass_finds_what_sorting_all_pages_finds_and_among_equals_the_lower_numbers(size: int, plain: bool) -> None:
    visits = watched(600, seed=size)
    known, now = visits.met(), 12 * HOUR
    leaning = 1 + np.random.default_rng(2).integers(0, 3, len(known)) / 2
    for factors in (NOTHING, leaning):
        keys = visits.worth(known, now)[0] if plain else visits.rank(known, now)
        keys = keys * (factors if len(factors) else 1.0)
        assert len(np.unique(keys)) < len(keys)  # there are ties
        best = known[np.lexsort((known, -keys))[:size]]
        assert visits.most_promising(known, now, factors, size, plain=plain).tolist() == sorted(best.tolist())


def test_of_fewer_pages_than_asked_for_all_are_most_promising() -> None:
    visits = watched(50, seed=1)
    assert visits.most_promising(np.array([3, 8]), HOUR, NOTHING, 5).tolist() == [3, 8]


def test_fresh_links_are_those_nobody_has_seen_that_just_appeared_and_are_worth_something() -> None:
    visits = watched(600, seed=3)
    urls = np.arange(600)
    worth, fresh = visits.worth(urls, 10 * HOUR)
    assert 0 < fresh.sum() < 600
    assert visits.fresh(urls, 10 * HOUR).tolist() == urls[fresh & (worth > 0)].tolist()


def test_a_page_is_known_once_it_was_asked_for_or_met_as_a_link_and_stays_in_the_list() -> None:
    visits = PageTable(ExpectationSettings())
    visits.record(UrlId(5), 0.0, links=np.array([9, 2]))  # 5 is visited before anybody meets it
    assert visits.met().tolist() == [2, 5, 9]
    visits.record(UrlId(2), 60.0, links=np.array([5, 9, 7]))
    visits.record(UrlId(8), 120.0, ok=False)  # a seed that cannot be had at the moment
    assert visits.met().tolist() == [2, 5, 7, 8, 9]
    assert PageTable.load(visits.save(), visits.settings).met().tolist() == [2, 5, 7, 8, 9]


def test_saved_and_loaded_the_same_pages_and_lists_are_known() -> None:
    visits = watched(600, seed=4)
    again = PageTable.load(visits.save(), visits.settings)
    assert again.met().tolist() == visits.met().tolist()
    assert again.hubs.tolist() == visits.hubs.tolist()
    table = visits._table
    assert visits.met().tolist() == np.flatnonzero((table["visits"] > 0) | (table["met"] > -np.inf)).tolist()
    for one in (visits, again):
        one.record(UrlId(5000), 1e6, hub=True, links=np.array([6000]))  # the columns grow with the table
        assert one.met()[-2:].tolist() == [5000, 6000]
        assert one.hubs[-1] == 5000
