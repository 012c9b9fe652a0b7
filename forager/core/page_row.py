"""The columns of the page table, one row for every URL, as the kernels of `expectation` and `updates` see it."""

from typing import NamedTuple, Protocol

import numpy as np

from forager.arrays import ByteArray, Float32Array, FloatArray, Int32Array, IntArray, RowArray
from forager.kernel import compiled, inner
from forager.recrawl.history import Log, Tables
from forager.recrawl.rhythm import HOURS


class PageRow(Protocol):
    """What is known of one page, for kernels. Times are in seconds, -inf means never."""

    # What a choice reads of a page that was never visited; this fits into one line of the processor's cache.
    visits: int
    failures: int  # failed requests before the first visit
    hub: bool  # whether it is a list; once a list, always a list
    fresh: bool  # whether it was found when the page that revealed it was visited again
    awaited: bool  # whether a visit is under way
    listed: bool  # whether it is announced as a list: a feed or a sitemap
    announced: bool  # whether a feed or news sitemap gave the date `latest`
    main: bool  # whether it is a seed, or a list announced by one, which show the news of a site
    from_list: bool  # whether `revealer` is a list
    lifted: bool  # whether there was a signal at the latest visit
    met: float  # first time a link here was seen
    revealer: int  # the page on which it was first found; -1 for none
    links_in: int  # pages that link here
    place: int  # first page with the same form of address, whose row has the figures of the form (below)
    urgency: float  # of a list: less than 1 if other lists show its documents too
    latest: float  # latest possible time of publication, by a feed or its address; nan if unknown
    topical: float  # share of a list's documents, or chance of a page never read, that is on the topic; 1 without one
    hours: float  # hours of watching, between visits; of texts busy hours
    # What it reads of every visited page as well.
    signal: float  # last time when a page that links here had news
    last: float  # latest visit
    asked: float  # when it was last requested
    # What it reads of every list.
    came: float  # of a list, old visits decaying: documents that it brought
    seen_hours: float  # of a list: busy hours watched, without those whose documents left unseen
    gone: float  # documents that left it before the next visit
    stood_hours: float  # hours for which single documents were seen on it
    # What it reads of every text, and what visits change.
    hits: float  # documents that it brought in these hours
    hit_hours: float  # of a text: the hours of watching that brought news
    paid_at: float  # the last visit that brought news
    followed: float  # fresh links it revealed that were visited
    paid: float  # new documents among those
    before: float  # the visit before the latest
    newly: int  # unknown links that its latest visit showed
    length: int  # links that its latest visit showed
    elsewhere: float  # how often documents first found on it were seen on another list at its next visit
    # The figures of all pages whose address has the same form, in the row of the first one.
    tried: float  # visited ones among them that were backlog
    docs: float  # new documents among those
    lists: float  # lists among those
    looks: float  # second and later visits of lists of this form
    brought: float  # documents that all visits of lists of this form brought
    place_hits: float  # documents that the second and later visits brought
    place_hours: float  # hours watched between these visits
    steady: int  # 1 if its latest visit teaches the rhythm of the week, else 0


_NARROW: dict[str, type[np.generic]] = {
    **dict.fromkeys(("visits", "failures", "revealer", "links_in", "place", "newly", "length"), np.int32),
    **dict.fromkeys(("tried", "docs", "lists", "looks", "brought", "elsewhere", "urgency"), np.float32),
}
_WIDE: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
PAGE = np.dtype([(name, _NARROW.get(name, _WIDE[kind])) for name, kind in PageRow.__annotations__.items()], align=True)
"""A row. No byte may lie between or behind the columns: it would be saved with whatever was in memory there."""

HUB, TEXT, FRESH, LIFT, BACKLOG = range(5)
"""Rows of the table of means.

HUB and TEXT: hits and hours of each kind of page. FRESH: documents and visits of fresh links. LIFT: hits and
predictions of visits with a signal. From BACKLOG on: what backlog brought and how often it was visited, by `sort_of`.
"""

DEGREES = 6
"""Number of backlog sorts by the number of pages that link there: 1, 2–3, 4–7, … 32 and more."""

SPREAD = BACKLOG + 2 * DEGREES
"""Start of two rows for lists and two for texts: sums over pages with x hits in h hours of x² and xh, of h² and h."""

LISTS = SPREAD + 4
"""Start of the rows that count, for each sort of backlog, how many of its pages were lists and how many were visited."""

LOOK = LISTS + 2 * DEGREES
"""Documents that lists brought when visited again, and the number of these visits."""

OLD = LOOK + 1
"""New documents among never-visited pages that were probably too old, and how often such pages were visited."""

HAZARD = OLD + 1
"""Over all lists: documents that left before the next visit, and hours for which single documents were seen on them."""

PASSED = HAZARD + 1
"""Start of the rows with the busy time from the beginning of the week to each of its hours, and to its end. The second
entry of the last row is the hour in which they were computed.
"""

RHYTHM = PASSED + HOURS + 1
"""Start of the rows that hold, for each hour of the week, the documents that appeared and those expected without a
rhythm.
"""

MAINS = RHYTHM + HOURS
"""Documents that main lists brought, and hours for which they were watched."""

MEANS = MAINS + 1

MOMENT, BUSY_THEN, RHYTHM_OF, STALE = range(RHYTHM, RHYTHM + 4)
"""More indices in the outlook: a moment, and the busy time then; the hour in which its rhythm was computed; 0 if the
means have not changed since it was computed.
"""
PER_WAIT, PER_LONGEST, MAIN_HITS, MAIN_HOURS = range(RHYTHM + 4, RHYTHM + 8)
"""More indices in the outlook: one over twice the patience, and one over `max_age` in hours; the documents of all main
lists, and the hours for which they were watched.
"""
OUTLOOK = RHYTHM + 8

LOOKS_APART = 10.0
"""Seconds for which one visit of a list serves all requests. How much longer the list rests depends on its worth."""

REVEALED_MOST = 10.0
"""Maximum value that the first visit of a list gets for the links that it reveals."""

FORM_MEMORY = 32.0
"""Number of pages of one form of address after which half of the older results is forgotten, as all young pages of that
form may have been visited by then.
"""

ATTEMPTS = 3
"""After this many failed requests a never-visited page counts as visited, unless it is a main page or no link to it was
found.
"""

DOUBLINGS = 5
"""How often the time before the next attempt doubles."""


class Priors(Protocol):
    """The settings that kernels need, in hours and seconds."""

    prior_hours: float
    prior_links: float
    prior_weight: float
    fresh_first: float
    lift_most: float
    max_age: float
    retry_after: float
    lift_keep: float
    backlog_keep: float
    breadth: float
    text_breadth: float
    main_rate: float
    list_rate: float
    list_weight: float
    place_weight: float
    patience: float
    text_hits: float
    rhythm: float


PRIORS = np.dtype([(name, np.float64) for name in Priors.__annotations__])
"""The type of a table of one row, because kernels take arrays faster than anything else."""


class Mind(NamedTuple):
    """What all foragers share, for kernels: the page table, the states, and the success of the fleet."""

    table: RowArray
    means: FloatArray
    priors: RowArray
    known: IntArray
    hubs: IntArray
    glances: RowArray
    held: IntArray
    """The version that each page showed last, -1 for none."""
    history: Tables
    log: Log
    rows: Int32Array
    vectors: Float32Array
    """All states."""
    appeal: FloatArray
    """What the link graph says about never-visited pages; it may be shorter than the table."""
    appeal_share: float
    """Weight of `appeal` beside long-term profit; 0: `appeal` is not used."""
    pace: RowArray
    """One row: the success of the fleet, and what it spent."""
    marks: ByteArray
    """The marks of each page's address; empty if they are not used."""
    prospects: FloatArray
    """What long-term profit says of unvisited links, from −1 to 1; empty if it is not learned."""
    outlook: FloatArray
    """The means, prepared for kernels; see `expectation.look_ahead`."""
    scratch: FloatArray
    """Four rows of intermediate figures of pages; valid during one choice."""


@compiled
def highest(urls: IntArray) -> int:
    """The largest number; -1 if there is none."""
    top = -1
    for url in urls:
        top = max(top, url)
    return top


@inner
def append(column: IntArray, number: int) -> None:
    """Appends a number to a column whose first entry is its length; there must be room."""
    column[0] += 1
    column[column[0]] = number
