"""`forager compare rankings`: how much of the ideal impact each ranking of the frontier finds."""

import json as jsonlib
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from forager.cli.outputs import check_place
from forager.cli.rankings import Comparison, Question, compare, interval
from forager.cli.rankings_report import write_report
from forager.errors import InputError
from forager.frontier.graph import Graph
from forager.frontier.kernels import Counts, Vector
from forager.frontier.learned import LearnedSettings, Regression
from forager.frontier.methods import Method, RankingSettings
from forager.frontier.steps import WalkSettings
from forager.imports.edge_files import Impacts, read_edges, read_impacts, read_overlap, read_pages
from forager.measures.impact import SHARES, first_pages

WIDTH = 112
"""Columns that the table needs with intervals; on a narrower terminal its lines are broken, not cut."""


def compare_rankings(
    edges: Annotated[Path, typer.Argument(help="Links: source,target as CSV, TSV or Parquet, also .gz or .zst.")],
    impact: Annotated[Path, typer.Option(help="Table of url or id with impact, or clicks and views, of all pages.")],
    frontier: Annotated[Path | None, typer.Option(help="Table of url or id: the pages not yet downloaded.")] = None,
    split: Annotated[str, typer.Option(help="Without --frontier: draw this part of the pages as frontier.")] = "35%",
    anchors: Annotated[Path | None, typer.Option(help="Table of target and anchor: the texts of links.")] = None,
    queries: Annotated[Path | None, typer.Option(help="Table of query and, if known, count.")] = None,
    methods: Annotated[list[Method] | None, typer.Option("--method", help="Only this; may be repeated.")] = None,
    splits: Annotated[int, typer.Option(min=1, help="Repeat with so many random splits; shows 95% intervals.")] = 1,
    omega: Annotated[float | None, typer.Option(min=0, max=1, help="ω of RW-EG; default: tuned on training.")] = None,
    gamma: Annotated[float, typer.Option(min=0, help="RW, RW-EG: weight of a high out-degree; 0 for none.")] = 0.0,
    regression: Annotated[Regression, typer.Option(help="ML: what predicts impact.")] = Regression.TREE,
    seed: Annotated[int, typer.Option(help="Of chance: the same seed draws the same splits.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
    output: Annotated[Path | None, typer.Option("-O", "--output", help="Also write a report with plots, HTML.")] = None,
) -> None:
    """Compare rankings of the frontier by the impact of the first pages, relative to the ideal order."""
    check_place(output)
    chosen = _chosen(methods, anchors is not None and queries is not None)
    question, draw = _question(edges, impact, frontier, _share(split), anchors, queries)
    walk = WalkSettings(gamma=gamma)
    settings = RankingSettings(
        walk=walk if omega is None else replace(walk, omega=omega), learned=LearnedSettings(regression=regression)
    )
    comparison = compare(question, draw, chosen, settings, tune=omega is None, splits=splits, seed=seed)
    if output is not None:
        write_report(output, comparison, edges.name)
    if json:
        typer.echo(jsonlib.dumps(machine_readable(comparison)))
    else:
        Console(width=max(WIDTH, Console().width)).print(as_table(comparison))


def machine_readable(comparison: Comparison) -> dict[str, object]:
    """The comparison as plain values; means over splits."""
    return {
        "graph": {
            "downloaded": comparison.downloaded,
            "frontier": comparison.frontier,
            "links": comparison.links,
        },
        "rankings": [
            {
                "method": str(judged.method),
                "impact_at": {str(share): judged.at(share)[0] for share in SHARES},
                "seconds": statistics.fmean(judged.seconds),
                "iterations": round(statistics.fmean(judged.iterations)),
            }
            for judged in comparison.judged
        ],
    }


def as_table(comparison: Comparison) -> Table:
    """The comparison for people: percent of the ideal, with 95% intervals over splits."""
    omegas = ", ".join(map(str, sorted(set(comparison.omegas))))
    table = Table(
        title=f"{comparison.downloaded:,} downloaded, {comparison.frontier:,} frontier, {comparison.links:,} links; "
        f"ω = {omegas}; {len(comparison.omegas)} split(s)",
        caption="Impact of the first pages, PageRank and CTR of the first 10%: in % of the highest possible",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
    )
    rates = any(judged.click_rate for judged in comparison.judged)
    table.add_column("method", no_wrap=True)
    for name in (*(f"{share:.1%}" for share in SHARES), "PageRank", *(["CTR"] if rates else []), "s", "steps"):
        table.add_column(name, justify="right", no_wrap=True)
    for judged in comparison.judged:
        cells = [_cell(*judged.at(share)) for share in SHARES]
        cells += [_cell(*interval([curve[-1] for curve in judged.page_rank]))]
        cells += [_cell(*interval([curve[-1] for curve in judged.click_rate]))] if rates else []
        seconds, steps = statistics.fmean(judged.seconds), statistics.fmean(judged.iterations)
        table.add_row(str(judged.method), *cells, f"{seconds:.2f}", f"{steps:.0f}")
    return table


def _cell(mean: float, half: float) -> str:
    return f"{100 * mean:.1f}±{100 * half:.1f}" if half else f"{100 * mean:.1f}"


def _chosen(methods: list[Method] | None, has_queries: bool) -> list[Method]:
    """The methods to compare: those asked for, or all that the files allow."""
    if methods is None or not methods:
        return [method for method in Method if has_queries or not method.asks_queries]
    for method in methods:
        if method.asks_queries and not has_queries:
            raise InputError(f"{method} needs --anchors FILE and --queries FILE")
    return list(dict.fromkeys(methods))


def _share(text: str) -> float:
    """`35%` or `0.35` as a number between 0 and 1."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(f"--split {text}: give a part of the pages such as 35% or 0.35")
    return share


def _question(
    edges: Path, impact: Path, frontier: Path | None, share: float, anchors: Path | None, queries: Path | None
) -> tuple[Question, Callable[[np.random.Generator], Counts]]:
    """The graph with every page downloaded, the truth, and how to draw a frontier from it."""
    links = read_edges(edges)
    growing = links.growing
    graph = growing.graph()
    pages = np.flatnonzero(graph.downloaded | (graph.in_degree > 0))
    growing.mark_downloaded(pages)
    graph = growing.graph()
    impacts = read_impacts(impact, links, graph.pages)
    overlap = None
    if anchors is not None and queries is not None:
        overlap = read_overlap(anchors, queries, links, graph.pages).ranking(graph.pages)
    question = Question(graph, list(impacts.kinds.values()), _click_rate(impacts), overlap)
    if frontier is None:
        return question, lambda rng: rng.choice(pages, first_pages(share, pages.size), replace=False)
    given = read_pages(frontier, links, graph.pages)
    _check_linked(graph, given, frontier)
    return question, lambda rng: given


def _check_linked(graph: Graph, given: Counts, path: Path) -> None:
    if not graph.without(given).frontier.size:
        raise InputError(f"{path}: none of its pages is linked from a page outside of it")


def _click_rate(impacts: Impacts) -> Vector | None:
    """Clicks per view, where both were given; 0 for pages never shown."""
    clicks, views = impacts.kinds.get("clicks"), impacts.kinds.get("views")
    if clicks is None or views is None:
        return None
    return np.divide(clicks, views, out=np.zeros(clicks.size), where=views > 0)
