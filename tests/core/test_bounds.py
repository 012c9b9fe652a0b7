"""Glances that spare working out ranks: they are right up to their slack, and what is found by them is found without."""

import numpy as np
import pytest

from forager.core.best_pages import SLACK, at_a_glance, best, bounds_of
from forager.core.candidates import Candidates
from forager.core.expectation import due_at, look_ahead
from forager.core.exploration import Pace, Thrift
from forager.core.page_table import PageTable
from forager.core.refill import merged
from forager.terms import UrlId
from tests.watched import watched

HOUR = 3600.0
NOTHING = np.empty(0)


def glances(visits: PageTable, urls: np.ndarray, now: float) -> np.ndarray:
    """What each page is ordered by and its worth, at a glance."""
    mind = visits.mind()
    look_ahead(mind)
    return np.array([at_a_glance(mind, url, mind.outlook, now) for url in urls.tolist()])


@pytest.mark.parametrize("breadth", [0.5, 0.3])
def test_a_bound_of_a_list_is_never_below_what_it_bounds_and_mostly_close(breadth: float) -> None:
    visits = watched(1500, seed=5, documents=0.5, breadth=breadth)
    lists, mind = visits.hubs, visits.mind()
    look_ahead(mind)
    rng = np.random.default_rng(1)
    for name, most in (("gone", 30), ("stood_hours", 200), ("came", 30), ("seen_hours", 100), ("urgency", 1)):
        visits._table[name][lists] = rng.uniform(0, most, len(lists))
    for hours in (10.0, 11.0, 40.0, 400.0):
        now = hours * HOUR
        bounds = np.array([bounds_of(mind, mind.table[url], now) for url in lists.tolist()])
        rank, worth = visits.rank(lists, now), visits.worth(lists, now)[0]
        assert (rank * rank <= bounds[:, 0]).all() and (worth <= bounds[:, 1]).all()
        if breadth == 0.5 and hours < 12:
            assert np.median(np.sqrt(bounds[rank > 0, 0]) / rank[rank > 0]) < 2
        elif breadth != 0.5:
            assert (bounds == np.inf).all()


@pytest.mark.parametrize("breadth", [0.0, 0.12, 1.0])
def test_a_bound_of_a_text_is_never_below_what_it_bounds(breadth: float) -> None:
    visits = watched(1500, seed=5, documents=0.5, text_breadth=breadth)
    known = visits.met()
    texts = known[visits.visited(known) & ~np.isin(known, visits.hubs)]
    rng, mind = np.random.default_rng(1), visits.mind()
    look_ahead(mind)
    visits._table["hits"][texts] = rng.integers(0, 30, len(texts))
    visits._table["hours"][texts] = rng.uniform(0, 1000, len(texts))
    visits._table["hit_hours"][texts] = visits._table["hours"][texts] * rng.uniform(0, 1, len(texts))
    for hours in (10.0, 10.0001, 40.0, 400.0):
        now = hours * HOUR
        rank, worth = visits.rank(texts, now), visits.worth(texts, now)[0]
        bounds = np.array([bounds_of(mind, mind.table[url], now) for url in texts.tolist()])
        assert len(texts) > 500 and (rank * rank <= bounds[:, 0]).all() and (worth <= bounds[:, 1]).all()


def test_a_glance_is_right_up_to_its_slack_also_when_pages_were_visited_and_the_means_moved_since() -> None:
    visits = watched(1500, seed=5, documents=0.5)
    known = visits.met()
    rng = np.random.default_rng(1)
    for hours in (10.0, 11.0, 40.0, 400.0):
        now = hours * HOUR
        seen = glances(visits, known, now)
        for exact, column in ((visits.rank(known, now), 0), (visits.worth(known, now)[0], 1)):
            assert (seen[:, column] <= exact * SLACK).all() and (exact <= seen[:, column] * SLACK).all()
        visits._means[:2, 0] *= rng.uniform(0.99, 1.02, 2)  # the mean rates move a little
        for url in rng.choice(known, 50).tolist():
            visits.record(UrlId(url), now)


def test_a_glance_is_kept_while_the_means_stand_still() -> None:
    visits = watched(300, seed=5, documents=0.5)
    known = visits.met()
    glances(visits, known, 10 * HOUR)
    kept = visits.mind().glances.tobytes()
    glances(visits, known, 30 * HOUR)
    assert visits.mind().glances.tobytes() == kept != bytes(len(kept))


@pytest.mark.parametrize("luck", [0.0, 0.4, 0.999])
def test_what_is_picked_at_a_glance_is_what_is_picked_by_working_out_every_rank(luck: float) -> None:
    visits = watched(3000, seed=7, documents=0.5)
    rng = np.random.default_rng(9)
    for count in (1, 2, 30, 300):
        for hours in (10.0, 30.0, 500.0):
            urls, now = rng.choice(visits.met(), count, replace=False), hours * HOUR
            leaning = rng.uniform(0.5, 1.5, count)
            worth, fresh = visits.worth(urls, now)
            for factors in (NOTHING, leaning):
                index = best(visits.rank(urls, now) * (factors if len(factors) else 1.0), luck)
                expected = (index, worth[index], fresh[index], worth.max())
                assert visits.pick(urls, now, factors, luck) == expected


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("size", [30, 600])
def test_the_most_promising_of_many_are_those_that_sorting_finds(plain: bool, size: int) -> None:
    visits = watched(2000, seed=3, documents=0.5)
    known, now = visits.met(), 40 * HOUR
    keys = visits.worth(known, now)[0] if plain else visits.rank(known, now)
    assert len(known) > 2 * size and len(np.unique(keys)) < len(keys)  # there are ties
    best = known[np.lexsort((known, -keys))[:size]]
    assert visits.most_promising(known, now, NOTHING, size, plain=plain).tolist() == sorted(best.tolist())


def test_dated_backlog_and_pages_under_way_are_worked_out_too() -> None:
    visits = watched(2000, seed=3, documents=0.5)
    known, now = visits.met(), 40 * HOUR
    rng = np.random.default_rng(2)
    visits._table["latest"][rng.choice(known, len(known) // 2)] = rng.uniform(0, now, len(known) // 2)
    for page in rng.choice(known, 20).tolist():
        visits.going(UrlId(page), now - HOUR)
    keys = visits.rank(known, now)
    best = known[np.lexsort((known, -keys))[:300]]
    assert visits.most_promising(known, now, NOTHING, 300).tolist() == sorted(best.tolist())


def test_a_rest_lasts_until_the_first_list_is_worth_a_request() -> None:
    visits, thrift = watched(300, seed=5, documents=0.5), Thrift(0.3, 0.05, Pace(500, age=60.0), 86_400.0)
    visits._table["hits"][visits.hubs] += 1  # else they rest longer, because they brought nothing
    visits._table["came"][visits.hubs] = np.random.default_rng(1).uniform(0, 2000, len(visits.hubs))
    side = Candidates(
        visits, visits.mind, thrift, every=HOUR, last=lambda: visits.lasts(visits.size), revisit_after=900.0
    )
    side.pool_of().add(visits.hubs)
    mind, least = visits.mind(), thrift.least_worth
    look_ahead(mind)

    def due(url: int, first: float) -> float:
        return due_at(mind.table, mind.table[url], mind.outlook, mind.priors[0], least, first)

    exact = np.array([due(url, np.inf) for url in visits.hubs.tolist()])
    hurried = np.array([due(url, -np.inf) for url in visits.hubs.tolist()])
    assert (hurried <= exact).all() and (hurried < exact).any()
    now = exact.min() - 1000.0
    assert side.rest(now, 0, 1.0, 1e9) == exact.min() - now


def test_two_rising_columns_are_merged_each_number_once() -> None:
    assert merged(np.array([1, 4, 9]), np.array([2, 4, 11, 12])).tolist() == [1, 2, 4, 9, 11, 12]
    assert merged(np.array([3]), np.array([], dtype=np.int64)).tolist() == [3]
