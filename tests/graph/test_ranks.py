import numpy as np
import pytest

from forager.chance import stream
from forager.graph.graph import Graph, GrowingGraph
from forager.graph.walks import Ranking, WalkSettings, in_degree, page_rank, random_rank


def triangle() -> Graph:
    """0 → 1, 0 → 2, 1 → 2; page 2 is the frontier."""
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    growing.add_page(1, [2])
    return growing.graph()


def test_page_rank_of_three_pages_is_what_the_hand_says():
    # restart .15/3 = .05; x0 = .05; x1 = .05 + .85·.05/2 = .07125; x2 = .05 + .85·(.05/2 + .07125) = .1318125
    # that sums to .2530625; the votes of page 2 for all pages alike scale it to 1
    ranking = page_rank(triangle(), WalkSettings(tolerance=1e-14))
    assert ranking.scores == pytest.approx([0.05 / 0.2530625, 0.07125 / 0.2530625, 0.1318125 / 0.2530625])


def test_iterations_and_the_last_change_are_reported():
    # from 1/3 each, every page of D is given (1 − .85·2/3)/3 = .13/.9, and page 1 half of .85/3 besides:
    # x0 falls by 1/3 − .14444, x1 by 1/3 − .14444 − .14167
    once = page_rank(triangle(), WalkSettings(max_iterations=1))
    assert once.iterations == 1
    assert once.residual == pytest.approx(2 * (1 / 3 - 0.13 / 0.9) - 0.85 / 6)
    settled = page_rank(triangle(), WalkSettings(tolerance=1e-14))
    assert settled.iterations > 1
    assert settled.residual <= 1e-14


def test_in_degree_counts_pages_that_link_here():
    assert in_degree(triangle()).scores.tolist() == [0, 1, 2]


def test_a_random_rank_is_the_same_for_the_same_seed():
    graph = triangle()
    first, second = (random_rank(graph, stream(7, "rank")).scores for _ in range(2))
    assert first.tolist() == second.tolist()
    assert first.tolist() != random_rank(graph, stream(8, "rank")).scores.tolist()


def test_equal_scores_are_ordered_by_page_number():
    ranking = Ranking(np.array([1.0, 3.0, 1.0, 2.0, 1.0]))
    assert ranking.order(np.array([4, 2, 3, 0])).tolist() == [3, 0, 2, 4]


def test_places_keep_apart_scores_that_differ_in_the_last_digits():
    assert Ranking(np.array([1e-9, 2e-9, 1e-9, 0.0])).places().tolist() == [1, 2, 1, 0]


def test_a_graph_without_links_gives_every_page_the_same_page_rank():
    growing = GrowingGraph()
    growing.add_page(0, [])
    growing.add_page(1, [])
    assert page_rank(growing.graph(), WalkSettings()).scores == pytest.approx([0.5, 0.5])


def test_an_empty_graph_can_be_ranked():
    assert page_rank(GrowingGraph().graph(), WalkSettings()).scores.size == 0
