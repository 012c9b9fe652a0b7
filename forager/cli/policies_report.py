"""The comparison of recrawl policies as one HTML file with plots; it loads nothing from elsewhere."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from forager.cli import hacs_view
from forager.cli.outputs import write_whole
from forager.recrawl.archive_judge import WindowJudged
from forager.recrawl.comparison import Figure, Judged, victories
from forager.recrawl.log import ChangeLog
from forager.reports import showing

_STYLE = (
    "body{font:15px sans-serif;margin:2em auto;max-width:70em}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.2em .7em;text-align:right;white-space:nowrap;border-bottom:1px solid #ddd}"
    "th{white-space:normal;max-width:22em;overflow-wrap:break-word}"
)
_GREEDY = "Found while young; delays in cycles. The oracle is greedy: it takes most documents now, not most in the end."
_LEGEND = 32
"""Characters of a policy beside a plot: a learned function may be far longer than that."""
_FIGURES: tuple[tuple[Figure, str], ...] = (
    ("change_rate", "ChangeRate"),
    ("ndcg", "NDCG"),
    ("freshness", "Freshness"),
    ("age", "Age in cycles"),
)
_BOUGHT = "In each cycle {:.2%} of them are visited; ± is half the 95% interval over folds of pages."


def write_report(
    path: Path, name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]
) -> None:
    """Write the report to a file; `k` is the share of the pages visited per cycle, `windows` are those of HACS."""
    write_whole(path, report(name, log, judged, k, windows))


def report(name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]) -> str:
    """The report as a page."""
    title = f"Recrawl policies on {html.escape(name)}"
    size = f"{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.1%} of the pages change in a cycle."
    plots = [_curves(judged, figure, label, script=not place) for place, (figure, label) in enumerate(_FIGURES)]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{size} {_BOUGHT.format(k)}</p>{_table(judged)}{_found(judged)}"
        f"<h2>Cycle by cycle</h2>{''.join(plots)}"
        f"<h2>The top of the schedule</h2>{_top(judged, k)}<h2>Victories / losses by cycle</h2>"
        f"<p>Cycles in which the policy of the row beats / loses to that of the column, paired t-test, p &lt; 0.05.</p>"
        f"<h3>ChangeRate</h3>{_matrix(judged, 'change_rate')}<h3>Freshness</h3>{_matrix(judged, 'freshness')}"
        f"{hacs_view.as_html(windows) if windows else ''}</html>"
    )


def _table(judged: Sequence[Judged]) -> str:
    head = "".join(f"<th>{label}</th>" for _, label in _FIGURES)
    rows = "".join(
        f"<tr><th>{html.escape(one.name)}</th>"
        + "".join(f"<td>{one.mean(figure):.4f} ± {one.interval(figure):.4f}</td>" for figure, _ in _FIGURES)
        + "</tr>"
        for one in judged
    )
    return f"<table><tr><th>policy</th>{head}</tr>{rows}</table>"


def _found(judged: Sequence[Judged]) -> str:
    """Coverage and delay of documents, where the log knows of documents."""
    rows = ""
    for one in judged:
        if one.discovery is not None:
            found = one.discovery
            delays = showing.figure(found.delay_mean, ".2f"), showing.figure(found.delay_median, ".1f")
            figures = "".join(f"<td>{cell}</td>" for cell in (f"{found.coverage:.1%}", *delays))
            rows += f"<tr><th>{html.escape(one.name)}</th>{figures}</tr>"
    if not rows:
        return ""
    head = "<tr><th>policy</th><th>coverage</th><th>mean delay</th><th>median delay</th></tr>"
    return f"<h2>New documents</h2><p>{_GREEDY}</p><table>{head}{rows}</table>"


def _curves(judged: Sequence[Judged], figure: Figure, label: str, *, script: bool) -> str:
    plot = go.Figure()
    for one in judged:
        curve = one.curves(figure).mean(axis=0)
        plot.add_scatter(y=curve, x=np.arange(len(curve)), name=_beside(one), mode="lines")
    plot.update_layout(title=label, xaxis_title="cycle after the warm-up", height=420, template="plotly_white")
    return str(plot.to_html(full_html=False, include_plotlyjs=script))


def _beside(one: Judged) -> str:
    """The name of a policy as it stands beside a plot."""
    return html.escape(one.name if len(one.name) <= _LEGEND else f"{one.name[: _LEGEND - 1]}…")


def _top(judged: Sequence[Judged], k: float) -> str:
    plot = go.Figure()
    for one in judged:
        plot.add_scatter(
            x=[100.0 * k * part / 5 for part in range(1, 6)],
            y=one.top(),
            name=_beside(one),
            mode="lines+markers",
        )
    plot.update_layout(
        title="ChangeRate of the first part of each cycle's schedule",
        xaxis_title="% of all pages, best first",
        height=420,
        template="plotly_white",
    )
    return str(plot.to_html(full_html=False, include_plotlyjs=False))


def _matrix(judged: Sequence[Judged], figure: Figure) -> str:
    names = [html.escape(one.name) for one in judged]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = ""
    for name, one in zip(names, judged, strict=True):
        results = [victories(one, other, figure) for other in judged]
        rows += f"<tr><th>{name}</th>" + "".join(f"<td>{won}/{lost}</td>" for won, lost in results) + "</tr>"
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"
