"""Settings of recrawling."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from forager.gp.gp_settings import Terminals
from forager.units import Count, Positive, Share

LEARNED = "learned"
"""The default of `crawl.policy`: the functions that come with the program, and those that the crawl learns from then
on.
"""
WORTH = "worth"
"""The hand-made rule: by the new documents expected of a visit."""
NAMES = (
    *("rand", "age", "cg", "nad", "sad", "aad", "gad", "hacs", "last-obs", "brute"),
    *("azar", "azar-rate", "breadth", "t2", "adaptive"),
)
"""The other named policies."""


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """The adaptive interval rule of Nutch and StormCrawler; intervals in cycles."""

    decrease: Share = 0.2
    """After a change the interval is multiplied by 1 − this; stated by Nutch and StormCrawler."""
    increase: Annotated[float, Field(ge=0)] = 0.4
    """Without a change the interval is multiplied by 1 + this; stated by Nutch and StormCrawler."""
    initial: Positive = 10.0
    """The interval after the first visit, in cycles; ours."""
    shortest: Positive = 1.0
    """Lower bound, in cycles; ours."""
    longest: Positive = 365.0
    """Upper bound, in cycles; a year, as in Nutch, if cycles are days."""


ADAPTIVE = AdaptiveSettings()


@dataclass(frozen=True, slots=True)
class HacsSettings:
    """The history-aware scheduler."""

    updates: Literal["observed", "interpolated"] = "interpolated"
    """Where in its interval an update is placed: `observed` at its end, `interpolated` in the middle, as the paper
    schedules.
    """
    window: Annotated[float, Field(gt=0)] = float("inf")
    """w: only visits of the last w cycles count; infinite: all. The paper gets the best results with one week."""
    horizon: Annotated[float, Field(ge=0)] = 0.0
    """e: rank by the probability of an update within e cycles from now; 0: by now, like every other policy here (ours)."""
    threshold: Share = 0.0
    """θ: pages below this probability are never visited; 0: the ranking alone decides (ours)."""


HACS = HacsSettings()


@dataclass(frozen=True, slots=True)
class RetrainSettings:
    """Learns a better score function (GP4C) during the crawl, in a process of its own.

    The function orders the pages that are worth a request, lists or texts, whichever bring the news.
    """

    enabled: bool = True
    """Whether to learn from time to time. A new function is used only if it beats the present rule beyond chance, page
    by page, on a time or on pages that it did not learn from.
    """
    replays: bool = False
    """Whether replays learn too. Lessons take no simulated time, but your own."""
    any_policy: bool = False
    """Whether to learn under any `crawl.policy`, not only `learned`; the function then takes its place."""
    after: Count = 500
    """Number of visits before the first lesson; the next ones come each time the visits have grown by half, and by at
    least this number. Ours.
    """
    terminals: Terminals = "extended"
    """What functions may read: `basic` n X t; `all` also the estimators (stated); `extended` also more of a page's
    history (ours).
    """
    fitness: Literal["auto", "discovery", "late", "ndcg", "changerate", "freshness"] = "auto"
    """What is maximised: `discovery` of new documents on lists, the sooner the better; `late`, the same for texts as
    well; the papers' `ndcg` and `changerate`; or `freshness`. `auto` is late, or ndcg if a formula was set and lists
    reveal nothing.
    """
    population: Annotated[int, Field(ge=2)] = 60
    """Number of functions in a generation: a fifth of the paper's, so that a lesson takes one core less than a minute."""
    generations: Count = 10
    """Number of generations; the paper has 50."""
    pages: Count = 5000
    """Maximum number of pages to learn from, drawn at random; ours."""


RETRAIN = RetrainSettings()


@dataclass(frozen=True, slots=True)
class RecrawlSettings:
    """The recrawl policies, for `crawl.policy`, `forager compare policies` and retraining."""

    k: Share = 0.05
    """Share of the pages visited per cycle when policies are judged and functions learned; stated (5%)."""
    breadth: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The policy `breadth` ranks by index × rate^breadth: 0 keeps copies fresh, 1 finds most news; ours."""
    prior: Positive = 0.5
    """a of λ = (X + a)/(T + b) in azar, azar-rate, t2 and breadth: an unknown page is assumed to change a times in b. b
    is a day in a crawl, whose cycles are minutes, and a cycle in a change log, whose cycles are days in the papers;
    ours.
    """
    warmup: Count = 2
    """Number of visits to every page before scores count, in simulations; stated."""
    hacs: HacsSettings = HACS
    """The policy `hacs`."""
    adaptive: AdaptiveSettings = ADAPTIVE
    """The policy `adaptive`."""
    retrain: RetrainSettings = RETRAIN
    """Learning during the crawl."""


DEFAULTS = RecrawlSettings()
