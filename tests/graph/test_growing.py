"""The graph as it grows, and what it says of pages nobody has visited."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from forager.graph.graph import WORTH_SHARING, GrowingGraph
from forager.graph.methods import appeals
from forager.graph.walks import Ranking, WalkSettings, enriched_walk


def links(count: int, pages: int, seed: int = 3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, pages // 2, count, dtype=np.int32), rng.integers(0, pages, count, dtype=np.int32)


def test_links_added_while_another_thread_packs_are_in_the_next_graph():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    with ThreadPoolExecutor(1) as thread:
        packing = growing.packing()
        growing.add_page(1, [3])
        packed = thread.submit(packing.done).result()
    growing.keep(packed)
    assert packed.out.row(1).tolist() == []
    assert (growing.waiting, growing.graph().out.row(1).tolist()) == (1, [3])
    assert growing.graph().out.row(0).tolist() == [1, 2]


def test_one_core_gives_the_scores_of_all_cores_to_the_last_bit():
    growing = GrowingGraph()
    growing.add_links(*links(2 * WORTH_SHARING, 30_000))
    graph = growing.graph()
    impact = np.random.default_rng(5).random(graph.pages)
    alone = enriched_walk(graph, impact, WalkSettings(cores="one"))
    assert np.array_equal(alone.scores, enriched_walk(graph, impact, WalkSettings(cores="all")).scores)


def test_a_walk_that_goes_on_from_the_last_scores_takes_fewer_steps():
    growing = GrowingGraph()
    growing.add_links(*links(20_000, 3000))
    graph, settings = growing.graph(), WalkSettings(tolerance=1e-8)
    impact = np.where(np.arange(graph.pages) % 7 == 0, 1.0, 0.5)
    first = enriched_walk(graph, impact, settings)
    growing.add_page(7, [2001, 2002])
    cold = enriched_walk(growing.graph(), impact, settings)
    warm = enriched_walk(growing.graph(), impact, settings, first)
    assert warm.iterations < cold.iterations / 1.5
    assert warm.scores == pytest.approx(cold.scores, rel=1e-4)


def test_appeal_is_the_place_in_the_frontier_and_equal_scores_share_it():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2, 3, 4, 5])
    ranking = Ranking(np.array([9.0, 0.1, 0.3, 0.2, 0.2, 0.0]))
    # From the last to the first: 5, 1, then 3 and 4 on places 2 and 3, then 2; place p of 0 … 4 is 2p/4 − 1.
    assert appeals(growing.graph(), ranking).tolist() == [0, -0.5, 1, 0.25, 0.25, -1]


def test_a_frontier_of_equal_scores_appeals_to_nobody():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2, 3])
    assert appeals(growing.graph(), Ranking(np.ones(4))).tolist() == [0, 0, 0, 0]
    assert appeals(GrowingGraph().graph(), Ranking(np.zeros(0))).size == 0
