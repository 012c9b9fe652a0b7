"""Small charts as SVG text; numbers and harmless text only, so nothing of a page can become markup."""

import math
from collections.abc import Sequence
from html import escape

from forager.reports.showing import moment, span

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 220, 70, 12, 12, 26
ACROSS, DOWN = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
COLOURS = 8
"""Classes `c0` to `c7` of the style sheet."""


def bars(counts: Sequence[float], began: float, ended: float, label: str) -> str:
    """Counts over time."""
    top, step = max(1, max(counts, default=1)), ACROSS / max(1, len(counts))
    drawn = [line(TOP + DOWN * (1 - share), f"{top * share:g}") for share in (0.0, 0.5, 1.0)]
    for place, count in enumerate(counts):
        if count:
            height = DOWN * count / top
            drawn.append(
                f'<rect class="amount" x="{LEFT + place * step:.1f}" y="{TOP + DOWN - height:.1f}" '
                f'width="{max(0.5, step - 0.7):.1f}" height="{height:.1f}"/>'
            )
    return frame([*drawn, *_time_axis(began, ended, HEIGHT)], HEIGHT, label)


def shares(parts: Sequence[float], wholes: Sequence[float], began: float, ended: float, label: str) -> str:
    """Parts of wholes over time, as a line; times without a whole are passed over."""
    drawn = [line(TOP + DOWN * (1 - share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)]
    step = ACROSS / max(1, len(parts))
    points = [
        f"{LEFT + (place + 0.5) * step:.1f},{TOP + DOWN * (1 - part / whole):.1f}"
        for place, (part, whole) in enumerate(zip(parts, wholes, strict=True))
        if whole
    ]
    drawn.append(f'<polyline class="curve" points="{" ".join(points)}"/>')
    return frame([*drawn, *_time_axis(began, ended, HEIGHT)], HEIGHT, label)


def dots(points: Sequence[tuple[float, float, int]], began: float, ended: float, label: str) -> str:
    """Delays over time on a logarithmic scale: time, delay, colour."""
    lowest, highest = 10.0, max([3600.0, *(delay for _, delay, _ in points if math.isfinite(delay))])

    def height(delay: float) -> float:
        return TOP + DOWN * (1 - math.log(max(lowest, delay) / lowest) / math.log(highest / lowest))

    marks = [mark for mark in (10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0) if mark <= highest]
    drawn = [line(height(mark), span(mark)) for mark in marks]
    drawn += [
        f'<circle class="c{colour % COLOURS}" cx="{_x(at, began, ended):.1f}" cy="{height(delay):.1f}" r="2.4"/>'
        for at, delay, colour in points
        if math.isfinite(at) and math.isfinite(delay)
    ]
    return frame([*drawn, *_time_axis(began, ended, HEIGHT)], HEIGHT, label)


def lives(rows: Sequence[tuple[int, int | None, float, float | None]], began: float, ended: float, label: str) -> str:
    """Lives over time, one row each: number, parent, birth, death."""
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
    return frame([*drawn, *_time_axis(began, ended, height)], height, label)


def frame(drawn: Sequence[str], height: int, label: str) -> str:
    """A chart of what was drawn."""
    inside = "".join(drawn)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{inside}</svg>'


def _x(at: float, began: float, ended: float) -> float:
    return LEFT + ACROSS * min(1.0, max(0.0, (at - began) / max(1e-9, ended - began)))


def line(y: float, text: str) -> str:
    """A line across the chart with its value."""
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="axis" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'
    )


def _time_axis(began: float, ended: float, height: int) -> list[str]:
    marks = []
    for step in range(5):
        anchor = "start" if step == 0 else "end" if step == 4 else "middle"
        time = moment(began + (ended - began) * step / 4)
        text = time[5:16] if ended - began > 172_800 else time[11:16]
        x = LEFT + ACROSS * step / 4
        marks.append(f'<text class="axis" x="{x:.1f}" y="{height - 8}" text-anchor="{anchor}">{text}</text>')
    return marks
