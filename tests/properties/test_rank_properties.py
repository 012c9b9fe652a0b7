"""Rankings against a dense solve of their closed forms, graphs against sets of pairs, on small random graphs."""

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.graph.figures import relative_impact
from forager.graph.graph import Graph, GrowingGraph
from forager.graph.walks import WalkSettings, enriched_walk, page_rank, random_walk

PAGES = 12
links = st.lists(st.tuples(st.integers(0, 7), st.integers(0, PAGES - 1)), min_size=1, max_size=60)
impacts = st.lists(st.sampled_from([0.0, 0.0, 1.0, 7.0, 1000.0]), min_size=PAGES, max_size=PAGES)
shares = st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0])
quick = settings(max_examples=60, deadline=None)


def batch(pairs) -> Graph:
    growing = GrowingGraph()
    growing.add_links(*(np.array(ends, dtype=np.int32) for ends in zip(*pairs, strict=True)))
    return growing.graph()


def closed_form(pairs, impact, omega, gamma, alpha=0.85, epsilon=0.001):
    """(1 − α)(I − α(ω MᵀΛ + (1 − ω) M'ᵀΛ'))⁻¹ v, written down with dense matrices; pages outside D ∪ F get 0."""
    graph = batch(pairs)
    pages = graph.pages
    adjacency = np.zeros((pages, pages))
    for source, target in pairs:
        adjacency[source, target] = source != target
    downloaded = np.array([any(source == page for source, _ in pairs) for page in range(pages)])
    present = downloaded | (adjacency.sum(axis=0) > 0)
    weights = adjacency.T @ adjacency
    np.fill_diagonal(weights, 0)
    weights[~downloaded] = 0  # frontier pages do not vote
    total = np.zeros((pages, pages))
    for share, votes in ((omega, adjacency), (1 - omega, weights)):
        degree = votes.sum(axis=1)
        smoothed = np.where(downloaded, np.array(impact[:pages]) + epsilon, 0)
        factor = smoothed / smoothed.max() * (degree / max(degree.max(), 1e-300)) ** gamma
        total += share * (votes / np.maximum(degree, 1)[:, None] * factor[:, None]).T
    even = np.where(present, 1 / present.sum(), 0)
    return (1 - alpha) * np.linalg.solve(np.eye(pages) - alpha * total, even)


@quick
@given(links, impacts, st.sampled_from([0.0, 1.0]))
def test_rw_solves_its_closed_form(pairs, impact, gamma):
    graph = batch(pairs)
    ranking = random_walk(graph, np.array(impact[: graph.pages]), WalkSettings(gamma=gamma, tolerance=1e-15))
    np.testing.assert_allclose(ranking.scores, closed_form(pairs, impact, 1.0, gamma), atol=1e-13)


@quick
@given(links, impacts, shares, st.sampled_from([0.0, 1.0]))
def test_rw_eg_solves_its_closed_form(pairs, impact, omega, gamma):
    graph = batch(pairs)
    walk = WalkSettings(gamma=gamma, omega=omega, tolerance=1e-15)
    ranking = enriched_walk(graph, np.array(impact[: graph.pages]), walk)
    np.testing.assert_allclose(ranking.scores, closed_form(pairs, impact, omega, gamma), atol=1e-13)


@quick
@given(links)
def test_page_rank_is_its_closed_form_scaled_and_that_of_networkx(pairs):
    graph = batch(pairs)
    ours = page_rank(graph, WalkSettings(tolerance=1e-15)).scores
    closed = closed_form(pairs, [1.0] * PAGES, 1.0, 0.0)
    np.testing.assert_allclose(ours, closed / closed.sum(), atol=1e-13)
    peer = nx.DiGraph()
    peer.add_nodes_from(source for source, _ in pairs)
    peer.add_edges_from((source, target) for source, target in pairs if source != target)
    theirs = nx.pagerank(peer, alpha=0.85, tol=1e-13, max_iter=1000)
    np.testing.assert_allclose([ours[page] for page in theirs], list(theirs.values()), atol=1e-11)


@quick
@given(links, st.lists(st.integers(0, 59), max_size=4))
def test_a_graph_grown_in_any_pieces_is_the_graph_built_at_once(pairs, cuts):
    growing = GrowingGraph()
    bounds = [0, *sorted(cut for cut in cuts if cut < len(pairs)), len(pairs)]
    for begin, end in pairwise(bounds):
        for source, target in pairs[begin:end]:
            growing.add_page(source, [target])
        growing.graph()
    grown, built = growing.graph(), batch(pairs)
    assert grown.into.indptr.tolist() == built.into.indptr.tolist()
    assert grown.into.indices.tolist() == built.into.indices.tolist()
    assert grown.downloaded.tolist() == built.downloaded.tolist()


@quick
@given(links)
def test_the_packed_links_are_the_set_of_pairs(pairs):
    graph = batch(pairs)
    wanted = {(source, target) for source, target in pairs if source != target}
    assert {(int(source), int(target)) for target, source in zip(*graph.into.nonzero(), strict=True)} == wanted
    assert {(int(source), int(target)) for source, target in zip(*graph.out.nonzero(), strict=True)} == wanted
    assert graph.links == len(wanted)
    assert graph.in_degree.sum() == graph.out_degree.sum() == len(wanted)


@quick
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.sampled_from([0.002, 0.05, 0.5, 1.0]))
def test_impact_relative_to_the_ideal_lies_between_0_and_1_and_is_1_for_the_best_order(impact, share):
    found = relative_impact(np.array(impact), [share])[0]
    assert 0 <= found <= 1 + 1e-9
    best = relative_impact(np.sort(np.array(impact))[::-1], [share])[0]
    assert abs(best - 1) < 1e-9
