"""The same function in fewer words: constants folded, neutral elements dropped, arguments of + and * in a fixed order.

Every rule keeps the value of the tree exactly, so two trees with one canonical form need to be evaluated only once.
"""

import numpy as np

from forager.recrawl.gp.primitives import BINARY, UNARY
from forager.recrawl.gp.tree import COMMUTATIVE, Tree, arity, children


def canonical(tree: Tree) -> Tree:
    """The canonical form of a tree."""
    if not arity(tree[0]):
        return tree
    parts = [canonical(child) for child in children(tree)]
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
