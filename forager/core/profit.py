"""Long-term profit: the learned worth of a page's state (Alg 3, Alg 4).

The estimate is linear, V(A) = Σ wᵢ sᵢ(A), and learned by TD(0): δ = r + γ V(next) − V(current), Δw = α δ s(current).
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inner
from forager.core.parameters import ProfitSettings
from forager.errors import SettingsError

Vector = NDArray[np.float32]
FloatArray = NDArray[np.float64]


@inner
def profit_of(state: Vector, weights: FloatArray) -> float:
    """The long-term profit of one state."""
    total = 0.0
    for k in range(len(weights)):
        total += weights[k] * state[k]
    return total


@compiled
def profits(
    urls: NDArray[np.int64], rows: NDArray[np.int32], vectors: NDArray[np.float32], weights: FloatArray
) -> FloatArray:
    """The long-term profit of each page; `rows` says where in `vectors` its state stands, 0 for an unknown one."""
    out = np.zeros(len(urls))
    for i in range(len(urls)):
        if rows[urls[i]] > 0:
            out[i] = profit_of(vectors[rows[urls[i]]], weights)
    return out


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
    """Learn from one step, current -> following, that earned so much (Alg 4); the error δ."""
    error = earned + discount * profit_of(following, weights) - profit_of(current, weights)
    if normalised:
        length = 0.0
        for value in current:
            length += value * value
        rate /= max(1.0, length)
    for k in range(len(weights)):
        weights[k] += rate * error * current[k]
    return error


def random_weights(dimension: int, settings: ProfitSettings, rng: np.random.Generator) -> FloatArray:
    """The random first weights of a new forager."""
    return rng.uniform(-settings.spread, settings.spread, dimension)


def check_rate(settings: ProfitSettings, states: NDArray[np.float32]) -> None:
    """Refuse states with which learning would blow up: α times the mean of ‖s‖² must be below 1."""
    mean = float(np.einsum("ij,ij->i", states, states).mean()) if len(states) else 0.0
    if not settings.normalised and settings.rate * mean >= 1:
        raise SettingsError(
            f"profit.rate {settings.rate:g} is too large for these states (mean square length {mean:.3g}): "
            f"set it below {1 / mean:.3g}, or set profit.normalised"
        )
