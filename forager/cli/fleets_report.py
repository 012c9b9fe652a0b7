"""The comparison of fleets as one HTML file with plots; it loads nothing from elsewhere."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from forager.cli.outputs import write_whole
from forager.measures.graph import GraphFigures
from forager.simulation.compare import FIGURES, Row
from forager.world.tape.columns import Tape

_STYLE = (
    "body{font:15px sans-serif;margin:2em auto;max-width:75em}table{border-collapse:collapse;margin-bottom:2em}"
    "td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
)
_CURVES = (("efficiency", "New documents per download (3 h windows)"), ("freshness", "Freshness"))


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
        for figure, label in _CURVES:
            parts.append(_plot(group, figure, label, script=script))
            script = False
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{size}</p>{_graphs(graphs)}{''.join(parts)}</html>"
    )


def _graphs(graphs: Sequence[GraphFigures]) -> str:
    head = "<tr><th>graph</th><th>pages</th><th>links</th><th>clustering</th><th>mean path</th><th>in</th><th>out</th></tr>"
    rows = "".join(
        f"<tr><td>{name}</td><td>{one.pages:,}</td><td>{one.links:,}</td><td>{one.clustering:.4f}</td>"
        f"<td>{one.mean_path:.3f}</td><td>{one.in_exponent:.2f}</td><td>{one.out_exponent:.2f}</td></tr>"
        for name, one in zip(("as recorded", "rewired"), graphs, strict=False)
    )
    return f"<table>{head}{rows}</table><p>in, out: exponents of the power laws of the degrees.</p>"


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{html.escape(row.kind)}</th>" for row in rows)
    body = "".join(
        f"<tr><td>{name}</td>{''.join(f'<td>{_value(row, name)}</td>' for row in rows)}</tr>" for name in FIGURES
    )
    return f"<table><tr><th>figure</th>{head}</tr>{body}</table>"


def _value(row: Row, name: str) -> str:
    spread = row.sd(name)
    return f"{row.mean(name):.4g}" + ("" if np.isnan(spread) else f" ± {spread:.2g}")


def _plot(rows: Sequence[Row], figure: str, label: str, *, script: bool) -> str:
    plot = go.Figure()
    for row in rows:
        hours, values = row.curve(figure)
        plot.add_scatter(x=hours, y=values, name=html.escape(row.kind), mode="lines")
    plot.update_layout(title=label, xaxis_title="hours", height=420, template="plotly_white")
    return str(plot.to_html(full_html=False, include_plotlyjs=script))
