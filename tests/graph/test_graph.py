"""The packed link graph, as it grows; the figures of a graph."""

from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest

from forager.chance import stream
from forager.graph.figures import clustering, exponent, graph_figures, mean_path
from forager.graph.graph import UNKNOWN, EdgeList, Graph, GrowingGraph, Names
from forager.graph.methods import appeals
from forager.graph.walks import Ranking, WalkSettings, enriched_walk


def graph_of(*links: tuple[int, int]) -> Graph:
    growing = GrowingGraph()
    sources, targets = zip(*links, strict=True)
    growing.add_links(np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32))
    return growing.graph()


def row(links, page: int) -> list[int]:
    return links.indices[links.indptr[page] : links.indptr[page + 1]].tolist()


def test_repeated_links_and_links_of_a_page_to_itself_are_dropped():
    graph = graph_of((0, 2), (1, 2), (0, 2), (0, 0), (1, 0), (1, 2))
    assert graph.links == 3
    assert row(graph.into, 2) == [0, 1]
    assert row(graph.into, 0) == [1]
    assert graph.into.data.tolist() == [1, 1, 1]
    assert row(graph.out, 1) == [0, 2]


def test_the_frontier_is_what_downloaded_pages_link_to_and_was_not_downloaded():
    graph = graph_of((0, 1), (0, 5), (1, 5), (1, 3))
    assert graph.frontier.tolist() == [3, 5]
    assert graph.size == 4  # 2 and 4 are numbers without a page
    assert repr(graph) == "<Graph 2 downloaded, 2 frontier, 4 links>"


def test_a_downloaded_page_without_links_is_not_in_the_frontier():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    growing.add_page(1, [])
    assert growing.graph().frontier.tolist() == [2]
    assert growing.graph().out_degree.tolist() == [2, 0, 0]


def test_a_page_that_only_links_to_itself_is_known_and_has_no_links():
    graph = graph_of((3, 3))
    assert graph.links == 0
    assert graph.size == 1


def test_an_empty_graph_has_no_pages():
    graph = GrowingGraph().graph()
    assert (graph.pages, graph.links, graph.frontier.size, graph.size) == (0, 0, 0, 0)


def test_links_seen_at_a_second_visit_are_added_to_those_of_the_first():
    growing = GrowingGraph()
    growing.add_page(0, [1, 2])
    growing.graph()
    growing.add_page(0, [2, 3])
    assert row(growing.graph().out, 0) == [1, 2, 3]


def test_the_graph_is_packed_again_only_when_something_was_added():
    growing = GrowingGraph()
    growing.add_page(0, [1])
    first = growing.graph()
    assert growing.graph() is first
    growing.add_page(1, [0])
    assert growing.graph() is not first
    assert first.links == 1  # a graph handed out never changes


def test_a_page_downloaded_without_new_links_leaves_the_frontier():
    growing = GrowingGraph()
    growing.add_page(0, [1])
    assert growing.graph().frontier.tolist() == [1]
    growing.add_page(1, [])
    assert growing.graph().frontier.tolist() == []


def test_hidden_pages_lose_their_links_and_fall_back_to_the_frontier():
    graph = graph_of((0, 1), (1, 2), (2, 0), (1, 3)).without(np.array([1]))
    assert graph.frontier.tolist() == [1]
    assert graph.links == 2
    assert not graph.downloaded[3]
    assert graph.size == 3  # 3 was known from 1 alone


def test_names_are_numbered_as_they_come_and_found_again():
    names = Names()
    assert names.number(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert names.find(["a", "c"]).tolist() == [1, UNKNOWN]
    assert (names.name(0), len(names)) == ("b", 2)


def test_an_edge_list_counts_every_row_but_links_only_once():
    edges = EdgeList(None)
    pair = np.array([0, 0], dtype=np.int32), np.array([1, 1], dtype=np.int32)
    edges.add(*pair)
    edges.add(*pair)
    assert (edges.rows, edges.growing.graph().links, edges.name(1)) == (4, 1, "1")


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
    assert row(packed.out, 1) == []
    assert (growing.waiting, row(growing.graph().out, 1)) == (1, [3])
    assert row(growing.graph().out, 0) == [1, 2]


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


RNG = stream(1, "test")


def ends(graph: nx.DiGraph) -> tuple[np.ndarray, np.ndarray]:
    edges = np.array(graph.edges(), np.int64).reshape(-1, 2)
    return edges[:, 0], edges[:, 1]


def test_a_triangle_with_a_tail_by_hand() -> None:
    """0 → 1 → 2 → 0 and 2 → 3.

    Neighbours: pages 0 and 1 have one pair each, linked: 1. Page 2 has three pairs, one linked: 1/3. Page 3: 0.
    Clustering (1 + 1 + 1/3 + 0) / 4 = 7/12. Paths: 0→1 1, 0→2 2, 0→3 3, 1→2 1, 1→0 2, 1→3 2, 2→0 1, 2→3 1, 2→1 2:
    15 clicks over 9 pairs.
    """
    source, target = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3])
    assert clustering(source, target, 4) == pytest.approx(7 / 12)
    assert mean_path(source, target, 4, RNG) == pytest.approx(15 / 9)


def test_double_links_and_links_to_the_own_page_do_not_count() -> None:
    source, target = np.array([7, 7, 7, 9]), np.array([9, 9, 7, 7])
    figures = graph_figures(source, target, RNG)
    assert (figures.pages, figures.links, figures.clustering, figures.mean_path) == (2, 2, 0, 1)


def test_the_figures_agree_with_networkx() -> None:
    graph = nx.gnp_random_graph(150, 0.03, seed=4, directed=True)
    source, target = ends(graph)
    lengths = [n for _, reached in nx.all_pairs_shortest_path_length(graph) for n in reached.values() if n]
    assert mean_path(source, target, 150, RNG) == pytest.approx(np.mean(lengths))
    assert clustering(source, target, 150) == pytest.approx(nx.average_clustering(graph.to_undirected()))


def test_a_sample_of_sources_comes_near_the_mean_path() -> None:
    source, target = ends(nx.gnp_random_graph(1500, 0.004, seed=5, directed=True))
    exact = mean_path(source, target, 1500, RNG)
    assert mean_path(source, target, 1500, RNG, sources=300) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("true", [2.1, 2.5, 3.0])
def test_the_exponent_of_a_drawn_power_law_is_found_again(true: float) -> None:
    """20,000 draws from Zipf's law; the standard error of the fit is about (a - 1) / √20,000 ≈ 0.01 on the whole sample."""
    degrees = stream(3, "zipf").zipf(true, 20_000)
    assert exponent(degrees) == pytest.approx(true, abs=0.08)


def test_the_tail_begins_where_the_power_law_does() -> None:
    """Below 10 the degrees are even; the law from 10 on has the exponent 2.5."""
    rng = stream(4, "tail")
    tail = np.floor(9.5 * (1 - rng.random(5_000)) ** (-1 / 1.5) + 0.5).astype(np.int64)
    degrees = np.concatenate([rng.integers(1, 10, 5_000), tail])
    assert exponent(degrees) == pytest.approx(2.5, abs=0.15)


def test_a_graph_too_small_for_a_power_law_has_no_exponent() -> None:
    assert np.isnan(exponent(np.array([1, 2, 3, 0])))
    empty = np.empty(0, np.int64)
    figures = graph_figures(empty, empty, RNG)
    assert np.isnan([figures.clustering, figures.mean_path, figures.in_exponent, figures.out_exponent]).all()
