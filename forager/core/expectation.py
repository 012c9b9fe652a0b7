"""New documents expected of one download, from what earlier visits of all foragers brought.

- A page visited before brings news at a rate λ: hits per hour, drawn towards the mean of its kind while little is
  known. After t hours a list of links is worth λt, a single text 1 − e^(−λt). If a page that links here just had news,
  times the *lift*: the ratio hits / predicted that such visits had until now. How far λ is drawn towards the mean is
  learned as well: where pages of a kind are much alike, a single hit is luck and no reason to come back often.
- Pages are not ordered by worth alone: what changes seldom goes further forward by `breadth`, and so does a fresh link.
- A *fresh* link, met when a known page was visited again, is worth the share of such links of that page that turned out
  to be new documents, times the chance that it is not too old by now: on a page looked at once a day it may have stood
  for a day. Fresh links go first: the harvest is taken before more is looked for.
- *Backlog*, met on the first visit of a page, is worth what such links brought on average, by how many pages link there
  and what kind of page revealed them: a new document, or a list that reveals links nobody had met. So section pages,
  to which everything links, are soon told from old articles. To this comes what a page brings that is known from then
  on: if it is a list, which is learned by sort as well, the documents of one more look at a list; else the chance that
  a single text has news within `max_age`. So all lists are soon known, and where texts change often, all of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled, inlined, inner
from forager.core.page_row import (
    BACKLOG,
    DEGREES,
    DOUBLINGS,
    FRESH,
    HUB,
    LIFT,
    LISTS,
    LOOK,
    SPREAD,
    TEXT,
    PageRow,
    Priors,
)

LIKE_MOST = 1000.0
"""However alike pages are, after so many hours of watching a page counts for itself as much as its kind does."""
SHARE_MOST = 0.95
"""However often a text changes, it is not thought to have changed in more than this share of the gaps between visits."""


@inner
def likeness(kind: int, means: NDArray[np.float64], prior: Priors) -> float:
    """Hours of watching after which a page's own rate weighs as much as the mean of its kind.

    If hits come at random and rates follow a gamma distribution, that is their mean over their variance, and
    E(x − λh)² = λh for a page of rate λ: what the squares exceed that by is the variance of λ times h².
    """
    mean: float = means[kind, 0] / means[kind, 1]
    xx, xh = means[SPREAD + 2 * kind]
    hh, hours = means[SPREAD + 2 * kind + 1]
    longest = prior.max_age / 3600
    guess = prior.prior_weight * (longest * longest)  # a square by `**` differs in the last bit in plain Python
    excess = xx - 2 * mean * xh + mean * mean * hh - mean * hours
    variance: float = (excess + guess * mean / prior.prior_hours) / (hh + guess)
    if mean >= variance * LIKE_MOST:
        return LIKE_MOST
    return max(prior.prior_hours, mean / variance)


@compiled
def outlook(means: NDArray[np.float64], prior: Priors) -> NDArray[np.float64]:
    """What the kernels need of the means, worked out once for many pages; in the same order as these.

    The mean of each kind of page and of fresh links, the lift, the worth of each sort of backlog; from `SPREAD` on the
    likeness of each kind.
    """
    out = np.empty(SPREAD + 2)
    for row in (HUB, TEXT, FRESH):
        out[row] = means[row, 0] / means[row, 1]
    out[LIFT] = min(max(means[LIFT, 0] / means[LIFT, 1], 1 / prior.lift_most), prior.lift_most)
    look = means[LOOK, 0] / means[LOOK, 1]
    text = 1 - math.exp(-out[TEXT] * prior.max_age / 3600)
    for row in range(BACKLOG, SPREAD):
        lists = means[LISTS + row - BACKLOG, 0] / means[LISTS + row - BACKLOG, 1]
        out[row] = means[row, 0] / means[row, 1] + lists * look + (1 - lists) * text
    for kind in (HUB, TEXT):
        out[SPREAD + kind] = likeness(kind, means, prior)
    return out


@inlined
def own_rate(page: PageRow, mean: float, weight: float) -> float:
    """News per hour of a page in a kind with this mean and likeness, if none were overlooked."""
    return (page.hits + weight * mean) / (page.hours + weight)


@inlined
def rate_of(page: PageRow, mean: float, weight: float) -> float:
    """λ in news per hour, of a page in a kind with this mean and likeness.

    For single texts, where several changes look like one, corrected as −ln(1 − share) / gap.
    """
    linear = own_rate(page, mean, weight)
    if page.hub or page.visits < 2 or page.hours <= 0:
        return linear
    gap = page.hours / (page.visits - 1)
    return -math.log(1 - min(linear * gap, SHARE_MOST)) / gap


@inlined
def _rate(page: PageRow, outlook: NDArray[np.float64]) -> float:
    kind = HUB if page.hub else TEXT
    return rate_of(page, outlook[kind], outlook[SPREAD + kind])


@inlined
def mean_news(page: PageRow, rate: float, outlook: NDArray[np.float64], prior: Priors, now: float) -> float:
    """λt, the documents that should have appeared on a visited page since it was last asked for, with the lift."""
    since = page.asked if page.awaited else page.last
    hours = max(0.0, min(now - since, prior.max_age)) / 3600
    news: float = rate * hours * outlook[LIFT] if page.signal > page.last else rate * hours
    return news


@inlined
def sort_of(table: NDArray[np.void], page: PageRow) -> int:
    """The row of means for backlog of this sort."""
    degree, pages = 0, page.links_in
    while pages > 1 and degree < DEGREES - 1:
        pages >>= 1
        degree += 1
    from_hub = page.revealer >= 0 and table[page.revealer].hub
    return BACKLOG + degree + (DEGREES if from_hub else 0)


@inlined
def _just_tried(page: PageRow, prior: Priors, now: float) -> bool:
    """Whether somebody went for a page never seen a short while ago; how long that is doubles with every failure."""
    if not page.awaited:
        return False
    patience: float = prior.retry_after * 2.0 ** min(max(page.failures - 1, 0), DOUBLINGS)
    return now - page.asked < patience


@inlined
def _chance_of_youth(page: PageRow, source: PageRow, prior: Priors, now: float) -> float:
    """The chance that what a fresh link leads to is still news: it appeared some time between two looks at its source."""
    gap = min(3600 * source.hours / max(1, source.visits - 1), prior.max_age)
    left = prior.max_age - (now - page.met)
    return left / gap if left < gap else 1.0


@inlined
def worth_of(
    table: NDArray[np.void], url: int, outlook: NDArray[np.float64], prior: Priors, now: float
) -> tuple[float, bool, float]:
    """New documents expected of this download, whether it is a fresh link, and of a page visited before its λ, else 0."""
    page: PageRow = table[url]
    if page.visits > 0:
        rate = _rate(page, outlook)
        news = mean_news(page, rate, outlook, prior, now)
        return news if page.hub else 1 - math.exp(-news), False, rate
    if _just_tried(page, prior, now):
        return 0.0, False, 0.0
    if not page.fresh or now - page.met > prior.max_age:
        if page.hours > 0:  # foretold by an archive
            return 1 - math.exp(-_rate(page, outlook) * prior.max_age / 3600), False, 0.0
        return outlook[sort_of(table, page)], False, 0.0
    mean = outlook[FRESH]
    if page.revealer < 0:
        return mean, True, 0.0
    source: PageRow = table[page.revealer]
    share = (source.paid + prior.prior_links * mean) / (source.followed + prior.prior_links)
    return share * _chance_of_youth(page, source, prior, now), True, 0.0


@inlined
def stretch_of(page: PageRow, rate: float, mean: float, prior: Priors) -> float:
    """How much further forward a visited page goes than its worth says: (mean rate of its kind / own rate) ^ breadth."""
    breadth = prior.breadth if page.hub else prior.text_breadth
    if rate == 0 or breadth == 0:
        return 1.0
    stretch: float = (mean / rate) ** breadth
    return stretch


@inlined
def rank_of(
    table: NDArray[np.void], url: int, outlook: NDArray[np.float64], prior: Priors, now: float
) -> tuple[float, float, bool]:
    """What a page is ordered by, the new documents expected of it, and whether it is a fresh link."""
    worth, fresh, rate = worth_of(table, url, outlook, prior, now)
    if fresh:
        return worth * prior.fresh_first, worth, fresh
    if rate == 0 or worth <= 0:
        return worth, worth, fresh
    page: PageRow = table[url]
    return worth * stretch_of(page, rate, outlook[HUB if page.hub else TEXT], prior), worth, fresh


@compiled
def worth_of_one(
    table: NDArray[np.void], url: int, means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> float:
    """New documents expected of one page."""
    return worth_of(table, url, outlook(means, priors[0]), priors[0], now)[0]


@compiled
def worths(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For each page the new documents expected of a download, and whether it is a fresh link."""
    out, fresh = np.empty(len(urls)), np.empty(len(urls), dtype=np.bool_)
    foreseen = outlook(means, priors[0])
    for i in range(len(urls)):
        out[i], fresh[i], _ = worth_of(table, urls[i], foreseen, priors[0], now)
    return out, fresh


@compiled
def chances(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> NDArray[np.float64]:
    """For each page the chance of any news, 1 − e^(−λt); 1 if it was never visited."""
    out = np.ones(len(urls))
    prior: Priors = priors[0]
    foreseen = outlook(means, prior)
    for i in range(len(urls)):
        page: PageRow = table[urls[i]]
        if page.visits > 0:
            out[i] = 1 - math.exp(-mean_news(page, _rate(page, foreseen), foreseen, prior, now))
        elif _just_tried(page, prior, now):
            out[i] = 0.0
    return out


@compiled
def rates(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void]
) -> NDArray[np.float64]:
    """For each page λ in news per hour."""
    out, foreseen = np.empty(len(urls)), outlook(means, priors[0])
    for i in range(len(urls)):
        out[i] = _rate(table[urls[i]], foreseen)
    return out


@compiled
def returning(table: NDArray[np.void], urls: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pages can bring news again: lists, and texts that did so before."""
    out = np.empty(len(urls), dtype=np.bool_)
    for i in range(len(urls)):
        page: PageRow = table[urls[i]]
        out[i] = page.hub or page.hits > 0
    return out
