"""Expression trees.

A tree is a tuple of symbols in prefix order: `("*", "t", "X")` is t * X. A symbol is the name of a function, the name
of a terminal, or a constant. The form is compact, hashable and easy to cut and graft.
"""

Symbol = str | float
Tree = tuple[Symbol, ...]

ARITY = {"+": 2, "-": 2, "*": 2, "/": 2, "pow": 2, "log": 1, "exp": 1}


def arity(symbol: Symbol) -> int:
    """How many subtrees follow this symbol."""
    return ARITY.get(symbol, 0) if isinstance(symbol, str) else 0


def end_of(tree: Tree, start: int) -> int:
    """The end of the subtree that begins at `start` (exclusive)."""
    missing, at = 1, start
    while missing:
        missing += arity(tree[at]) - 1
        at += 1
    return at


def graft(tree: Tree, start: int, scion: Tree) -> Tree:
    """The tree with the subtree at `start` replaced."""
    return tree[:start] + scion + tree[end_of(tree, start) :]


def depth(tree: Tree) -> int:
    """Longest path from the root to a leaf, in edges; a single terminal has depth 0."""
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


CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
"""Stated."""
