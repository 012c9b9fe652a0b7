"""Trees evaluated by a small compiled machine: no numpy call per function, so few rows cost next to nothing.

A program is a list of steps over rows; a row stands for a page or a group of pages. Functions and terminals are those of
`primitives` and `states`; results may differ from theirs in the last bit.

Compiled code is kept in `__pycache__`, and numba renews it only when the file of the calling function changes: whoever
edits this file deletes `__pycache__/*.nb*` here.
"""

from dataclasses import dataclass
from math import exp, floor, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from forager.recrawl.expression import compiled
from forager.recrawl.gp.primitives import EXPONENT_LIMIT, LIMIT
from forager.recrawl.gp.tree import Tree
from forager.recrawl.states import PRIOR

FloatArray = NDArray[np.float64]

STATE = ("n", "X", "recent", "ranked", "halved", "last_change", "hub", "inlinks")
"""What makes the state of a group of pages, besides its last visit: a line of the processor's cache."""
FIELDS = (*STATE, "last", "rate", "update", "documents")
N, X, RECENT, RANKED, HALVED, LAST_CHANGE, HUB, INLINKS, LAST, RATE, UPDATE, DOCUMENTS = range(len(FIELDS))
"""Rows of the table of columns that a program reads."""

_CODES = ("number", "+", "-", "*", "/", "pow", "log", "exp")
_NUMBER, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _POWER, _LOG, _EXP = range(len(_CODES))
_TERMINALS = (
    *("n", "X", "t", "cg", "nad", "sad", "aad", "gad", "T", "lam", "azar", "gain", "since", "rate", "docs", "hour"),
    *("hub", "inlinks", "hacs", "pace"),
)
_FIRST = len(_CODES)
_HALVES = 0.5 ** np.arange(1100.0)
"""2^−n, exactly; 0 from 1075 on."""
_BLOCK = 256
"""Rows at a time: all steps of a block stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Program:
    """A tree as arrays; one entry per step."""

    code: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    number: FloatArray


def program(tree: Tree) -> Program:
    """The tree with equal subtrees evaluated once."""
    steps = compiled(tree).steps
    code = [_NUMBER if isinstance(symbol, float) else (*_CODES, *_TERMINALS).index(symbol) for symbol, _, _ in steps]
    return Program(
        np.array(code, dtype=np.int64),
        np.array([left for _, left, _ in steps], dtype=np.int64),
        np.array([right for _, _, right in steps], dtype=np.int64),
        np.array([symbol if isinstance(symbol, float) else 0.0 for symbol, _, _ in steps]),
    )


@njit(cache=True)
def _clipped(value):  # type: ignore[no-untyped-def]
    return min(max(value, -LIMIT), LIMIT)


@njit(cache=True)
def _power(a, b):  # type: ignore[no-untyped-def]
    if a > 0.0 or (a == 0.0 and b >= 0.0) or (a < 0.0 and b == floor(b)):
        return _clipped(np.power(a, b))
    return 0.0


@njit(cache=True)
def _chance(rate, t):  # type: ignore[no-untyped-def]
    return 1.0 - exp(-rate * t)


@njit(cache=True)
def _terminal(name, at, count, now, hour, table, visited, out):  # type: ignore[no-untyped-def]
    """Write a terminal of the rows from `at` on; times count from 0, when every row was visited first."""
    n, X_, last = table[N, at : at + count], table[X, at : at + count], visited[at : at + count]
    if name == 0:
        out[:count] = n
    elif name == 1:
        out[:count] = X_
    elif name == 2:
        for i in range(count):
            out[i] = now - last[i]
    elif name == 3:
        for i in range(count):
            out[i] = -log((n[i] - X_[i] + 0.5) / (n[i] + 0.5))
    elif name == 4:
        for i in range(count):
            out[i] = _chance(X_[i] / max(n[i], 1.0), now - last[i])
    elif name == 5:
        for i in range(count):
            out[i] = _chance(table[RECENT, at + i], now - last[i])
    elif name == 6:
        for i in range(count):
            out[i] = _chance(2.0 * table[RANKED, at + i] / max(n[i] * (n[i] + 1.0), 1.0), now - last[i])
    elif name == 7:
        for i in range(count):
            left_out = _HALVES[np.int64(min(max(n[i], 1.0), 1099.0))]
            out[i] = _chance(table[HALVED, at + i] / (1.0 - left_out), now - last[i])
    elif name == 8:
        out[:count] = last
    elif name <= 11:
        for i in range(count):
            rate = (X_[i] + PRIOR) / (last[i] + 1.0)
            if name == 9:
                out[i] = rate
            else:
                expected = rate * (now - last[i])
                gain = 1.0 - exp(-expected) * (1.0 + expected)
                out[i] = gain / rate if name == 10 else gain
    elif name == 12:
        for i in range(count):
            out[i] = now - table[LAST_CHANGE, at + i]
    elif name == 13:
        out[:count] = table[RATE, at : at + count]
    elif name == 14:
        for i in range(count):
            out[i] = table[DOCUMENTS, at + i] / max(n[i], 1.0)
    elif name == 15:
        out[:count] = hour
    elif name == 16:
        out[:count] = table[HUB, at : at + count]
    elif name == 17:
        out[:count] = table[INLINKS, at : at + count]
    elif name == 18:
        for i in range(count):
            out[i] = _chance(table[RATE, at + i], now - table[UPDATE, at + i])
    else:
        for i in range(count):
            out[i] = (table[DOCUMENTS, at + i] + PRIOR) / (last[i] + 1.0)


@njit(cache=True)
def _function(name, count, a, b, out):  # type: ignore[no-untyped-def]
    if name == _ADD:
        for i in range(count):
            out[i] = a[i] + b[i]
    elif name == _SUBTRACT:
        for i in range(count):
            out[i] = a[i] - b[i]
    elif name == _MULTIPLY:
        for i in range(count):
            out[i] = _clipped(a[i] * b[i])
    elif name == _DIVIDE:
        for i in range(count):
            out[i] = _clipped(a[i] / b[i]) if b[i] != 0.0 else 0.0
    elif name == _POWER:
        for i in range(count):
            out[i] = _power(a[i], b[i])
    elif name == _LOG:
        for i in range(count):
            out[i] = log(a[i]) if a[i] > 0.0 else 0.0
    else:
        for i in range(count):
            out[i] = exp(min(max(a[i], -EXPONENT_LIMIT), EXPONENT_LIMIT))


@njit(cache=True)
def evaluate(code, left, right, number, rows, now, hour, table, last, score):  # type: ignore[no-untyped-def]
    """Write the value of the program in each of the first `rows` columns of the table into `score`.

    `last` is their last visit; of the table only the fields that the program reads are looked at.
    """
    work = np.empty((len(code), _BLOCK))
    for at in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - at)
        for step in range(len(code)):
            name, out = code[step], work[step]
            if name == _NUMBER:
                out[:count] = number[step]
            elif name < _FIRST:
                _function(name, count, work[left[step]], work[max(right[step], 0)], out)
            else:
                _terminal(name - _FIRST, at, count, now, hour, table, last, out)
        score[at : at + count] = work[len(code) - 1, :count]
