"""The comparison of rankings as one HTML file, with plots as in the paper; it loads nothing from elsewhere."""

import html
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from forager.cli.outputs import write_whole
from forager.cli.rankings import CURVE, Comparison, Judged, interval
from forager.measures.impact import SHARES

_STYLE = (
    "body{font:15px sans-serif;margin:2em auto;max-width:70em}"
    "td,th{padding:.2em .6em;text-align:right;white-space:nowrap}"
)


def write_report(path: Path, comparison: Comparison, title: str) -> None:
    """Write the report to a file."""
    write_whole(path, report(comparison, title))


def report(comparison: Comparison, title: str) -> str:
    """The report as a page."""
    name = html.escape(title)
    plots = [_plot("Impact relative to the ideal", comparison.judged, lambda judged: judged.impact, script=True)]
    plots.append(_plot("PageRank relative to the highest", comparison.judged, lambda judged: judged.page_rank))
    if any(judged.click_rate for judged in comparison.judged):
        plots.append(_plot("Click rate relative to the highest", comparison.judged, lambda judged: judged.click_rate))
    sizes = (
        f"{comparison.downloaded:,} pages downloaded, {comparison.frontier:,} in the frontier, "
        f"{comparison.links:,} links; "
        f"{len(comparison.omegas)} split(s), ω = {', '.join(map(str, comparison.omegas))}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Rankings of {name}</title><style>{_STYLE}</style>'
        f"<h1>Rankings of {name}</h1><p>{sizes}</p>{_table(comparison)}{''.join(plots)}</html>"
    )


def _table(comparison: Comparison) -> str:
    rates = any(judged.click_rate for judged in comparison.judged)
    head = (
        "".join(f"<th>{share:.1%}</th>" for share in SHARES) + "<th>PageRank</th>" + ("<th>CTR</th>" if rates else "")
    )
    rows = "".join(
        f"<tr><th>{judged.method}</th>"
        + "".join(_cell(*judged.at(share)) for share in SHARES)
        + _cell(*interval([curve[-1] for curve in judged.page_rank]))
        + (_cell(*interval([curve[-1] for curve in judged.click_rate])) if rates else "")
        + "</tr>"
        for judged in comparison.judged
    )
    return (
        f"<table><tr><th>first pages</th>{head}</tr>{rows}</table><p>Impact of the first pages of the ranked frontier"
        " relative to the ideal order; mean PageRank and click rate of the first 10% relative to the highest possible."
        " With several splits ± is the 95% interval.</p>"
    )


def _cell(mean: float, half: float) -> str:
    return f"<td>{mean:.1%}{f' ± {100 * half:.1f}' if half else ''}</td>"


def _plot(
    title: str, methods: Sequence[Judged], curves: Callable[[Judged], list[list[float]]], script: bool = False
) -> str:
    figure = go.Figure()
    for judged in methods:
        mean = np.mean(curves(judged), axis=0)
        figure.add_scatter(x=list(CURVE), y=mean.tolist(), name=str(judged.method), mode="lines")
    figure.update_layout(title=title, xaxis_title="share of the frontier fetched", template="plotly_white")
    figure.update_xaxes(tickformat=".1%", rangemode="tozero")
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return str(figure.to_html(full_html=False, include_plotlyjs=script))
