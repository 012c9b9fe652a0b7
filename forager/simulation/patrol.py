"""The recrawl side of a replay: which known page to look at next, decided afresh for every download.

Ranking all known pages for each download would be too dear, and ranking them once a cycle lets links just revealed wait
for the next one. So from time to time all known pages are ranked and the best make a pool; every download takes the
best of the pool as of now, and what it reveals joins the pool at once. Pages seen a moment ago leave it.
"""

import numpy as np
from numpy.typing import NDArray

from forager.foragers.kernels import compiled
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.terms import UrlId
from forager.world.tape.player import TapeWorld

POOL = 256
"""Pages in the pool after a ranking."""
ROUND = 64
"""Downloads after which all pages are ranked anew."""
SHARE = 1000
"""No ranking before there was a download for every so many pages, so that ranking never takes most of the time."""

_EVEN: NDArray[np.float64] = np.empty(0)


@compiled
def _join(pool: NDArray[np.int64], links: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The pool and those of the links that are not in it yet."""
    out = np.empty(len(pool) + len(links), np.int64)
    out[: len(pool)] = pool
    count = len(pool)
    for link in links:
        if not inside[link]:
            inside[link] = True
            out[count] = link
            count += 1
    return out[:count]


class Patrol:
    """Chooses among the known pages by the new documents expected of a download."""

    def __init__(
        self, shared: Shared, thrift: Thrift, world: TapeWorld, seeds: NDArray[np.int64], *, every: float
    ) -> None:
        self.shared, self.thrift, self.world, self.every = shared, thrift, world, every
        self.ranked = -np.inf
        """When all pages were ranked last."""
        self._seeds = seeds
        self._used = self._known = 0
        self._pool: NDArray[np.int64] = seeds.copy()
        self._inside = np.zeros(world.tape.pages, dtype=np.bool_)

    def __repr__(self) -> str:
        return f"<Patrol of {len(self._pool)} pages>"

    def choose(self, now: float, luck: float) -> tuple[UrlId, float] | None:
        """The best page and its worth, or None if none is worth a download. `luck` breaks ties."""
        due = self._used >= ROUND or now - self.ranked >= self.every
        if due and self._used * SHARE >= self._known:
            self._rank(now)
        self._used += 1
        while len(self._pool):
            index, worth, _, _ = self.shared.visits.pick(self._pool, now, _EVEN, luck)
            url = int(self._pool[index])
            if not self.world.shares(url):
                return (UrlId(url), worth) if worth > 0 and self.thrift.allows(worth) else None
            self._inside[url] = False
            self._pool[index] = self._pool[-1]
            self._pool = self._pool[:-1]
        return None

    def reveal(self, links: NDArray[np.int64]) -> None:
        """These links were just seen on a page."""
        self._pool = _join(self._pool, links, self._inside)

    def _rank(self, now: float) -> None:
        visits = self.shared.visits
        known = visits.met()
        if not visits.visited(self._seeds).all():
            known = np.union1d(self._seeds, known)
        worth, fresh = visits.worth(known, now)
        score = np.where(fresh, worth * visits.settings.fresh_first, worth)
        if len(known) > POOL:
            known = known[np.sort(np.argpartition(-score, POOL)[:POOL])]
        self._inside[self._pool] = False
        self._inside[known] = True
        self._pool = known
        self._used, self._known, self.ranked = 0, len(score), now
