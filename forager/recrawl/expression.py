"""Trees made ready to be evaluated: equal subtrees once, and what does not move with time apart from what does."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.gp.primitives import BINARY, UNARY
from forager.recrawl.gp.tree import Tree, arity, children
from forager.recrawl.states import TERMINALS, States

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expression:
    """A tree as a list of steps; each step is a terminal, a constant, or a function of earlier steps."""

    steps: tuple[tuple[str | float, int, int], ...]
    """Symbol and the numbers of its one or two arguments (−1: none)."""

    def scores(self, states: States) -> FloatArray:
        """The value of the tree in every row."""
        values: list[FloatArray] = []
        for symbol, left, right in self.steps:
            if isinstance(symbol, float):
                values.append(np.array(symbol))
            elif symbol in BINARY:
                values.append(BINARY[symbol](values[left], values[right]))
            elif symbol in UNARY:
                values.append(UNARY[symbol](values[left]))
            else:
                values.append(TERMINALS[symbol](states))
        result = values[-1]
        return np.full(len(states), float(result)) if result.ndim == 0 else result


def compiled(tree: Tree) -> Expression:
    """The tree with equal subtrees evaluated once."""
    steps: list[tuple[str | float, int, int]] = []
    known: dict[Tree, int] = {}

    def number(part: Tree) -> int:
        if part not in known:
            below = [number(child) for child in children(part)] if arity(part[0]) else []
            left, right = (*below, -1, -1)[:2]
            steps.append((part[0], left, right))
            known[part] = len(steps) - 1
        return known[part]

    number(tree)
    return Expression(tuple(steps))
