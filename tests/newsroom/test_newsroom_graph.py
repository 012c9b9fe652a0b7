"""The links of the newsroom: scale-free, a small world, and a rewired twin with the same degrees."""

from functools import cache

import numpy as np
import scipy.sparse as sp

from forager.chance import stream
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.newsroom.plan import grow, make_plan, rewire


@cache
def gazette(rewired: bool, seed: int = 1) -> tuple[np.ndarray, np.ndarray, int]:
    """Origins, targets and number of the gazette's articles, renumbered from 0."""
    plan = make_plan(NewsroomSettings(seed=seed, rewired=rewired))
    own = [article.number for article in plan.articles if article.paper == 0]
    place = {number: i for i, number in enumerate(own)}
    pairs = [(place[number], place[target]) for number in own for target in plan.related[number]]
    origins, targets = np.array(pairs).T
    return origins, targets, len(own)


def undirected(origins: np.ndarray, targets: np.ndarray, size: int) -> sp.csr_matrix:
    links = sp.csr_matrix((np.ones(len(origins)), (origins, targets)), (size, size))
    links = ((links + links.T) > 0).astype(float).tolil()
    links.setdiag(0)
    return links.tocsr()


def clustering(origins: np.ndarray, targets: np.ndarray, size: int) -> float:
    """Mean over pages of the share of pairs of neighbours that are linked (Watts and Strogatz)."""
    links = undirected(origins, targets, size)
    degree = np.asarray(links.sum(1)).ravel()
    closed = np.asarray((links @ links).multiply(links).sum(1)).ravel()
    several = degree > 1
    return float((closed[several] / (degree * (degree - 1))[several]).sum() / size)


def mean_path(origins: np.ndarray, targets: np.ndarray, size: int) -> float:
    """Mean length of the shortest paths from every tenth page to all it reaches, links taken both ways."""
    links = undirected(origins, targets, size)
    lengths = sp.csgraph.shortest_path(links, unweighted=True, indices=np.arange(0, size, 10))
    return float(lengths[np.isfinite(lengths) & (lengths > 0)].mean())


def test_clustering_of_a_triangle_with_a_tail_is_seven_twelfths():
    # a-b, b-c, c-a, a-d: a has 3 neighbours, 1 of 3 pairs linked; b and c 1 of 1; d has one neighbour: (1/3+1+1+0)/4
    assert np.isclose(clustering(np.array([0, 1, 2, 0]), np.array([1, 2, 0, 3]), 4), 7 / 12)


def test_the_site_is_a_small_world_and_its_rewired_twin_is_not():
    world, twin = gazette(rewired=False), gazette(rewired=True)
    print(f"clustering {clustering(*world):.3f}, rewired {clustering(*twin):.3f}")
    print(f"mean path {mean_path(*world):.2f}, rewired {mean_path(*twin):.2f}")
    assert clustering(*world) > 5 * clustering(*twin)  # the paper's pair is 0.02 and 0.003
    assert mean_path(*world) < 2 * mean_path(*twin)


def test_rewiring_keeps_every_degree():
    world, twin = gazette(rewired=False), gazette(rewired=True)
    for ends, twin_ends in zip(world[:2], twin[:2], strict=True):
        assert (np.bincount(ends, minlength=world[2]) == np.bincount(twin_ends, minlength=world[2])).all()
    assert set(zip(*world[:2], strict=True)) != set(zip(*twin[:2], strict=True))


def test_rewiring_pairs_independently_permuted_ends():
    origins, targets = np.arange(2000), np.arange(2000)
    new_origins, new_targets = rewire(origins, targets, stream(1, "test"))
    assert (np.sort(new_origins) == origins).all() and (np.sort(new_targets) == targets).all()
    assert (new_origins == new_targets).sum() < 10  # one expected; Poisson(1) exceeds 9 with probability 1e-7


def test_links_received_follow_a_power_law_rather_than_an_exponential():
    least = 10
    sites = [gazette(rewired=False, seed=seed) for seed in range(1, 6)]  # one site has too few pages to tell
    received = np.concatenate([np.bincount(targets, minlength=size) for _, targets, size in sites])
    tail = received[received >= least]
    exponent = 1 + len(tail) / np.log(tail / (least - 0.5)).sum()  # maximum likelihood, discrete approximation
    power = -exponent * np.log(tail) - np.log((np.arange(least, 100_000) ** -exponent).sum())
    stop = 1 / (1 + (tail - least).mean())
    geometric = np.log(stop) + (tail - least) * np.log(1 - stop)
    ratio = power - geometric
    z = ratio.sum() / (ratio.std() * np.sqrt(len(tail)))  # Vuong's test
    print(
        f"exponent {exponent:.2f} of {len(tail)} pages with {least} links or more, z = {z:.1f} against the exponential"
    )
    assert 2 < exponent < 3
    assert z > 2


def test_articles_link_only_to_earlier_ones_and_never_twice_to_the_same():
    topics = stream(3, "topics").integers(0, 5, 500).tolist()
    origins, targets = grow(topics, 6, 0.75, 0.3, stream(3, "links"))
    assert (targets < origins).all()
    assert len(set(zip(origins.tolist(), targets.tolist(), strict=True))) == len(origins)


def test_most_links_stay_in_their_topic():
    topics = stream(4, "topics").integers(0, 10, 1000).tolist()
    origins, targets = grow(topics, 6, 0.75, 0.3, stream(4, "links"))
    same = np.mean(np.array(topics)[origins] == np.array(topics)[targets])
    assert same > 0.5  # one in ten if topics played no part
