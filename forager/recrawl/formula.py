"""Score functions as people write them, such as `t * X` or `log(n + 1) / t^2`; read by a small parser, never by `eval`.

    sum     = product {("+" | "-") product}
    product = signed {("*" | "/") signed}
    signed  = "-" signed | power
    power   = atom ["^" signed]
    atom    = number | terminal | function "(" sum {"," sum} ")" | "(" sum ")"

`**` is read as `^`. A formula is printed as the shortest text with the same meaning.
"""

import re

from forager.errors import InputError
from forager.gp.trees import ARITY, LIMIT, Tree, children, depth
from forager.recrawl.terminals import TERMINALS

_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),]))")
MAX_LENGTH = 10_000
MAX_NESTING = 100
MAX_DEPTH = 200
"""Levels of a tree: also a long sum is deep, and whoever reads a tree does so level by level."""
_SHOWN = 80
"""Characters of a formula that an error message repeats."""
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}


def parse(text: str) -> Tree:
    """The tree of a formula; raises an `InputError` that shows where a mistake is."""
    if len(text) > MAX_LENGTH:
        raise InputError(f"formula: longer than {MAX_LENGTH} characters")
    tree = _Parser(text).parse()
    if depth(tree) > MAX_DEPTH:
        raise InputError(f"formula {_shown(text)}: more than {MAX_DEPTH} operations one after the other")
    return tree


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, int]] = []
        self.at = 0
        self.nesting = 0
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(
                    "unexpected character", position + len(text[position:]) - len(text[position:].lstrip())
                )
            self.tokens.append((match[match.lastindex or 0], match.start(match.lastindex or 0)))
            position = match.end()
        self.tokens.append(("", end))

    def parse(self) -> Tree:
        tree = self._sum()
        if self._peek():
            raise self._error(f"unexpected {self._peek()!r}")
        return tree

    def _sum(self) -> Tree:
        tree = self._product()
        while self._peek() in ("+", "-"):
            tree = (self._take(), *tree, *self._product())
        return tree

    def _product(self) -> Tree:
        tree = self._signed()
        while self._peek() in ("*", "/"):
            tree = (self._take(), *tree, *self._signed())
        return tree

    def _signed(self) -> Tree:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self._error("nested too deeply")
        if self._peek() == "-":
            self._take()
            below = self._signed()
            tree: Tree = (-below[0],) if isinstance(below[0], float) else ("-", 0.0, *below)
        else:
            tree = self._power()
        self.nesting -= 1
        return tree

    def _power(self) -> Tree:
        tree = self._atom()
        if self._peek() in ("^", "**"):
            self._take()
            tree = ("pow", *tree, *self._signed())
        return tree

    def _atom(self) -> Tree:
        token, position = self.tokens[self.at]
        if token == "(":
            self._take()
            tree = self._sum()
            self._expect(")")
            return tree
        if token[:1].isdigit() or token[:1] == ".":
            if float(token) > LIMIT:
                raise self._error(f"numbers go up to {LIMIT:g}")
            self._take()
            return (float(token),)
        if token[:1].isalpha():
            self._take()
            return self._call(token, position) if self._peek() == "(" else (_terminal(self, token, position),)
        raise self._error(f"unexpected {token!r}" if token else "a number, a name or '(' is missing")

    def _call(self, name: str, position: int) -> Tree:
        name = name.lower()
        if name not in ARITY:
            raise self._error(f"no function {name!r}; there are log, exp and pow", position)
        self._expect("(")
        arguments = [self._sum()]
        while self._peek() == ",":
            self._take()
            arguments.append(self._sum())
        self._expect(")")
        if len(arguments) != ARITY[name]:
            raise self._error(f"{name} takes {ARITY[name]} argument{'s' * (ARITY[name] > 1)}", position)
        return (name, *(symbol for argument in arguments for symbol in argument))

    def _peek(self) -> str:
        return self.tokens[self.at][0]

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][0]

    def _expect(self, token: str) -> None:
        if self._peek() != token:
            raise self._error(f"{token!r} is missing")
        self._take()

    def _error(self, problem: str, position: int | None = None) -> InputError:
        position = self.tokens[self.at][1] if position is None else position
        return InputError(f"formula {_shown(self.text)}, position {position + 1}: {problem}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _terminal(parser: _Parser, name: str, position: int) -> str:
    for known in (name, name.lower() if len(name) > 1 else name):
        if known in TERMINALS:
            return known
    raise parser._error(f"no terminal {name!r}; there are {' '.join(TERMINALS)}", position)


def formula_text(tree: Tree) -> str:
    """A formula that parses back to a tree of the same value."""
    return _text(tree)[0]


def _text(tree: Tree) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds (3: an atom)."""
    symbol = tree[0]
    if isinstance(symbol, float):
        return (f"{symbol:.12g}" if float(f"{symbol:.12g}") == symbol else repr(symbol)), 3 if symbol >= 0.0 else 1
    if symbol not in ARITY:
        return symbol, 3
    parts = [_text(child) for child in children(tree)]
    if symbol not in _BINDING:
        return f"{symbol}({', '.join(text for text, _ in parts)})", 3
    binding = _BINDING[symbol]
    left, right = parts
    left_text = left[0] if left[1] >= binding else f"({left[0]})"
    tight = right[1] > binding
    return f"{left_text} {symbol} {right[0] if tight else f'({right[0]})'}", binding
