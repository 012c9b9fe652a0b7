"""Visits of the recrawl side, one after the other, as one kernel: what `Replay` does visit by visit, without leaving it.

Most visits of a replay are alike: choose the best page of the pool, look it up on the tape, enter what it shows. The
kernel goes on as long as that is all; it stops when a page shows a document that must be judged, when all pages are to
be ranked, when it is the fleet's turn, and for whatever is out of the ordinary. It is put together from the kernels that
each part uses for itself; a test holds it equal to the visits one by one.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.foragers.expectation import pick
from forager.foragers.leaving import after
from forager.foragers.noting import note_going, note_links, note_signal, note_visit
from forager.foragers.ranking import fresh_links
from forager.foragers.thrift import allows, explores, owes
from forager.recrawl.choosing import enough, ranking_due
from forager.recrawl.noting import enter, see
from forager.recrawl.pool import AWAKE, RESTING, USED, add, rest, wake
from forager.world.tape.looking import look_up, standing

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

GO_ON, JUDGE, RANK, CYCLE, REST, LEAVE = range(6)
"""Why the kernel stopped: to be called again at once; a document to judge; a ranking or the end of a cycle is due;
nothing is worth a download; the rest is not for it."""

NOTHING: FloatArray = np.empty(0)


def is_behind(spent: float, fleet_spent: float, share: float) -> bool:
    """Whether the recrawl side, which is to make this share of all downloads, is further behind it than the fleet."""
    return spent * (1 - share) < fleet_spent * share or share >= 1


behind = compiled(is_behind)
"""The same for kernels."""


@compiled
def _unseen(table: NDArray[np.void], pages: IntArray, luck: float) -> int:
    """Any page that nobody has seen; -1 if there is none."""
    count = 0
    for page in pages:
        count += table[page].visits == 0
    wanted = int(luck * count)
    for page in pages:
        if table[page].visits == 0:
            if wanted == 0:
                return int(page)
            wanted -= 1
    return -1


@compiled
def _choose(
    table: NDArray[np.void],
    means: FloatArray,
    priors: NDArray[np.void],
    awake: IntArray,
    resting: IntArray,
    until: FloatArray,
    tally: IntArray,
    last: FloatArray,
    revisit_after: float,
    now: float,
    luck: float,
    least: float,
    explored: float,
    explore: float,
    turns: float,
) -> tuple[int, float]:
    """The page to look at and its worth, as `Choosing.choose` says by worth; -1 for none."""
    wake(awake, resting, until, tally, now)
    while tally[AWAKE] > 0:
        pages = awake[: tally[AWAKE]]
        index, worth, _, _ = pick(table, pages, means, priors, now, NOTHING, luck)
        page = pages[index]
        free = last[page] + revisit_after
        if free > now:
            rest(awake, resting, until, tally, index, free)
            continue
        if (owes(explored, explore, turns) or not worth >= least) and allows(0.0, least, explored, explore, turns):
            stranger = _unseen(table, pages, luck)
            if stranger >= 0 and last[stranger] + revisit_after <= now:
                return stranger, 0.0
        return (page if allows(worth, least, explored, explore, turns) else -1), worth
    return -1, 0.0


@compiled
def look_on(
    # how far, and whose turn it is
    now: float,
    end: float,
    ends: float,
    ranked: float,
    every: float,
    ranked_pages: int,
    used: int,
    fleet_spent: float,
    spent: float,
    share: float,
    fleet_rests: float,
    luck: FloatArray,
    changed: NDArray[np.bool_],
    # the tape
    seconds: float,
    revisit_after: float,
    last: FloatArray,
    current: IntArray,
    held: IntArray,
    begin: IntArray,
    time: FloatArray,
    gone: NDArray[np.bool_],
    published: FloatArray,
    is_list: NDArray[np.bool_],
    state: NDArray[np.int32],
    link_set: NDArray[np.int32],
    link_start: IntArray,
    links: IntArray,
    waits: bool,
    appears: FloatArray,
    # what the fleet knows
    table: NDArray[np.void],
    means: FloatArray,
    priors: NDArray[np.void],
    known: IntArray,
    hubs: IntArray,
    rows: NDArray[np.int32],
    hits: float,
    downloads: float,
    memory: float,
    least: float,
    turns: float,
    explored: float,
    explore: float,
    # what the recrawl side knows
    seen: IntArray,
    counts: FloatArray,
    times: FloatArray,
    sums: FloatArray,
    rule: FloatArray,
    awake: IntArray,
    resting: IntArray,
    until: FloatArray,
    tally: IntArray,
    widest: int,
    # what is sent to be judged
    max_age: float,
    lists_too: bool,
    reads_off: bool,
) -> tuple[int, int, int, int, float, float, float, float, int, int, bool]:
    """Visit after visit. Why it stopped; visits, those not recorded, changes and their count; the time; explored, hits
    and downloads of the pace; and of a page to judge its number, its version, and whether this was its first visit.

    `end` is when somebody else wants to be asked, `ends` the end of the cycle, `widest` the most links of any page.
    """
    visits = unrecorded = found = 0
    while visits < len(luck):
        if now >= end or (now >= fleet_rests and not behind(spent, fleet_spent, share)):
            return LEAVE, visits, unrecorded, found, now, explored, hits, downloads, -1, -1, False
        if now >= ends:
            return CYCLE, visits, unrecorded, found, now, explored, hits, downloads, -1, -1, False
        if ranking_due(now, ranked, every, ranked_pages, used, tally[USED]):
            return RANK, visits, unrecorded, found, now, explored, hits, downloads, -1, -1, False
        if len(awake) - tally[AWAKE] - tally[RESTING] < widest:
            break
        page, worth = _choose(
            table,
            means,
            priors,
            awake,
            resting,
            until,
            tally,
            last,
            revisit_after,
            now,
            luck[visits],
            least,
            explored,
            explore,
            turns,
        )
        if page < 0 or now - last[page] < revisit_after:
            nothing = page < 0 and not enough(used, ranked_pages)
            return REST if nothing else LEAVE, visits, unrecorded, found, now, explored, hits, downloads, -1, -1, False
        note_going(table, page, now)
        version, _, now = look_up(page, now, seconds, revisit_after, last, current, held, begin, time)
        explored += explores(worth, least)
        turns += 1
        spent += 1
        used += 1
        tally[USED] += 1
        visits += 1
        unrecorded += version < 0
        lost = version >= 0 and gone[version]
        ok = version >= 0 and not lost
        hub = ok and is_list[page]
        shown = links[:0]
        if ok:
            if state[version] >= 0:
                rows[page] = state[version] + 1
            shown = links[link_start[link_set[version]] : link_start[link_set[version] + 1]]
            if waits:
                shown = standing(shown, now, appears)
        first = note_visit(table, page, now, ok or lost, hub, means, priors, known, hubs)
        if len(shown):
            new = note_links(table, shown, page, now, first, means, known)
            if new > 0 and not first and hub:
                note_signal(table, shown, now)
        enter(counts, times, sums, rule, page, now, see(seen, page, version if ok else -1), 0)
        if counts[0, page] > 1:
            changed[found] = sums[0, page] > 0
            found += 1
        if len(shown):
            add(awake, resting, tally, fresh_links(table, shown, means, priors, now))
        sends = ok and now - published[version] <= max_age and (lists_too or not hub)
        if sends or (reads_off and ok):
            return JUDGE, visits, unrecorded, found, now, explored, hits, downloads, page, version, first
        hits, downloads = after(hits, downloads, memory, 1.0)
    return GO_ON, visits, unrecorded, found, now, explored, hits, downloads, -1, -1, False
