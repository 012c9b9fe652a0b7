"""Score functions in kernels: they rank pages as the readable functions do, lists and texts apart."""

import numpy as np
import pytest

from forager.core.choice import Pool
from forager.core.expectation import ranks, worths
from forager.core.page_scores import page_columns
from forager.gp.machine import CLOCKLESS, LAST, evaluate, program
from forager.recrawl.formula import parse
from forager.recrawl.policies import ByKind, Formula
from forager.simulation.replay import Replay
from tests.simulation.test_patrol import run, site

FORMULAS = [
    "rate * busy",
    "wlate",
    "(rate * busy * wlate) ^ 0.5 * (0.1 + elsewhere) ^ (0 - 0.3)",
    "haz + len + docs",
    "lam * T + since + inlinks",
    "gad * t + hour",
]


@pytest.fixture(scope="module")
def replay() -> Replay:
    return run(site(4000), 120.0, 2, days=1.0)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_function_is_worth_the_same_in_kernels(replay: Replay, formula: str) -> None:
    pages, now = replay.shared.visits, replay.clock.time + 1234.0
    seen = np.flatnonzero(pages.history.visited(np.arange(pages.size)))
    assert len(seen) > 50
    steps, scores = program(parse(formula), 3600.0), np.empty(len(seen))
    columns = page_columns(replay.shared.mind(), seen, now, steps.cycle)
    code, left, right, number, cycle = steps
    evaluate(code, left, right, number, len(seen), now / cycle, 1.0, CLOCKLESS, columns, columns[LAST], scores)
    readable = Formula.of(parse(formula), (), 3600.0).scores(pages.history.states(now, seen))
    assert scores == pytest.approx(readable, rel=1e-6)
    assert len(np.unique(scores)) > 10


def test_a_choice_scores_each_kind_of_pages_by_its_function_as_of_now(replay: Replay) -> None:
    candidates, pages = replay.scheduler.candidates, replay.shared.visits
    candidates.thrift.explored = 1e6  # nothing is explored now
    ranked = replay.clock.time + 2 * candidates.turn.every
    now = ranked + candidates.turn.every / 2  # no new ranking is due
    seen = np.flatnonzero(pages.history.visited(np.arange(pages.size)))
    seen = seen[pages.about(seen).hub > 0]
    waited = {moment: pages.history.states(moment, seen).t for moment in (ranked, now)}
    between = np.quantile(waited[now], 0.41)
    candidates.use(ByKind(Formula.of(parse(f"0 - (t - {between}) ^ 2"))))
    candidates.rank(ranked)
    candidates.pools[0] = Pool(seen)  # without other pages, which may come first
    worth = worths(candidates.mind(), seen, now)[0]
    pool = worth >= candidates.thrift.least_worth
    first = {moment: seen[pool][np.abs(waited[moment][pool] - between).argmin()] for moment in waited}
    assert first[ranked] != first[now]
    assert candidates.choose(now, 0.5) == (first[now], pytest.approx(worth[seen == first[now]][0]))
    candidates.use(ByKind(None, Formula.of(parse("t"))))
    candidates.rank(ranked)
    candidates.pools[0] = Pool(seen)
    best = seen[pool][ranks(candidates.mind(), seen[pool], now).argmax()]
    assert candidates.choose(now, 0.5) == (best, pytest.approx(worth[seen == best][0]))  # the hand-made rule decides
