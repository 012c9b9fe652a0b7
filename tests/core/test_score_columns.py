"""Score functions in kernels: they rank pages as the readable functions do, lists and texts apart."""

import numpy as np
import pytest

from forager.core.refill import page_columns
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


def test_each_kind_of_pages_is_scored_by_its_function(replay: Replay) -> None:
    now, candidates, pages = replay.clock.time, replay.scheduler.candidates, replay.shared.visits
    candidates.use(ByKind(Formula.of(parse("t")), Formula.of(parse("0 - t"))))
    candidates.rank(now)
    pool = candidates.pools[0].all
    number = candidates.choices(candidates.pools[0]).number
    seen = pool[pages.history.visited(pool)]
    assert np.isnan(number[np.setdiff1d(pool, seen)]).all()
    for lists in (True, False):
        own = seen[(pages.about(seen).hub > 0) == lists]
        assert len(own) > 3
        t = pages.history.states(now, own).t * (1 if lists else -1)
        assert len(np.unique(t)) > 3
        assert number[own] == pytest.approx(t, rel=1e-9)
    candidates.use(ByKind(Formula.of(parse("t"))))
    candidates.rank(now)
    texts = seen[pages.about(seen).hub == 0]
    assert np.isnan(number[texts]).all()  # the hand-made rule decides
