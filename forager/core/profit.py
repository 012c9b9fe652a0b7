"""Long-term profit: what a page is worth now and later, estimated from its state (Alg 3, 4).

The estimate is linear, V(A) = Σ wᵢ sᵢ(A), and learned by TD(0). In the paper it is learned from the moves of a path: δ
= r + γ V(next) − V(current), Δw = α δ s(current). Ours is learned from the first visit of each page: its target is what
that visit earned, plus γ times the best estimate among the new links there. An unvisited page has the state of the page
that revealed it, and components of its own for its address, which is known before the visit.
"""

import math

import numpy as np

from forager.arrays import Float32Array, FloatArray, IntArray
from forager.core.addresses import MARKS
from forager.core.page_row import Mind
from forager.core.parameters import ProfitSettings
from forager.errors import SettingsError
from forager.kernel import compiled, inlined, inner

Vector = Float32Array
EACH = MARKS**-0.5
"""The value of each mark of an address in the state; all marks together have length 1."""


@inner
def profit_of(state: Vector, weights: FloatArray) -> float:
    """The long-term profit of a state."""
    total = 0.0
    for k in range(len(state)):
        total += weights[k] * state[k]
    return total


@inner
def _square_length(state: Vector) -> float:
    """‖s‖² in double precision, because plain Python rounds products of single-precision numbers differently."""
    total = 0.0
    for k in range(len(state)):
        value = np.float64(state[k])  # numba keeps the precision with `float`
        total += value * value
    return total


@inlined
def _row_of(mind: Mind, url: int) -> int:
    """The row of a page's state; for an unvisited page the row of the page that revealed it; 0 if nothing is known."""
    row: int = mind.rows[url]
    if row == 0 and mind.table[url].visits == 0 and mind.table[url].revealer >= 0:
        row = mind.rows[mind.table[url].revealer]
    return row


@inlined
def value_of(mind: Mind, url: int, weights: FloatArray, shaped: bool) -> float:
    """The long-term profit of a page."""
    row, value = _row_of(mind, url), 0.0
    if row > 0:
        value = profit_of(mind.vectors[row], weights)
    if shaped and url < len(mind.marks):
        size = mind.vectors.shape[1]
        for mark in mind.marks[url]:
            value += EACH * weights[size + int(mark)]
    return value


@compiled
def profits(mind: Mind, urls: IntArray, weights: FloatArray, shaped: bool) -> FloatArray:
    """The long-term profit of each page."""
    out = np.empty(len(urls))
    for i in range(len(urls)):
        out[i] = value_of(mind, urls[i], weights, shaped)
    return out


@inner
def learn_look(mind: Mind, url: int, weights: FloatArray, target: float, rate: float, shaped: bool) -> None:
    """Moves the long-term profit of a page towards `target`, what its first visit turned out to be worth."""
    row, error = _row_of(mind, url), target - value_of(mind, url, weights, shaped)
    marked = shaped and url < len(mind.marks)
    step = rate * error / max(1.0, _square_length(mind.vectors[row]) + marked)
    size = mind.vectors.shape[1]
    for k in range(size):
        weights[k] += step * np.float64(mind.vectors[row, k])
    if marked:
        for mark in mind.marks[url]:
            weights[size + int(mark)] += step * EACH


@inner
def foresee(mind: Mind, links: IntArray, weights: FloatArray, shaped: bool, typical: float, scale: float) -> float:
    """The best estimate among the unvisited links, 0 if there are none. Writes all their estimates down for the recrawl
    side.
    """
    most, none = 0.0, True
    for link in links:
        if mind.table[link].visits == 0:
            value = value_of(mind, link, weights, shaped)
            if link < len(mind.prospects):
                mind.prospects[link] = math.tanh((value - typical) / scale)
            if none or value > most:
                most, none = value, False
    return most


@compiled
def learn_profit(
    weights: FloatArray,
    current: Vector,
    following: Vector,
    earned: float,
    rate: float,
    discount: float,
    normalised: bool,
) -> float:
    """Learns from one step, current -> following, and what it earned (Alg 4); returns the error δ."""
    error = earned + discount * profit_of(following, weights) - profit_of(current, weights)
    if normalised:
        rate /= max(1.0, _square_length(current))
    for k in range(len(current)):
        weights[k] += rate * error * np.float64(current[k])
    return error


def check_rate(settings: ProfitSettings, states: Float32Array) -> None:
    """Raises an error for states with which learning would diverge: α times the mean of ‖s‖² must be below 1."""
    mean = float(np.einsum("ij,ij->i", states, states).mean()) if len(states) else 0.0
    if not settings.normalised and settings.rate * mean >= 1:
        raise SettingsError(
            f"profit.rate {settings.rate:g} is too large for these states (mean square length {mean:.3g}): "
            f"set it below {1 / mean:.3g}, or set profit.normalised"
        )
