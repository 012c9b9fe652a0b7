"""What score functions read of pages, and the scores that they give, computed by kernels."""

import numpy as np

from forager.arrays import FloatArray, IntArray
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
from forager.kernel import compiled
from forager.recrawl.list_estimates import elsewhere_of


@compiled
def page_columns(mind: Mind, pages: IntArray, now: float, cycle: float) -> FloatArray:
    """The columns of visited pages that functions read; times in cycles of `cycle` seconds."""
    out = np.zeros((len(FIELDS), len(pages)))
    prior, history = mind.priors[0], mind.history
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
def page_scores(mind: Mind, steps: Program, pages: IntArray, now: float) -> FloatArray:
    """The scores that a function gives to visited pages; -inf instead of nan."""
    score, columns = np.empty(len(pages)), page_columns(mind, pages, now, steps.cycle)
    moment, hours = now / steps.cycle, steps.cycle / 3600.0
    evaluate(
        steps.code, steps.left, steps.right, steps.number, len(pages), moment, hours, CLOCKLESS, columns, columns[LAST],
        score,
    )  # fmt: skip
    for i in range(len(score)):
        score[i] = -np.inf if np.isnan(score[i]) else score[i]
    return score
