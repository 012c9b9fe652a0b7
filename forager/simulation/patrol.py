"""The recrawl side of a replay: which known page to look at next, decided afresh for every download.

Ranking all known pages for each download would be too dear, and ranking them once a cycle lets links just revealed wait
for the next one. So from time to time all known pages are ranked and the best make a pool; every download takes the
best of the pool as of now, and what it reveals joins the pool at once. Pages seen a moment ago leave it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from forager.foragers.kernels import best, compiled
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.terms import UrlId
from forager.world.tape.player import TapeWorld

POOL = 256
"""Pages in the pool after a ranking."""
ROUND = 64
"""Downloads after which all pages are ranked anew."""
SHARE = 1000
"""No ranking before there was a download for every so many pages, …"""
LARGE = 20_000
"""… and after so many cycles more as there are so many pages: ranking must not take most of the time."""


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
        self._seeds: list[int] = seeds[::-1].tolist()
        self._used = self._known = 0
        self._pool: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._inside = np.zeros(world.tape.pages, dtype=np.bool_)

    def __repr__(self) -> str:
        return f"<Patrol of {len(self._pool)} pages>"

    def choose(self, now: float, luck: float) -> tuple[UrlId, float] | None:
        """The best page and its worth, or None if none is worth a download. `luck` breaks ties.

        Seeds come first: nothing is known that speaks for them, and without them a whole site may stay unknown.
        """
        while self._seeds:
            seed = self._seeds.pop()
            if not self.shared.visits.visited(np.array([seed]))[0]:
                self._used += 1
                return UrlId(seed), math.nan
        enough = self._used > 0 and self._used * SHARE >= self._known
        if (enough and self._used >= ROUND) or now - self.ranked >= self.every * max(1.0, self._known / LARGE):
            self._rank(now)
            enough = False
        chosen = self._best(now, luck)
        if chosen is None and enough:
            self._rank(now)
            chosen = self._best(now, luck)
        self._used += chosen is not None
        return chosen

    def reveal(self, links: NDArray[np.int64], now: float) -> None:
        """These links were just seen on a page; those that are new there join the pool."""
        if len(links):
            worth, fresh = self.shared.visits.worth(links, now)
            self._pool = _join(self._pool, links[fresh & (worth > 0)], self._inside)

    def _best(self, now: float, luck: float) -> tuple[UrlId, float] | None:
        """The best of the pool. Pages seen a moment ago are dropped from it."""
        while len(self._pool):
            index, worth, _, _ = self.shared.visits.pick(self._pool, now, self.shared.leaning(self._pool), luck)
            url = int(self._pool[index])
            if not self.world.shares(url):
                if worth < self.thrift.least_worth:
                    return self._unseen(luck) if self.thrift.allows(worth) else None
                return UrlId(url), worth
            self._inside[url] = False
            self._pool[index] = self._pool[-1]
            self._pool = self._pool[:-1]
        return None

    def _unseen(self, luck: float) -> tuple[UrlId, float] | None:
        """Any page that nobody has seen yet, or the first in the order of the link graph: exploring the best of the
        poor would only see the same pages again."""
        unseen = self._pool[~self.shared.visits.visited(self._pool)]
        if len(unseen) and self.shared.order is not None:
            url = int(unseen[best(self.shared.order.appeal(unseen), luck)])
        else:
            url = int(unseen[int(luck * len(unseen))]) if len(unseen) else -1
        return None if url < 0 or self.world.shares(url) else (UrlId(url), 0.0)

    def _rank(self, now: float) -> None:
        """Rank all known pages; the best make the pool."""
        visits = self.shared.visits
        known = visits.met()
        worth, fresh = visits.worth(known, now)
        score = np.where(fresh, worth * visits.settings.fresh_first, worth)
        if self.shared.order is not None:
            score *= self.shared.leaning(known)
        if len(known) > POOL:
            known = known[np.sort(np.argpartition(-score, POOL)[:POOL])]
        self._inside[self._pool] = False
        self._inside[known] = True
        self._pool = known
        self._used, self._known, self.ranked = 0, len(score), now
