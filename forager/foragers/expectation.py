"""New documents expected of one download, from what earlier visits of all foragers brought.

- A page visited before brings news at a rate λ: hits per hour, drawn towards the mean of its kind while little is
  known. After t hours a list of links is worth λt, a single text 1 − e^(−λt). If a page that links here just had news,
  times the *lift*: the ratio hits / predicted that such visits had until now. How far λ is drawn towards the mean is
  learned as well: where pages of a kind are much alike, a single hit is luck and no reason to come back often.
- Pages are not ordered by worth alone: what changes seldom goes further forward by `breadth`, and so does a fresh link.
- A *fresh* link, met when a known page was visited again, is worth the share of such links of that page that turned out
  to be new documents. Fresh links go first: the harvest is taken before more is looked for.
- *Backlog*, met on the first visit of a page, is worth what such links brought on average, by how many pages link there
  and what kind of page revealed them: a new document, or a list that reveals links nobody had met. So section pages,
  to which everything links, are soon told from old articles. To this comes what a page brings that is known from then
  on: the chance that a single text has news within `max_age`. Where texts change often, all of them are soon known.
"""

import math

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.foragers.kernels import best
from forager.foragers.table import BACKLOG, DEGREES, FRESH, HUB, LIFT, SPREAD, TEXT, Page, Priors

LIKE_MOST = 1000.0
"""However alike pages are, after so many hours of watching a page counts for itself as much as its kind does."""


@compiled
def likeness(kind: int, means: NDArray[np.float64], prior: Priors) -> float:
    """Hours of watching after which a page's own rate weighs as much as the mean of its kind.

    If hits come at random and rates follow a gamma distribution, that is their mean over their variance, and
    E(x − λh)² = λh for a page of rate λ: what the squares exceed that by is the variance of λ times h².
    """
    mean: float = means[kind, 0] / means[kind, 1]
    xx, xh = means[SPREAD + 2 * kind]
    hh, hours = means[SPREAD + 2 * kind + 1]
    guess = prior.prior_weight * (prior.max_age / 3600) ** 2
    excess = xx - 2 * mean * xh + mean * mean * hh - mean * hours
    variance: float = (excess + guess * mean / prior.prior_hours) / (hh + guess)
    if mean >= variance * LIKE_MOST:
        return LIKE_MOST
    return max(prior.prior_hours, mean / variance)


@compiled
def rate_of(page: Page, means: NDArray[np.float64], prior: Priors) -> float:
    """λ in news per hour. For single texts, where several changes look like one, corrected as −ln(1 − share) / gap."""
    kind = HUB if page.hub else TEXT
    mean: float = means[kind, 0] / means[kind, 1]
    weight = likeness(kind, means, prior)
    linear = (page.hits + weight * mean) / (page.hours + weight)
    if page.hub or page.visits < 2 or page.hours <= 0:
        return linear
    gap = page.hours / (page.visits - 1)
    return -math.log(1 - min(linear * gap, 0.95)) / gap


@compiled
def _lift(means: NDArray[np.float64], prior: Priors) -> float:
    ratio: float = means[LIFT, 0] / means[LIFT, 1]
    return min(max(ratio, 1 / prior.lift_most), prior.lift_most)


@compiled
def _mean_news(page: Page, means: NDArray[np.float64], prior: Priors, now: float) -> float:
    """λt, the documents that should have appeared on a visited page since it was last asked for, with the lift."""
    since = page.asked if page.awaited else page.last
    hours = max(0.0, min(now - since, prior.max_age)) / 3600
    news = rate_of(page, means, prior) * hours
    return news * _lift(means, prior) if page.signal > page.last else news


@compiled
def sort_of(table: NDArray[np.void], page: Page) -> int:
    """The row of means for backlog of this sort."""
    degree, pages = 0, page.links_in
    while pages > 1 and degree < DEGREES - 1:
        pages >>= 1
        degree += 1
    from_hub = page.revealer >= 0 and table[page.revealer].hub
    return BACKLOG + degree + (DEGREES if from_hub else 0)


@compiled
def worth_of(
    table: NDArray[np.void], url: int, means: NDArray[np.float64], prior: Priors, now: float
) -> tuple[float, bool]:
    """New documents expected of this download, and whether it is a fresh link."""
    page: Page = table[url]
    if page.visits > 0:
        news = _mean_news(page, means, prior, now)
        return news if page.hub else 1 - math.exp(-news), False
    if page.awaited and now - page.asked < prior.retry_after:
        return 0.0, False
    if not page.fresh or now - page.met > prior.max_age:
        if page.hours > 0:  # foretold by an archive
            return 1 - math.exp(-rate_of(page, means, prior) * prior.max_age / 3600), False
        sort = sort_of(table, page)
        later = means[TEXT, 0] / means[TEXT, 1] * prior.max_age / 3600
        return means[sort, 0] / means[sort, 1] + 1 - math.exp(-later), False
    mean = means[FRESH, 0] / means[FRESH, 1]
    if page.revealer < 0:
        return mean, True
    source: Page = table[page.revealer]
    return (source.paid + prior.prior_links * mean) / (source.followed + prior.prior_links), True


@compiled
def rank_of(
    table: NDArray[np.void], url: int, means: NDArray[np.float64], prior: Priors, now: float
) -> tuple[float, float, bool]:
    """What a page is ordered by; the new documents expected of it, and whether it is a fresh link."""
    worth, fresh = worth_of(table, url, means, prior, now)
    if fresh:
        return worth * prior.fresh_first, worth, fresh
    page: Page = table[url]
    breadth = prior.breadth if page.hub else prior.text_breadth
    if page.visits == 0 or breadth == 0 or worth <= 0:
        return worth, worth, fresh
    kind = HUB if page.hub else TEXT
    mean: float = means[kind, 0] / means[kind, 1]
    return worth * (mean / rate_of(page, means, prior)) ** breadth, worth, fresh


@compiled
def pick(
    table: NDArray[np.void],
    urls: NDArray[np.int64],
    means: NDArray[np.float64],
    priors: NDArray[np.void],
    now: float,
    leaning: NDArray[np.float64],
    luck: float,
) -> tuple[int, float, bool, float]:
    """The link that promises most: its index, its worth, whether it is fresh; and the largest worth of any.

    `leaning` holds a factor for each link, or nothing at all.
    """
    ranks, most = np.empty(len(urls)), 0.0
    for i in range(len(urls)):
        ranks[i], worth, _ = rank_of(table, urls[i], means, priors[0], now)
        most = max(most, worth)
    if len(leaning):
        ranks *= leaning
    index = best(ranks, luck)
    worth, fresh = worth_of(table, urls[index], means, priors[0], now)
    return index, worth, fresh, most


@compiled
def worth_of_one(
    table: NDArray[np.void], url: int, means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> float:
    """New documents expected of one page."""
    return worth_of(table, url, means, priors[0], now)[0]


@compiled
def worths(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For each page the new documents expected of a download, and whether it is a fresh link."""
    out, fresh = np.empty(len(urls)), np.empty(len(urls), dtype=np.bool_)
    for i in range(len(urls)):
        out[i], fresh[i] = worth_of(table, urls[i], means, priors[0], now)
    return out, fresh


@compiled
def chances(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void], now: float
) -> NDArray[np.float64]:
    """For each page the chance of any news, 1 − e^(−λt); 1 if it was never visited."""
    out = np.ones(len(urls))
    prior: Priors = priors[0]
    for i in range(len(urls)):
        page: Page = table[urls[i]]
        if page.visits > 0:
            out[i] = 1 - math.exp(-_mean_news(page, means, prior, now))
        elif page.awaited and now - page.asked < prior.retry_after:
            out[i] = 0.0
    return out


@compiled
def rates(
    table: NDArray[np.void], urls: NDArray[np.int64], means: NDArray[np.float64], priors: NDArray[np.void]
) -> NDArray[np.float64]:
    """For each page λ in news per hour."""
    out = np.empty(len(urls))
    for i in range(len(urls)):
        out[i] = rate_of(table[urls[i]], means, priors[0])
    return out


@compiled
def returning(table: NDArray[np.void], urls: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pages can bring news again: lists, and texts that did so before."""
    out = np.empty(len(urls), dtype=np.bool_)
    for i in range(len(urls)):
        page: Page = table[urls[i]]
        out[i] = page.hub or page.hits > 0
    return out
