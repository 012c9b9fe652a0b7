"""Charts of a search as SVG text, in the look of the other reports; numbers and escaped names only."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from forager.reports.svg import ACROSS, BOTTOM, DOWN, HEIGHT, LEFT, RIGHT, TOP, WIDTH, frame, line

Points = Sequence[tuple[float, float]]
Limits = tuple[float, float]
OPEN = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Marks:
    """Points of one kind."""

    style: str
    """A class of the style sheet."""
    points: Points
    radius: float = 3.0


def scatter(
    marks: Sequence[Marks],
    label: str,
    *,
    along: str,
    log: bool = False,
    names: Sequence[str] = (),
    limits: Limits = OPEN,
    best: Points = (),
) -> str:
    """Dots by two numbers, or by one of several `names` and a number; and a line through `best`.

    What lies outside the limits is drawn at the edge.
    """
    every = [point for one in marks for point in one.points]
    x, ticks = _across([at for at, _ in every], log=log, names=names)
    y, lines = _upwards([value for _, value in every], limits)
    dots = [
        f'<circle class="{one.style}" cx="{x(at):.1f}" cy="{y(value):.1f}" r="{one.radius:g}"/>'
        for one in marks
        for at, value in one.points
        if math.isfinite(value)
    ]
    curve = [_polyline("curve", [(x(at), y(value)) for at, value in best])] if best else []
    return frame([*lines, *dots, *curve, *ticks, _below(along)], HEIGHT, label)


def curves(named: Sequence[tuple[str, Points]], label: str, *, along: str) -> str:
    """Lines over a number, each with its class of the style sheet."""
    every = [point for _, points in named for point in points if math.isfinite(point[1])]
    x, ticks = _across([at for at, _ in every], log=False, names=())
    y, lines = _upwards([value for _, value in every], OPEN)
    drawn = [
        _polyline(style, [(x(at), y(value)) for at, value in points if math.isfinite(value)]) for style, points in named
    ]
    return frame([*lines, *drawn, *ticks, _below(along)], HEIGHT, label)


def bars(shares: Sequence[tuple[str, float]], label: str) -> str:
    """Named shares as lying bars, the largest first as they come."""
    row, wide = 20, 250
    most = max((share for _, share in shares), default=1.0) or 1.0
    height = TOP + row * len(shares) + 6
    drawn = [
        f'<text class="axis" x="{wide - 8}" y="{TOP + place * row + 13}" text-anchor="end">{escape(name)}</text>'
        f'<rect class="amount" x="{wide}" y="{TOP + place * row + 3}" height="{row - 6}" '
        f'width="{max(1.0, (WIDTH - wide - 60) * share / most):.1f}"/>'
        f'<text class="axis" x="{wide + max(1.0, (WIDTH - wide - 60) * share / most) + 6:.1f}" '
        f'y="{TOP + place * row + 13}">{share:.0%}</text>'
        for place, (name, share) in enumerate(shares)
    ]
    return frame(drawn, height, label)


def _across(values: Sequence[float], *, log: bool, names: Sequence[str]) -> tuple[Callable[[float], float], list[str]]:
    """Where a value stands from left to right, and the marks of the axis."""
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

    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    ends = [low * (high / low) ** share if log else low + (high - low) * share for share in shares]
    return x, [_tick(x(at), f"{at:.3g}") for at in ends]


def _upwards(values: Sequence[float], limits: Limits) -> tuple[Callable[[float], float], list[str]]:
    """Where a value stands from bottom to top, and the lines of the axis."""
    known = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = max(min(known), limits[0]), min(max(known), limits[1])
    if low >= high:
        low, high = low - 0.5, low + 0.5

    def y(value: float) -> float:
        return TOP + DOWN * (1 - min(1.0, max(0.0, (value - low) / (high - low))))

    return y, [line(y(at), f"{at:.3g}") for at in (low, (low + high) / 2, high)]


def _polyline(style: str, corners: Points) -> str:
    return f'<polyline class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'


def _tick(x: float, text: str) -> str:
    anchor = "start" if x <= LEFT else "end" if x >= WIDTH - RIGHT else "middle"
    return f'<text class="axis" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{text}</text>'


def _below(text: str) -> str:
    """What runs from left to right, at the right edge above the axis."""
    return f'<text class="axis" x="{WIDTH - RIGHT}" y="{TOP + 8}" text-anchor="end">{escape(text)}</text>'
