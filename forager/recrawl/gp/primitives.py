"""The functions of GP4C trees, protected: from numbers within ±1e150 they make finite numbers.

Division and log return 0 outside their domain (stated); powers and exponentials are clipped to ±LIMIT (our reading),
and so are products and quotients. Sums are not: a tree would have to be a hundred levels deep to bring clipped numbers
beyond 1e150. A power of a negative base is 0 unless its exponent is whole.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LIMIT = 1e100
"""Largest absolute value a function returns; its square is still finite."""
EXPONENT_LIMIT = 230.0
"""exp(230) is just below LIMIT."""


def _clipped(values: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(values, -LIMIT), LIMIT)


def add(a: FloatArray, b: FloatArray) -> FloatArray:
    return a + b


def subtract(a: FloatArray, b: FloatArray) -> FloatArray:
    return a - b


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    return _clipped(a * b)


def divide(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, 0 where b is 0."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if b.all():
            return _clipped(a / b)
        return _clipped(np.where(b == 0.0, 0.0, a / np.where(b == 0.0, 1.0, b)))


def log(a: FloatArray) -> FloatArray:
    """ln a, 0 where a is not positive."""
    return np.log(a if a.min(initial=1.0) > 0.0 else np.where(a > 0.0, a, 1.0))


def exp(a: FloatArray) -> FloatArray:
    return np.exp(np.minimum(np.maximum(a, -EXPONENT_LIMIT), EXPONENT_LIMIT))


def power(a: FloatArray, b: FloatArray) -> FloatArray:
    """a to the b, 0 where that is not a real number (0 to a negative power, a root of a negative number)."""
    with np.errstate(over="ignore", under="ignore"):
        if a.min(initial=1.0) > 0.0:  # defined everywhere: no need to look more closely
            return np.minimum(np.power(a, b), LIMIT)
        defined = (a > 0.0) | ((a == 0.0) & (b >= 0.0)) | ((a < 0.0) & (b == np.floor(b)))
        raised = np.power(np.where(defined, a, 1.0), np.where(defined, b, 1.0))
        return np.where(defined, _clipped(raised), 0.0)


BINARY: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "pow": power,
}
UNARY: Mapping[str, Callable[[FloatArray], FloatArray]] = {"log": log, "exp": exp}

CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
"""Stated."""
