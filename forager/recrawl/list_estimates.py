"""What the visits of a list of links tell of it: how fast documents come and go, and what waiting for them costs.

Kernels over numbers, one list at a time: the page table keeps the running sums, in which old visits count less and less;
score functions and the default rule read the same figures. Times are in hours; *busy* hours are counted by the rhythm of
the week, so that quiet ones count less.

hazard      how fast documents leave the list, per hour
rate        documents that appear per busy hour, with those that came and went between two visits
waiting     what a visit saves, per document that appeared since the last: K, from 0 to 1
elsewhere   on how many other lists a document of this one is found too

Estimates of single texts, which show one document at a time, are in the last function.
"""

import math

from forager.kernel import inlined

FLEETING = 336.0
"""Hours after which a document that left counts less by a factor of e."""
MEMORY = 168.0
"""Busy hours after which a document that appeared counts less by a factor of e."""
HAZARD_HOURS = 12.0
"""Hours for which one document was watched after which the hazard of a list counts as much as that of all lists."""
HAZARD_LEAST = 1e-3
FIRST_GONE, FIRST_HOURS = 1.0, 24.0
"""The hazard of all lists before any was seen: one document left, watched for so many hours."""
PRIOR, PRIOR_HOURS = 0.5, 1.0
"""Documents, and busy hours, that the rate of a list begins with where nothing else is known."""
ELSEWHERE_LEAST = 3.0
"""Documents found on a list that `elsewhere` begins with."""
ELSEWHERE_NONE, ELSEWHERE_POWER = 0.1, 0.3
"""How many lists count as none, and how much less urgent others make a list."""
SMALL = 1e-3
"""Up to here a few terms of a series are more exact than the formula."""


@inlined
def faded(amount: float, hours: float, memory: float) -> float:
    """What is left of a sum after some hours."""
    return amount * math.exp(-hours / memory)


@inlined
def add_departures(gone_sum: float, time_sum: float, gone: float, stayed: float, hours: float) -> tuple[float, float]:
    """The sums for the hazard after a visit: documents that left, and hours for which one was watched.

    Of the documents new at the visit before, `hours` ago, so many have gone and so many stayed.
    """
    left = faded(gone_sum, hours, FLEETING) + gone
    return left, faded(time_sum, hours, FLEETING) + (stayed + gone / 2) * hours


@inlined
def hazard_of(gone_sum: float, time_sum: float, everywhere: float) -> float:
    """Hazard with which a document leaves a list, per hour; `everywhere` is that of all lists together."""
    return max(HAZARD_LEAST, (gone_sum + HAZARD_HOURS * everywhere) / (time_sum + HAZARD_HOURS))


@inlined
def hazard_everywhere(gone_sum: float, time_sum: float) -> float:
    """Hazard of all lists together, from the sums over them."""
    return max(HAZARD_LEAST, (gone_sum + FIRST_GONE) / (time_sum + FIRST_HOURS))


@inlined
def share_left(hours: float, hazard: float) -> float:
    """Share of the documents of the last so many hours that still stand on the list."""
    x = hazard * hours
    return 1 - x / 2 + x * x / 6 if x < SMALL else (1 - math.exp(-x)) / x


@inlined
def add_watched(watched: float, hours: float, busy: float, hazard: float) -> float:
    """The sum for the rate after a visit: busy hours watched, without those whose documents left before they were seen."""
    return faded(watched, busy, MEMORY) + busy * share_left(hours, hazard)


@inlined
def rate_of_list(brought: float, watched: float, prior: float, prior_hours: float) -> float:
    """Documents per busy hour that appear on a list."""
    return (brought + prior) / (watched + prior_hours)


@inlined
def waiting(hours: float, hazard: float, longest: float) -> float:
    """K: the share of the delay `longest` that a visit now saves, per document that appeared in the last so many hours.

    A document never found counts as found `longest` hours late. One that appeared s hours ago and still stands there is
    saved from waiting longer, or from being lost. So a visit is worth rate · busy · K hours of delay, over `longest`.
    """
    if hours <= 0:
        return 0.0
    u = min(hours, longest)
    x = hazard * u
    if x < SMALL:
        first, second = u * u * (1 / 2 - x / 3 + x * x / 8), u * u * u * (1 / 3 - x / 4 + x * x / 10)
    else:
        left = math.exp(-x)
        first = (1 - left * (1 + x)) / (hazard * hazard)
        second = (2 - left * (x * x + 2 * x + 2)) / (hazard * hazard * hazard)
    return (first * (1 + longest * hazard) - hazard * second) / (longest * hours)


@inlined
def elsewhere_of(shown: float, found: float) -> float:
    """On how many other lists a document of this one stood when those were visited next.

    `shown` counts such documents and lists, `found` the documents first found on this list.
    """
    return shown / (found + ELSEWHERE_LEAST)


@inlined
def urgency_of(shown: float, found: float) -> float:
    """Factor for the order of a list: documents that will soon be found elsewhere can wait. 1 if there are none."""
    urgency: float = (ELSEWHERE_NONE / (ELSEWHERE_NONE + elsewhere_of(shown, found))) ** ELSEWHERE_POWER
    return urgency


@inlined
def rate_of_text(hits: float, hit_hours: float, quiet_hours: float, prior: float, prior_hours: float) -> float:
    """News per hour of a page that shows one text at a time, by maximum likelihood from intervals with and without news.

    An interval with news may hide more than one change. For intervals of one length d with and of any lengths without
    news, Σd / (e^(λd) − 1) = Σ quiet has this root; `prior` hits in intervals of no length, and as many quiet hours, draw
    it towards their quotient.
    """
    known, quiet = hits + prior, quiet_hours + prior_hours
    ratio = hit_hours / quiet
    if ratio < SMALL:
        return known / quiet * (1 - ratio / 2 + ratio * ratio / 3)
    return known / hit_hours * math.log(1 + ratio)
