"""`forager rank`: the frontier of any edge list, best first."""

import csv
import json as jsonlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager.chance import stream
from forager.cli.edge_files import read_edges, read_impacts, read_overlap, read_pages
from forager.cli.outputs import check_place, whole
from forager.errors import InputError
from forager.frontier import methods
from forager.frontier.edges import EdgeList
from forager.frontier.graph import Graph
from forager.frontier.learned import LearnedSettings, Regression
from forager.frontier.methods import Evidence, Method, RankingSettings, Training
from forager.frontier.steps import Ranking, WalkSettings


def rank(
    edges: Annotated[Path, typer.Argument(help="Links: source,target as CSV, TSV or Parquet, also .gz or .zst.")],
    impact: Annotated[Path | None, typer.Option(help="Table of url or id with impact, clicks or views.")] = None,
    anchors: Annotated[Path | None, typer.Option(help="Table of target and anchor: the texts of links.")] = None,
    queries: Annotated[Path | None, typer.Option(help="Table of query and, if known, count.")] = None,
    frontier: Annotated[Path | None, typer.Option(help="Pages not downloaded; default: linked, without links.")] = None,
    method: Annotated[Method, typer.Option(help="How to rank.")] = Method.RW_EG,
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the ranking.")] = Path("ranked.csv"),
    omega: Annotated[float, typer.Option(min=0, max=1, help="RW-EG: share of votes along real links.")] = 0.8,
    gamma: Annotated[float, typer.Option(min=0, help="RW, RW-EG: weight of a high out-degree; 0 for none.")] = 0.0,
    alpha: Annotated[float, typer.Option(min=0, max=0.999, help="Share of a score that is handed on.")] = 0.85,
    regression: Annotated[Regression, typer.Option(help="ML: what predicts impact.")] = Regression.TREE,
    limit: Annotated[int | None, typer.Option(min=1, help="Write only so many pages.")] = None,
    seed: Annotated[int, typer.Option(help="Of chance, for the random ranking.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Rank the frontier of a link graph: pages that are linked but not downloaded, best first."""
    check_place(output)
    settings = RankingSettings(
        walk=WalkSettings(alpha=alpha, gamma=gamma, omega=omega), learned=LearnedSettings(regression=regression)
    )
    pages, evidence = _evidence(edges, impact, anchors, queries, frontier, method)
    began = time.perf_counter()
    ranking = methods.rank(method, evidence, settings, stream(seed, "rank"))
    seconds = time.perf_counter() - began
    order = ranking.order(evidence.graph.frontier)[:limit]
    _write(output, pages, ranking, order.tolist())
    _report(evidence.graph, method, ranking, seconds, output, json)


def _evidence(
    edges: Path, impact: Path | None, anchors: Path | None, queries: Path | None, frontier: Path | None, method: Method
) -> tuple[EdgeList, Evidence]:
    """Everything known, from the files. Pages with impact count as downloaded unless they are said to be frontier, or
    nothing would be left of it: impact that is known of all pages does not tell which were downloaded."""
    if impact is None and method in (Method.RW, Method.RW_EG, Method.Q_HYBRID, Method.ML):
        raise InputError(f"{method} needs --impact FILE, a table of url or id with impact, clicks or views")
    if method.asks_queries and (anchors is None or queries is None):
        raise InputError(f"{method} needs --anchors FILE and --queries FILE")
    links = read_edges(edges)
    graph = links.growing.graph()
    impacts = None if impact is None else read_impacts(impact, links, graph.pages)
    if frontier is not None:
        hidden = read_pages(frontier, links, graph.pages)
        links.growing.mark_downloaded(np.flatnonzero(graph.in_degree > 0))
        graph = links.growing.graph().without(hidden)
    elif impacts is not None and np.setdiff1d(graph.frontier, impacts.named).size:
        links.growing.mark_downloaded(impacts.named)
        graph = links.growing.graph()
    if not graph.frontier.size:
        raise InputError(
            f"{edges}: has no frontier: every linked page is downloaded; say which are not with --frontier"
        )
    kinds = [np.zeros(graph.pages)] if impacts is None else list(impacts.kinds.values())
    overlap = None
    if anchors is not None and queries is not None:
        overlap = read_overlap(anchors, queries, links, graph.pages).ranking(graph.pages)
    return links, Evidence(graph, kinds, Training(np.flatnonzero(graph.downloaded), kinds[0]), overlap)


def _write(output: Path, pages: EdgeList, ranking: Ranking, order: list[int]) -> None:
    """Write the ranking row by row; the file appears under its name when it is complete."""
    with whole(output) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_rows(pages, ranking, order))


def _rows(pages: EdgeList, ranking: Ranking, order: list[int]) -> Iterator[tuple[object, ...]]:
    yield ("rank", "id" if pages.names is None else "url", "score")
    for place, page in enumerate(order, 1):
        yield place, harmless(pages.name(page)), f"{ranking.scores[page]:.9g}"


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _report(graph: Graph, method: Method, ranking: Ranking, seconds: float, output: Path, json: bool) -> None:
    frontier = graph.frontier.size
    sizes = {"downloaded": graph.size - frontier, "frontier": frontier, "links": graph.links}
    if json:
        told = {"graph": sizes, "method": method, "iterations": ranking.iterations, "seconds": seconds}
        typer.echo(jsonlib.dumps(told | {"residual": ranking.residual, "output": str(output)}))
        return
    typer.echo(f"{frontier:,} frontier pages of {graph.links:,} links ranked by {method} in {seconds:.2f} s: {output}")
    if ranking.iterations:
        typer.echo(f"{ranking.iterations} iterations, last change {ranking.residual:.1e}")
