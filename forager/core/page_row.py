"""The table of pages: one row of figures for every URL, as the kernels of `expectation` and `updates` see it."""

from typing import Protocol

import numpy as np

PAGE = np.dtype(
    [
        ("visits", np.int32),
        ("failures", np.int32),  # while it was never seen
        ("hub", np.bool_),  # once a list of links, always one
        ("fresh", np.bool_),  # met when the page that revealed it was visited again
        ("awaited", np.bool_),  # somebody is on the way
        ("lifted", np.bool_),  # at the latest visit there was a signal
        ("last", np.float64),  # latest visit
        ("asked", np.float64),  # when somebody last went on the way
        ("met", np.float64),  # first time a link here was seen
        ("signal", np.float64),  # last time a page that links here had news
        ("hours", np.float64),  # watched, between visits
        ("hits", np.float64),  # documents that it brought in these hours
        ("revealer", np.int64),  # the page on which it was met first; -1 for none
        ("followed", np.float64),  # fresh links it revealed that were visited
        ("paid", np.float64),  # those among them that were new documents
        ("links_in", np.int32),  # pages that link here
    ]
)
"""What is known of one page; times in seconds, -inf for never."""

HUB, TEXT, FRESH, LIFT, BACKLOG = range(5)
"""The rows of the table of means: hits and hours of each kind of page; documents and visits of fresh links; hits and
predictions of visits with a signal; from `BACKLOG` on what backlog brought and how often it was visited, by `_sort`."""

DEGREES = 6
"""Sorts of backlog by the number of pages that link there: 1, 2–3, 4–7, … 32 and more."""

SPREAD = BACKLOG + 2 * DEGREES
"""From here on two rows for lists and two for texts: sums over pages with x hits in h hours, Σx² and Σxh, Σh² and Σh."""

LISTS = SPREAD + 4
"""From here on, for each sort of backlog, how many of its pages turned out to be lists, and how many were visited."""

LOOK = LISTS + 2 * DEGREES
"""Documents that lists brought when they were looked at again, and how often they were."""

MEANS = LOOK + 1

REVEALED_MOST = 10.0
"""What the first visit of a list counts at most for the links that it reveals."""

ATTEMPTS = 3
"""Failed visits after which a page never seen counts as visited, unless it is a seed: no link to it was met."""

DOUBLINGS = 5
"""So often the time before the next attempt doubles."""


class PageRow(Protocol):
    """One row of the table, as the kernels see it."""

    visits: int
    failures: int
    hub: bool
    fresh: bool
    awaited: bool
    lifted: bool
    last: float
    asked: float
    met: float
    signal: float
    hours: float
    hits: float
    revealer: int
    followed: float
    paid: float
    links_in: int


class Priors(Protocol):
    """What the kernels need of the settings, in hours and seconds, as they see it."""

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


PRIORS = np.dtype([(name, np.float64) for name in Priors.__annotations__])
"""A table of one row, because kernels take arrays faster than anything else."""
