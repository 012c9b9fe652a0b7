"""The pure heart of the recrawl cycle, live and in replay: which known page to look at next, decided for every download.

Ranking all known pages for each download would be too dear, and ranking them once a cycle lets links just revealed wait
for the next one. So from time to time all known pages are ranked and the best make a pool; every download takes the
best of the pool as of now, and what it reveals joins the pool at once. Where several hosts are asked side by side, each
has a pool of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forager.arrays import distinct
from forager.compiling import compiled
from forager.recrawl.pool import Pool
from forager.recrawl.preferences import Expecting, Preference, Thrift
from forager.recrawl.shortlist import LATER, Shortlist, length, serves

IntArray = NDArray[np.int64]

POOL = 256
"""Pages in a pool after a ranking."""
STRANGERS = 32
"""Pages that nobody has seen among them, or more, if there are so many."""
ROUND = 64
"""Downloads from one pool after which all pages are ranked anew."""
SHARE = 1000
"""No ranking before there was a download for every so many pages, …"""
LARGE = 20_000
"""… and after so many cycles more as there are so many pages: ranking must not take most of the time."""

NOTHING: NDArray[np.float64] = np.empty(0)

Choice = tuple[int, float]
"""A page and its worth in new documents: nan where a score function decided, 0 where it is explored."""


def _enough(used: int, known: int) -> bool:
    """Whether there were downloads enough since the last ranking of so many pages for another one."""
    return used > 0 and used * SHARE >= known


enough = compiled(_enough)
"""The same for kernels."""


@compiled
def ranking_due(now: float, ranked: float, every: float, known: int, used: int, used_of_pool: int) -> bool:
    """Whether all pages are to be ranked again: this pool was used long enough, or it is time."""
    return (enough(used, known) and used_of_pool >= ROUND) or now - ranked >= every * max(1.0, known / LARGE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the choice is made by, beside the preference."""

    expecting: Expecting
    thrift: Thrift
    known: Callable[[], IntArray]
    """All pages known now."""
    shared_until: Callable[[int], float]
    """Until when the last copy of a page serves everybody, so that it is not fetched again."""
    explore: Callable[[IntArray, float], int]
    """Which of some pages nobody has seen to try: its index."""
    groups: Callable[[int], IntArray] | None = None
    """The groups, such as hosts, of all pages known now but the first so many; None: all are one group."""
    lately: Callable[[int], IntArray] | None = None
    """The pages that became known after the first so many; None: nobody keeps them in order."""


class Choosing:
    """Keeps the pools. `choose` a page, look at it, and tell by `reveal` which links it showed."""

    def __init__(self, prefer: Preference, around: Surroundings, *, every: float, seeds: IntArray) -> None:
        """All pages are ranked at least `every` so many seconds; `seeds` of a single group come before everything."""
        self.prefer, self.around, self.every = prefer, around, every
        self.known = 0
        """Pages known at the last ranking, …"""
        self.ranked = -np.inf
        """… and when that was."""
        self.pools: dict[int, Pool] = {}
        self.shortlist: Shortlist | None = None
        """The better part of very many known pages; None: all are ranked every time."""
        self._group: IntArray | None = None
        self._seeds: list[int] = seeds[::-1].tolist()
        self.used = 0
        """Downloads since the last ranking."""
        self._postponed: dict[int, float] = {}

    def __repr__(self) -> str:
        return f"<Choosing among {sum(len(pool.pages) for pool in self.pools.values())} of {self.known} pages>"

    def choose(self, now: float, luck: float, group: int = 0) -> Choice | None:
        """The best page of a group and its worth, or None if none is worth a download. `luck` breaks ties.

        Seeds come first: nothing is known that speaks for them, and without them a whole site may stay unknown.
        """
        while self._seeds:
            seed = self._seeds.pop()
            if not self.around.expecting.visited(np.array([seed]))[0]:
                self.used += 1
                return seed, np.nan
        if self.is_due(now, group):
            self.rank(now)
        chosen = self._best(now, luck, group)
        if chosen is None and _enough(self.used, self.known):
            self.rank(now)
            chosen = self._best(now, luck, group)
        if chosen is not None:
            self.used += 1
            self.pools[group].use()
        return chosen

    def is_due(self, now: float, group: int = 0) -> bool:
        """Whether all pages are to be ranked before one of a group is chosen."""
        used = self.pools[group].used if group in self.pools else 0
        return ranking_due(now, self.ranked, self.every, self.known, self.used, used)

    @property
    def under_way(self) -> bool:
        """No seed is to come first, and pages were ranked."""
        return not self._seeds and len(self.pools) > 0

    def reveal(self, links: IntArray, now: float) -> None:
        """These links were just seen on a page; those that are new there join their pools."""
        if len(links) and self.pools:
            new = self.around.expecting.fresh(links, now)
            own = self._groups_of(new)
            for group in np.unique(own).tolist():
                if group in self.pools:
                    self.pools[group].add(new[own == group])

    def _groups_of(self, pages: IntArray) -> IntArray:
        """The groups of pages, also of those found since the last ranking; 0 if all are one group."""
        if self._group is None or self.around.groups is None:
            return np.zeros(len(pages), np.int64)
        ranked = len(self._group)
        own = self._group[np.minimum(pages, ranked - 1)]
        late = pages >= ranked
        if late.any():
            own[late] = self.around.groups(ranked)[pages[late] - ranked]
        return own

    def postpone(self, page: int, until: float) -> None:
        """Do not choose a page before a time."""
        self._postponed[page] = until

    def rank(self, now: float) -> None:
        """Rank all known pages, or a short list of them; the best make the pools."""
        self._postponed = {page: until for page, until in self._postponed.items() if until > now}
        self._group = None if self.around.groups is None else self.around.groups(0)
        pages, unseen = self._listed() or self._all(now)
        best = distinct(np.concatenate([self.prefer.best(pages, self._group, now, POOL), self._strangers(unseen, now)]))
        if self._group is None:
            self.pools = {0: Pool(best)}
        else:
            own = self._group[best]
            order = np.argsort(own, kind="stable")
            groups, begins = np.unique(own[order], return_index=True)
            parts = np.split(best[order], begins[1:])
            self.pools = {group: Pool(part) for group, part in zip(groups.tolist(), parts, strict=True)}
        self.used, self.ranked = 0, now

    def _all(self, now: float) -> tuple[IntArray, IntArray]:
        """All known pages, and some that nobody has seen; from these a new short list is made, if they are very many."""
        known = self.around.known()
        unseen = known[~self.around.expecting.visited(known)]
        if len(unseen) > STRANGERS:
            unseen = unseen[:: 1 + len(unseen) // POOL]  # of very many, some
        self.known, size, self.shortlist = len(known), length(len(known)), None
        if size and self._group is None and self.around.lately is not None and self.prefer.steady:
            now_and_later = [self.prefer.best(known, None, at, size) for at in (now, now + LATER)]
            listed = distinct(np.concatenate(now_and_later))
            self.shortlist = Shortlist(listed, unseen, len(known), len(listed))
            return listed, unseen
        return known, unseen

    def _listed(self) -> tuple[IntArray, IntArray] | None:
        """The pages on the short list and those known since, and some that nobody has seen; None if there is no list."""
        listed, lately = self.shortlist, self.around.lately
        if listed is None or lately is None:
            return None
        used, late = listed.used + self.used, lately(listed.known)
        if not serves(used, listed.known, len(late), listed.listed):
            return None
        pages, unseen = (distinct(np.concatenate([column, late])) for column in (listed.pages, listed.unseen))
        unseen = unseen[~self.around.expecting.visited(unseen)]
        self.shortlist = replace(listed, pages=pages, unseen=unseen, late=len(late), used=used)
        self.known = listed.known + len(late)
        return distinct(np.concatenate([pages, self.pools[0].all])), unseen

    def _strangers(self, unseen: IntArray, now: float) -> IntArray:
        """Some pages that nobody has seen, promising ones, so that there is always something to explore."""
        if len(unseen) <= STRANGERS:
            return unseen
        return self.around.expecting.most_promising(unseen, now, NOTHING, STRANGERS, plain=True)

    def wanted(self, now: float) -> int:
        """How many pages of the pools are worth a download now."""
        return sum(self.prefer.wanted(pool.pages, now) for pool in self.pools.values())

    def _best(self, now: float, luck: float, group: int) -> Choice | None:
        pool = self.pools.get(group)
        if pool is None:
            return None
        pool.wake(now)
        while len(pool.pages):
            index, worth = self.prefer.pick(pool.pages, now, luck)
            page = int(pool.pages[index])
            until = self._rests_until(page)
            if until > now:
                pool.rest(index, until)
                continue
            thrift = self.around.thrift
            if thrift.owes or not worth >= thrift.least_worth:
                explored = self._unseen(pool, now, luck)
                if explored is not None:
                    return explored
            return (page, worth) if thrift.allows(worth) else None
        return None

    def _unseen(self, pool: Pool, now: float, luck: float) -> Choice | None:
        """A page that nobody has seen, while there is a share for that. Only when there is none left, the best of the poor
        is looked at instead: before, that would only show the same pages again."""
        if not self.around.thrift.allows(0.0):
            return None
        unseen = pool.pages[~self.around.expecting.visited(pool.pages)]
        if not len(unseen):
            return None
        page = int(unseen[self.around.explore(unseen, luck)])
        return (page, 0.0) if self._rests_until(page) <= now else None

    def _rests_until(self, page: int) -> float:
        return max(self.around.shared_until(page), self._postponed.get(page, -np.inf))
