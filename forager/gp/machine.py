"""Evaluates trees on a small compiled machine: no numpy call per function, so that few rows cost almost nothing.

A program is a list of steps over rows; a row stands for a page or a group of pages.

The functions are protected: from numbers within ±1e150 they make finite numbers. Division and log return 0 outside
their domain (stated). Powers and exponentials are clipped to ±LIMIT (our reading), and so are products and quotients.
Sums are not: a tree would have to be a hundred levels deep to bring clipped numbers beyond 1e150. A power of a negative
base is 0 unless its exponent is whole.

A crawl calls this machine too. When compiled code of `gp.grouped` calls it, numba does not see that this file has
changed: delete `__pycache__/*.nb*` here after an edit.
"""

import math
from typing import NamedTuple

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.gp.trees import EXPONENT_LIMIT, LIMIT, Symbol, Tree, arity, children
from forager.kernel import compiled, inlined, inner
from forager.recrawl.list_estimates import waiting
from forager.recrawl.terminals import PRIOR

STATE = ("n", "X", "recent", "ranked", "halved", "last_change", "hub", "inlinks")
"""The state of a group of pages, besides its last visit: one cache line of the processor."""
FIELDS = (
    *STATE,
    *("last", "rate", "update", "documents", "first", "news", "hazard", "elsewhere", "length", "hour", "busy"),
)
N, X, RECENT, RANKED, HALVED, LAST_CHANGE, HUB, INLINKS, LAST, RATE, UPDATE, DOCUMENTS, FIRST = range(13)
NEWS, HAZARD, ELSEWHERE, LENGTH, HOUR, BUSY = range(13, len(FIELDS))
"""Rows of the table of columns that a program reads. Hour and busy time are read only where there is no clock."""
LONGEST = 24.0
"""Hours that a document counts as late in `wlate` if it is never seen."""

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
    "T": (FIRST,),
    "lam": (X, FIRST),
    "azar": (X, FIRST),
    "gain": (X, FIRST),
    "since": (LAST_CHANGE,),
    "rate": (NEWS,),
    "docs": (N, DOCUMENTS),
    "hour": (HOUR,),
    "hub": (HUB,),
    "inlinks": (INLINKS,),
    "hacs": (RATE, UPDATE),
    "pace": (DOCUMENTS, FIRST),
    "busy": (BUSY,),
    "haz": (HAZARD,),
    "wlate": (NEWS, HAZARD, BUSY),
    "elsewhere": (ELSEWHERE,),
    "len": (LENGTH,),
}
"""Every terminal, and the fields that it reads besides the last visit."""
_TERMINALS = tuple(READS)
SIMULATED = frozenset({FIRST, HOUR, BUSY})
"""Fields that say nothing of a page in a simulation, because all pages are first visited at 0 and a clock tells the
time.
"""
_READ = np.array([[field in fields for field in range(len(FIELDS))] for fields in READS.values()])
_FIRST = len(_CODES)
CLOCKLESS: FloatArray = np.empty((2, 0))
_BLOCK = 256
"""Rows at a time: all steps of a block stay in the processor's cache."""


def own_fields(name: str) -> set[int]:
    """The fields of a page that a terminal reads in a simulation."""
    return set(READS[name]) - SIMULATED


class Program(NamedTuple):
    """A tree as arrays; one entry per step."""

    code: IntArray
    left: IntArray
    right: IntArray
    number: FloatArray
    cycle: float
    """Seconds in a cycle, in which the tree counts time."""


def program(tree: Tree, cycle: float = 3600.0) -> Program:
    """The tree with equal subtrees evaluated once."""
    steps: list[tuple[Symbol, int, int]] = []
    known: dict[Tree, int] = {}

    def place(part: Tree) -> int:
        if part not in known:
            below = [place(child) for child in children(part)] if arity(part[0]) else []
            left, right = (*below, -1, -1)[:2]
            steps.append((part[0], left, right))
            known[part] = len(steps) - 1
        return known[part]

    place(tree)
    code = [_NUMBER if isinstance(symbol, float) else (*_CODES, *_TERMINALS).index(symbol) for symbol, _, _ in steps]
    return Program(
        np.array(code, dtype=np.int64),
        np.array([left for _, left, _ in steps], dtype=np.int64),
        np.array([right for _, _, right in steps], dtype=np.int64),
        np.array([symbol if isinstance(symbol, float) else 0.0 for symbol, _, _ in steps]),
        cycle,
    )


_NONE: IntArray = np.empty(0, dtype=np.int64)
NO_PROGRAM = Program(_NONE, _NONE, _NONE, np.empty(0), 3600.0)
"""Of nothing: nobody asks for a score."""


@inlined
def _clipped(value: float) -> float:
    return min(max(value, -LIMIT), LIMIT)


@inlined
def _power(a: float, b: float) -> float:
    """a to the b; 0 if that is not a real number. Written so that the compiler needs no branch."""
    raised = min((abs(a) if a != 0.0 else 1.0) ** b, LIMIT)
    odd = b * 0.5 != math.floor(b * 0.5)
    negative = (-raised if odd else raised) if b == math.floor(b) else 0.0
    zero = 1.0 if b == 0.0 else 0.0
    return raised if a > 0.0 else (negative if a < 0.0 else zero)


@inlined
def _chance(rate: float, t: float) -> float:
    return 1.0 - math.exp(-rate * t)


@inlined
def _busy_time(now: float, last: float, clock: FloatArray) -> float:
    passed: float = clock[1, int(now)] - clock[1, int(last)]
    return passed


@inlined
def _copied(values: FloatArray, count: int, out: FloatArray) -> None:
    """Copies the first values; with an assignment numba would allocate memory."""
    for i in range(count):
        out[i] = values[i]


@inner
def _terminal(
    name: int, count: int, now: float, hours: float, clock: FloatArray, columns: FloatArray, out: FloatArray
) -> None:
    """Writes the values of a terminal for the rows; without a clock, hour and busy time are columns."""
    n, X_, last, first = columns[N], columns[X], columns[LAST], columns[FIRST]
    clocked = clock.shape[1] > 0
    if name == 0:
        _copied(n, count, out)
    elif name == 1:
        _copied(X_, count, out)
    elif name == 2:
        for i in range(count):
            out[i] = now - last[i]
    elif name == 3:
        for i in range(count):
            out[i] = -math.log((n[i] - X_[i] + 0.5) / (n[i] + 0.5))
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
        for i in range(count):
            out[i] = last[i] - first[i]
    elif name == 9:
        for i in range(count):
            out[i] = (X_[i] + PRIOR) / (last[i] - first[i] + 1.0)
    elif name <= 11:
        freshness = name == 10
        for i in range(count):
            rate = (X_[i] + PRIOR) / (last[i] - first[i] + 1.0)
            expected = rate * (now - last[i])
            gain = 1.0 - math.exp(-expected) * (1.0 + expected)
            out[i] = gain / (rate if freshness else 1.0)
    elif name == 12:
        changed = columns[LAST_CHANGE]
        for i in range(count):
            out[i] = now - changed[i]
    elif name == 13:
        _copied(columns[NEWS], count, out)
    elif name == 14:
        documents = columns[DOCUMENTS]
        for i in range(count):
            out[i] = documents[i] / max(n[i], 1.0)
    elif name == 15:
        for i in range(count):
            out[i] = clock[0, int(now)] if clocked else columns[HOUR, i]
    elif name == 16:
        _copied(columns[HUB], count, out)
    elif name == 17:
        _copied(columns[INLINKS], count, out)
    elif name == 18:
        rate_, update = columns[RATE], columns[UPDATE]
        for i in range(count):
            out[i] = _chance(rate_[i], now - update[i])
    elif name == 19:
        documents = columns[DOCUMENTS]
        for i in range(count):
            out[i] = (documents[i] + PRIOR) / (last[i] - first[i] + 1.0)
    elif name == 20:
        for i in range(count):
            out[i] = _busy_time(now, last[i], clock) if clocked else columns[BUSY, i]
    elif name == 21:
        _copied(columns[HAZARD], count, out)
    elif name == 22:
        for i in range(count):
            busy = _busy_time(now, last[i], clock) if clocked else columns[BUSY, i]
            saved = waiting((now - last[i]) * hours, columns[HAZARD, i] / hours, LONGEST)
            out[i] = columns[NEWS, i] * busy * saved
    elif name == 23:
        _copied(columns[ELSEWHERE], count, out)
    else:
        _copied(columns[LENGTH], count, out)


@inner
def _function(name: int, count: int, a: FloatArray, b: FloatArray, out: FloatArray) -> None:
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
            out[i] = math.log(a[i] if a[i] > 0.0 else 1.0)
    else:
        for i in range(count):
            out[i] = math.exp(min(max(a[i], -EXPONENT_LIMIT), EXPONENT_LIMIT))


@compiled
def evaluate(
    code: IntArray,
    left: IntArray,
    right: IntArray,
    number: FloatArray,
    rows: int,
    now: float,
    hours: float,
    clock: FloatArray,
    table: FloatArray,
    last: FloatArray,
    score: FloatArray,
) -> None:
    """Writes the value of the program in each of the first `rows` columns of the table into `score`.

    `last` is their last visit, `hours` the length of a cycle; `clock` holds for every cycle its hour of the day and the
    busy time that has passed, or is empty. Only those fields of the table are read that the program uses.
    """
    most = min(_BLOCK, rows)
    work, columns = np.empty((len(code), most)), np.zeros((len(FIELDS), most))
    read = np.zeros(len(FIELDS), dtype=np.bool_)
    for name in code:
        if name >= _FIRST:
            read |= _READ[name - _FIRST]
    for at in range(0, rows, _BLOCK):
        count = min(most, rows - at)
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
                _terminal(name - _FIRST, count, now, hours, clock, columns, out)
        score[at : at + count] = work[len(code) - 1, :count]


def values(tree: Program, table: FloatArray, last: FloatArray, now: float = 0.0, hours: float = 1.0) -> FloatArray:
    """The value of a program in every row; without a clock."""
    score = np.empty(len(last))
    evaluate(tree.code, tree.left, tree.right, tree.number, len(last), now, hours, CLOCKLESS, table, last, score)
    return score
