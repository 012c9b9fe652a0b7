"""Small SVG charts and the layout that reports share: one HTML file that needs no network and no script.

Charts contain only numbers and escaped text, so that no text from a page can become markup.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from forager.report.phrases import shown_moment, span

if TYPE_CHECKING:
    from rich.table import Table

STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, parts: Iterable[str]) -> str:
    """The whole HTML file; the title is plain text, the parts are markup."""
    name = escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<style>{STYLE}</style></head><body><main><h1>{name}</h1>{''.join(parts)}</main></body></html>\n"
    )


def tiles(shown: Iterable[tuple[str, str, str]]) -> str:
    """Large figures: name, value and a note, all markup."""
    drawn = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd><dd class=note>{note}</dd></div>" for name, value, note in shown
    )
    return f"<dl class=tiles>{drawn}</dl>"


def section(title: str, note: str, content: str) -> str:
    """A section of the page; the content is markup."""
    return f"<section><h2>{title}</h2>{f'<p class=note>{note}</p>' if note else ''}{content}</section>"


def pair(one: str, other: str) -> str:
    """Two sections side by side, or one below the other on a narrow screen."""
    return f"<div class=pair>{one}{other}</div>"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int]) -> str:
    """A table; cells are markup, and columns not in `text` hold numbers."""
    kinds = ["" if place in text else " class=number" for place in range(len(heads))]
    head = "".join(f"<th scope=col{kind}>{name}</th>" for name, kind in zip(heads, kinds, strict=True))
    lines = (
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<div class=scroll><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def table_section(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[int], *, note: str = "", empty: str
) -> str:
    """A section with a table, or with what to say if it has no rows."""
    if not rows:
        return section(title, "", f"<p class=empty>{empty}</p>")
    return section(title, note, html_table(heads, rows, text))


WIDEST = 160
"""Columns that a table may take if there is no terminal (ours)."""
NAME = 24
"""Characters of the names of rows; if one is longer, names wrap on a narrow terminal, else figures do (ours)."""


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table of plain text, for a terminal or a report; its first column names the row, the others hold figures."""

    title: str
    note: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        rows = [[_wrapping(row[0]), *map(escape, row[1:])] for row in self.rows]
        heads = [*map(_wrapping, self.heads)]
        return section(escape(self.title), escape(self.note), html_table(heads, rows, text=(0,)))

    def show(self) -> None:
        """Prints the table, in as many columns as the terminal has; elsewhere in as many as it needs."""
        from rich.console import Console  # slow to import, and reports need none of it

        console, tight = Console(width=None if sys.stdout.isatty() else WIDEST), self._drawn("±")
        needed = console.measure(tight, options=console.options.update(max_width=WIDEST)).maximum
        console.print(tight if needed <= console.width else self._drawn(" ±"))  # a cell breaks at a blank

    def _drawn(self, spread: str) -> "Table":
        """The table for a terminal, with this sign between a figure and its spread."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(self.title), caption=Text(self.note), box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
        )
        long = max((len(row[0]) for row in self.rows), default=0) > NAME
        table.add_column(Text(self.heads[0]), overflow="fold", no_wrap=not long)
        for head in self.heads[1:]:
            table.add_column(Text(head), justify="right", no_wrap=long)
        for row in self.rows:
            table.add_row(*(Text(re.sub(" ?± ?", spread, cell).replace(" *", "*")) for cell in row))
        return table


def _wrapping(text: str) -> str:
    """Plain text that breaks into lines, as a formula may be long."""
    return f"<span class=formula>{escape(text)}</span>"


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 220, 70, 34, 12, 26
ACROSS, DOWN = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
COLOURS = 8
"""Number of colours: classes `c0` to `c7` of the style sheet, `l0` to `l7` for lines."""
DELAYS = (10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0)
"""Delays that have a line, of which the first four always show."""
SPOTS = 48
"""Approximate number of points of a line with a tooltip (ours)."""

FORM = ",.6g"
"""How numbers of charts are written."""

Points = Sequence[tuple[float, float]]
Limits = tuple[float, float]
OPEN = (-math.inf, math.inf)


def bars(counts: Sequence[float], began: float, ended: float, label: str) -> str:
    """Bar chart of counts over time."""
    y, lines = _upwards([0.0, max(4.0, *counts)], ",.0f")
    step = ACROSS / max(1, len(counts))
    drawn = (
        f'<rect class="amount" x="{LEFT + place * step:.1f}" y="{y(count):.1f}" '
        f'width="{max(0.5, step - 0.7):.1f}" height="{TOP + DOWN - y(count):.1f}"/>'
        for place, count in enumerate(counts)
        if count
    )
    return _over_time([*lines, *drawn], began, ended, label)


def shares(
    parts: Sequence[float], wholes: Sequence[float], began: float, ended: float, label: str, form: str = ".0%"
) -> str:
    """Line chart of parts / wholes over time; skips times without a whole."""
    y, lines = _upwards([0.0, 1.0], form)
    step, pairs = ACROSS / max(1, len(parts)), enumerate(zip(parts, wholes, strict=True))
    points = [(LEFT + (place + 0.5) * step, y(part / whole)) for place, (part, whole) in pairs if whole]
    return _over_time([*lines, _polyline("curve", points)], began, ended, label)


def dots(points: Sequence[tuple[float, float, int]], began: float, ended: float, label: str) -> str:
    """Delays over time on a logarithmic scale; points are time, delay, colour."""
    longest = max((delay for _, delay, _ in points if math.isfinite(delay)), default=0.0)
    marks = [mark for place, mark in enumerate(DELAYS) if place < 4 or DELAYS[place - 1] < longest]

    def height(delay: float) -> float:
        delay = min(max(marks[0], delay), marks[-1])
        return TOP + DOWN * (1 - math.log(delay / marks[0]) / math.log(marks[-1] / marks[0]))

    drawn = [_grid_line(height(mark), span(mark)) for mark in marks]
    drawn += [
        f'<circle class="c{colour % COLOURS}" cx="{_x(at, began, ended):.1f}" cy="{height(delay):.1f}" r="2.4"/>'
        for at, delay, colour in points
        if math.isfinite(at) and math.isfinite(delay)
    ]
    return _over_time(drawn, began, ended, label)


def lives(rows: Sequence[tuple[int, int | None, float, float | None]], began: float, ended: float, label: str) -> str:
    """Lifetimes of foragers, one row each: number, parent, birth, death."""
    row, places = 18, {number: TOP + place * 18 + 9 for place, (number, *_) in enumerate(rows)}
    height, drawn = TOP + BOTTOM + row * len(rows), []
    for number, parent, born, died in rows:
        y, x, end = places[number], _x(born, began, ended), _x(ended if died is None else died, began, ended)
        if parent in places:
            drawn.append(f'<line class="birth" x1="{x:.1f}" x2="{x:.1f}" y1="{places[parent]}" y2="{y}"/>')
        drawn.append(
            f'<line class="{"life" if died is None else "life gone"}" x1="{x:.1f}" x2="{max(x + 2, end):.1f}" '
            f'y1="{y}" y2="{y}"/><circle class="c0" cx="{x:.1f}" cy="{y}" r="3"/>'
            f'<text class="axis" x="{LEFT - 8}" y="{y + 4}" text-anchor="end">№ {number}</text>'
        )
        if died is not None:
            drawn.append(f'<text class="death" x="{end:.1f}" y="{y + 4}" text-anchor="middle">×</text>')
    return _over_time(drawn, began, ended, label, height)


@dataclass(frozen=True, slots=True)
class Marks:
    """Points of one kind in a scatter chart."""

    style: str
    """A class of the style sheet."""
    points: Points
    radius: float = 3.0


def scatter_chart(
    marks: Sequence[Marks],
    label: str,
    *,
    along: str,
    log: bool = False,
    names: Sequence[str] = (),
    limits: Limits = OPEN,
    best: Points = (),
) -> str:
    """Scatter chart of two numbers, or of one of several `names` and a number, with a line through `best`.

    Points outside the limits are drawn at the edge.
    """
    every = [point for one in marks for point in one.points]
    x, ticks = _across([at for at, _ in every], log=log, names=names)
    y, lines = _upwards([value for _, value in every], limits=limits)
    dots = [
        f'<circle class="{one.style}" cx="{x(at):.1f}" cy="{y(value):.1f}" r="{one.radius:g}"/>'
        for one in marks
        for at, value in one.points
        if math.isfinite(value)
    ]
    curve = [_polyline("curve", [(x(at), y(value)) for at, value in best])] if best else []
    below = f'<text class="axis" x="{WIDTH - RIGHT}" y="{TOP + 8}" text-anchor="end">{escape(along)}</text>'
    return frame([*lines, *dots, *curve, *ticks, below], HEIGHT, label)


def line_chart(
    named: Sequence[tuple[str, Points]],
    label: str,
    *,
    along: str,
    form: str = FORM,
    ticks: str = FORM,
    zero: bool = False,
) -> str:
    """Line chart with a legend; a tooltip shows the name of a line and its values.

    `form` formats values, `ticks` the numbers of the axis; both axes begin at 0 if `zero`.
    """
    known = [(name, [point for point in points if math.isfinite(point[1])]) for name, points in named]
    every = [point for _, points in known for point in points] + ([(0.0, 0.0)] if zero else [])
    x, marks = _across([at for at, _ in every], form=ticks)
    y, across = _upwards([value for _, value in every], form)
    below = f'<text class="axis" x="{LEFT + ACROSS / 2}" y="{HEIGHT + 8}" text-anchor="middle">{escape(along)}</text>'
    drawn = [
        f"<g>{_polyline(_style(place), [(x(at), y(value)) for at, value in points])}"
        + "".join(
            f'<circle class="spot" cx="{x(at):.1f}" cy="{y(value):.1f}" r="6">'
            f"<title>{escape(name)}: {value:{form}} ({escape(along)}: {at:{ticks}})</title></circle>"
            for at, value in points[:: max(1, len(points) // SPOTS)]
        )
        + "</g>"
        for place, (name, points) in enumerate(known)
    ]
    return frame([*across, *drawn, *marks, below], HEIGHT + 16, label) + _legend([name for name, _ in named])


def _style(place: int) -> str:
    """Class of a line: first colours, then dashed lines in the same colours."""
    return f"line l{place % COLOURS}" + (" broken" if place // COLOURS % 2 else "")


def _legend(names: Sequence[str]) -> str:
    entries = (
        f'<li><svg viewBox="0 0 20 10"><line class="{_style(place)}" x1="0" x2="20" y1="5" y2="5"/></svg>'
        f"{escape(name)}</li>"
        for place, name in enumerate(names)
    )
    return f'<ul class="legend lines">{"".join(entries)}</ul>'


def ranked_bars(ranked: Sequence[tuple[str, float]], label: str) -> str:
    """Horizontal bars of named shares, in the given order."""
    row, wide = 20, 250
    most = max((share for _, share in ranked), default=1.0) or 1.0
    drawn = []
    for place, (name, share) in enumerate(ranked):
        y, length = TOP + place * row, max(1.0, (WIDTH - wide - 60) * share / most)
        drawn.append(
            f'<text class="axis" x="{wide - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="amount" x="{wide}" y="{y + 3}" height="{row - 6}" width="{length:.1f}"/>'
            f'<text class="axis" x="{wide + length + 6:.1f}" y="{y + 13}">{share:.0%}</text>'
        )
    return frame(drawn, TOP + row * len(ranked) + 6, label)


def frame(drawn: Sequence[str], height: int, label: str) -> str:
    inside = "".join(drawn)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{inside}</svg>'


def _x(at: float, began: float, ended: float) -> float:
    return LEFT + ACROSS * min(1.0, max(0.0, (at - began) / max(1e-9, ended - began)))


def _grid_line(y: float, text: str) -> str:
    """A horizontal grid line with its value."""
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="axis" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'
    )


def _over_time(drawn: Sequence[str], began: float, ended: float, label: str, height: int = HEIGHT) -> str:
    """A chart with its time axis."""
    axis = []
    for step in range(5):
        time = shown_moment(began + (ended - began) * step / 4)
        text = time[5:16] if ended - began > 86_400 else time[11:16]
        axis.append(_tick(LEFT + ACROSS * step / 4, text, height))
    return frame([*drawn, *axis], height, label)


def _across(
    values: Sequence[float], *, log: bool = False, names: Sequence[str] = (), form: str = FORM
) -> tuple[Callable[[float], float], list[str]]:
    """Maps values to horizontal positions, and draws the marks of the axis."""
    if names:
        step = ACROSS / len(names)
        marks = [_tick(LEFT + (place + 0.5) * step, escape(name)) for place, name in enumerate(names)]
        return lambda at: LEFT + (at + 0.5) * step, marks
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)

    def x(at: float) -> float:
        share = math.log(at / low) / math.log(high / low) if log else (at - low) / (high - low)
        return LEFT + ACROSS * share

    ends = [low * (high / low) ** (step / 4) for step in range(5)] if log else _round_numbers(low, high, 6)
    return x, [_tick(x(at), f"{at:{'.3g' if log else form}}") for at in ends]


def _round_numbers(low: float, high: float, most: int) -> list[float]:
    """Round numbers from `low` to `high` at equal distances, about `most` of them at most."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(power * factor for factor in (1, 2, 5, 10) if (high - low) / (power * factor) <= most)
    return [place * step for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _upwards(
    values: Sequence[float], form: str = FORM, limits: Limits = OPEN
) -> tuple[Callable[[float], float], list[str]]:
    """Maps values to vertical positions, and draws the lines of the axis."""
    known = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = max(min(known), limits[0]), min(max(known), limits[1])
    if low >= high:
        low, high = low - 0.5, low + 0.5

    def y(value: float) -> float:
        return TOP + DOWN * (1 - min(1.0, max(0.0, (value - low) / (high - low))))

    return y, [_grid_line(y(at), f"{at:{form}}") for at in _round_numbers(low, high, 5)]


def _polyline(style: str, corners: Points) -> str:
    return f'<polyline class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'


def _tick(x: float, text: str, height: int = HEIGHT) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{height - BOTTOM + 18}" text-anchor="middle">{text}</text>'
