"""The simulated crawl on logs small enough to follow by hand, page by page and by groups."""

import numpy as np
import pytest

from forager.gp.grouped import GroupedSimulation
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.formula import parse
from forager.recrawl.policies import Formula, named
from forager.recrawl.recrawl_settings import NAMES, RecrawlSettings
from forager.recrawl.simulate import Oracle, simulate

AGE = named("age", np.random.default_rng(0))
HALF = RecrawlSettings(k=0.5, warmup=1)


def log_of(*rows: str) -> ChangeLog:
    return ChangeLog(np.array([[mark == "x" for mark in row] for row in rows]))


def test_a_change_is_detected_against_our_last_copy() -> None:
    # Two pages, one visit per cycle. Age takes page 0, 1, 0, 1 in cycles 1 … 4.
    log = log_of(".x...", "..x..")
    curves = simulate(log, AGE, HALF)
    # Cycle 1: page 0 has changed. Cycle 2: page 1 has. Cycles 3 and 4: nothing since the last copies.
    assert curves.change_rate.tolist() == [1, 1, 0, 0]
    assert curves.freshness.tolist() == [1, 1, 1, 1]


def test_a_change_waits_until_it_is_seen() -> None:
    log = log_of(".....", ".x...")  # Age takes page 0 first, the change of page 1 is found a cycle later
    curves = simulate(log, AGE, HALF)
    assert curves.change_rate.tolist() == [0, 1, 0, 0]
    assert curves.ndcg.tolist() == [0, 1, 0, 0]
    assert curves.freshness.tolist() == [0.5, 1, 1, 1]
    assert curves.age.tolist() == [0, 0, 0, 0]  # in the cycle of its change a page is 0 cycles out of date


def test_age_counts_the_cycles_a_copy_is_out_of_date() -> None:
    log = log_of(".....", "..x..", ".....", ".....")
    curves = simulate(log, Formula.of(parse("0 - t")), RecrawlSettings(k=0.25, warmup=1))  # page 0 for ever
    assert curves.age.tolist() == [0, 0, 0.25, 0.5]


def test_the_oracle_finds_a_change_with_every_visit_while_there_are_any() -> None:
    log = log_of(".x.x", ".xx.", "...x", "....")
    curves = simulate(log, Oracle(log), RecrawlSettings(k=0.25, warmup=1))
    assert curves.change_rate.tolist() == [1, 1, 1]
    assert curves.ndcg.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", [*NAMES, "t * X / n"])
def test_every_policy_runs_and_visits_the_same_pages_again_with_the_same_luck(name: str) -> None:
    rng = np.random.default_rng(5)
    log = ChangeLog(rng.random((60, 12)) < rng.random((60, 1)) ** 3)
    one, two = (simulate(log, named(name, np.random.default_rng(1))) for _ in range(2))
    assert one.ndcg.tolist() == two.ndcg.tolist()
    assert ((one.change_rate >= 0) & (one.change_rate <= 1) & (one.ndcg <= 1) & (one.freshness <= 1)).all()


@pytest.mark.parametrize(
    "formula", ["1", "t", "X", "n", "t * X", "nad", "sad", "gad + aad", "cg * since", "azar", "hour - t"]
)
def test_groups_give_exactly_what_page_by_page_gives(formula: str) -> None:
    rng = np.random.default_rng(9)
    log = ChangeLog(rng.random((700, 25)) < rng.random((700, 1)) ** 4)
    tree = parse(formula)
    by_page = simulate(log, Formula.of(tree))
    rates, gains, fresh = GroupedSimulation(log, 0.05, 2).curves(tree)
    assert rates.tolist() == by_page.change_rate.tolist()
    assert gains.tolist() == pytest.approx(by_page.ndcg.tolist(), rel=1e-12)
    assert fresh.tolist() == pytest.approx(by_page.freshness.tolist(), rel=1e-12)


@pytest.mark.parametrize("cycles", [63, 64, 65, 200])
def test_logs_longer_than_a_machine_word_are_simulated_alike(cycles: int) -> None:
    rng = np.random.default_rng(cycles)
    log = ChangeLog(rng.random((120, cycles)) < rng.random((120, 1)) ** 6)
    for formula in ("t", "X * t", "gad"):
        by_page = simulate(log, Formula.of(parse(formula)), RecrawlSettings(k=0.1))
        rates, gains, fresh = GroupedSimulation(log, 0.1, 2).curves(parse(formula))
        assert rates.tolist() == by_page.change_rate.tolist()
        assert gains.tolist() == pytest.approx(by_page.ndcg.tolist(), rel=1e-12)
        assert fresh.tolist() == pytest.approx(by_page.freshness.tolist(), rel=1e-12)


def test_ties_among_many_groups_fall_in_the_fixed_order() -> None:
    rng = np.random.default_rng(3)
    log = ChangeLog(rng.random((900, 30)) < rng.random((900, 1)) ** 2)
    tree = parse("pow(0 * gad + X * 0, t)")  # every state has the score 0, yet histories keep the groups apart
    by_page = simulate(log, Formula.of(tree))
    rates, gains, _ = GroupedSimulation(log, 0.05, 2).curves(tree)
    assert rates.tolist() == by_page.change_rate.tolist()
    assert gains.tolist() == pytest.approx(by_page.ndcg.tolist(), rel=1e-12)


@pytest.mark.parametrize(
    "formula",
    ["gad", "gad - 0.5", "100 + 0.00000001 * gad", "exp(exp(100 * gad))", "0 - gad * t", "log(X / aad) * gad"],
)
def test_many_groups_are_ranked_by_every_bit_of_their_scores(formula: str) -> None:
    rng = np.random.default_rng(4)
    log = ChangeLog(rng.random((3000, 25)) < rng.random((3000, 1)) ** 2)  # over 400 groups: sorted roughly at first
    tree = parse(formula)
    by_page = simulate(log, Formula.of(tree), RecrawlSettings(k=0.3))
    rates, gains, _ = GroupedSimulation(log, 0.3, 2).curves(tree)
    assert rates.tolist() == by_page.change_rate.tolist()
    assert gains.tolist() == pytest.approx(by_page.ndcg.tolist(), rel=1e-12)


def test_documents_are_found_by_the_first_visit_that_shows_them() -> None:
    # Hub 0 shows document 0 in cycles 1–2, hub 1 shows it from 2 on, and document 1 in cycle 3 only, which nobody sees.
    documents = ShownDocuments(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([2, 9, 3]))
    log = ChangeLog(log_of(".x...", "..xx.").changed, (), documents)
    curves = simulate(log, AGE, HALF, young=10.0)  # visits 0, 1, 0, 1
    assert curves.discovery is not None
    assert curves.discovery.documents == 2
    assert curves.discovery.delays.tolist() == [0]
    assert curves.discovery.coverage == 0.5
    assert curves.discovery.worth == 0.5
    late = simulate(log, Formula.of(parse("0 - t")), HALF, young=10.0)
    assert late.discovery is not None


def test_a_document_found_late_is_worth_less() -> None:
    documents = ShownDocuments(np.array([0]), np.array([1]), np.array([1]), np.array([9]))
    log = ChangeLog(log_of(".....", ".x...").changed, (), documents)
    curves = simulate(log, AGE, HALF, young=10.0)  # page 1 is visited in cycle 2
    assert curves.discovery is not None
    assert curves.discovery.worth == pytest.approx(0.9)


def test_folds_share_out_all_pages_and_their_documents() -> None:
    documents = ShownDocuments(np.array([7, 3]), np.array([4, 1]), np.array([1, 1]), np.array([2, 2]))
    log = ChangeLog(np.eye(5, dtype=bool), tuple("abcde"), documents)
    folds = log.folds(2)
    assert [fold.urls for fold in folds] == [("a", "c", "e"), ("b", "d")]
    assert folds[0].documents is not None
    assert folds[0].documents.page.tolist() == [2]  # "e" is the third page of its fold
    assert folds[0].documents.document.tolist() == [0]
    assert sum(fold.changed.sum() for fold in folds) == 5
