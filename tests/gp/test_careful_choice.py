"""The last choice of a learning: page by page against the rules that people found."""

from collections.abc import Sequence

import numpy as np
import pytest

from forager.gp.evolve import Measurer
from forager.gp.fitness import Judge
from forager.gp.gp_settings import GPSettings, Measure
from forager.gp.learn import Candidate, choose_carefully, paired_difference
from forager.gp.trees import Tree
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.formula import parse

EVOLVED: Tree = ("log", "t")
RULES: tuple[Tree, ...] = (("t",), ("*", "t", "X"))


def measured(values: dict[Tree, float]) -> Measurer:
    def measure(trees: Sequence[Tree]) -> list[float]:
        return [values[tree] for tree in trees]

    return measure


def test_the_difference_is_taken_page_by_page() -> None:
    # Gains 1, 0, 0, 1: mean .5, standard deviation sqrt(1/3), over sqrt(4).
    gain, error = paired_difference(np.array([3.0, 5.0, 0.0, 1.0]), np.array([2.0, 5.0, 0.0, 0.0]))
    assert gain == 0.5
    assert error == pytest.approx(np.sqrt(1 / 3) / 2)
    assert paired_difference(np.array([1.0]), np.array([0.0])) == (1.0, np.inf)  # one page proves nothing


@pytest.mark.parametrize(
    ("gains", "train", "is_evolved"),
    [
        ([0.1, 0.2, 0.1, 0.2], 0.9, True),
        ([0.9, -0.4, 0.5, -0.4], 0.9, False),  # ahead by .15 in the mean, by luck: the error is .33
        ([0.0, 0.0, 0.0, 0.0], 0.9, False),  # as good is not better
        ([0.1, 0.2, 0.1, 0.2], 0.3, False),  # better on the validation pages alone
    ],
)
def test_a_function_replaces_a_known_rule_only_if_better_beyond_chance(
    gains: list[float], train: float, is_evolved: bool
) -> None:
    on_train = measured({RULES[0]: 0.6, RULES[1]: 0.5})
    on_validation = measured({RULES[0]: 0.4, RULES[1]: 0.45})  # the first is better on both together
    pages = {EVOLVED: 0.4 + np.array(gains), RULES[0]: np.full(4, 0.4)}
    evolved = Candidate(EVOLVED, train, 0.4 + float(np.mean(gains)))
    choice = choose_carefully(evolved, RULES, on_train, on_validation, pages.__getitem__)
    assert choice.is_evolved is is_evolved
    assert choice.chosen == (evolved if is_evolved else Candidate(RULES[0], 0.6, 0.4))
    assert choice.gain == pytest.approx(np.mean(gains))


def test_without_known_rules_the_papers_choice_stands() -> None:
    evolved = Candidate(EVOLVED, 0.1, 0.2)
    choice = choose_carefully(evolved, (), measured({}), measured({}), lambda _: np.empty(0))
    assert choice.chosen is evolved
    assert choice.known is None


@pytest.mark.parametrize("fitness", ["changerate", "ndcg", "freshness", "discovery"])
@pytest.mark.parametrize("formula", ["t", "azar", "pace * t", "hacs + n / 9"])
def test_the_mean_over_pages_is_the_fitness(fitness: Measure, formula: str) -> None:
    rng = np.random.default_rng(3)
    shown = rng.integers(25, size=90)
    documents = ShownDocuments(np.sort(rng.integers(70, size=90)), rng.integers(40, size=90), shown, shown + 6)
    documents = documents.on(np.arange(40))  # numbers the documents densely
    log = ChangeLog(rng.random((40, 25)) < rng.random((40, 1)) ** 3, (), documents, cycle=3600.0)
    judge = Judge(log, GPSettings(fitness=fitness, k=0.1))
    tree = parse(formula)
    assert judge.by_page(tree).mean() == pytest.approx(judge(tree))


def test_a_document_counts_for_the_page_that_shows_it_first() -> None:
    # Two pages, one visit a cycle, the longest unvisited first: after the warm-up of one cycle page 0 is visited in
    # cycles 1 and 3, page 1 in 2 and 4. Document 0 appears on page 1 in cycle 1 and is found there in 2: worth 1 - 1/4.
    # Document 1 appears on page 0 in cycle 2, is found in 3, 3/4; document 2 on page 1 in cycle 4, at once: 1.
    documents = ShownDocuments(
        np.array([0, 0, 1, 2]), np.array([1, 0, 0, 1]), np.array([1, 2, 2, 4]), np.array([9, 9, 9, 9])
    )
    log = ChangeLog(np.zeros((2, 5), dtype=np.bool_), (), documents)
    judge = Judge(log, GPSettings(fitness="discovery", k=0.5, warmup=1, young=4.0))
    assert judge.by_page(("t",)).tolist() == pytest.approx([2 / 3 * 0.75, 2 / 3 * 1.75])
    assert judge(("t",)) == pytest.approx(2.5 / 3)
