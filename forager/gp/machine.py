"""Trees evaluated by a small compiled machine: no numpy call per function, so few rows cost next to nothing.

A program is a list of steps over rows; a row stands for a page or a group of pages. Functions and terminals are those
of `gp.trees` and `recrawl.terminals`; results may differ from theirs in the last bit.

Compiled code is kept in `__pycache__`, and numba renews it only when the file of the calling function changes: whoever
edits this file deletes `__pycache__/*.nb*` here.
"""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numba import njit

from forager.arrays import FloatArray, IntArray
from forager.gp.trees import EXPONENT_LIMIT, LIMIT, Tree
from forager.recrawl.formula import prepared
from forager.recrawl.terminals import PRIOR

STATE = ("n", "X", "recent", "ranked", "halved", "last_change", "hub", "inlinks")
"""What makes the state of a group of pages, besides its last visit: a line of the processor's cache."""
FIELDS = (*STATE, "last", "rate", "update", "documents")
N, X, RECENT, RANKED, HALVED, LAST_CHANGE, HUB, INLINKS, LAST, RATE, UPDATE, DOCUMENTS = range(len(FIELDS))
"""Rows of the table of columns that a program reads."""

_CODES = ("number", "+", "-", "*", "/", "pow", "log", "exp")
_NUMBER, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _POWER, _LOG, _EXP = range(len(_CODES))
READS: dict[str, tuple[int, ...]] = {
    "n": (N,),
    "X": (X,),
    "t": (),
    "cg": (N, X),
    "nad": (N, X),
    "sad": (RECENT,),
    "aad": (N, RANKED),
    "gad": (N, HALVED),
    "T": (),
    "lam": (X,),
    "azar": (X,),
    "gain": (X,),
    "since": (LAST_CHANGE,),
    "rate": (RATE,),
    "docs": (N, DOCUMENTS),
    "hour": (),
    "hub": (HUB,),
    "inlinks": (INLINKS,),
    "hacs": (RATE, UPDATE),
    "pace": (DOCUMENTS,),
    "busy": (),
}
"""Every terminal and the fields that it reads besides the last visit."""
_TERMINALS = tuple(READS)
_READ = np.array([[field in fields for field in range(len(FIELDS))] for fields in READS.values()])
_FIRST = len(_CODES)
_BLOCK = 256
"""Rows at a time: all steps of a block stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Program:
    """A tree as arrays; one entry per step."""

    code: IntArray
    left: IntArray
    right: IntArray
    number: FloatArray


def program(tree: Tree) -> Program:
    """The tree with equal subtrees evaluated once."""
    steps = prepared(tree).steps
    code = [_NUMBER if isinstance(symbol, float) else (*_CODES, *_TERMINALS).index(symbol) for symbol, _, _ in steps]
    return Program(
        np.array(code, dtype=np.int64),
        np.array([left for _, left, _ in steps], dtype=np.int64),
        np.array([right for _, _, right in steps], dtype=np.int64),
        np.array([symbol if isinstance(symbol, float) else 0.0 for symbol, _, _ in steps]),
    )


@njit(cache=True, inline="always")
def _clipped(value):  # type: ignore[no-untyped-def]
    return min(max(value, -LIMIT), LIMIT)


@njit(cache=True, inline="always")
def _power(a, b):  # type: ignore[no-untyped-def]
    """As `trees.power`, in steps that leave the compiler no branch."""
    raised = min((abs(a) if a != 0.0 else 1.0) ** b, LIMIT)
    odd = b * 0.5 != np.floor(b * 0.5)
    negative = (-raised if odd else raised) if b == np.floor(b) else 0.0
    zero = 1.0 if b == 0.0 else 0.0
    return raised if a > 0.0 else (negative if a < 0.0 else zero)


@njit(cache=True, inline="always")
def _chance(rate, t):  # type: ignore[no-untyped-def]
    return 1.0 - exp(-rate * t)


@njit(cache=True, error_model="numpy")
def _terminal(name, count, now, clock, columns, out):  # type: ignore[no-untyped-def]
    """Write a terminal of the rows; times count from 0, when every row was visited first."""
    n, X_, last = columns[N], columns[X], columns[LAST]
    if name == 0:
        out[:count] = n[:count]
    elif name == 1:
        out[:count] = X_[:count]
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
        recent = columns[RECENT]
        for i in range(count):
            out[i] = _chance(recent[i], now - last[i])
    elif name == 6:
        ranked = columns[RANKED]
        for i in range(count):
            out[i] = _chance(2.0 * ranked[i] / max(n[i] * (n[i] + 1.0), 1.0), now - last[i])
    elif name == 7:
        sums = columns[HALVED]
        for i in range(count):
            out[i] = _chance(sums[i] / (1.0 - 0.5 ** max(n[i], 1.0)), now - last[i])
    elif name == 8:
        out[:count] = last[:count]
    elif name == 9:
        for i in range(count):
            out[i] = (X_[i] + PRIOR) / (last[i] + 1.0)
    elif name <= 11:
        freshness = name == 10
        for i in range(count):
            rate = (X_[i] + PRIOR) / (last[i] + 1.0)
            expected = rate * (now - last[i])
            gain = 1.0 - exp(-expected) * (1.0 + expected)
            out[i] = gain / (rate if freshness else 1.0)
    elif name == 12:
        changed = columns[LAST_CHANGE]
        for i in range(count):
            out[i] = now - changed[i]
    elif name == 13:
        out[:count] = columns[RATE, :count]
    elif name == 14:
        documents = columns[DOCUMENTS]
        for i in range(count):
            out[i] = documents[i] / max(n[i], 1.0)
    elif name == 15:
        out[:count] = clock[0, np.int64(now)]
    elif name == 16:
        out[:count] = columns[HUB, :count]
    elif name == 17:
        out[:count] = columns[INLINKS, :count]
    elif name == 18:
        rate_, update = columns[RATE], columns[UPDATE]
        for i in range(count):
            out[i] = _chance(rate_[i], now - update[i])
    elif name == 19:
        documents = columns[DOCUMENTS]
        for i in range(count):
            out[i] = (documents[i] + PRIOR) / (last[i] + 1.0)
    else:
        passed = clock[1]
        for i in range(count):
            out[i] = passed[np.int64(now)] - passed[np.int64(last[i])]


@njit(cache=True, error_model="numpy")
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
            out[i] = log(a[i] if a[i] > 0.0 else 1.0)
    else:
        for i in range(count):
            out[i] = exp(min(max(a[i], -EXPONENT_LIMIT), EXPONENT_LIMIT))


@njit(cache=True, error_model="numpy")
def evaluate(code, left, right, number, rows, now, clock, table, last, score):  # type: ignore[no-untyped-def]
    """Write the value of the program in each of the first `rows` columns of the table into `score`.

    `last` is their last visit, `clock` tells of every cycle its hour of the day and the busy time that has passed. Of
    the table only the fields that the program reads are looked at.
    """
    work, columns = np.empty((len(code), _BLOCK)), np.zeros((len(FIELDS), _BLOCK))
    read = np.zeros(len(FIELDS), dtype=np.bool_)
    for name in code:
        if name >= _FIRST:
            read |= _READ[name - _FIRST]
    for at in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - at)
        columns[LAST, :count] = last[at : at + count]
        for field in range(len(table)):
            if read[field]:
                columns[field, :count] = table[field, at : at + count]
        for step in range(len(code)):
            name, out = code[step], work[step]
            if name == _NUMBER:
                out[:count] = number[step]
            elif name < _FIRST:
                _function(name, count, work[left[step]], work[max(right[step], 0)], out)
            else:
                _terminal(name - _FIRST, count, now, clock, columns, out)
        score[at : at + count] = work[len(code) - 1, :count]
