"""The figures of a link graph."""

import networkx as nx
import numpy as np
import pytest

from forager.chance import stream
from forager.graph.measures import clustering, exponent, graph_figures, mean_path

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
