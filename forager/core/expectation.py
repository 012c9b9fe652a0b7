"""Estimates how many new documents one download will find, from what earlier visits of all foragers brought.

- A page that was visited before brings news at a rate λ, in hits per hour. While little is known of it, the λ of a list
  is drawn towards that of lists whose address has the same form, that of a text towards the mean of all texts. How
  strongly texts are drawn is learned: if they are much alike, a single hit is chance and no reason to come back often.
- The λ of a list counts documents that came and left between two visits, and forgets old visits. Its hours are *busy*
  hours, counted by the rhythm of the week. After b busy hours λb documents have appeared, and some of them have left.
  The list is worth those that are still there, and less while they have waited only a short time.
- The λ of a text is the most likely rate, given the intervals with and without news. The text is worth 1 − e^(−λt).
- If a page that links here just had news, λt is multiplied by the *lift*: the ratio of hits to predicted hits at such
  visits.
- Pages are ordered by their promise, not by their worth alone. That of a list is λb · K^breadth, where K is the delay
  that a visit saves per document; it is lower if such documents are soon found elsewhere. For texts, `text_breadth`
  moves those that change seldom forward. Fresh links come first, so that known documents are fetched before others are
  searched for.
- A fresh link was found when a known page was visited again. It is worth the share of such links of that page that
  turned out to be new documents, times the probability that its target is not too old by now: on a page visited once a
  day it may have stood for a day.
- Backlog, found on the first visit of a page, is worth what such links brought on average, by how many pages link
  there, which kind of page revealed them, and what pages with the same form of address brought. This soon tells section
  pages, to which everything links, from old articles. Added to this is what the page brings once it is known: if it is
  a list, the documents of one more visit to a list; otherwise the probability that a text has news within `max_age`. So
  all lists are soon known, and where texts change often, all texts.
- In a crawl with a topic only documents on topic count: the λ of a list and the worth of a never-visited page are
  multiplied by the share of the list's documents that are on topic, or by the probability that the link leads to one
  (`engine/topic`).
"""

import math

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray
from forager.core.page_row import (
    BACKLOG,
    BUSY_THEN,
    DEGREES,
    DOUBLINGS,
    FRESH,
    HAZARD,
    LIFT,
    LISTS,
    LOOK,
    MAIN_HITS,
    MAIN_HOURS,
    MAINS,
    MOMENT,
    OLD,
    PASSED,
    PER_LONGEST,
    PER_WAIT,
    RHYTHM,
    RHYTHM_OF,
    SPREAD,
    STALE,
    TEXT,
    Mind,
    PageRow,
    Priors,
)
from forager.kernel import compiled, inlined, inner
from forager.recrawl.list_estimates import (
    hazard_everywhere,
    hazard_of,
    rate_of_list,
    rate_of_text,
    share_left,
    waiting,
)
from forager.recrawl.rhythm import busy_clock

TEXT_HITS, TEXT_HOURS = SPREAD, SPREAD + 1
"""Indices in the outlook: the hits and hours that the rate of a single text is drawn towards."""
TEXTS = SPREAD + 2
"""Index in the outlook: probability that a text has news within `max_age`, judged by the texts seen so far."""
SCALE = SPREAD + 3
"""Index in the outlook: (mean rate of texts)^breadth."""
LIKE_MOST = 1000.0
"""After this many hours of watching a page's own rate counts at least as much as that of its kind, however alike pages
are.
"""
USUAL_WAIT = 0.01
"""The K at which a list is ordered by its documents as they are."""


@inner
def likeness(kind: int, means: FloatArray, prior: Priors) -> float:
    """Hours of watching after which a page's own rate weighs as much as the mean of its kind.

    If hits come at random and rates follow a gamma distribution, this is the mean of the rates over their variance, and
    E(x − λh)² = λh for a page of rate λ. So the squares exceed this by the variance of λ times h².
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


@inner
def text_prior(means: FloatArray, prior: Priors) -> tuple[float, float]:
    """The hits and hours that the rate of a text is drawn towards."""
    hours = likeness(TEXT, means, prior)
    return hours * means[TEXT, 0] / means[TEXT, 1], hours


@inner
def look_ahead(mind: Mind) -> None:
    """Computes the outlook, in the order of the means, unless they have not changed.

    The outlook holds the mean of each kind of page, of fresh links and of each sort of backlog; the lift; what the
    rates of texts are drawn towards; the hazard of lists; the rhythm of the week, and the busy time at some moment.
    """
    out, means, prior = mind.outlook, mind.means, mind.priors[0]
    if out[STALE] == 0:
        return
    for row in (TEXT, FRESH):
        out[row] = means[row, 0] / means[row, 1]
    out[LIFT] = min(max(means[LIFT, 0] / means[LIFT, 1], 1 / prior.lift_most), prior.lift_most)
    for row in range(BACKLOG, SPREAD):
        out[row] = means[row, 0] / means[row, 1]
    for row in range(LISTS, HAZARD):
        out[row] = means[row, 0] / means[row, 1]
    out[HAZARD] = hazard_everywhere(means[HAZARD, 0], means[HAZARD, 1])
    if out[RHYTHM_OF] != means[RHYTHM - 1, 1]:
        for row in range(PASSED, RHYTHM):
            out[row] = means[row, 0]
        out[RHYTHM_OF] = means[RHYTHM - 1, 1]
    out[TEXT_HITS], out[TEXT_HOURS] = text_prior(means, prior)
    out[MOMENT], out[STALE] = np.nan, 0.0
    out[TEXTS] = 1 - math.exp(-max(0.0, means[TEXT, 0] - prior.text_hits) / means[TEXT, 1] * prior.max_age / 3600)
    out[SCALE] = out[TEXT] ** prior.text_breadth
    out[PER_WAIT], out[PER_LONGEST] = 0.5 / prior.patience, 3600 / prior.max_age
    out[MAIN_HITS], out[MAIN_HOURS] = means[MAINS]


@inlined
def rate_of(page: PageRow, prior: float, prior_hours: float) -> float:
    """λ of a text in news per busy hour, drawn towards `prior` hits in `prior_hours`."""
    return rate_of_text(page.hits, page.hit_hours, page.hours - page.hit_hours, prior, prior_hours)


@inlined
def guessed_hours(page: PageRow, alike: PageRow, main_hits: float, main_hours: float, prior: Priors) -> float:
    """Hours in which a list is guessed to bring as many documents as the first guess weighs.

    For a main list the guess is soon what all other main lists brought: so, of a hundred seeds, the last need not be
    visited twice before the best are visited a third time.
    """
    weight: float = prior.list_weight
    if not page.main:
        return weight / prior.list_rate
    others = max(0.0, main_hours - alike.place_hours) + weight / prior.main_rate
    return weight * others / (max(0.0, main_hits - alike.place_hits) + weight)


@inlined
def list_rate(page: PageRow, alike: PageRow, main_hits: float, main_hours: float, prior: Priors) -> float:
    """λ of a list, drawn towards that of all lists whose address has the same form; `alike` has their figures.

    Rates of lists differ by orders of magnitude, so the first guess weighs only a fraction of a hit. It is high and
    soon forgotten: a list that brings nothing is visited at longer and longer intervals.
    """
    guessed = guessed_hours(page, alike, main_hits, main_hours, prior)
    base = (alike.place_hits + prior.list_weight) / (alike.place_hours + guessed)
    return rate_of_list(page.came, page.seen_hours, prior.list_weight, prior.list_weight / base)


@inlined
def rate_on(table: RowArray, page: PageRow, outlook: FloatArray, prior: Priors) -> float:
    """λ of a visited page in news per hour; of a list, in documents on topic."""
    if page.hub:
        return list_rate(page, table[page.place], outlook[MAIN_HITS], outlook[MAIN_HOURS], prior) * page.topical
    return rate_of(page, outlook[TEXT_HITS], outlook[TEXT_HOURS])


@inlined
def waited_since(page: PageRow, prior: Priors, now: float) -> float:
    """The time since which a page may have gathered news: its last request, but never longer ago than `max_age`."""
    return min(now, max(page.asked if page.awaited else page.last, now - prior.max_age))


@inlined
def busy_between(outlook: FloatArray, since: float, now: float) -> float:
    """Busy hours between two times. The busy time at `now` is kept for other pages."""
    if outlook[MOMENT] != now:
        outlook[MOMENT], outlook[BUSY_THEN] = now, busy_clock(outlook, PASSED, now)
    busy: float = outlook[BUSY_THEN] - busy_clock(outlook, PASSED, since)
    return busy


@inlined
def hazard_on(page: PageRow, outlook: FloatArray) -> float:
    """How fast documents leave a list, per hour."""
    return hazard_of(page.gone, page.stood_hours, outlook[HAZARD])


@inlined
def lift_of(page: PageRow, outlook: FloatArray) -> float:
    """Factor for the expected documents of a page to which a page with news links."""
    lift: float = outlook[LIFT] if page.signal > page.last else 1.0
    return lift


@inlined
def list_promise(page: PageRow, rate: float, outlook: FloatArray, prior: Priors, now: float) -> tuple[float, float]:
    """The promise of a visited list with this rate, and its worth.

    The expected documents have waited for half of the time since the last visit, on average. A request gains too little
    before all of them together have waited for `patience` seconds. The rhythm of the week decides which list comes
    first, but does not make a request worth less at night, because people who read at night want the news too.
    """
    since, longest = min(now, page.asked if page.awaited else page.last), prior.max_age / 3600
    hours, hazard = (now - since) / 3600, hazard_of(page.gone, page.stood_hours, outlook[HAZARD])
    rate *= lift_of(page, outlook)
    waited = rate * hours * (now - since) / 2
    if waited < prior.patience:
        rate *= waited / prior.patience
    saved = waiting(hours, hazard, longest) / USUAL_WAIT
    order = page.urgency * (math.sqrt(saved) if prior.breadth == 0.5 else saved**prior.breadth)
    seen = min(hours, longest)  # what appeared before that is no news any more
    return rate * busy_between(outlook, since, now) * order, rate * seen * share_left(seen, hazard)


@inlined
def mean_news(page: PageRow, rate: float, outlook: FloatArray, prior: Priors, now: float) -> float:
    """λt: the news that appeared on a visited page since it was last requested, with the lift."""
    return rate * busy_between(outlook, waited_since(page, prior, now), now) * lift_of(page, outlook)


@inlined
def due_at(table: RowArray, page: PageRow, outlook: FloatArray, prior: Priors, least: float, first: float) -> float:
    """The time when a visit to a list will be worth `least`. If that is not before `first`, the result may be too
    early, which saves a root.
    """
    rate = rate_on(table, page, outlook, prior) / 3600 * lift_of(page, outlook)
    wait, since = least / rate, page.asked if page.awaited else page.last
    if rate * wait * wait < 2 * prior.patience and since + wait < first:
        wait = (2 * prior.patience * least / (rate * rate)) ** (1 / 3)
    return since + wait


@inlined
def sort_of(page: PageRow) -> int:
    """The row of means for this sort of backlog."""
    links = page.links_in  # without a loop, whose end the processor could not predict
    degree = int(links > 1) + int(links > 3) + int(links > 7) + int(links > 15) + int(links > 31)
    return BACKLOG + degree + (DEGREES if page.from_list else 0)


@inlined
def _just_tried(page: PageRow, prior: Priors, now: float) -> bool:
    """Whether a never-visited page was requested a short while ago. That while doubles with every failure, except for
    main pages.
    """
    if not page.awaited:
        return False
    doublings = 0 if page.main else min(max(page.failures - 1, 0), DOUBLINGS)
    patience: float = prior.retry_after * 2.0**doublings
    return now - page.asked < patience


@inlined
def share_of_fresh(source: PageRow, mean: float, prior: Priors) -> float:
    """Share of the fresh links of a page that are new documents; `mean` is that of all pages."""
    return (source.paid + prior.prior_links * mean) / (source.followed + prior.prior_links)


@inlined
def _chance_of_youth(page: PageRow, source: PageRow, prior: Priors, now: float) -> float:
    """Probability that the target of a fresh link is still news: the link appeared at some time between two visits of
    its page.
    """
    gap = min(3600 * source.hours / max(1, source.visits - 1), prior.max_age)
    left = prior.max_age - (now - page.met)
    return left / gap if left < gap else 1.0


@inlined
def backlog_worth(table: RowArray, page: PageRow, outlook: FloatArray, prior: Priors) -> float:
    """Worth of a never-visited page: the probability that it is a new document, plus what it brings from then on.

    It is the mean of its sort of backlog, drawn towards what pages with the same form of address turned out to be.
    """
    sort, alike, weight = sort_of(page), table[page.place], prior.place_weight
    docs = (alike.docs + weight * min(1.0, outlook[sort])) / (alike.tried + weight)
    lists = (alike.lists + weight * outlook[LISTS + sort - BACKLOG]) / (alike.tried + weight)
    if page.listed:
        lists = 1.0
    look = (alike.brought + weight * outlook[LOOK]) / (alike.lists + alike.looks + weight)
    worth: float = (docs + lists * look + (1 - lists) * outlook[TEXTS]) * page.topical
    return worth


@inlined
def promise_of(table: RowArray, url: int, outlook: FloatArray, prior: Priors, now: float) -> tuple[float, float, bool]:
    """The promise of a page, its worth, and whether it is a fresh link."""
    page: PageRow = table[url]
    if page.visits > 0:
        rate = rate_on(table, page, outlook, prior)
        if page.hub:
            rank, worth = list_promise(page, rate, outlook, prior, now)
            return rank, worth, False
        worth = 1 - math.exp(-mean_news(page, rate, outlook, prior, now))
        return worth * stretch_of(rate, outlook[TEXT], prior), worth, False
    worth, fresh = stranger_worth(table, page, outlook, prior, now)
    return (worth * prior.fresh_first if fresh else worth), worth, fresh


@inlined
def stranger_worth(
    table: RowArray, page: PageRow, outlook: FloatArray, prior: Priors, now: float
) -> tuple[float, bool]:
    """The worth of a never-visited page, and whether it is a fresh link."""
    if _just_tried(page, prior, now):
        return 0.0, False
    if page.main and page.failures > 0:  # a site that was down when the crawl began comes first
        return 1.0, True
    if not page.fresh or now - page.met > prior.max_age:
        if page.hours > 0:  # known from an archive
            return 1 - math.exp(-rate_on(table, page, outlook, prior) * prior.max_age / 3600), False
        if now - page.latest > prior.max_age:
            return outlook[OLD], False
        if page.announced and now - page.latest <= prior.max_age:
            return outlook[FRESH] * page.topical, True
        return backlog_worth(table, page, outlook, prior), False
    if page.revealer < 0:
        return outlook[FRESH] * page.topical, True
    source: PageRow = table[page.revealer]
    share = share_of_fresh(source, outlook[FRESH], prior) * page.topical
    return share * _chance_of_youth(page, source, prior, now), True


@inlined
def stretch_of(rate: float, mean: float, prior: Priors) -> float:
    """Factor that moves texts forward that change seldom: (mean rate of texts / own rate) ^ breadth."""
    if rate == 0 or prior.text_breadth == 0:
        return 1.0
    stretch: float = (mean / rate) ** prior.text_breadth
    return stretch


@compiled
def worths(mind: Mind, urls: IntArray, now: float) -> tuple[FloatArray, BoolArray]:
    """For each page its worth, and whether it is a fresh link."""
    out, fresh = np.empty(len(urls)), np.empty(len(urls), dtype=np.bool_)
    look_ahead(mind)
    for i in range(len(urls)):
        _, out[i], fresh[i] = promise_of(mind.table, urls[i], mind.outlook, mind.priors[0], now)
    return out, fresh


@compiled
def ranks(mind: Mind, urls: IntArray, now: float) -> FloatArray:
    """The promise of each page."""
    out = np.empty(len(urls))
    look_ahead(mind)
    for i in range(len(urls)):
        out[i], _, _ = promise_of(mind.table, urls[i], mind.outlook, mind.priors[0], now)
    return out


@compiled
def chances(mind: Mind, urls: IntArray, now: float) -> FloatArray:
    """For each page the probability of any news, 1 − e^(−λt); 1 if it was never visited."""
    out, foreseen, prior = np.ones(len(urls)), mind.outlook, mind.priors[0]
    look_ahead(mind)
    for i in range(len(urls)):
        page: PageRow = mind.table[urls[i]]
        if page.visits > 0:
            out[i] = 1 - math.exp(-mean_news(page, rate_on(mind.table, page, foreseen, prior), foreseen, prior, now))
        elif _just_tried(page, prior, now):
            out[i] = 0.0
    return out


@compiled
def rates(mind: Mind, urls: IntArray) -> FloatArray:
    """For each page λ in news per hour."""
    out = np.empty(len(urls))
    look_ahead(mind)
    for i in range(len(urls)):
        out[i] = rate_on(mind.table, mind.table[urls[i]], mind.outlook, mind.priors[0])
    return out


@compiled
def returning(mind: Mind, urls: IntArray) -> BoolArray:
    """Which pages can bring news again: lists, and texts that did so before."""
    out = np.empty(len(urls), dtype=np.bool_)
    for i in range(len(urls)):
        page: PageRow = mind.table[urls[i]]
        out[i] = page.hub or page.hits > 0
    return out
