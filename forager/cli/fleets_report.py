"""The comparison of fleets as one HTML file with plots; it loads nothing from elsewhere."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from forager.cli.outputs import write_whole
from forager.measures.graph import GraphFigures
from forager.reports.showing import figure
from forager.simulation.compare import FIGURES, Row, paired
from forager.world.tape.columns import Tape

_STYLE = (
    "body{font:15px sans-serif;margin:2em auto;max-width:75em}table{border-collapse:collapse;margin-bottom:2em}"
    "td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
)
_CURVES = (("efficiency", "New documents per download (3 h windows)"), ("freshness", "Freshness"))

_MANY = 1000.0
"""From here on numbers are shown whole."""
_TINY = 1e-12
"""A spread below this share of the mean is what is left of adding up equal numbers."""


def write_report(path: Path, tape: Tape, graphs: Sequence[GraphFigures], rows: Sequence[Row]) -> None:
    """Write the report to a file."""
    write_whole(path, report(tape, graphs, rows))


def report(tape: Tape, graphs: Sequence[GraphFigures], rows: Sequence[Row]) -> str:
    """The report as a page."""
    title = f"Fleets on {html.escape(tape.origin)}"
    days = (tape.end - tape.start) / 86_400
    size = f"{tape.pages:,} pages, {tape.versions:,} versions, {tape.links.size:,} links, {days:.1f} days."
    parts, script = [], True
    for budget, twin in dict.fromkeys((row.budget, row.rewired) for row in rows):
        group = [row for row in rows if (row.budget, row.rewired) == (budget, twin)]
        parts.append(f"<h2>{budget:g} downloads per hour{', rewired' if twin else ''}</h2>{_table(group)}")
        for name, label in _CURVES:
            parts.append(_plot(group, name, label, script=script))
            script = False
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{size}</p>{_graphs(graphs)}{''.join(parts)}</html>"
    )


def _graphs(graphs: Sequence[GraphFigures]) -> str:
    head = "<tr><th>graph</th><th>pages</th><th>links</th><th>clustering</th><th>mean path</th><th>in</th><th>out</th></tr>"
    rows = "".join(
        f"<tr><td>{name}</td><td>{one.pages:,}</td><td>{one.links:,}</td><td>{figure(one.clustering, '.4f')}</td>"
        f"<td>{figure(one.mean_path, '.3f')}</td><td>{figure(one.in_exponent, '.2f')}</td>"
        f"<td>{figure(one.out_exponent, '.2f')}</td></tr>"
        for name, one in zip(("as recorded", "rewired"), graphs, strict=False)
    )
    return f"<table>{head}{rows}</table><p>in, out: exponents of the power laws of the degrees.</p>"


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{html.escape(row.kind)}</th>" for row in rows)
    body = "".join(
        f"<tr><td>{name}</td>{''.join(f'<td>{told(row, rows[0], name)}</td>' for row in rows)}</tr>" for name in FIGURES
    )
    return f"<table><tr><th>figure</th>{head}</tr>{body}</table><p>{spread_and_mark(rows)}</p>"


def spread_and_mark(rows: Sequence[Row]) -> str:
    """What ± and * mean."""
    count = len(rows[0].repeats)
    if count == 1:
        return "one repeat: no spread, no tests"
    return f"mean ± standard deviation over {count} repeats; * differs from {rows[0].kind} (paired t-test, p < 0.05)"


def told(row: Row, first: Row, name: str) -> str:
    """A figure with its spread; a * if it differs from that of the first fleet in a paired t-test, p < 0.05."""
    mean, spread = row.mean(name), row.sd(name)
    mark = " *" if row is not first and paired(row, first, name)[1] < 0.05 else ""
    many = abs(mean) >= _MANY
    spread = 0.0 if spread < _TINY * abs(mean) else spread
    shown = "" if np.isnan(spread) else f" ± {format(spread, ',.0f' if many else '.2g')}"
    return f"{figure(mean, ',.0f' if many else '.4g')}{shown}{mark}"


def _plot(rows: Sequence[Row], name: str, label: str, *, script: bool) -> str:
    plot = go.Figure()
    for row in rows:
        hours, values = row.curve(name)
        plot.add_scatter(x=hours, y=values, name=html.escape(row.kind), mode="lines")
    plot.update_layout(title=label, xaxis_title="hours", height=420, template="plotly_white")
    return str(plot.to_html(full_html=False, include_plotlyjs=script))
