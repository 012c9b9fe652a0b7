"""Bounds that spare working out ranks: they are never too low, and what is found by them is what is found without."""

import numpy as np
import pytest

from forager.foragers.expectation import outlook, pick
from forager.foragers.ranking import HEAP, at_most, backlog_bounds, best_pick
from tests.watched import watched

HOUR = 3600.0
NOTHING = np.empty(0)


@pytest.mark.parametrize("hours", [10.0, 11.0, 40.0, 400.0])
def test_no_page_is_ranked_above_its_bound_and_most_bounds_are_close(hours: float) -> None:
    visits = watched(3000, seed=5, documents=0.5)
    table, means, priors, _, _ = visits.columns
    urls, now = visits.met(), hours * HOUR
    foreseen = outlook(means, priors[0])
    backlog = backlog_bounds(foreseen)
    bounds = np.array([at_most(table[url], foreseen, backlog, priors[0], now) for url in urls.tolist()])
    ranks = visits.rank(urls, now)
    assert (ranks <= bounds).all()
    bounded = np.isfinite(bounds)
    assert bounded.mean() > 0.5
    assert np.median(bounds[bounded & (ranks > 0)] / ranks[bounded & (ranks > 0)]) < 2


@pytest.mark.parametrize("luck", [0.0, 0.4, 0.999])
def test_what_is_picked_by_bounds_is_what_is_picked_by_working_out_every_rank(luck: float) -> None:
    visits = watched(3000, seed=7, documents=0.5)
    table, means, priors, _, _ = visits.columns
    rng = np.random.default_rng(9)
    for count in (1, 2, 30, 300):
        for hours in (10.0, 30.0, 500.0):
            urls = rng.choice(visits.met(), count, replace=False)
            index, worth, _, _ = pick(table, urls, means, priors, hours * HOUR, NOTHING, luck)
            assert best_pick(table, urls, means, priors, hours * HOUR, luck) == (index, worth)


@pytest.mark.parametrize("plain", [True, False])
def test_many_pages_are_found_by_their_keys_as_few_are_by_a_heap(plain: bool) -> None:
    visits = watched(2000, seed=3, documents=0.5)
    known, now, size = visits.met(), 40 * HOUR, HEAP + 30
    keys = visits.worth(known, now)[0] if plain else visits.rank(known, now)
    assert len(known) > 2 * size and len(np.unique(keys)) < len(keys)  # there are ties
    best = known[np.lexsort((known, -keys))[:size]]
    assert visits.most_promising(known, now, NOTHING, size, plain=plain).tolist() == sorted(best.tolist())
