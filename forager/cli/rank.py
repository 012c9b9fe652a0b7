"""`forager rank`: ranks the frontier of an edge list, best first."""

import csv
import json as jsonlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from forager.chance import stream
from forager.cli.options import Json, check_place, whole
from forager.graph import methods
from forager.graph.graph import EdgeList, Graph
from forager.graph.learned import LearnedSettings, Regression
from forager.graph.methods import Method, RankingSettings
from forager.graph.walks import Ranking, WalkSettings
from forager.importers.edge_files import read_edges
from forager.library.frontier_ranks import check_method, gather_evidence


def rank_command(
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
    json: Json = False,
) -> None:
    """Rank the frontier of a link graph: pages that are linked but not downloaded, best first."""
    check_place(output)
    settings = RankingSettings(
        walk=WalkSettings(alpha=alpha, gamma=gamma, omega=omega), learned=LearnedSettings(regression=regression)
    )
    check_method(method, impact=impact is not None, queries=None not in (anchors, queries))
    pages = read_edges(edges)
    evidence = gather_evidence(pages, impact, anchors, queries, frontier)
    began = time.perf_counter()
    ranking = methods.rank_frontier(method, evidence, settings, stream(seed, "rank"))
    seconds = time.perf_counter() - began
    order = ranking.order(evidence.graph.frontier)[:limit]
    _write(output, pages, ranking, order.tolist())
    _report(evidence.graph, method, ranking, seconds, output, json)


def _write(output: Path, pages: EdgeList, ranking: Ranking, order: list[int]) -> None:
    """Writes the ranking row by row; the file appears under its name when it is complete."""
    with whole(output) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_rows(pages, ranking, order))


def _rows(pages: EdgeList, ranking: Ranking, order: list[int]) -> Iterator[tuple[object, ...]]:
    yield ("rank", "id" if pages.names is None else "url", "score")
    for place, page in enumerate(order, 1):
        yield place, harmless(pages.name(page)), f"{ranking.scores[page]:.9g}"


def harmless(cell: str) -> str:
    """A cell that no spreadsheet interprets as a formula."""
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
