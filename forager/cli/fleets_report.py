"""The comparison of fleets as one HTML file with charts; it loads nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from forager.cli.outputs import write_whole
from forager.measures.graph import GraphFigures
from forager.reports import svg
from forager.reports.page import page, pair, section, table
from forager.reports.showing import figure, shown
from forager.simulation.compare import FIGURES, Row, paired
from forager.world.tape.columns import Tape

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
    days = (tape.end - tape.start) / 86_400
    size = f"{tape.pages:,} pages, {tape.versions:,} versions, {tape.links.size:,} links, {days:.1f} days."
    parts = [f"<p class=note>{size}</p>", _graphs(graphs)]
    for budget, twin in dict.fromkeys((row.budget, row.rewired) for row in rows):
        group = [row for row in rows if (row.budget, row.rewired) == (budget, twin)]
        title = f"{budget:g} downloads per hour{', rewired' if twin else ''}"
        parts += [section(title, spread_and_mark(group), _table(group))]
        parts += [pair(*(section(label, title, _chart(group, name, label)) for name, label in _CURVES))]
    return page(f"Fleets on {shown(tape.origin)}", parts)


def _graphs(graphs: Sequence[GraphFigures]) -> str:
    rows = [
        [
            name,
            f"{one.pages:,}",
            f"{one.links:,}",
            figure(one.clustering, ".4f"),
            figure(one.mean_path, ".3f"),
            figure(one.in_exponent, ".2f"),
            figure(one.out_exponent, ".2f"),
        ]
        for name, one in zip(("as recorded", "rewired"), graphs, strict=False)
    ]
    heads = ["Graph", "Pages", "Links", "Clustering", "Mean path", "In", "Out"]
    return section("Graph", "in, out: exponents of the power laws of the degrees.", table(heads, rows, text=(0,)))


def _table(rows: Sequence[Row]) -> str:
    body = [[name, *(told(row, rows[0], name) for row in rows)] for name in FIGURES]
    return table(["Figure", *(escape(row.kind) for row in rows)], body, text=(0,))


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


def _chart(rows: Sequence[Row], name: str, label: str) -> str:
    named = [(row.kind, list(zip(*row.curve(name), strict=True))) for row in rows]
    return svg.lines(named, label, along="hours")
