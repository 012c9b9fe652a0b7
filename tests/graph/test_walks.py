"""Rankings by links: the walks, and the plain ones."""

import numpy as np
import pytest

from forager.chance import stream
from forager.graph.graph import Graph, GrowingGraph
from forager.graph.walks import (
    Ranking,
    WalkSettings,
    enriched_walk,
    in_degree,
    page_rank,
    random_rank,
    random_walk,
    virtual_degree,
    virtual_walk,
)

EXACT = WalkSettings(tolerance=1e-15)


def graph_of(pages: dict[int, list[int]]) -> Graph:
    growing = GrowingGraph()
    for page, links in pages.items():
        growing.add_page(page, links)
    return growing.graph()


def test_a_page_with_impact_hands_on_more_than_one_without():
    # F0 = 1, F1 = .001/1.001; restart .05
    # x0 = .05; x1 = .05 + .85·F0·.05/2 = .07125; x2 = .05 + .02125 + .85·F1·.07125
    ranking = random_walk(graph_of({0: [1, 2], 1: [2]}), np.array([1.0, 0, 0]), EXACT)
    assert ranking.scores == pytest.approx([0.05, 0.07125, 0.07125 + 0.85 * 0.001 / 1.001 * 0.07125], rel=1e-12)


def test_gamma_makes_pages_with_few_links_vote_less():
    # equal impact; out-degrees 2 and 1: F0 = 1, F1 = 1/2; x2 = .05 + .02125 + .85·½·.07125
    settings = WalkSettings(gamma=1.0, tolerance=1e-15)
    ranking = random_walk(graph_of({0: [1, 2], 1: [2]}), np.array([5.0, 5.0, 0]), settings)
    assert ranking.scores[2] == pytest.approx(0.07125 + 0.85 * 0.5 * 0.07125, rel=1e-12)


def test_impact_of_the_frontier_is_not_looked_at():
    graph = graph_of({0: [1, 2], 1: [2]})
    honest = enriched_walk(graph, np.array([1.0, 2.0, 0.0]), EXACT)
    leaked = enriched_walk(graph, np.array([1.0, 2.0, 99.0]), EXACT)
    assert honest.scores.tolist() == leaked.scores.tolist()


def test_penalties_count_as_no_impact():
    graph = graph_of({0: [1, 2], 1: [2]})
    assert (
        random_walk(graph, np.array([1.0, -3.0, 0.0]), EXACT).scores.tolist()
        == random_walk(graph, np.array([1.0, 0.0, 0.0]), EXACT).scores.tolist()
    )


def test_a_page_votes_for_the_pages_cited_together_with_it():
    # 0 cites 1 and 2; 1 has no links; 2 is the frontier. Equal impact, so F = 1; ω = ½; restart .05.
    # x0 = .05; x1 = .05 + .85·½·.05/2 = .060625 (2 does not vote)
    # x2 = .05 + .85·½·.05/2 + .85·½·.060625·(1/1)
    graph = graph_of({0: [1, 2], 1: []})
    ranking = enriched_walk(graph, np.array([1.0, 1.0, 0]), WalkSettings(omega=0.5, tolerance=1e-15))
    assert ranking.scores == pytest.approx([0.05, 0.060625, 0.060625 + 0.425 * 0.060625], rel=1e-12)


def test_virtual_edges_weigh_as_in_figure_2_of_the_paper():
    # pages 2, 3, 4 link to 5 and 6, page 3 also to 7: w(5,6) = 3, w(5,7) = 1; 6 and 7 are the frontier
    graph = graph_of({2: [5, 6], 3: [5, 6, 7], 4: [5, 6], 5: []})
    assert virtual_degree(graph).tolist() == [0, 0, 0, 0, 0, 4, 0, 0]
    # on virtual edges alone page 5, with restart score .15/6, hands ¾ to 6 and ¼ to 7
    scores = virtual_walk(graph, np.ones(8), EXACT).scores
    assert scores[6] - 0.025 == pytest.approx(3 * (scores[7] - 0.025))
    assert scores[7] == pytest.approx(0.025 + 0.85 * 0.025 / 4)


def test_rw_eg_without_virtual_edges_is_rw():
    graph = graph_of({0: [1, 2], 1: [2, 0], 2: [3]})
    impact = np.array([3.0, 0.0, 1.0, 0.0])
    whole = enriched_walk(graph, impact, WalkSettings(omega=1.0))
    assert whole.scores.tolist() == random_walk(graph, impact, WalkSettings()).scores.tolist()


def test_without_impact_every_page_votes_alike():
    graph = graph_of({0: [1, 2], 1: [2]})
    assert random_walk(graph, np.zeros(3), EXACT).scores == pytest.approx([0.05, 0.07125, 0.1318125])


def test_a_number_without_a_page_has_no_score():
    assert random_walk(graph_of({0: [4], 4: [0]}), np.ones(5), EXACT).scores[1:4].tolist() == [0, 0, 0]


def test_a_walk_that_starts_from_earlier_scores_ends_at_the_same_ones_sooner():
    rng = np.random.default_rng(3)
    growing = GrowingGraph()
    for page in range(300):
        growing.add_page(page, rng.integers(0, 400, 8).tolist())
    settings = WalkSettings(tolerance=1e-12)
    impact = rng.random(1000)
    earlier = enriched_walk(growing.graph(), impact[: growing.graph().pages], settings)
    growing.add_page(399, [1, 2, 450])
    graph = growing.graph()
    cold = enriched_walk(graph, impact[: graph.pages], settings)
    warm = enriched_walk(graph, impact[: graph.pages], settings, start=earlier)
    assert warm.iterations < cold.iterations
    assert np.abs(warm.scores - cold.scores).sum() < 1e-10


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
