"""The pages from which the recrawl side chooses, live and in replays: one pool, or one for each host where hosts are
visited in parallel.
"""

from collections.abc import Callable

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray, distinct, widened
from forager.core.choice import (
    ALONE,
    BY_WORTH,
    RANK,
    REORDERED,
    TURN,
    Choices,
    Pool,
    Turn,
    count_wanted,
    graph_leanings,
    rest_time,
)
from forager.core.expectation import ranks, worths
from forager.core.exploration import Thrift
from forager.core.page_row import LOOKS_APART, Mind
from forager.core.page_table import PageTable
from forager.core.refill import (
    FAST,
    LATER,
    POOL,
    STRANGERS,
    gather,
    next_page,
    promising,
    rank_known,
    some_unseen,
    strangers,
)
from forager.gp.machine import NO_PROGRAM, Program, program
from forager.kernel import awaits_code
from forager.recrawl.cycle import of_each, top
from forager.recrawl.policies import ByKind, ScoreFunction

NOWHERE: IntArray = np.empty(0, dtype=np.int64)
EVERYWHERE: BoolArray = np.empty(0, dtype=np.bool_)

Choice = tuple[int, float]
"""A page and its worth: nan if a score function decided, 0 if the page is explored."""

CLOSING_SHARE = 0.5
"""The threshold at the end of a crawl, as a share of the usual one: what is not found now is found by the next crawl,
if ever.
"""

FEWER = 1_000
"""Number of pages that plain Python ranks in about 25 ms."""

FEW = 64
"""Number of pages ranked in a trial."""


class Candidates:
    """Keeps the pools. Call `choose`, visit the page, and report with `reveal` which links it showed."""

    def __init__(
        self,
        pages: PageTable,
        mind: Callable[[], Mind],
        thrift: Thrift,
        *,
        every: float,
        last: Callable[[], FloatArray],
        revisit_after: float,
        seeds: IntArray = NOWHERE,
        only: BoolArray = EVERYWHERE,
        known: Callable[[], IntArray] | None = None,
        groups: Callable[[int], IntArray] | None = None,
    ) -> None:
        """Ranks all pages at least once in `every` seconds.

        `last` returns for each page when it was last requested; that copy serves all requests for `revisit_after`
        seconds. `seeds` come before everything else. `only` limits the pages that may be chosen. `known` returns the
        known pages, by default those of the page table. `groups` returns the groups, such as hosts, of all pages from a
        given number on.
        """
        self.pages, self.mind, self.thrift = pages, mind, thrift
        self.last, self.revisit_after = last, revisit_after
        self.score: ScoreFunction | None = None
        self.pools: dict[int, Pool] = {}
        self._no_pages = Pool(NOWHERE)
        self._known, self._groups, self._group = known, groups, NOWHERE
        self._row = np.zeros(1, dtype=TURN)
        self.turn: Turn = self._row.view(np.recarray)[0]
        """State of the recrawl side; kernels change it too."""
        self.turn.every, self.turn.ends, self.turn.ranked, self.turn.grouped = (
            every,
            -np.inf,
            -np.inf,
            groups is not None,
        )
        self.turn.weight, self.turn.seeds = pages.settings.profit_weight, len(seeds)
        self._seeds, self._only = np.array(seeds[::-1], dtype=np.int64), only
        self._number, self._numbered, self._wait = np.empty(0), NOWHERE, np.empty(0)
        self._columns = [np.zeros(1, dtype=np.int64) for _ in range(3)]
        self._programs: tuple[Program, Program] = (NO_PROGRAM, NO_PROGRAM)
        self._part, self._left_out = 0, False

    def __repr__(self) -> str:
        return f"<Candidates: {sum(len(pool.pages) for pool in self.pools.values())} of {self.turn.known} pages>"

    @property
    def known(self) -> int:
        """Number of pages known at the last ranking."""
        return int(self.turn.known)

    def use(self, score: ScoreFunction | None) -> None:
        """Orders pages by this score function, or by expected documents. A function that is not one for each kind of
        page also decides which pages are worth a request.
        """
        self.score = score
        self.turn.mode = BY_WORTH if score is None else REORDERED if isinstance(score, ByKind) else ALONE
        self.turn.ranked = -np.inf
        functions = (score.lists, score.texts) if isinstance(score, ByKind) else (None, None)
        lists, texts = (
            NO_PROGRAM if one is None else program(one.tree, one.cycle or self.turn.every) for one in functions
        )
        self._programs = lists, texts

    def pool_of(self, group: int = 0, room: int = 0) -> Pool:
        """The pool of a group, with room for a ranking and for `room` more pages; an empty one if the group has none."""
        is_one = self._groups is None
        pool = self.pools.setdefault(group, Pool(NOWHERE)) if is_one else self.pools.get(group, self._no_pages)
        pool.reserve(POOL + STRANGERS + FAST + room)
        return pool

    def choices(self, pool: Pool) -> Choices:
        """The input of the kernels. Do not keep it: the arrays are replaced as they grow."""
        size = self.pages.size
        if len(self._number) < size:
            self._number, self._wait = _grown(self._number, size, np.nan), _grown(self._wait, size, -np.inf)
            if self._groups is None:
                self._columns = [widened(column, size + 1) for column in self._columns]
        known, listed, unseen = self._columns
        return Choices(
            pool.columns,
            self._row,
            self._number,
            self._wait,
            self._seeds,
            self._only,
            known,
            listed,
            unseen,
            *self._programs,
        )

    def choose(self, now: float, luck: float, group: int = 0, *, closing: bool = False) -> Choice | None:
        """The best page of a group and its worth, or None if none is worth a download. `luck` breaks ties. `closing`:
        the crawl is about to end, so it gains nothing by waiting for more documents.
        """
        thrift = self.thrift
        if closing:
            return self._last_choice(now, group)
        while True:
            if awaits_code(next_page):
                self._rest_served(now, self.pool_of(group))
            elif self._left_out:
                self._left_out, self.turn.ranked = False, -np.inf
            mind = self.mind()
            page, worth = next_page(
                mind,
                self.choices(self.pool_of(group)),
                self.last(),
                self.revisit_after,
                now,
                luck,
                thrift.least_worth,
                float(thrift.explored),
                thrift.explore,
                float(thrift.spent + thrift.rests),
            )
            if page != RANK:
                return None if page < 0 else (int(page), worth)
            self.rank(now)

    def _last_choice(self, now: float, group: int) -> Choice | None:
        """At the end of a crawl: a link that just appeared, else the most promising list that was visited before."""
        pages = self.pool_of(group).all
        mind = self.mind()
        worth, fresh = worths(mind._replace(priors=self.pages.impatient), pages, now)
        is_list = mind.table["hub"][pages] & (mind.table["visits"][pages] > 0)
        served = np.where(is_list, self.last()[pages] + min(self.revisit_after, LOOKS_APART), -np.inf)
        self.choices(self.pool_of(group))  # makes room
        free = (np.maximum(served, self._wait[pages]) <= now) & (fresh | is_list)
        free &= worth >= self.thrift.least_worth * CLOSING_SHARE
        if not free.any():
            return None
        best = int(np.argmax(np.where(free, worth + fresh, -1.0)))
        return int(pages[best]), float(worth[best])

    def _rest_served(self, now: float, pool: Pool) -> None:
        """Makes all pages rest whose last copy still serves, or that are excluded, before one is chosen.

        The choice does this too, but goes through the whole pool again for each such page, which is too slow in plain
        Python.
        """
        self.choices(pool)  # makes room
        pages, pair = pool.pages.copy(), self.pages.mind()
        apart = np.where(pair.table["hub"][pages], min(self.revisit_after, LOOKS_APART), self.revisit_after)
        served = np.where(pair.history.counts[0, pages] > 0, self.last()[pages] + apart, -np.inf)
        until = np.maximum(self._wait[pages], served)
        for index in np.flatnonzero(until > now)[::-1].tolist():
            pool.rest(index, until[index])

    def rest(self, now: float, group: int, shortest: float, longest: float) -> float:
        """Seconds to rest, within bounds, until a page of a group is worth a request."""
        side = self.choices(self.pool_of(group))
        return rest_time(self.mind(), side, now, self.thrift.least_worth, shortest, longest)

    def reveal(self, links: IntArray, now: float) -> None:
        """Adds links that a page just showed to their pools, if they are new.

        In plain Python the pools stay small; what is left out is ranked as soon as kernels are compiled.
        """
        if len(links) and self.turn.pooled:
            is_slow = awaits_code(next_page)
            new = self.pages.fresh(self.pages.youngest(links, FEWER) if is_slow else links, now)
            own = self._groups_of(new)
            self._left_out |= is_slow and len(links) > FEWER
            for group in np.unique(own).tolist():
                if group in self.pools:
                    pool, added = self.pools[group], new[own == group]
                    room = max(0, 2 * FEWER - len(pool.all)) if is_slow else len(added)
                    self._left_out |= room < len(added)
                    pool.add(added[:room])

    def postpone(self, page: int, until: float) -> None:
        """Excludes a page until this time."""
        self.choices(self.pool_of())  # makes room
        self._wait[page] = until

    def rank(self, now: float) -> None:
        """Ranks all known pages, or a short list of them; the best form the pools."""
        if self._groups is None and self.turn.mode != ALONE:
            rank_known(self.mind(), self.choices(self.pool_of()), now)
        else:
            self._rank_all(now)

    def try_few(self, now: float) -> None:
        """Ranks a few pages and discards the result, so that the code of a full ranking is loaded."""
        groups = None if self._groups is None else self._groups(0)
        few = np.arange(FEW if groups is None else min(FEW, len(groups)), dtype=np.int64)
        self.pages.reserve(FEW)
        self._promising(self.mind(), few, groups, now)

    def wanted(self, now: float) -> int:
        """Number of pages in the pools that are worth a download now."""
        mind, least = self.mind(), self.thrift.least_worth
        return sum(count_wanted(mind, self.choices(pool), now, least) for pool in self.pools.values())

    def _rank_all(self, now: float) -> None:
        """Like `rank`, but for a score function that decides alone, and for groups."""
        history, turn = self.pages.history, self.turn
        groups = None if self._groups is None else self._groups(0)
        known = gather(self.mind(), self.choices(self.pool_of())) if self._known is None else self._known()
        self.pages.reserve(int(known.max(initial=-1)) + 1)
        if len(known) > FEWER and awaits_code(ranks):
            known = self._some(known)
        mind, chosen = self.mind(), [known]
        if turn.mode == ALONE:
            assert self.score is not None
            chosen = [known[~history.visited(known)], top(history, self.score, now, POOL, groups=groups).pages]
            self._give_numbers(chosen[1])
        chosen[0] = self._promising(mind, chosen[0], groups, now)
        best = distinct(np.concatenate([*chosen, strangers(mind, some_unseen(mind.table, known), now)]))
        turn.known, turn.used, turn.ranked, turn.pooled, turn.listed = len(known), 0, now, True, 0
        if groups is None:
            self.pools = {0: Pool(best)}
            return
        own, self._group = groups[best], groups
        order = np.argsort(own, kind="stable")
        numbers, begins = np.unique(own[order], return_index=True)
        parts = np.split(best[order], begins[1:])
        self.pools = {group: Pool(part) for group, part in zip(numbers.tolist(), parts, strict=True)}

    def _some(self, known: IntArray) -> IntArray:
        """A part of very many pages, a different one each time, and all visited lists: plain Python is too slow to rank
        all pages, and kernels will soon be compiled.
        """
        self._part += 1
        table, parts = self.pages.mind().table, -(-len(known) // FEWER)
        is_list = table["hub"][known] & (table["visits"][known] > 0)
        return np.union1d(known[self._part % parts :: parts], known[is_list][:FEWER])

    def _promising(self, mind: Mind, pages: IntArray, groups: IntArray | None, now: float) -> IntArray:
        """The pages with the most expected documents, of all or of each group; of each group also the lists that will
        soon have them.
        """
        if groups is None:
            return promising(mind, self.turn.weight, pages, now, POOL)
        keys, leaning = self.pages.rank(pages, now), graph_leanings(mind, self.turn.weight, pages)
        if len(leaning):
            keys *= leaning
        lists = pages[mind.table["hub"][pages] & (mind.table["visits"][pages] > 0)]
        later = self.pages.rank(lists, now + LATER)
        return np.concatenate(
            [_first_of_each(groups[pages], pages, keys, POOL), _first_of_each(groups[lists], lists, later, FAST)]
        )

    def _give_numbers(self, pages: IntArray) -> None:
        """Numbers these pages in the order of the score function, the first one first, and no others."""
        self.choices(self.pool_of())  # makes room
        self._number[self._numbered] = np.nan
        self._number[pages] = np.arange(len(pages), 0, -1)
        self._numbered = pages

    def _groups_of(self, pages: IntArray) -> IntArray:
        """The groups of pages, including pages found since the last ranking; 0 if there is only one group."""
        if self._groups is None:
            return np.zeros(len(pages), np.int64)
        ranked = len(self._group)
        own = self._group[np.minimum(pages, ranked - 1)]
        late = pages >= ranked
        if late.any():
            own[late] = self._groups(ranked)[pages[late] - ranked]
        return own


def _grown(column: FloatArray, size: int, blank: float) -> FloatArray:
    """A copy of a column with room for this many pages."""
    grown = np.full(size, blank)
    grown[: len(column)] = column
    return grown


def _first_of_each(groups: IntArray, pages: IntArray, keys: FloatArray, k: int) -> IntArray:
    """The k pages with the highest keys of each group; the lower numbers among equals."""
    return pages[of_each(groups, np.lexsort((pages, -keys, groups)), k)]
