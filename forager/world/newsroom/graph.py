"""Which earlier articles an article links to: a scale-free small world that grows, and its rewired twin.

Each new article draws its first target in its own topic by preferential attachment: in proportion to one plus the links
received. Every further target is, mostly, a neighbour of the target before in this topic (the triad step of Holme and
Kim's model): this closes triangles. The rest stray over the whole paper: they keep the paths between topics short, and
without them the most linked articles could not outgrow their topics, which cuts the power law off.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Links = NDArray[np.int64]


def grow(
    topics: Sequence[int], mean: int, triads: float, strays: float, rng: np.random.Generator
) -> tuple[Links, Links]:
    """Origins and targets of the links of articles 0, 1, …, given in order of publication with their topics."""
    wanted = np.clip(0.6 * mean * (1 + rng.pareto(2.5, len(topics))), 1, 8 * mean).astype(int).tolist()
    within: dict[int, list[int]] = {topic: [] for topic in topics}
    everywhere: list[int] = []
    neighbours: list[list[int]] = [[] for _ in topics]
    origins: list[int] = []
    targets: list[int] = []
    for article, topic in enumerate(topics):
        chosen = _targets(wanted[article], within[topic], everywhere, neighbours, triads, strays, rng)
        for target in chosen:
            if topics[target] == topic:  # triads stay in the topic
                neighbours[article].append(target)
                neighbours[target].append(article)
        for drawn in (article, *chosen):
            within[topics[drawn]].append(drawn)
            everywhere.append(drawn)
        origins += [article] * len(chosen)
        targets += chosen
    return np.array(origins, np.int64), np.array(targets, np.int64)


def _targets(
    wanted: int,
    own: Sequence[int],
    everywhere: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    triads: float,
    strays: float,
    rng: np.random.Generator,
) -> list[int]:
    """Up to `wanted` different targets in three times as many draws; fewer while there is little to link to."""
    chosen: list[int] = []
    near: Sequence[int] = ()
    for kind, place in rng.random((3 * wanted, 2)).tolist():
        stray = kind >= 1 - strays or not own
        pool = everywhere if stray else near if near and kind < triads else own
        if pool and (target := pool[int(place * len(pool))]) not in chosen:
            chosen.append(target)
            near = () if stray else neighbours[target]
        if len(chosen) == wanted:
            break
    return chosen


def rewire(origins: Links, targets: Links, rng: np.random.Generator) -> tuple[Links, Links]:
    """The twin that is scale-free but no small world (foragers paper, section 6).

    The list of origins and the list of targets are permuted independently and paired again: every in- and out-degree
    survives, communities do not. Links from a page to itself and double links may arise.
    """
    return rng.permutation(origins), rng.permutation(targets)
