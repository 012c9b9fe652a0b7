"""Word-level differences of two texts: what was taken out, what was put in, what stayed."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_WORDS = re.compile(r"\s*\S+|\s+$")
MOST = 3000
"""Words of a changed region beyond which it counts as replaced as a whole (ours): the comparison stays quick."""

STRAY = 3
"""Words that two changes must have between them to be told apart (ours): a stray equal word explains nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words that stayed (`=`), was taken out (`-`) or was put in (`+`)."""

    mark: Literal["=", "-", "+"]
    text: str


def difference(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; without `-` they make `after`, without `+` they make `before`."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    pieces = [Piece("=", "".join(old[:head]))]
    pieces += _compared(old[head : len(old) - tail], new[head : len(new) - tail])
    pieces.append(Piece("=", "".join(old[len(old) - tail :])))
    return [piece for piece in pieces if piece.text]


def _common(one: list[str], other: list[str]) -> int:
    """How many words both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _compared(old: list[str], new: list[str]) -> list[Piece]:
    if len(old) > MOST or len(new) > MOST:
        return [Piece("-", "".join(old)), Piece("+", "".join(new))]
    pieces: list[Piece] = []
    out, put = "", ""
    for step, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if step == "equal" and b - a >= STRAY:
            pieces += [Piece("-", out), Piece("+", put), Piece("=", "".join(old[a:b]))]
            out, put = "", ""
        else:
            out, put = out + "".join(old[a:b]), put + "".join(new[c:d])
    return [*pieces, Piece("-", out), Piece("+", put)]
