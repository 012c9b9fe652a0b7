"""Near-duplicates: one story, many copies, the first publisher named.

Two texts are copies when their simhashes differ in at most `NEAR` of 64 bits. Numbers that near agree in at least one of
`NEAR + 1` disjoint bands of bits (Manku et al. 2007), so each lookup compares with a few candidates only.
"""

from collections import defaultdict

from forager.pages.prints import distance
from forager.terms import UrlId

NEAR = 5
"""Bits. Ours: copies with small edits stay below it, different texts on one subject far above."""
_BANDS = NEAR + 1
_WIDTH = 64 // _BANDS


class Copies:
    """Who printed a text first."""

    def __init__(self) -> None:
        self._bands: defaultdict[tuple[int, int], list[tuple[int, UrlId]]] = defaultdict(list)

    def first(self, simhash: int) -> UrlId | None:
        """The page that brought this text, or one very like it, first."""
        near = [
            (distance(simhash, other), id)
            for band in _cut(simhash)
            for other, id in self._bands.get(band, ())
            if distance(simhash, other) <= NEAR
        ]
        return min(near)[1] if near else None

    def learn(self, simhash: int, id: UrlId) -> None:
        """Note a text that is not a copy."""
        for band in _cut(simhash):
            self._bands[band].append((simhash, id))


def _cut(simhash: int) -> list[tuple[int, int]]:
    """The bands of bits, each with its place."""
    return [(place, simhash >> place * _WIDTH & (1 << _WIDTH) - 1) for place in range(_BANDS)]
