"""Territories: a start page belongs to the forager whose weblog values it most, and so does what the recrawl cycle
finds there.

All of this is ours; in the paper only foragers visit pages. A look of the recrawl cycle is like a path of one step:

    slot = begin_look(rules, mind, fleet, page, downloads)      whose page it is; that forager pays for the download
    send_for(rules, mind, fleet, slot, page, seen, …)           each document earns for that forager
    end_look(rules, mind, fleet, slot, page, …)                 its weblog and its long-term profit learn

A page that is in no weblog counts for the forager that has the page that revealed it; if there is none, the number of
the page decides. If the page proves to be a good start page, that forager gets it.
"""

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.core.fleet import RL, WL, WLRL, FleetState, Walker
from forager.core.judge import RELEVANT, Seen, count_judged, count_work, is_document, judge
from forager.core.page_row import Mind
from forager.core.rules import ForagerRules
from forager.core.step import learn_arrival
from forager.core.weblog import find_entry, rank_entries
from forager.kernel import inner


@inner
def owner_of(fleet: FleetState, url: int) -> tuple[int, int]:
    """The slot of the forager whose weblog values a page most, and the index of the page there; -1 if it is in no
    weblog.

    If several value it equally, as they do the seeds at the start, the number of the page decides.
    """
    slot, place, most, alive = -1, -1, -np.inf, fleet.tally[0].alive
    for i in range(alive):
        one = fleet.order[(url + i) % alive]
        found = find_entry(fleet.weblog[one, : fleet.walkers[one].entries], url)
        if found >= 0 and fleet.values[one, found] > most:
            slot, place, most = one, found, fleet.values[one, found]
    return slot, place


@inner
def _keeps_weblog(me: Walker) -> bool:
    return me.kind == WL or me.kind == WLRL


@inner
def hand_over(fleet: FleetState, urls: IntArray, values: FloatArray) -> None:
    """Gives start pages, the best first, to the foragers with most room; without room they replace entries of less
    value.
    """
    order = fleet.order[: fleet.tally[0].alive]
    for one in order:
        me: Walker = fleet.walkers[one]
        if _keeps_weblog(me):
            rank_entries(fleet.weblog[one, : me.entries], fleet.values[one, : me.entries])
            me.entries = min(me.entries, max(1, int(me.weblog_size)))
    for i in range(len(urls)):
        slot, room = -1, -1
        for one in order:
            me = fleet.walkers[one]
            if not _keeps_weblog(me):
                continue
            if find_entry(fleet.weblog[one, : me.entries], urls[i]) >= 0:
                slot = -1
                break
            if max(1, int(me.weblog_size)) - me.entries > room:
                slot, room = one, max(1, int(me.weblog_size)) - me.entries
        if slot < 0:
            continue
        entries = fleet.walkers[slot].entries
        place = entries if room > 0 else entries - 1
        if room > 0 or fleet.values[slot, place] < values[i]:
            fleet.weblog[slot, place], fleet.values[slot, place] = urls[i], values[i]
            fleet.walkers[slot].entries = place + 1
            rank_entries(fleet.weblog[slot, : place + 1], fleet.values[slot, : place + 1])


@inner
def begin_look(rules: ForagerRules, mind: Mind, fleet: FleetState, page: int, downloads: int) -> int:
    """Begins a look at a page: the forager that owns it pays for the download. Returns its slot, -1 if nobody is alive."""
    slot, place = owner_of(fleet, page)
    if slot >= 0:
        me: Walker = fleet.walkers[slot]
        if _keeps_weblog(me):
            fleet.values[slot, place] *= 1 - me.weblog_step
            rank_entries(fleet.weblog[slot, : me.entries], fleet.values[slot, : me.entries])
    elif mind.table[page].revealer >= 0:
        slot, place = owner_of(fleet, mind.table[page].revealer)
    alive = fleet.tally[0].alive
    if slot < 0 < alive:
        slot = fleet.order[page % alive]
    if slot >= 0:
        count_work(rules, fleet, slot, downloads)
    return slot


@inner
def send_for(
    rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, page: int, seen: Seen, revealer: int, links: IntArray,
    now: float,
) -> int:  # fmt: skip
    """Judges a document that a look showed; it earns for the forager in the slot, if there is one. Returns 0 if it is
    no document.

    What it earns for the page itself is added at the end of the look.
    """
    if not is_document(rules, seen, now):
        return 0
    became = judge(rules, mind, fleet, seen, revealer, links, now)
    if slot >= 0:
        count_judged(rules, fleet, slot, (became & RELEVANT) > 0)
        if became & RELEVANT and not pays_itself(rules, page, revealer):
            _pay(rules, mind, fleet, slot, revealer, rules.reward)
    return became


@inner
def pays_itself(rules: ForagerRules, page: int, revealer: int) -> bool:
    """Whether a document found by a look at a page earns for this page, not for another one that revealed it."""
    return not rules.pays_revealer or revealer < 0 or revealer == page


@inner
def _pay(rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, page: int, amount: float) -> None:
    """Raises the value of a start page. If nobody owns the page, it joins the forager's weblog if it is worth more than
    the last entry.
    """
    owner, place = owner_of(fleet, page)
    if owner < 0:
        me: Walker = fleet.walkers[slot]
        if me.kind == RL or not (rules.texts or mind.table[page].hub or mind.table[page].hits > 0):
            return
        owner, place = slot, min(me.entries, int(me.weblog_size) - 1)
        if place < me.entries and fleet.values[slot, place] >= amount:
            return
        fleet.weblog[slot, place], fleet.values[slot, place] = page, amount
        me.entries = place + 1
    else:
        fleet.values[owner, place] += fleet.walkers[owner].weblog_step * amount
    entries = fleet.walkers[owner].entries
    rank_entries(fleet.weblog[owner, :entries], fleet.values[owner, :entries])


@inner
def end_look(
    rules: ForagerRules, mind: Mind, fleet: FleetState, slot: int, page: int, first: bool, found: int, paid: int,
    links: IntArray,
) -> None:  # fmt: skip
    """Ends a look that found `found` new documents, of which `paid` earn for the page itself."""
    if slot < 0:
        return
    me: Walker = fleet.walkers[slot]
    if paid > 0:
        _pay(rules, mind, fleet, slot, page, paid * rules.reward)
    if rules.arrivals and (me.kind == RL or me.kind == WLRL):
        learn_arrival(rules, mind, fleet, slot, page, first, links, found * rules.reward)
