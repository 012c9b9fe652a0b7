"""Long-term profit: the learned worth of a page's state (Alg 3, Alg 4).

The estimate is linear, V(A) = Σ wᵢ sᵢ(A), and learned by TD(0): δ = r + γ V(next) − V(current), Δw = α δ s(current).
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.errors import SettingsError
from forager.foragers.kernels import best
from forager.foragers.saving import pack, unpack
from forager.foragers.settings import ProfitSettings

Vector = NDArray[np.float32]


@compiled
def _profits(
    urls: NDArray[np.int64], rows: NDArray[np.int32], vectors: NDArray[np.float32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    out = np.empty(len(urls))
    for i in range(len(urls)):
        row = vectors[rows[urls[i]]]
        total = 0.0
        for k in range(len(weights)):
            total += weights[k] * row[k]
        out[i] = total
    return out


class Profit:
    """A linear estimate of long-term profit, learned by TD(0)."""

    def __init__(self, weights: NDArray[np.float64], settings: ProfitSettings) -> None:
        self.weights = weights
        self.settings = settings

    @classmethod
    def random(cls, dimension: int, settings: ProfitSettings, rng: np.random.Generator) -> "Profit":
        """With the random first weights of a new forager."""
        return cls(rng.uniform(-settings.spread, settings.spread, dimension), settings)

    def __repr__(self) -> str:
        return f"<Profit of {len(self.weights)} components, |w| {np.linalg.norm(self.weights):.3g}>"

    def of(self, states: NDArray[np.float32]) -> NDArray[np.float64]:
        """The long-term profit of each row."""
        return np.asarray(states @ self.weights, dtype=np.float64)

    def of_urls(
        self, urls: NDArray[np.int64], rows: NDArray[np.int32], vectors: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """The same for URLs, without copying their states: `rows` says where in `vectors` each URL has its own."""
        return _profits(urls, rows, vectors, self.weights)

    def choose(self, states: NDArray[np.float32], rng: np.random.Generator) -> int:
        """The row with the largest profit; ties are broken at random (Alg 3)."""
        return best(self.of(states), rng.random())

    def learn(self, current: Vector, earned: float, following: Vector) -> float:
        """Learn from one step, current -> following, that earned so much (Alg 4); the error δ."""
        error = float(earned + self.settings.discount * (self.weights @ following) - self.weights @ current)
        self._move(current, error)
        return error

    def add(self, current: Vector, earned: float) -> None:
        """Something more that an already learned step from `current` earned: the error was larger by that much."""
        self._move(current, earned)

    def check(self, states: NDArray[np.float32]) -> None:
        """Refuse states with which learning would blow up: α times the mean of ‖s‖² must be below 1."""
        mean = float(np.einsum("ij,ij->i", states, states).mean()) if len(states) else 0.0
        if not self.settings.normalised and self.settings.rate * mean >= 1:
            raise SettingsError(
                f"profit.rate {self.settings.rate:g} is too large for these states (mean square length {mean:.3g}): "
                f"set it below {1 / mean:.3g}, or set profit.normalised"
            )

    def copy(self) -> "Profit":
        return Profit(self.weights.copy(), self.settings)

    def save(self) -> bytes:
        return pack("profit", 1, {"weights": self.weights})

    @classmethod
    def load(cls, saved: bytes, settings: ProfitSettings) -> "Profit":
        return cls(np.asarray(unpack("profit", 1, saved)["weights"], dtype=np.float64), settings)

    def _move(self, current: Vector, error: float) -> None:
        rate = self.settings.rate
        if self.settings.normalised:
            rate /= max(1.0, float(current @ current))
        self.weights += rate * error * current
