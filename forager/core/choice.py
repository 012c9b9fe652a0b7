"""Chooses the next page to revisit, for every download, live and in replays.

The most promising page comes first. A score function may order the pages that have a history: all of them, or, by
default, only those that are worth a request and of the same kind as the page that would come first. The latter are
scored at every choice, because scores of the last ranking may be a quarter of an hour old. If a function orders all
pages, those that it may put first get numbers at each ranking, the higher the sooner.

The choice is made from a pool, of one host or of all hosts. A pool holds pages that are awake, and pages that were
visited a moment ago and rest. The same calls always give the same page.
"""

from typing import NamedTuple, Protocol

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray, distinct
from forager.core.best_pages import appears_now, best, pick
from forager.core.expectation import due_at, look_ahead, promise_of
from forager.core.exploration import allows, explores, owes
from forager.core.page_row import LOOKS_APART, Mind, PageRow, Priors
from forager.core.page_scores import page_scores
from forager.gp.machine import Program
from forager.kernel import compiled, inner

AWAKE, RESTING, USED = range(3)
"""Counters of a pool: pages that may be chosen now, pages that rest, downloads since the pool was filled."""


class PoolColumns(NamedTuple):
    """The arrays of a pool, for kernels."""

    awake: IntArray
    """Pages that may be chosen now, and room for more."""
    resting: IntArray
    """Pages that rest, and until when. Sorted: the first to wake is last."""
    until: FloatArray
    tally: IntArray


@inner
def room_in(pool: PoolColumns) -> int:
    """How many more pages fit into the pool."""
    room: int = len(pool.awake) - pool.tally[AWAKE] - pool.tally[RESTING]
    return room


@inner
def add(pool: PoolColumns, page: int) -> None:
    """Adds a page unless the pool holds it already; there must be room."""
    for one in pool.awake[: pool.tally[AWAKE]]:
        if one == page:
            return
    for one in pool.resting[: pool.tally[RESTING]]:
        if one == page:
            return
    pool.awake[pool.tally[AWAKE]] = page
    pool.tally[AWAKE] += 1


@inner
def rest(pool: PoolColumns, index: int, time: float) -> None:
    """Excludes the page at this index until a given time."""
    resting, until, page, place = pool.resting, pool.until, pool.awake[index], pool.tally[RESTING]
    while place > 0 and (until[place - 1] < time or (until[place - 1] == time and resting[place - 1] < page)):
        until[place], resting[place] = until[place - 1], resting[place - 1]
        place -= 1
    until[place], resting[place] = time, page
    pool.tally[RESTING] += 1
    pool.tally[AWAKE] -= 1
    pool.awake[index] = pool.awake[pool.tally[AWAKE]]


@inner
def wake(pool: PoolColumns, now: float) -> None:
    """Makes pages available again that have rested long enough."""
    tally = pool.tally
    while tally[RESTING] > 0 and pool.until[tally[RESTING] - 1] <= now:
        tally[RESTING] -= 1
        pool.awake[tally[AWAKE]] = pool.resting[tally[RESTING]]
        tally[AWAKE] += 1


@inner
def reveal(mind: Mind, pool: PoolColumns, links: IntArray, now: float) -> None:
    """Adds links that just appeared to a pool; there must be room."""
    look_ahead(mind)
    for link in links:
        if appears_now(mind, link, now):
            add(pool, link)


class Pool:
    """A set of pages in arrays that grow."""

    def __init__(self, pages: IntArray) -> None:
        size = len(pages)
        self.columns = PoolColumns(
            np.array(pages, dtype=np.int64), np.empty(size, np.int64), np.empty(size), np.array([size, 0, 0])
        )
        """Do not keep it: it is replaced as it grows."""

    def __repr__(self) -> str:
        return f"<Pool of {len(self.pages)} pages, {self.columns.tally[RESTING]} more resting>"

    @property
    def pages(self) -> IntArray:
        """The pages that may be chosen now; a view."""
        return self.columns.awake[: self.columns.tally[AWAKE]]

    @property
    def all(self) -> IntArray:
        """All pages, including the resting ones."""
        return np.concatenate([self.pages, self.columns.resting[: self.columns.tally[RESTING]]])

    @property
    def used(self) -> int:
        """Downloads since the pool was filled."""
        return int(self.columns.tally[USED])

    def add(self, pages: IntArray) -> None:
        """Adds those pages that the pool does not hold yet."""
        new = distinct(pages[~np.isin(pages, self.all)])
        self.reserve(len(new))
        columns, awake = self.columns, int(self.columns.tally[AWAKE])
        columns.awake[awake : awake + len(new)] = new
        columns.tally[AWAKE] += len(new)

    def rest(self, index: int, until: float) -> None:
        """Excludes the page at this index until a given time."""
        rest(self.columns, index, until)

    def wake(self, now: float) -> None:
        """Makes pages available again that have rested long enough."""
        wake(self.columns, now)

    def use(self) -> None:
        """Counts a download of a page of this pool."""
        self.columns.tally[USED] += 1

    def reserve(self, more: int) -> None:
        """Makes room for this many more pages."""
        columns = self.columns
        room = int(columns.tally[AWAKE] + columns.tally[RESTING]) + more
        if room > len(columns.awake):
            awake, resting = (np.resize(column, 2 * room) for column in (columns.awake, columns.resting))
            self.columns = PoolColumns(awake, resting, np.resize(columns.until, 2 * room), columns.tally)


BY_WORTH, REORDERED, ALONE = range(3)
"""Who decides: the expected documents; score functions among the pages worth a request; a score function alone."""
NOTHING, RANK = -1, -2
"""Instead of a page: no page is worth a download; the pages must be ranked first."""
LAST = -1e300
"""Sorts never-visited pages that are probably too old after all others."""
TIE = 1e-9
"""Weight of the link graph for visited pages; it only breaks ties."""

IN_VAIN = 0.4
"""A list that never brought a document rests for this share of the hours in which it was watched, but never longer than
`max_age`, however little else there is to do. Otherwise dozens of hosts that bring nothing would be asked as often as
politeness allows, because where documents are found late no page counts as worth too little. Ours: with the usual
threshold such lists rest for about as long.
"""

ROUND = 64
"""Number of downloads from one pool after which all pages are ranked again."""
SHARE = 1000
"""A ranking needs one download per this many known pages since the last one."""
LARGE = 20_000
"""Above this number of known pages rankings become rarer in proportion, so that they do not take most of the time."""


class Turn(Protocol):
    """The state of the recrawl side, for kernels."""

    every: float  # length of a cycle in seconds
    ends: float  # when the current cycle ends
    ranked: float  # when pages were last ranked
    known: int  # pages known at the last ranking
    used: int  # downloads since the last ranking
    mode: int
    grouped: bool  # whether each host has a pool of its own
    pooled: bool  # whether there is a pool that links may join
    weight: float  # weight of the link graph for never-visited pages
    seeds: int  # number of seeds, which come before everything else
    gathered: int  # number of known pages that the ranking of all has taken up
    listed: int  # pages on the short list; 0 if there is none
    listed_of: int  # pages known when the short list was made
    listed_late: int  # pages that joined the short list since
    listed_used: int  # downloads since the short list was made


_KINDS: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
TURN = np.dtype([(name, _KINDS[kind]) for name, kind in Turn.__annotations__.items()])


class Choices(NamedTuple):
    """The input of a choice: one pool, the numbers of pages, and what one ranking keeps for the next."""

    pool: PoolColumns
    turn: RowArray
    """A table of one row, the `Turn`."""
    number: FloatArray
    """Number of each page by a function that decides alone, the highest first; nan: none."""
    wait: FloatArray
    """Until when each page is excluded."""
    seeds: IntArray
    """Seeds in reverse order."""
    only: BoolArray
    """Which pages may be visited; empty: all."""
    known: IntArray
    """Count, then the sorted numbers, of the pages known at the last ranking of all."""
    listed: IntArray
    """Count, then the sorted numbers, of the pages on the short list."""
    unseen: IntArray
    """Count, then the sorted numbers, of some never-visited pages."""
    lists: Program
    """The function that orders lists; empty: none."""
    texts: Program
    """The function that orders texts; empty: none."""


@inner
def enough(used: int, known: int) -> bool:
    """Whether there were enough downloads since the last ranking to rank again."""
    return used > 0 and used * SHARE >= known


@inner
def ranking_due(turn: Turn, now: float, used_of_pool: int) -> bool:
    """Whether to rank all pages again, because enough of this pool was used or enough time has passed."""
    by_time = now - turn.ranked >= turn.every * max(1.0, turn.known / LARGE)
    return by_time or (enough(turn.used, turn.known) and used_of_pool >= ROUND)


@inner
def lean_on_graph(mind: Mind, weight: float, pages: IntArray) -> int:
    """Writes a factor for each page, from the link graph and long-term profit, into the third row of `scratch`. Returns
    the number of factors: 0 if neither is used.
    """
    if mind.appeal_share == 0 and len(mind.prospects) == 0:
        return 0
    for i in range(len(pages)):
        leaning = 0.0
        if pages[i] < len(mind.appeal):
            leaning = mind.appeal_share * mind.appeal[pages[i]]
        if pages[i] < len(mind.prospects):
            leaning += (1 - mind.appeal_share) * mind.prospects[pages[i]]
        mind.scratch[2, i] = 1 + leaning * (TIE if mind.table[pages[i]].visits > 0 else weight)
    return len(pages)


@compiled
def graph_leanings(mind: Mind, weight: float, pages: IntArray) -> FloatArray:
    """These factors as an array of their own."""
    return mind.scratch[2, : lean_on_graph(mind, weight, pages)].copy()


@inner
def _first_numbered(mind: Mind, side: Choices, pages: IntArray, now: float) -> int:
    """Index of the page that the score function puts first, -1 if there is none; no page is visited twice in a cycle."""
    place, top, turn = -1, 0.0, side.turn[0]
    for i in range(len(pages)):
        number = side.number[pages[i]]
        if number > top and now - mind.history.times[1, pages[i]] >= turn.every:
            place, top = i, number
    return place


@compiled
def _reordered(mind: Mind, side: Choices, pages: IntArray, now: float, least: float, lists: bool) -> tuple[int, float]:
    """Among the visited pages of one kind that are worth a request, the one that the score function puts first; -1 if
    there is none. Ties go to the page that was visited longest ago, then to the lower number.
    """
    steps, turn, last = side.lists if lists else side.texts, side.turn[0], mind.history.times[1]
    some, worths, count = np.empty(len(pages), np.int64), np.empty(len(pages)), 0
    look_ahead(mind)
    for i in range(len(pages) if len(steps.code) else 0):
        page = pages[i]
        if mind.history.counts[0, page] == 0 or mind.table[page].hub != lists or now - last[page] < turn.every:
            continue
        _, promised, _ = promise_of(mind.table, page, mind.outlook, mind.priors[0], now)
        if promised >= least:
            some[count], worths[count] = i, promised
            count += 1
    if count == 0:
        return -1, 0.0
    some = some[:count]
    score, top = page_scores(mind, steps, pages[some], now), 0
    for i in range(1, count):
        page, first = pages[some[i]], pages[some[top]]
        if score[i] != score[top]:
            top = i if score[i] > score[top] else top
        elif last[page] < last[first] or (last[page] == last[first] and page < first):
            top = i
    return some[top], worths[top]


@compiled
def _by_score(mind: Mind, side: Choices, pages: IntArray, now: float, luck: float, least: float) -> tuple[int, float]:
    """The page that the score function puts first, or a page without history if that has more expected documents.

    Expected documents are the one measure that both kinds of pages have. Without this rule, the backlog of
    never-visited pages would keep the function from ever revisiting the lists that bring the news.
    """
    others, count = np.empty(len(pages), np.int64), 0
    for i in range(len(pages)):
        if mind.history.counts[0, pages[i]] == 0:
            others[count] = i
            count += 1
    best_other, worth, fresh = 0, 0.0, False
    if count:
        never = pages[others[:count]]
        leaning = mind.scratch[2, : lean_on_graph(mind, side.turn[0].weight, never)]
        index, worth, fresh, _ = pick(mind, never, now, leaning, luck, -np.inf)
        best_other = others[index]
    if fresh and worth >= least:
        return best_other, worth
    place = _first_numbered(mind, side, pages, now)
    if place < 0:
        return best_other, worth
    if worth >= least:
        look_ahead(mind)
        _, promised, _ = promise_of(mind.table, pages[place], mind.outlook, mind.priors[0], now)
        if worth >= promised:
            return best_other, worth
    return place, np.nan


@inner
def _first_worth(mind: Mind, pages: IntArray, leaning: FloatArray, now: float, least: float) -> tuple[int, float]:
    """Index and worth of the first page, in order, that is worth a request. There must be one."""
    place, top, expected = 0, -1.0, 0.0
    look_ahead(mind)
    foreseen, prior = mind.outlook, mind.priors[0]
    for i in range(len(pages)):
        rank, worth, _ = promise_of(mind.table, pages[i], foreseen, prior, now)
        if len(leaning):
            rank *= leaning[i]
        if worth >= least and rank > top:
            place, top, expected = i, rank, worth
    return place, expected


@inner
def _pick(mind: Mind, side: Choices, pages: IntArray, now: float, luck: float, least: float) -> tuple[int, float]:
    """Index of the page to visit first, and its worth; nan: worth a visit in any case."""
    turn: Turn = side.turn[0]
    if turn.mode == ALONE:
        return _by_score(mind, side, pages, now, luck, least)
    leaning = mind.scratch[2, : lean_on_graph(mind, turn.weight, pages)]
    index, worth, _, most = pick(mind, pages, now, leaning, luck, least)
    if worth < least <= most:
        index, worth = _first_worth(mind, pages, leaning, now, least)
    if turn.mode == REORDERED and worth >= least and mind.history.counts[0, pages[index]] > 0:
        place, promised = _reordered(mind, side, pages, now, least, mind.table[pages[index]].hub)
        if place >= 0:
            return place, promised
    return index, worth


@inner
def _stranger(mind: Mind, pages: IntArray, now: float, luck: float) -> int:
    """A never-visited page: the first in the order of the link graph, or of the form of address that was tried least;
    -1 if there is none.

    Without the link graph, pages that are probably too old come last.
    """
    order, count = mind.scratch[0, : len(pages)], 0
    for i in range(len(pages)):
        row: PageRow = mind.table[pages[i]]
        order[i] = -np.inf
        if row.visits == 0:
            count += 1
            if mind.appeal_share > 0:
                order[i] = mind.appeal[pages[i]] if pages[i] < len(mind.appeal) else 0.0
            elif now - row.latest > mind.priors[0].max_age:
                order[i] = LAST
            else:
                order[i] = -mind.table[row.place].tried
    return int(pages[best(order, luck)]) if count else -1


@inner
def _rests_in_vain(page: PageRow, prior: Priors) -> float:
    """The time until which a visited page rests that never brought a document; -inf if it brought one, or was never
    visited.
    """
    if page.visits == 0 or page.hits > 0:
        return -np.inf
    return page.last + min((IN_VAIN if page.hub else 1.0) * 3600 * page.hours, prior.max_age)


@inner
def _free_at(mind: Mind, side: Choices, last: FloatArray, revisit_after: float, page: int) -> float:
    """The time from which on a page may be chosen.

    It is later than now for a page that is excluded or whose last copy still serves. Where each host has a pool of its
    own, a list that never brought anything rests as well; in one pool for all hosts other pages come first anyway.
    """
    until: float = side.wait[page]
    if mind.history.counts[0, page] == 0:
        return until
    row: PageRow = mind.table[page]
    until = max(until, last[page] + (min(revisit_after, LOOKS_APART) if row.hub else revisit_after))
    turn: Turn = side.turn[0]
    rests = row.hub and turn.grouped and turn.mode != ALONE
    return max(until, _rests_in_vain(row, mind.priors[0])) if rests else until


@inner
def choose_of_pool(
    mind: Mind, side: Choices, last: FloatArray, revisit_after: float, now: float, luck: float, least: float,
    explored: float, explore: float, turns: float,
) -> tuple[int, float]:  # fmt: skip
    """The page of the pool to visit and its worth; `NOTHING` if none is worth a download.

    A never-visited page comes first while too little was explored, or while nothing is worth a request. If there is
    none, the best page below the threshold is visited. A text that never brought anything must first rest for as long
    as it was watched, so that it is explored less and less often.
    """
    wake(side.pool, now)
    while side.pool.tally[AWAKE] > 0:
        pages = side.pool.awake[: side.pool.tally[AWAKE]]
        index, worth = _pick(mind, side, pages, now, luck, least)
        page = pages[index]
        free = _free_at(mind, side, last, revisit_after, page)
        if free > now:
            rest(side.pool, index, free)
            continue
        if owes(explored, explore, turns) or not worth >= least:
            stranger = -1
            if allows(True, explored, explore, turns):
                stranger = _stranger(mind, pages, now, luck)
            if stranger >= 0 and _free_at(mind, side, last, revisit_after, stranger) <= now:
                return stranger, 0.0
        if worth < least and now < _rests_in_vain(mind.table[page], mind.priors[0]):
            return NOTHING, worth
        return (page if allows(explores(worth, least), explored, explore, turns) else NOTHING), worth
    return NOTHING, 0.0


@inner
def rest_time(mind: Mind, side: Choices, now: float, least: float, shortest: float, longest: float) -> float:
    """Seconds to rest, within bounds, until a list of the pool is worth a request."""
    first, prior = now + longest, mind.priors[0]
    look_ahead(mind)
    for part in (side.pool.awake[: side.pool.tally[AWAKE]], side.pool.resting[: side.pool.tally[RESTING]]):
        for url in part:
            page: PageRow = mind.table[url]
            if page.visits > 0 and page.hub:
                due = due_at(mind.table, page, mind.outlook, prior, least, first)
                first = min(first, max(due, _rests_in_vain(page, prior)))
    return max(shortest, first - now)


@inner
def next_seed(mind: Mind, side: Choices) -> int:
    """The next never-visited seed, `NOTHING` if there is none. Seeds come first because otherwise a whole site may stay
    unknown.
    """
    turn: Turn = side.turn[0]
    while turn.seeds > 0:
        turn.seeds -= 1
        seed = side.seeds[turn.seeds]
        if mind.table[seed].visits == 0:
            turn.used += 1
            return int(seed)
    return NOTHING


@inner
def use_page(side: Choices) -> None:
    """Counts the visit of a page of the pool."""
    turn: Turn = side.turn[0]
    turn.used += 1
    side.pool.tally[USED] += 1


@inner
def count_wanted(mind: Mind, side: Choices, now: float, least: float) -> int:
    """Number of pages in the pool that are worth a download."""
    turn: Turn = side.turn[0]
    look_ahead(mind)
    count = 0
    for page in side.pool.awake[: side.pool.tally[AWAKE]]:
        if turn.mode == ALONE and mind.history.counts[0, page] > 0:
            count += side.number[page] > 0
        else:
            _, worth, _ = promise_of(mind.table, page, mind.outlook, mind.priors[0], now)
            count += worth >= least
    return count
