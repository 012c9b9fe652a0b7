"""Recrawl: running sums against brute force, groups against pages, primitives finite, formulas printed and read."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forager.gp.evolve import canonical_tree, cross, ramped, replace_part, swap_parts
from forager.gp.fitness import PagewiseSimulation
from forager.gp.gp_settings import GPSettings
from forager.gp.grouped import GroupedSimulation, reads_states_only
from forager.gp.trees import ARITY, CONSTANTS, Tree, depth, terminals_of
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.history import History
from forager.recrawl.poisson import likeliest_rates
from forager.recrawl.policies import Formula
from forager.recrawl.terminals import EXTENDED, PageStates
from tests.recrawl.one_rate import likeliest_rate

leaves = st.one_of(st.sampled_from([(name,) for name in EXTENDED]), st.sampled_from([(value,) for value in CONSTANTS]))


def _nodes(below: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    unary = st.tuples(st.sampled_from(["exp", "log"]), below).map(lambda parts: (parts[0], *parts[1]))
    binary = st.tuples(st.sampled_from(sorted(ARITY.keys() - {"exp", "log"})), below, below).map(
        lambda p: (p[0], *p[1], *p[2])
    )
    return unary | binary


trees: st.SearchStrategy[Tree] = st.recursive(leaves, _nodes, max_leaves=12)
visits = st.lists(st.tuples(st.floats(0.01, 50.0), st.booleans()), min_size=1, max_size=40)


@settings(deadline=None)
@given(visits)
def test_running_sums_equal_the_definitions_over_the_whole_history(steps: list[tuple[float, bool]]) -> None:
    history, now, flags = History(), 0.0, []
    for gap, changed in steps:
        now += gap
        history.note(0, now, changed)
        flags.append(changed and bool(flags))
    states = history.states(now + 1.0)
    n, t = len(flags), 1.0
    weights = {
        "nad": [1 / n] * n,
        "sad": [0.0] * (n - 1) + [1.0],
        "aad": [i / (n * (n + 1) / 2) for i in range(1, n + 1)],
        "gad": [2.0 ** (i - 1) / (2.0**n - 1) for i in range(1, n + 1)],
    }
    for name, weight in weights.items():
        rate = sum(w * flag for w, flag in zip(weight, flags, strict=True))
        assert Formula.of((name,)).scores(states)[0] == pytest.approx(1 - math.exp(-rate * t), abs=1e-9)


intervals = st.lists(st.floats(0.01, 100.0), max_size=15)


@settings(deadline=None)
@given(st.lists(st.tuples(intervals, intervals), min_size=1, max_size=6))
def test_newton_for_many_pages_finds_the_roots_that_brent_finds(pages: list[tuple[list[float], list[float]]]) -> None:
    page, length, changed = [], [], []
    for number, (busy, quiet) in enumerate(pages):
        page += [number] * (len(busy) + len(quiet))
        length += busy + quiet
        changed += [True] * len(busy) + [False] * len(quiet)
    rates = likeliest_rates(len(pages), np.array(page, dtype=np.int64), np.array(length), np.array(changed, dtype=bool))
    for rate, (busy, quiet) in zip(rates, pages, strict=True):
        assert rate == pytest.approx(likeliest_rate(busy, quiet), rel=1e-7)


@settings(deadline=None)
@given(
    st.lists(st.floats(0.05, 20.0), min_size=1, max_size=10), st.lists(st.floats(0.05, 20.0), min_size=1, max_size=10)
)
def test_no_other_rate_is_likelier(changed: list[float], unchanged: list[float]) -> None:
    def log_likelihood(rate: float) -> float:
        return sum(math.log(-math.expm1(-rate * length)) for length in changed) - rate * sum(unchanged)

    best = likeliest_rate(changed, unchanged)
    assert all(
        log_likelihood(best) >= log_likelihood(best * factor) - 1e-9 for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)
    )


numbers = st.floats(-1e150, 1e150)


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_every_primitive_is_finite(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    states = PageStates(now=0.0, last=np.zeros(len(a)), n=a, X=b)
    for symbol, arity in ARITY.items():
        assert np.isfinite(Formula.of((symbol, "n", "X")[: arity + 1]).scores(states)).all()


@st.composite
def rows(draw: st.DrawFn) -> PageStates:
    """States of pages that can really occur."""
    seed, count = draw(st.integers(0, 2**32)), draw(st.integers(1, 12))
    rng = np.random.default_rng(seed)
    history = History(count)
    for cycle in range(int(rng.integers(1, 12))):
        pages = np.arange(count) if cycle == 0 else np.flatnonzero(rng.random(count) < 0.5)
        history.note_all(pages, float(cycle), rng.random(len(pages)) < 0.5)
    return history.states(15.0)


@settings(deadline=None)
@given(trees, rows())
def test_every_tree_has_finite_scores_and_its_canonical_form_has_the_same(tree: Tree, states: PageStates) -> None:
    scores = Formula.of(tree).scores(states)
    assert scores.shape == (len(states),)
    assert np.isfinite(scores).all()
    assert Formula.of(canonical_tree(tree)).scores(states).tolist() == scores.tolist()


@settings(deadline=None)
@given(trees)
def test_a_printed_formula_is_read_back_as_the_same_tree(tree: Tree) -> None:
    assert parse(formula_text(tree)) == tree


@settings(deadline=None)
@given(trees)
def test_the_canonical_form_is_its_own_canonical_form_and_prints_to_the_same_value(tree: Tree) -> None:
    form = canonical_tree(tree)
    assert canonical_tree(form) == form
    assert len(form) <= len(tree)


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(0, 2**32), st.integers(2, 60), st.integers(1, 14), st.integers(1, 3), st.floats(0.01, 1.0))
def test_groups_and_pages_give_the_same_crawl(
    tree: Tree, seed: int, pages: int, cycles: int, warmup: int, k: float
) -> None:
    assume(reads_states_only(terminals_of(tree)))
    rng = np.random.default_rng(seed)
    log = ChangeLog(rng.random((pages, cycles)) < rng.random((pages, 1)) ** 2)
    by_page, _ = PagewiseSimulation(log, k, warmup).run(tree)
    rates, gains, fresh = GroupedSimulation(log, k, warmup).curves(tree)
    assert rates.tolist() == by_page[:, 0].tolist()
    assert np.allclose(gains, by_page[:, 1], rtol=1e-12, atol=0.0)
    assert np.allclose(fresh, by_page[:, 2], rtol=1e-12, atol=0.0)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_bred_trees_are_whole_and_never_too_deep(seed: int) -> None:
    rng, gp = np.random.default_rng(seed), GPSettings(population=6)
    population = ramped(rng, EXTENDED, gp)
    for _ in range(30):
        mother, father = (population[int(rng.integers(len(population)))] for _ in range(2))
        child = cross(rng, mother, father, gp)
        child = swap_parts(rng, replace_part(rng, child, EXTENDED, gp), gp)
        assert (
            1
            + sum(ARITY.get(symbol, 0) - 1 for symbol in child if isinstance(symbol, str))
            - sum(isinstance(symbol, float) for symbol in child)
            == 0
        )
        assert depth(child) <= gp.max_depth
        population.append(child)
