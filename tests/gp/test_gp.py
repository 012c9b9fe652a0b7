"""Genetic programming: trees, breeding, the whole evolution, and the choice at the end."""

import multiprocessing
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from forager.errors import InputError
from forager.gp import learn as learning
from forager.gp.evolve import Memory, canonical_tree, cross, evolve, ramped, swap_parts
from forager.gp.fitness import Judge, measurers, terminal_set
from forager.gp.gp_settings import GPSettings
from forager.gp.learn import Candidate, choose_individual
from forager.gp.trees import Tree, children, depth, end_of, graft, terminals_of
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.function_file import LearnedFunction, function_from_text, function_to_text
from forager.recrawl.policies import Formula
from forager.recrawl.retrain import retrain
from forager.recrawl.terminals import BASIC

SMALL = GPSettings(population=24, generations=4, seeds=2, kept=6)


def log_of(seed: int, pages: int = 300) -> ChangeLog:
    rng = np.random.default_rng(seed)
    return ChangeLog(rng.random((pages, 20)) < rng.random((pages, 1)) ** 4)


def test_subtrees_are_found_and_grafted_by_position() -> None:
    tree = parse("(t + X) * log(n)")  # * + t X log n
    assert tree == ("*", "+", "t", "X", "log", "n")
    assert end_of(tree, 1) == 4
    assert children(tree) == [("+", "t", "X"), ("log", "n")]
    assert graft(tree, 1, ("n",)) == ("*", "n", "log", "n")
    assert depth(tree) == 2
    assert depth(("t",)) == 0


def test_the_first_population_is_ramped_half_full_and_mostly_different() -> None:
    settings = GPSettings(population=100, known_rules=False)
    population = ramped(np.random.default_rng(0), BASIC, settings)
    assert len(population) == 100
    assert {depth(tree) for tree in population[::2]} == {2, 3, 4, 5, 6}  # the full ones
    assert max(depth(tree) for tree in population) == 6
    assert len({canonical_tree(tree) for tree in population}) >= 95


def test_the_first_population_begins_with_the_known_rules_that_can_be_spelled() -> None:
    population = ramped(np.random.default_rng(0), BASIC, GPSettings(population=100))
    assert population[:2] == [("t",), ("*", "t", "X")]
    assert all(terminals_of(tree) <= set(BASIC) for tree in population)
    assert len(population) == 100


def test_a_child_of_crossover_is_made_of_parts_of_both() -> None:
    rng = np.random.default_rng(1)
    children_ = {cross(rng, ("+", "t", "X"), ("log", "n"), GPSettings()) for _ in range(200)}
    assert ("+", "log", "n", "X") in children_
    assert ("+", "t", "n") in children_
    assert ("n",) in children_
    assert ("log", "n") in children_


def test_trees_deeper_than_nine_take_no_part_in_crossover() -> None:
    deep: Tree = ("log",) * 10 + ("t",)
    assert cross(np.random.default_rng(0), deep, ("n",), GPSettings()) == deep


def test_swapping_keeps_the_symbols_and_changes_their_places() -> None:
    rng = np.random.default_rng(2)
    swapped = {swap_parts(rng, ("-", "t", "X"), GPSettings()) for _ in range(50)}
    assert ("-", "X", "t") in swapped
    assert all(sorted(tree) == ["-", "X", "t"] for tree in swapped)


def test_evolution_does_not_get_worse_and_never_measures_a_tree_twice() -> None:
    measured: list[Tree] = []
    judge = Judge(log_of(1), SMALL)

    def measure(trees: list[Tree]) -> list[float]:
        measured.extend(trees)
        return [judge(tree) for tree in trees]

    generations = list(evolve(Memory(measure), BASIC, SMALL, seed=3))
    best = [generation.best[0][1] for generation in generations]
    assert best == sorted(best)
    assert len(measured) == len(set(measured)) < SMALL.population * SMALL.generations
    assert max(generations[-1].fitness) == best[-1]  # the best are copied into the next generation
    assert all(len(generation.best) == SMALL.kept for generation in generations)


def test_if_the_best_of_all_generations_are_bred_every_child_is_made_of_them() -> None:
    """No mutation, and the fitness is the number of symbols: the one best tree of generation 0 is crossed with itself."""
    settings = replace(SMALL, parents="best", kept=1, replacement=0.0, swap=0.0, generations=2)

    def children_are_of_the_best(settings: GPSettings) -> bool:
        long_ones = Memory(lambda trees: [float(len(tree)) for tree in trees])
        first, second = evolve(long_ones, BASIC, settings, seed=3)
        return all(set(tree) <= set(first.best[0][0]) for tree in second.population)

    assert children_are_of_the_best(settings)
    assert not children_are_of_the_best(replace(settings, parents="generation"))


def test_the_number_of_processes_changes_nothing() -> None:
    judges = {"train": Judge(log_of(1), SMALL)}
    results = []
    for processes in (1, 2):
        with measurers(judges, processes) as measure:
            results.append(list(learning.learning(measure["train"], BASIC, SMALL, 5)))
    assert results[0] == results[1]


def test_processes_that_measure_leave_ctrl_c_to_the_one_that_started_them() -> None:
    before = signal.getsignal(signal.SIGINT)
    with measurers({"train": Judge(log_of(1), SMALL)}, 2) as measure:
        assert signal.getsignal(signal.SIGINT) is before
        children = set(multiprocessing.active_children())
        for child in children:  # while they load, too
            assert child.pid is not None
            os.kill(child.pid, signal.SIGINT)
        assert measure["train"]([("t",)]) == [Judge(log_of(1), SMALL)(("t",))]
        assert set(multiprocessing.active_children()) == children  # nobody died and was replaced


def test_learning_goes_on_from_a_checkpoint_as_if_it_had_not_stopped() -> None:
    judge = Judge(log_of(1), SMALL)

    def measure(trees: list[Tree]) -> list[float]:
        return [judge(tree) for tree in trees]

    whole = list(learning.learning(measure, BASIC, SMALL, 5))
    for stop in (0, 3, 5):
        saved = learning.lesson_from_text(learning.lesson_to_text(whole[stop], SMALL, "log"), SMALL, "log")
        assert saved == whole[stop]
        resumed = list(learning.learning(measure, BASIC, SMALL, 5, saved))
        assert resumed[-1].finished == whole[-1].finished
        assert resumed[-1].evaluations == whole[-1].evaluations == 2 * 4 * 24


def test_a_checkpoint_of_another_log_is_refused() -> None:
    text = learning.lesson_to_text(learning.LearnProgress(), SMALL, "one log")
    with pytest.raises(InputError, match="another log"):
        learning.lesson_from_text(text, SMALL, "another")
    broken = learning.lesson_to_text(learning.LearnProgress(finished=(((("t",), 0.5),),)), SMALL, "one log").replace(
        '["t"]', '"t"'
    )
    for text in ("{}", broken):
        with pytest.raises(InputError, match="cannot be read"):
            learning.lesson_from_text(text, SMALL, "one log")


def test_the_three_rules_choose_differently() -> None:
    lucky, steady, short = Candidate(("t",), 0.5, 0.8), Candidate(("X",), 0.7, 0.7), Candidate(("n",), 0.62, 0.76)
    everyone = [lucky, steady, short]
    assert choose_individual(everyone, "best") is lucky
    # Avg: .65 − .15 = .5, .7 − 0 = .7, .69 − .07 = .62. Sum: 1.3 − .15 = 1.15, 1.4, 1.38 − .07 = 1.31.
    assert choose_individual(everyone, "avg") is steady
    assert choose_individual(everyone, "sum") is steady
    tempting = Candidate(("n",), 0.80, 0.70)  # Avg: .75 − .05 = .70, Sum: 1.5 − .05 = 1.45
    assert choose_individual([steady, tempting], "sum") is tempting


def test_a_function_is_written_more_shortly_if_that_costs_nothing() -> None:
    judge = Judge(log_of(2), SMALL)

    def measure(trees: list[Tree]) -> list[float]:
        return [judge(tree) for tree in trees]

    tree = parse("log(exp(X * t + 0.001))")
    long = Candidate(tree, judge(tree), judge(tree))
    short = learning.shortened(long, measure, measure)
    assert len(short.tree) < len(long.tree)
    assert judge(short.tree) >= long.train


def test_numbers_have_as_few_digits_as_is_as_good() -> None:
    def measure(trees: list[Tree]) -> list[float]:
        """Nothing but a number near 4.6 will do, and it must be added to X."""
        return [
            float(tree[-1] == "X" and any(isinstance(s, float) and abs(s - 4.6) < 0.1 for s in tree)) for tree in trees
        ]

    long = Candidate(("+", 4.605170185988092, "X"), 1.0, 1.0)
    assert formula_text(learning.shortened(long, measure, measure).tree) == "4.6 + X"  # 5 + X is worse


def test_every_fitness_can_be_learned() -> None:
    documents = ShownDocuments(np.arange(5), np.arange(5), np.full(5, 4), np.full(5, 9))
    log = ChangeLog(log_of(4, 60).changed, (), documents)
    for fitness in ("changerate", "ndcg", "freshness", "discovery"):
        settings = GPSettings(fitness=fitness, terminals="extended")  # type: ignore[arg-type]
        assert "docs" in terminal_set(settings, log)
        assert 0.0 <= Judge(log, settings)(("*", "t", "docs")) <= 1.0
    assert terminal_set(GPSettings(), log) == BASIC


def test_a_new_function_takes_over_only_if_it_is_better_on_held_out_pages() -> None:
    settings = GPSettings(population=40, generations=4, seeds=1)
    contest = retrain(log_of(6, 900), Formula.of(parse("0 - X")), settings, seed=1)
    assert contest.won  # visiting the pages that never changed is easily beaten
    again = retrain(log_of(6, 900), Formula.of(contest.learned.tree), settings, seed=1)
    assert not again.won  # as good as itself is not better


def test_a_learned_function_is_read_back_from_its_text() -> None:
    learned = LearnedFunction(parse("t * X + 0.001"), "basic", "ndcg", 0.71, 0.70)
    assert function_from_text(function_to_text(learned)) == learned
    assert '"formula": "t * X + 0.001"' in function_to_text(learned)
    assert formula_text(learned.tree) == "t * X + 0.001"


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 100_000, '{"format": "else"}', '{"format": "forager score function", "version": 99}'),
        function_to_text(LearnedFunction(("t",), "basic", "ndcg", 0.7, 0.7)).replace(
            '"formula": "t"', '"formula": "t *"'
        ),
    ],
    ids=range(7),
)
def test_other_files_are_not_taken_for_functions(text: str) -> None:
    with pytest.raises(InputError, match=r"f\.json"):
        function_from_text(text, "f.json")
