"""`forager rank` ranks the frontier of an edge list, best first.

`forager compare rankings` measures how much of the ideal impact each ranking finds: the frontier is drawn at random or
given, and all methods are judged on the same held-out pages. Its report has the charts of the paper.
"""

import csv
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from forager.arrays import FloatArray, IntArray
from forager.chance import stream
from forager.cli.options import Json, ReportTo, check_place, print_result, share_of, whole, write_whole
from forager.errors import InputError
from forager.graph.figures import SHARES, first_pages, relative_impact
from forager.graph.graph import EdgeList, Graph
from forager.graph.learned import LearnedSettings, Regression, split_pages
from forager.graph.methods import Evidence, Method, RankingSettings, Training, rank_frontier, tuned
from forager.graph.walks import Ranking, WalkSettings, page_rank
from forager.importers.edge_files import Impacts, read_edges, read_impacts, read_overlap, read_pages
from forager.library.frontier_ranks import check_method, gather_evidence
from forager.output.fields import defused
from forager.recrawl.compare import half_interval
from forager.report.charts import FigureTable, line_chart, page, pair, section
from forager.report.phrases import amount, shown

Edges = Annotated[Path, typer.Argument(help="Links: source,target as CSV, TSV or Parquet, also .gz or .zst.")]
Anchors = Annotated[Path | None, typer.Option(help="Table of target and anchor: the texts of links.")]
QueriesPath = Annotated[Path | None, typer.Option(help="Table of query and, if known, count.")]
Gamma = Annotated[float, typer.Option(min=0, help="RW, RW-EG: weight of a high out-degree; 0 for none.")]
Predictor = Annotated[Regression, typer.Option(help="ML: what predicts impact.")]


def rank_command(
    edges: Edges,
    impact: Annotated[Path | None, typer.Option(help="Table of url or id with impact, clicks or views.")] = None,
    anchors: Anchors = None,
    queries: QueriesPath = None,
    frontier: Annotated[Path | None, typer.Option(help="Pages not downloaded; default: linked, without links.")] = None,
    method: Annotated[Method, typer.Option(help="How to rank.")] = Method.RW_EG,
    output: Annotated[Path, typer.Option("-O", "--output", help="Where to write the ranking.")] = Path("ranked.csv"),
    omega: Annotated[float, typer.Option(min=0, max=1, help="RW-EG: share of votes along real links.")] = 0.8,
    gamma: Gamma = 0.0,
    alpha: Annotated[float, typer.Option(min=0, max=0.999, help="Share of a score that is handed on.")] = 0.85,
    regression: Predictor = Regression.TREE,
    limit: Annotated[int | None, typer.Option(min=1, help="Write only so many pages.")] = None,
    seed: Annotated[int, typer.Option(help="Of chance, for the random ranking.")] = 0,
    json: Json = False,
) -> None:
    """Rank the frontier of a link graph: pages that are linked but not downloaded, best first.

    The file has the columns rank, url (or id) and score. --json prints graph (downloaded, frontier, links), method,
    iterations, residual, seconds and output.
    """
    check_place(output)
    settings = RankingSettings(
        walk=WalkSettings(alpha=alpha, gamma=gamma, omega=omega), learned=LearnedSettings(regression=regression)
    )
    check_method(method, impact=impact is not None, queries=None not in (anchors, queries))
    pages = read_edges(edges)
    evidence = gather_evidence(pages, impact, anchors, queries, frontier)
    began = time.perf_counter()
    ranking = rank_frontier(method, evidence, settings, stream(seed, "rank"))
    seconds = time.perf_counter() - began
    order = ranking.order(evidence.graph.frontier)[:limit]
    with whole(output) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_rows(pages, ranking, order.tolist()))
    graph, steps = evidence.graph, ranking.iterations
    facts = {
        "graph": _sizes(graph),
        "method": method,
        "iterations": steps,
        "seconds": seconds,
        "residual": ranking.residual,
        "output": str(output),
    }
    told = f"{graph.frontier.size:,} frontier pages of {graph.links:,} links ranked by {method} in {seconds:.2f} s"
    convergence = f"\n{steps} iterations, last change {ranking.residual:.1e}" if steps else ""
    print_result(facts, lambda: f"{told}: {output}{convergence}", json=json)


def _rows(pages: EdgeList, ranking: Ranking, order: list[int]) -> Iterator[tuple[object, ...]]:
    yield ("rank", "id" if pages.names is None else "url", "score")
    for place, number in enumerate(order, 1):
        yield place, defused(pages.name(number)), f"{ranking.scores[number]:.9g}"


def _sizes(graph: Graph) -> dict[str, int]:
    frontier = graph.frontier.size
    return {"downloaded": graph.size - frontier, "frontier": frontier, "links": graph.links}


CURVE = tuple(sorted({*SHARES, *(step / 500 for step in range(1, 51))}))
"""Shares of the frontier at which the report draws its curves: 0.2% to 10%."""


@dataclass(frozen=True, slots=True)
class Question:
    """Input of a comparison: a graph with all pages downloaded, the true impact, and optional data."""

    graph: Graph
    impacts: Sequence[FloatArray]
    """True impact by page number, of one or more kinds; the first kind judges the rankings."""
    click_rate: FloatArray | None = None
    """Clicks per view by page number, if both are known."""
    overlap: Ranking | None = None


@dataclass(slots=True)
class RankingJudged:
    """Results of one method; each list has one entry per split."""

    method: Method
    impact: list[list[float]] = field(default_factory=list)
    """Impact relative to the ideal at each share of CURVE."""
    page_rank: list[list[float]] = field(default_factory=list)
    click_rate: list[list[float]] = field(default_factory=list)
    """Sums of PageRank and click rate of the first pages, relative to the highest possible."""
    seconds: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)

    def at(self, share: float) -> tuple[float, float]:
        """Mean impact over splits at this share of CURVE, and half the width of its 95% interval (0 for one split)."""
        return ranking_interval([curve[CURVE.index(share)] for curve in self.impact])


@dataclass(slots=True)
class Comparison:
    """Results of all methods on the same splits."""

    graph: dict[str, int] = field(default_factory=dict)
    """Numbers of downloaded and frontier pages and of links in the first split."""
    omegas: list[float] = field(default_factory=list)
    """The ω of each split."""
    judged: list[RankingJudged] = field(default_factory=list)


def ranking_interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of its 95% interval by Student's t; 0 for a single value."""
    return statistics.fmean(values), half_interval(np.array(values))


def judge_rankings(
    question: Question,
    draw: Callable[[np.random.Generator], IntArray],
    methods: Sequence[Method],
    settings: RankingSettings,
    *,
    tune: bool = True,
    splits: int = 1,
    seed: int = 0,
) -> Comparison:
    """Judges methods on frontiers that `draw` returns; with `tune`, chooses ω on the training part of each."""
    comparison = Comparison(judged=[RankingJudged(method) for method in methods])
    for number in range(splits):
        rng = stream(seed, f"split {number}")
        _judge(comparison, question, question.graph.without(draw(rng)), settings, tune, rng)
    return comparison


def _judge(
    comparison: Comparison,
    question: Question,
    graph: Graph,
    settings: RankingSettings,
    tune: bool,
    rng: np.random.Generator,
) -> None:
    """Judges all methods on one frontier: trains on one part of it, measures on the rest."""
    known, asked = split_pages(graph.frontier, settings.learned.training_share, rng)
    truth = question.impacts[0]
    if not (known.size and asked.size and truth[asked].any()):
        raise InputError(
            "the held-out part of the frontier has no page with impact; give more impact or a larger frontier"
        )
    evidence = Evidence(graph, question.impacts, Training(known, truth), question.overlap)
    if tune:
        settings = tuned(evidence, settings, rng)
    comparison.graph = comparison.graph or _sizes(graph)
    comparison.omegas.append(settings.walk.omega)
    by_links = page_rank(graph, settings.walk)
    for judged in comparison.judged:
        began = time.perf_counter()
        ranking = rank_frontier(judged.method, evidence, settings, rng)
        judged.seconds.append(time.perf_counter() - began)
        judged.iterations.append(ranking.iterations)
        order = ranking.order(asked)
        judged.impact.append(relative_impact(truth[order], CURVE))
        judged.page_rank.append(relative_impact(by_links.scores[order], CURVE))
        if question.click_rate is not None:
            judged.click_rate.append(relative_impact(question.click_rate[order], CURVE))


def compare_rankings(
    edges: Edges,
    impact: Annotated[Path, typer.Option(help="Table of url or id with impact, or clicks and views, of all pages.")],
    frontier: Annotated[Path | None, typer.Option(help="Table of url or id: the pages not yet downloaded.")] = None,
    split: Annotated[str, typer.Option(help="Without --frontier: draw this part of the pages as frontier.")] = "35%",
    anchors: Anchors = None,
    queries: QueriesPath = None,
    methods: Annotated[list[Method] | None, typer.Option("--method", help="Only this; may be repeated.")] = None,
    splits: Annotated[int, typer.Option(min=1, help="Repeat with so many random splits; shows 95% intervals.")] = 1,
    omega: Annotated[float | None, typer.Option(min=0, max=1, help="ω of RW-EG; default: tuned on training.")] = None,
    gamma: Gamma = 0.0,
    regression: Predictor = Regression.TREE,
    seed: Annotated[int, typer.Option(help="Of chance: the same seed draws the same splits.")] = 0,
    json: Json = False,
    output: ReportTo = None,
) -> None:
    """Compare rankings of the frontier by the impact of the first pages, relative to the ideal order.

    --json prints graph (downloaded, frontier, links), and for each of `rankings` method, impact_at (by share of the
    frontier), seconds and iterations.
    """
    check_place(output)
    chosen = _chosen(methods, anchors is not None and queries is not None)
    question, draw = _question(edges, impact, frontier, share_of(split, "--split"), anchors, queries)
    walk = WalkSettings(gamma=gamma)
    settings = RankingSettings(
        walk=walk if omega is None else replace(walk, omega=omega), learned=LearnedSettings(regression=regression)
    )
    comparison = judge_rankings(question, draw, chosen, settings, tune=omega is None, splits=splits, seed=seed)
    if output is not None:
        write_whole(output, rankings_page(comparison, edges.name))
    if json:
        print_result(rankings_json(comparison))
    else:
        rankings_table(comparison).show()


def rankings_json(comparison: Comparison) -> dict[str, object]:
    """The comparison as JSON values; means over splits."""
    return {
        "graph": comparison.graph,
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


def rankings_page(comparison: Comparison, title: str) -> str:
    judged, table = comparison.judged, rankings_table(comparison)
    impact = _chart("Impact relative to the ideal", judged, lambda one: one.impact)
    rank = _chart("PageRank relative to the highest", judged, lambda one: one.page_rank)
    parts = [table.html(), pair(impact, rank)]
    if any(one.click_rate for one in judged):
        parts.append(_chart("Click rate relative to the highest", judged, lambda one: one.click_rate))
    return page(f"Rankings of {shown(title)}", parts)


def rankings_table(comparison: Comparison) -> FigureTable:
    """The comparison as a table: percent of the ideal, with 95% intervals over splits."""
    omegas = ", ".join(map(str, sorted(set(comparison.omegas))))
    sizes = ", ".join(f"{count:,} {name}" for name, count in comparison.graph.items())
    title = f"{sizes}; ω = {omegas}; {amount(len(comparison.omegas), 'split')}"
    rates = any(judged.click_rate for judged in comparison.judged)
    note = f"Impact of the first pages, PageRank{' and CTR' if rates else ''} of the first 10%: in % of the highest possible"
    shares = [f"{share:.1%}" for share in SHARES]
    heads = ["method", *shares, "PageRank", *(["CTR"] if rates else []), "s", "steps"]
    rows = [[str(judged.method), *_cells(judged)] for judged in comparison.judged]
    return FigureTable(title, note, heads, rows)


def _cells(judged: RankingJudged) -> Iterator[str]:
    ends = [[curve[-1] for curve in curves] for curves in (judged.page_rank, judged.click_rate) if curves]
    for mean, half in (*map(judged.at, SHARES), *map(ranking_interval, ends)):
        yield f"{100 * mean:.1f}±{100 * half:.1f}" if half else f"{100 * mean:.1f}"
    yield f"{statistics.fmean(judged.seconds):.2f}"
    yield f"{statistics.fmean(judged.iterations):.0f}"


def _chart(title: str, methods: Sequence[RankingJudged], curves: Callable[[RankingJudged], list[list[float]]]) -> str:
    named = [
        (str(judged.method), list(zip(CURVE, np.mean(curves(judged), axis=0).tolist(), strict=True)))
        for judged in methods
        if curves(judged)
    ]
    drawn = line_chart(named, title, along="share of the frontier fetched", form=".1%", ticks=".1%", zero=True)
    return section(title, "", drawn)


def _chosen(methods: list[Method] | None, has_queries: bool) -> list[Method]:
    """The methods to compare: the requested ones, or all that the files allow."""
    for method in methods or ():
        check_method(method, impact=True, queries=has_queries)
    return list(dict.fromkeys(methods or [one for one in Method if has_queries or not one.asks_queries]))


def _question(
    edges: Path, impact: Path, frontier: Path | None, share: float, anchors: Path | None, queries: Path | None
) -> tuple[Question, Callable[[np.random.Generator], IntArray]]:
    """The graph with every page downloaded, the true impact, and a function that draws a frontier."""
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
    if not graph.without(given).frontier.size:
        raise InputError(f"{frontier}: none of its pages is linked from a page outside of it")
    return question, lambda rng: given


def _click_rate(impacts: Impacts) -> FloatArray | None:
    """Clicks per view, if both are known; 0 for pages never shown."""
    clicks, views = impacts.kinds.get("clicks"), impacts.kinds.get("views")
    if clicks is None or views is None:
        return None
    return np.divide(clicks, views, out=np.zeros(clicks.size), where=views > 0)
