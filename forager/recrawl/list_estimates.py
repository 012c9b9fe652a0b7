"""Estimates from the visits of a list how fast documents come and go, and what it costs to wait.

These are kernels over numbers, for one list at a time. The page table keeps the running sums, in which old visits
decay; score functions and the default rule read the same figures. Times are in hours; *busy* hours are counted by the
rhythm of the week, so that quiet hours count less.

hazard      how fast documents leave the list, per hour
rate        documents that appear per busy hour, including those that came and went between two visits
waiting     what a visit saves, per document that appeared since the last visit: K, from 0 to 1
elsewhere   on how many other lists a document of this list is found too

The last function estimates texts, which show one document at a time.
"""

import math

from forager.kernel import inlined

FLEETING = 336.0
"""Hours after which a document that left counts e times less."""
MEMORY = 168.0
"""Busy hours after which a document that appeared counts e times less."""
HAZARD_HOURS = 12.0
"""After this many hours, summed over documents, the hazard of a list counts as much as that of all lists."""
HAZARD_LEAST = 1e-3
FIRST_GONE, FIRST_HOURS = 1.0, 24.0
"""The hazard of all lists before any was seen: one document left, watched for this many hours."""
PRIOR, PRIOR_HOURS = 0.5, 1.0
"""Documents and busy hours that the rate of a list starts with if nothing else is known."""
ELSEWHERE_LEAST = 3.0
"""Number of documents that `elsewhere` starts with."""
ELSEWHERE_NONE, ELSEWHERE_POWER = 0.1, 0.3
"""How many other lists count as none, and how strongly others lower the urgency."""
SMALL = 1e-3
"""Up to this value, a few terms of a series are more accurate than the formula."""


@inlined
def faded(amount: float, hours: float, memory: float) -> float:
    """What is left of a sum after some hours."""
    return amount * math.exp(-hours / memory)


@inlined
def add_departures(gone_sum: float, time_sum: float, gone: float, stayed: float, hours: float) -> tuple[float, float]:
    """The sums for the hazard after a visit: documents that left, and hours for which single documents were watched.

    Of the documents that were new at the visit before, `hours` ago, `gone` have left and `stayed` are still there.
    """
    left = faded(gone_sum, hours, FLEETING) + gone
    return left, faded(time_sum, hours, FLEETING) + (stayed + gone / 2) * hours


@inlined
def hazard_of(gone_sum: float, time_sum: float, everywhere: float) -> float:
    """How fast documents leave a list, per hour; `everywhere` is the hazard of all lists together."""
    return max(HAZARD_LEAST, (gone_sum + HAZARD_HOURS * everywhere) / (time_sum + HAZARD_HOURS))


@inlined
def hazard_everywhere(gone_sum: float, time_sum: float) -> float:
    """The hazard of all lists together, from the sums over them."""
    return max(HAZARD_LEAST, (gone_sum + FIRST_GONE) / (time_sum + FIRST_HOURS))


@inlined
def share_left(hours: float, hazard: float) -> float:
    """Share of the documents of the last `hours` that are still on the list."""
    x = hazard * hours
    return 1 - x / 2 + x * x / 6 if x < SMALL else (1 - math.exp(-x)) / x


@inlined
def add_watched(watched: float, hours: float, busy: float, hazard: float) -> float:
    """The sum for the rate after a visit: busy hours watched, without those whose documents left unseen."""
    return faded(watched, busy, MEMORY) + busy * share_left(hours, hazard)


@inlined
def rate_of_list(brought: float, watched: float, prior: float, prior_hours: float) -> float:
    """Documents per busy hour that appear on a list."""
    return (brought + prior) / (watched + prior_hours)


@inlined
def waiting(hours: float, hazard: float, longest: float) -> float:
    """K: the share of the delay `longest` that a visit now saves, per document that appeared in the last `hours`.

    A document that is never found counts as `longest` hours late. A visit saves a document that appeared s hours ago
    and is still there from waiting longer, or from being lost. So a visit is worth rate · busy · K hours of delay,
    divided by `longest`.
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
    """On how many other lists a document of this list was seen when they were next visited.

    `shown` counts pairs of such a document and such a list, `found` the documents first found on this list.
    """
    return shown / (found + ELSEWHERE_LEAST)


@inlined
def urgency_of(shown: float, found: float) -> float:
    """Factor for the promise of a list: documents that will soon be found elsewhere can wait. 1 if there are none."""
    urgency: float = (ELSEWHERE_NONE / (ELSEWHERE_NONE + elsewhere_of(shown, found))) ** ELSEWHERE_POWER
    return urgency


@inlined
def rate_of_text(hits: float, hit_hours: float, quiet_hours: float, prior: float, prior_hours: float) -> float:
    """News per hour of a text, the most likely rate given the intervals with and without news.

    An interval with news may hide more than one change. For intervals of one length d with news, and of any lengths
    without, Σd / (e^(λd) − 1) = Σ quiet has this solution. `prior` hits in intervals of no length, with `prior_hours`
    without news, draw it towards their quotient.
    """
    known, quiet = hits + prior, quiet_hours + prior_hours
    ratio = hit_hours / quiet
    if ratio < SMALL:
        return known / quiet * (1 - ratio / 2 + ratio * ratio / 3)
    return known / hit_hours * math.log(1 + ratio)
