"""Score functions: each ranks known pages by how much a visit now is worth. One method, many rules.

Names: rand age cg nad sad aad gad hacs last-obs brute azar azar-rate breadth t2 adaptive; anything else is a formula.

`ByKind` has one function for lists of links and one for single texts, as a crawl does by default. `hand_made` is the rule
that a crawl goes by without them, as far as histories tell: it also knows which links just appeared, and which neighbours just
had news.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from forager.arrays import FloatArray
from forager.gp.trees import Tree, terminals_of
from forager.recrawl.formula import Expression, formula_text, parse, prepared
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
    """Of the log it was learned from, for `busy`; empty: as the states say."""
    cycle: float = 0.0
    """Seconds in which it counts time; 0: in the cycles of whoever asks."""

    @classmethod
    def of(cls, tree: Tree, rhythm: Rhythm = (), cycle: float = 0.0) -> "Formula":
        return cls(tree, prepared(tree), rhythm, cycle)

    def scores(self, states: PageStates) -> FloatArray:
        states = states.counted_in(self.cycle) if self.cycle else states
        return self.expression.scores(replace(states, rhythm=self.rhythm) if self.rhythm else states)


@dataclass(frozen=True, slots=True)
class ByKind:
    """One function for lists of links, one for single texts; None: the hand-made rule."""

    lists: Formula | None = None
    texts: Formula | None = None

    def scores(self, states: PageStates) -> FloatArray:
        lists = states.hub > 0 if len(states.hub) else np.zeros(len(states), dtype=np.bool_)
        return np.where(lists, self.of_kind(True).scores(states), self.of_kind(False).scores(states))

    def of_kind(self, lists: bool) -> Formula:
        return (self.lists if lists else self.texts) or hand_made(lists)


@cache
def hand_made(lists: bool, breadth: float = 0.5, text_breadth: float = 0.12) -> Formula:
    """The rule of a crawl without a learned function, for pages of one kind."""
    b = breadth if lists else text_breadth
    return Formula.of(
        parse(f"(rate * busy)^(1 - {b}) * wlate^{b}" if lists else f"(1 - exp(-rate * t)) / rate^{b}"), (), 3600.0
    )


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


def reads_of(score: ScoreFunction | None) -> frozenset[str]:
    """The terminals that a score function reads, as far as it is made of formulas."""
    if isinstance(score, ByKind):
        return reads_of(score.of_kind(True)) | reads_of(score.of_kind(False))
    return terminals_of(score.tree) if isinstance(score, Formula) else frozenset()


def rhythm_of_score(score: ScoreFunction | None) -> Rhythm:
    """The rhythm of the week that a score function goes by."""
    return score.rhythm if isinstance(score, Formula) else ()


def history_for(score: ScoreFunction | None, pages: int, settings: RecrawlSettings, cycle: float = 1.0) -> History:
    """An empty history that keeps what this score function reads."""
    hacs = settings.hacs
    wanted = isinstance(score, Hacs) or not reads_of(score).isdisjoint(TRAILED)
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
    """None: the new documents expected. By kind, it orders what is worth a request; else it decides alone."""
    formula: str = ""
    """What a file or a learned function computes."""

    def __str__(self) -> str:
        return self.formula or (EXPECTED if self.name == WORTH else self.name)

    @classmethod
    def by_kind(cls, name: str, score: ByKind) -> "Policy":
        """A policy that orders the pages worth a request."""
        told = [("lists", score.lists), ("texts", score.texts)]
        return cls(name, score, "; ".join(f"{kind}: {formula_text(one.tree)}" for kind, one in told if one is not None))


@dataclass(frozen=True, slots=True)
class RuleInUse:
    """What orders pages now."""

    rule: str
    """The name of a rule, or a formula."""
    cycle: float = 0.0
    """Seconds in which a formula counts time; 0: in cycles of the crawl."""


def rules_in_use(policy: Policy) -> tuple[RuleInUse, RuleInUse]:
    """The rules for lists and texts, as a lesson names them."""
    score = policy.score
    if not isinstance(score, ByKind):
        one = RuleInUse(formula_text(score.tree), score.cycle) if isinstance(score, Formula) else RuleInUse(policy.name)
        return one, one
    return _spelled(score.lists), _spelled(score.texts)


def _spelled(formula: Formula | None) -> RuleInUse:
    return RuleInUse(WORTH) if formula is None else RuleInUse(formula_text(formula.tree), formula.cycle)


def rhythm_in(policy: Policy) -> Rhythm:
    """The rhythm of the week that a function goes by, if it has one."""
    return rhythm_of_score(policy.score)
