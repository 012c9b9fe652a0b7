"""Expression trees, their canonical form, and the functions in them.

A tree is a tuple of symbols in prefix order: `("*", "t", "X")` is t * X. A symbol is the name of a function, the name
of a terminal, or a constant. The form is compact, hashable and easy to cut and graft.

The canonical form says the same in fewer words: constants folded, neutral elements dropped, arguments of + and * in a
fixed order. Every rule keeps the value of the tree exactly, so two trees with one canonical form need to be evaluated
only once.

The functions are protected: from numbers within ±1e150 they make finite numbers. Division and log return 0 outside
their domain (stated); powers and exponentials are clipped to ±LIMIT (our reading), and so are products and quotients.
Sums are not: a tree would have to be a hundred levels deep to bring clipped numbers beyond 1e150. A power of a negative
base is 0 unless its exponent is whole.
"""

from collections.abc import Callable, Mapping

import numpy as np

from forager.arrays import FloatArray

Symbol = str | float
Tree = tuple[Symbol, ...]

ARITY = {"+": 2, "-": 2, "*": 2, "/": 2, "pow": 2, "log": 1, "exp": 1}
COMMUTATIVE = frozenset("+*")


def arity(symbol: Symbol) -> int:
    """How many subtrees follow this symbol."""
    return ARITY.get(symbol, 0) if isinstance(symbol, str) else 0


def end_of(tree: Tree, start: int) -> int:
    """Where the subtree that begins at `start` ends (exclusive)."""
    missing, at = 1, start
    while missing:
        missing += arity(tree[at]) - 1
        at += 1
    return at


def graft(tree: Tree, start: int, scion: Tree) -> Tree:
    """The tree with the subtree at `start` replaced."""
    return tree[:start] + scion + tree[end_of(tree, start) :]


def depth(tree: Tree) -> int:
    """Longest way from the root to a leaf, in edges; a single terminal has depth 0."""
    deepest, waiting = 0, [0]
    for symbol in tree:
        here = waiting.pop()
        deepest = max(deepest, here)
        waiting.extend([here + 1] * arity(symbol))
    return deepest


def children(tree: Tree) -> list[Tree]:
    """The subtrees below the root."""
    parts, at = [], 1
    for _ in range(arity(tree[0])):
        end = end_of(tree, at)
        parts.append(tree[at:end])
        at = end
    return parts


def terminals_of(tree: Tree) -> frozenset[str]:
    """The names of the terminals a tree reads."""
    return frozenset(symbol for symbol in tree if isinstance(symbol, str) and symbol not in ARITY)


LIMIT = 1e100
"""Largest absolute value a function returns; its square is still finite."""
EXPONENT_LIMIT = 230.0
"""exp(230) is just below LIMIT."""


def _clipped(values: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(values, -LIMIT), LIMIT)


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
    "+": np.add,
    "-": np.subtract,
    "*": multiply,
    "/": divide,
    "pow": power,
}
UNARY: Mapping[str, Callable[[FloatArray], FloatArray]] = {"log": log, "exp": exp}

CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
"""Stated."""


def canonical_tree(tree: Tree) -> Tree:
    if not arity(tree[0]):
        return tree
    parts = [canonical_tree(child) for child in children(tree)]
    symbol = str(tree[0])
    constants = [part[0] for part in parts if isinstance(part[0], float)]
    if len(constants) == len(parts):
        return (_folded(symbol, [float(value) for value in constants]),)
    return (symbol, *parts[0]) if len(parts) == 1 else _binary(symbol, parts[0], parts[1])


def _folded(symbol: str, values: list[float]) -> float:
    arrays = [np.array([value]) for value in values]
    result = UNARY[symbol](arrays[0]) if symbol in UNARY else BINARY[symbol](arrays[0], arrays[1])
    return float(result[0]) + 0.0  # + 0.0 turns −0.0 into 0.0


def _binary(symbol: str, left: Tree, right: Tree) -> Tree:
    zero, one = (0.0,), (1.0,)
    if symbol == "+" and zero in (left, right):
        return right if left == zero else left
    if symbol == "-" and right == zero:
        return left
    if symbol == "-" and left == right:
        return zero
    if symbol == "*" and zero in (left, right):
        return zero
    if symbol == "*" and one in (left, right):
        return right if left == one else left
    if symbol == "/" and zero in (left, right):
        return zero
    if symbol in ("/", "pow") and right == one:
        return left
    if symbol == "pow" and (left == one or right == zero):
        return one
    if symbol in COMMUTATIVE and _key(right) < _key(left):
        left, right = right, left
    return (symbol, *left, *right)


def _key(tree: Tree) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Smaller trees first, then by symbols; numbers before names."""
    return len(tree), tuple((isinstance(symbol, str), str(symbol)) for symbol in tree)
