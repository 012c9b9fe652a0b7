"""Score functions: each ranks known pages by how much a visit now is worth. One method, many rules.

Names: rand age cg nad sad aad gad hacs last-obs brute azar azar-rate breadth t2 adaptive; anything else is a formula.

`Expected` is the default rule of a crawl as a score function of histories, so that what is learned can be held against
it. A page brings documents at a rate drawn towards the mean of its kind, the more so the more alike the pages of a kind
are. After t hours a list is worth λt of them, a single text 1 − e^(−λt), and what brings documents seldom goes a little
further forward. The crawl itself knows more: which links just appeared, and which neighbours just had news.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from forager.arrays import FloatArray
from forager.gp.trees import Tree, terminals_of
from forager.recrawl.formula import Expression, parse, prepared
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update
from forager.recrawl.recrawl_settings import DEFAULTS, HACS, WORTH, HacsSettings, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.terminals import PRIOR, TERMINALS, TRAILED, PageStates, index_gain, observed_rate


class ScoreFunction(Protocol):
    def scores(self, states: PageStates) -> FloatArray:
        """The worth of a visit now, one per row; higher goes first, −inf means: do not visit."""


class Rand:
    """A random score."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def scores(self, states: PageStates) -> FloatArray:
        return self.rng.random(len(states))


class Age:
    """The longest unvisited first; the Last-Obs of the HACS paper is the same rule."""

    def scores(self, states: PageStates) -> FloatArray:
        return states.t


class BruteForce:
    """Every page is worth the same: all are visited, or as many as the budget allows, the longest unvisited first."""

    def scores(self, states: PageStates) -> FloatArray:
        return np.ones(len(states))


@dataclass(frozen=True, slots=True)
class Estimator:
    """A terminal as the score: CG, NAD, SAD, AAD, GAD."""

    name: str

    def scores(self, states: PageStates) -> FloatArray:
        return TERMINALS[self.name](states)


@dataclass(frozen=True, slots=True)
class Hacs:
    """The chance of an update by the horizon; needs a history with a trail."""

    settings: HacsSettings = HACS

    def scores(self, states: PageStates) -> FloatArray:
        chance = chance_of_update(states.rate, states.update, states.now, self.settings.horizon)
        return np.where(chance >= self.settings.threshold, chance, -np.inf)


def news(states: PageStates) -> FloatArray:
    """Changes seen, or new documents brought where these are more: a list that changed once may bring ten."""
    return np.maximum(states.X, states.documents) if len(states.documents) else states.X


@dataclass(frozen=True, slots=True)
class Index:
    """The index of Azar et al. times rate^breadth: g/λ · λ^breadth. 0 keeps copies fresh, 1 finds most news.

    Below 1 a copy is current or not, so λ counts changes; at 1 every document counts.
    """

    breadth: float
    prior: float = PRIOR
    hope: float = 1.0
    """Cycles in which a page of which nothing is known changes `prior` times."""

    def scores(self, states: PageStates) -> FloatArray:
        seen = news(states) if self.breadth == 1.0 else states.X
        rate = observed_rate(seen, states.T, self.prior, self.hope)
        gain = index_gain(rate, states.t)
        return gain if self.breadth == 1.0 else gain * rate ** (self.breadth - 1.0)


@dataclass(frozen=True, slots=True)
class LeastDelay:
    """t²λ: least summed delay of the news; the limit of the index for small λt, times the rate."""

    prior: float = PRIOR
    hope: float = 1.0

    def scores(self, states: PageStates) -> FloatArray:
        return states.t**2 * observed_rate(news(states), states.T, self.prior, self.hope)


class Adaptive:
    """Nutch's and StormCrawler's rule: the most overdue first; `history` keeps each page's interval."""

    def scores(self, states: PageStates) -> FloatArray:
        return states.t - states.interval


@dataclass(frozen=True, slots=True)
class Formula:
    """A tree typed by the user or learned."""

    tree: Tree
    expression: Expression
    rhythm: Rhythm = ()
    """Of the log it was learned from, for `busy`."""

    @classmethod
    def of(cls, tree: Tree, rhythm: Rhythm = ()) -> "Formula":
        return cls(tree, prepared(tree), rhythm)

    def scores(self, states: PageStates) -> FloatArray:
        return self.expression.scores(replace(states, rhythm=self.rhythm) if self.rhythm else states)


def named(
    name: str, rng: np.random.Generator, settings: RecrawlSettings = DEFAULTS, hope: float = 1.0
) -> ScoreFunction:
    """The policy of this name, or the formula it spells; a formula that cannot be read is an `InputError`.

    `hope` is the time of the prior of rates, in cycles.
    """
    match name:
        case "rand":
            return Rand(rng)
        case "age" | "last-obs":
            return Age()
        case "brute":
            return BruteForce()
        case "cg" | "nad" | "sad" | "aad" | "gad":
            return Estimator(name)
        case "hacs":
            return Hacs(settings.hacs)
        case "azar" | "azar-rate" | "breadth":
            breadth = {"azar": 0.0, "azar-rate": 1.0, "breadth": settings.breadth}[name]
            return Index(breadth, settings.prior, hope)
        case "t2":
            return LeastDelay(settings.prior, hope)
        case "adaptive":
            return Adaptive()
    return Formula.of(parse(name))


def history_for(score: ScoreFunction | None, pages: int, settings: RecrawlSettings, cycle: float = 1.0) -> History:
    """An empty history that keeps what this score function reads."""
    hacs = settings.hacs
    wanted = isinstance(score, Hacs) or (
        isinstance(score, Formula) and not terminals_of(score.tree).isdisjoint(TRAILED)
    )
    trail = Trail(interpolated=hacs.updates == "interpolated", window=hacs.window * cycle) if wanted else None
    return History(pages, cycle=cycle, adaptive=settings.adaptive, trail=trail)


EXPECTED = "expected new documents"
"""What the policy `worth` ranks by, in words."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What orders the pages that have a history."""

    name: str = WORTH
    """As in the settings: a name, a formula, or a file."""
    score: ScoreFunction | None = None
    """None: the new documents expected. With the name `worth`, it orders what is worth a request; else it decides alone."""
    formula: str = ""
    """What a file or a learned function computes."""

    def __str__(self) -> str:
        return self.formula or (EXPECTED if self.name == WORTH else self.name)


def rhythm_in(policy: Policy) -> Rhythm:
    """The rhythm of the week that a function goes by, if it has one."""
    return policy.score.rhythm if isinstance(policy.score, Formula) else ()


LIKE_MOST = 1000.0
"""However alike pages are, after so many hours of watching a page counts for itself as much as its kind does."""


@dataclass(frozen=True, slots=True)
class Foretelling:
    """What the crawl foretells documents by; as `forager.expectation` has it."""

    main_rate: float = 40.0
    hub_rate: float = 0.5
    hub_weight: float = 0.5
    text_rate: float = 0.01
    prior_hours: float = 10.0
    prior_weight: float = 10.0
    breadth: float = 0.25
    text_breadth: float = 0.12
    max_age_hours: float = 24.0
    """A page promises no more than what it brings in this time."""


FORETELLING = Foretelling()


@dataclass(frozen=True, slots=True)
class Expected:
    """The documents expected of a visit, more or less."""

    by: Foretelling

    def scores(self, states: PageStates) -> FloatArray:
        hour = states.day / 24.0
        lists = states.hub > 0 if len(states.hub) else np.zeros(len(states), dtype=np.bool_)
        watched, waited = states.T / hour, np.minimum(states.t / hour, self.by.max_age_hours)
        scores = np.empty(len(states))
        rate = self._list_rates(states.documents[lists], watched[lists])
        scores[lists] = rate * waited[lists] * (self.by.main_rate / rate) ** self.by.breadth
        mean, rate = self._text_rates(states.documents[~lists], watched[~lists])
        rate = _unhidden(rate, states.n[~lists], watched[~lists])
        scores[~lists] = -np.expm1(-rate * waited[~lists]) * (mean / rate) ** self.by.text_breadth
        return scores

    def _list_rates(self, documents: FloatArray, hours: FloatArray) -> FloatArray:
        """The rates of lists, each as if no other had an address of the same form."""
        weight = self.by.hub_weight
        form = (documents + weight) / (hours + weight / self.by.hub_rate)
        return np.asarray((documents + weight) / (hours + weight / form))

    def _text_rates(self, documents: FloatArray, hours: FloatArray) -> tuple[float, FloatArray]:
        """The mean rate of texts, and that of each of them."""
        first = self.by.prior_weight * self.by.prior_hours
        mean = float((documents.sum() + self.by.text_rate * first) / (hours.sum() + first))
        guess = self.by.prior_weight * self.by.max_age_hours**2
        excess = float(((documents - mean * hours) ** 2).sum() - mean * hours.sum())
        variance = (excess + guess * mean / self.by.prior_hours) / (float((hours**2).sum()) + guess)
        like = LIKE_MOST if mean >= variance * LIKE_MOST else max(self.by.prior_hours, mean / variance)
        return mean, (documents + like * mean) / (hours + like)


def _unhidden(rate: FloatArray, visits: FloatArray, hours: FloatArray) -> FloatArray:
    """The rate of single texts, of which several changes look like one: −ln(1 − share) / gap."""
    again = (visits > 1) & (hours > 0)
    gap = np.where(again, hours, 1.0) / np.maximum(visits - 1.0, 1.0)
    return np.where(again, -np.log1p(-np.minimum(rate * gap, 0.95)) / gap, rate)
