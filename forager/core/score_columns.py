"""What score functions read of pages, as columns for `gp.machine`, and the numbers that they give to the pages of a pool.

Kernels number pages by it at every ranking, so that a function costs a replay next to nothing.
"""

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.compiling import compiled
from forager.core.choice import AWAKE, RESTING, Choices
from forager.core.expectation import busy_between, hazard_on, look_ahead, rate_on
from forager.core.page_row import Mind, PageRow
from forager.gp.machine import (
    BUSY,
    CLOCKLESS,
    DOCUMENTS,
    ELSEWHERE,
    FIELDS,
    FIRST,
    HALVED,
    HAZARD,
    HOUR,
    HUB,
    INLINKS,
    LAST,
    LAST_CHANGE,
    LENGTH,
    NEWS,
    RANKED,
    RECENT,
    N,
    Program,
    X,
    evaluate,
)
from forager.recrawl.list_estimates import elsewhere_of

COLUMNS = len(FIELDS)


@compiled
def page_columns(mind: Mind, pages: IntArray, now: float, cycle: float) -> FloatArray:
    """The fields of visited pages, times in cycles of so many seconds."""
    out, prior, history = np.zeros((COLUMNS, len(pages))), mind.priors[0], mind.history
    look_ahead(mind)
    foreseen, hours = mind.outlook, cycle / 3600.0
    for i in range(len(pages)):
        url = pages[i]
        page: PageRow = mind.table[url]
        out[N, i], out[X, i], out[DOCUMENTS, i] = history.counts[0, url], history.counts[1, url], history.counts[2, url]
        out[FIRST, i], out[LAST, i] = history.times[0, url] / cycle, history.times[1, url] / cycle
        out[LAST_CHANGE, i] = history.times[2, url] / cycle
        out[RECENT, i], out[RANKED, i], out[HALVED, i] = (
            history.sums[0, url],
            history.sums[1, url],
            history.sums[2, url],
        )
        out[HUB, i], out[INLINKS, i], out[LENGTH, i] = page.hub, page.links_in, max(page.length, 1)
        out[NEWS, i] = rate_on(mind.table, page, foreseen, prior) * hours
        out[HAZARD, i] = hazard_on(page, foreseen) * hours if page.hub else out[NEWS, i]
        out[ELSEWHERE, i] = elsewhere_of(page.elsewhere, page.hits) if page.hub else 0.0
        out[HOUR, i] = now / 3600.0 % 24.0
        out[BUSY, i] = busy_between(foreseen, history.times[1, url], now) / hours
    return out


@compiled
def _visited(mind: Mind, pages: IntArray, lists: bool) -> IntArray:
    """The pages of one kind that have a history."""
    out, count = np.empty(len(pages), np.int64), 0
    for page in pages:
        if mind.history.counts[0, page] > 0 and mind.table[page].hub == lists:
            out[count] = page
            count += 1
    return out[:count]


@compiled
def _number(mind: Mind, side: Choices, steps: Program, pages: IntArray, now: float) -> None:
    """Numbers pages in the order of a function; of equals the longer unvisited, then the lower page, goes first."""
    columns, score = page_columns(mind, pages, now, steps.cycle), np.empty(len(pages))
    moment, hours = now / steps.cycle, steps.cycle / 3600.0
    evaluate(
        steps.code, steps.left, steps.right, steps.number, len(pages), moment, hours, CLOCKLESS, columns, columns[LAST],
        score,
    )  # fmt: skip
    order = np.argsort(columns[LAST], kind="mergesort")
    order = order[np.argsort(-score[order], kind="mergesort")]
    for place in range(len(order)):
        side.number[pages[order[place]]] = len(order) - place


@compiled
def number_pool(mind: Mind, side: Choices, now: float) -> None:
    """Numbers the visited pages of a pool, lists and texts apart, each in the order of its function, if it has one."""
    pages = np.concatenate((side.pool.awake[: side.pool.tally[AWAKE]], side.pool.resting[: side.pool.tally[RESTING]]))
    for page in pages:
        side.number[page] = 0.0
    if len(side.lists.code):
        _number(mind, side, side.lists, _visited(mind, pages, True), now)
    if len(side.texts.code):
        _number(mind, side, side.texts, _visited(mind, pages, False), now)
