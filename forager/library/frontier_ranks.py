"""Ranks the frontier of a link graph: pages that are linked but not downloaded, best first."""

from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from forager.arrays import IntArray
from forager.chance import stream
from forager.errors import InputError
from forager.graph import methods
from forager.graph.graph import UNKNOWN, EdgeList, Graph, Names
from forager.graph.methods import Evidence, Method, RankingSettings, Training
from forager.graph.walks import WalkSettings
from forager.importers.edge_files import Impacts, read_edges, read_impacts, read_overlap, read_pages

PathName = str | PathLike[str]


def rank(
    edges: PathName | Iterable[tuple[str, str]],
    *,
    impact: PathName | Mapping[str, float] | None = None,
    frontier: PathName | Collection[str] | None = None,
    anchors: PathName | None = None,
    queries: PathName | None = None,
    method: str = Method.RW_EG,
    omega: float = 0.8,
    gamma: float = 0.0,
    alpha: float = 0.85,
    limit: int | None = None,
    seed: int = 0,
) -> list[tuple[str, float]]:
    """Ranks the frontier of a link graph: pages that are linked but not downloaded, with their scores, best first.

        ranked = forager.rank([("a", "b"), ("a", "c"), ("b", "c")], impact={"a": 3.0, "b": 1.0})

    `edges` are pairs of names, or a table of source and target. `impact` is the value of downloaded pages, as a mapping
    or a table. `frontier` are the pages not downloaded; by default all pages without impact or links. `anchors` and
    `queries` are tables. Methods: random indegree pagerank q-overlap q-hybrid rw rw-eg ml. The call blocks until it is
    done: within an event loop, use `asyncio.to_thread`.
    """
    try:
        chosen = Method(method)
    except ValueError:
        raise InputError(f"no method {method!r}; known: {', '.join(Method)}") from None
    check_method(chosen, impact=impact is not None, queries=None not in (anchors, queries))
    links = read_edges(Path(edges)) if isinstance(edges, str | PathLike) else _links(edges)
    evidence = gather_evidence(links, impact, anchors, queries, frontier)
    settings = RankingSettings(walk=WalkSettings(alpha=alpha, gamma=gamma, omega=omega))
    ranking = methods.rank_frontier(chosen, evidence, settings, stream(seed, "rank"))
    order = ranking.order(evidence.graph.frontier)[:limit]
    return [(links.name(page), float(ranking.scores[page])) for page in order.tolist()]


def check_method(method: Method, *, impact: bool, queries: bool) -> None:
    """Raises an error, before anything is read, if the data that a method needs is not given."""
    if not impact and method in (Method.RW, Method.RW_EG, Method.Q_HYBRID, Method.ML):
        raise InputError(f"{method} needs impact: a table of url or id with impact, clicks or views (--impact FILE)")
    if method.asks_queries and not queries:
        raise InputError(f"{method} needs anchors and queries (--anchors FILE and --queries FILE)")


def gather_evidence(
    links: EdgeList,
    impact: PathName | Mapping[str, float] | None,
    anchors: PathName | None,
    queries: PathName | None,
    frontier: PathName | Collection[str] | None,
) -> Evidence:
    """Collects everything known about a graph.

    A page with impact counts as downloaded, unless it is listed as frontier. If that would leave no frontier, impact
    does not count: known for all pages, it does not show which were downloaded.
    """
    graph = links.growing.graph()
    impacts = None if impact is None else _impacts(impact, links, graph)
    if frontier is not None:
        hidden = _pages(frontier, links, graph)
        links.growing.mark_downloaded(np.flatnonzero(graph.in_degree > 0))
        graph = links.growing.graph().without(hidden)
    elif impacts is not None and np.setdiff1d(graph.frontier, impacts.named).size:
        links.growing.mark_downloaded(impacts.named)
        graph = links.growing.graph()
    if not graph.frontier.size:
        raise InputError(
            "the graph has no frontier: every linked page is downloaded; say which are not (--frontier FILE)"
        )
    kinds = [np.zeros(graph.pages)] if impacts is None else list(impacts.kinds.values())
    overlap = None
    if anchors is not None and queries is not None:
        overlap = read_overlap(Path(anchors), Path(queries), links, graph.pages).ranking(graph.pages)
    return Evidence(graph, kinds, Training(np.flatnonzero(graph.downloaded), kinds[0]), overlap)


def _links(edges: Iterable[tuple[str, str]]) -> EdgeList:
    names = Names()
    links, pairs = EdgeList(names), list(edges)
    if not pairs:
        raise InputError("the edge list holds no links")
    links.add(names.number(source for source, _ in pairs), names.number(target for _, target in pairs))
    return links


def _impacts(impact: PathName | Mapping[str, float], links: EdgeList, graph: Graph) -> Impacts:
    if not isinstance(impact, Mapping):
        return read_impacts(Path(impact), links, graph.pages)
    values = np.zeros(graph.pages)
    numbers = _numbers(impact, links, graph)
    known = numbers != UNKNOWN
    values[numbers[known]] = np.fromiter(impact.values(), dtype=np.float64)[known]
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("impact must be numbers from 0 up")
    return Impacts({"impact": values}, numbers[known])


def _pages(pages: PathName | Collection[str], links: EdgeList, graph: Graph) -> IntArray:
    if isinstance(pages, str | PathLike):
        return read_pages(Path(pages), links, graph.pages)
    numbers = np.unique(_numbers(pages, links, graph))
    known: IntArray = numbers[numbers != UNKNOWN]
    if not known.size:
        raise InputError("none of the frontier's pages occurs in the edge list")
    return known


def _numbers(names: Iterable[str], links: EdgeList, graph: Graph) -> IntArray:
    """Numbers of pages by their names in the edge list; UNKNOWN for others."""
    if links.names is not None:
        return links.names.find(names)
    numbers = np.fromiter((int(name) if name.isdigit() else UNKNOWN for name in names), dtype=np.int64)
    return np.where(numbers < graph.pages, numbers, UNKNOWN)
