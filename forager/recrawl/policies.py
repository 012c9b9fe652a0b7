"""Score functions: each ranks known pages by how much a visit now is worth.

Names: rand age cg nad sad aad gad hacs last-obs brute azar azar-rate breadth t2 adaptive; anything else is a formula.

`ByKind` has one function for lists and one for texts, as a crawl does by default. `hand_made` is the rule that a crawl
uses without them, as far as histories tell: the crawl also knows which links just appeared, and which neighbours just
had news.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol

import numpy as np

from forager.arrays import FloatArray
from forager.gp.machine import FIELDS, READS, Program, program, values
from forager.gp.trees import Tree, terminals_of
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail, chance_of_update
from forager.recrawl.recrawl_settings import DEFAULTS, HACS, WORTH, HacsSettings, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.terminals import PRIOR, TRAILED, PageStates, index_gain, observed_rate


class ScoreFunction(Protocol):
    def scores(self, states: PageStates) -> FloatArray:
        """The worth of a visit now, one per row; higher comes first, −inf means: do not visit."""


@dataclass(frozen=True, slots=True)
class Rand:
    """A random score. A copy of it draws the same numbers, so that asking for an explanation changes nothing."""

    rng: np.random.Generator

    def scores(self, states: PageStates) -> FloatArray:
        return self.rng.random(len(states))


@dataclass(frozen=True, slots=True)
class Rule:
    """A score that a function computes from the states."""

    function: Callable[[PageStates], FloatArray]

    def scores(self, states: PageStates) -> FloatArray:
        return self.function(states)


@dataclass(frozen=True, slots=True)
class Hacs:
    """The probability of an update by the horizon; needs a history with a trail."""

    settings: HacsSettings = HACS

    def scores(self, states: PageStates) -> FloatArray:
        chance = chance_of_update(states.rate, states.update, states.now, self.settings.horizon)
        return np.where(chance >= self.settings.threshold, chance, -np.inf)


def news(states: PageStates) -> FloatArray:
    """Changes seen, or new documents if these are more: a list that changed once may have brought ten."""
    return np.maximum(states.X, states.documents) if len(states.documents) else states.X


def index_of(states: PageStates, breadth: float, prior: float = PRIOR, hope: float = 1.0) -> FloatArray:
    """The index of Azar et al. times rate^breadth: g/λ · λ^breadth. 0 keeps copies fresh, 1 finds most news.

    Below 1 it only matters whether a copy is current, so λ counts changes; at 1 every document counts. `hope` is the
    number of cycles in which an unknown page is assumed to change `prior` times.
    """
    rate = observed_rate(news(states) if breadth == 1.0 else states.X, states.T, prior, hope)
    gain = index_gain(rate, states.t)
    return gain if breadth == 1.0 else gain * rate ** (breadth - 1.0)


def least_delay(states: PageStates, prior: float = PRIOR, hope: float = 1.0) -> FloatArray:
    """t²λ: the least summed delay of the news; the limit of the index for small λt, times the rate."""
    return states.t**2 * observed_rate(news(states), states.T, prior, hope)


@dataclass(frozen=True, slots=True)
class Formula:
    """A tree, typed by the user or learned."""

    tree: Tree
    program: Program = field(repr=False, compare=False)
    rhythm: Rhythm = ()
    """The rhythm of the log it was learned from, for `busy`; empty: that of the states."""
    cycle: float = 0.0
    """Seconds in one unit of its time; 0: a cycle of the caller."""

    @classmethod
    def of(cls, tree: Tree, rhythm: Rhythm = (), cycle: float = 0.0) -> "Formula":
        return cls(tree, program(tree), rhythm, cycle)

    def scores(self, states: PageStates) -> FloatArray:
        states = states.counted_in(self.cycle) if self.cycle else states
        states = replace(states, rhythm=self.rhythm) if self.rhythm else states
        table = np.zeros((len(FIELDS), len(states)))
        for row in {row for name in terminals_of(self.tree) for row in READS[name]}:
            column = getattr(states, FIELDS[row])
            table[row] = column if len(column) else 0.0
        return values(self.program, table, states.last, states.now, 24.0 / states.day)


@dataclass(frozen=True, slots=True)
class ByKind:
    """One function for lists, one for texts; None: the hand-made rule."""

    lists: Formula | None = None
    texts: Formula | None = None

    def scores(self, states: PageStates) -> FloatArray:
        lists = states.hub > 0 if len(states.hub) else np.zeros(len(states), dtype=np.bool_)
        return np.where(lists, self.of_kind(True).scores(states), self.of_kind(False).scores(states))

    def of_kind(self, lists: bool) -> Formula:
        return (self.lists if lists else self.texts) or hand_made(lists)


@cache
def hand_made(lists: bool) -> Formula:
    """The rule of a crawl without a learned function, for pages of one kind."""
    rule = "(rate * busy)^(1 - 0.5) * wlate^0.5" if lists else "(1 - exp(-rate * t)) / rate^0.12"
    return Formula.of(parse(rule), (), 3600.0)


def named(
    name: str, rng: np.random.Generator, settings: RecrawlSettings = DEFAULTS, hope: float = 1.0
) -> ScoreFunction:
    """The policy of this name, or the formula in it; a formula that cannot be read is an `InputError`.

    `hope` is the time, in cycles, in which an unknown page is assumed to change `prior` times.
    """
    prior = settings.prior
    match name:
        case "rand":
            return Rand(rng)
        case "age" | "last-obs":  # the longest unvisited first
            return Rule(lambda states: states.t)
        case "brute":  # all are worth the same, so ties decide: the longest unvisited first
            return Rule(lambda states: np.ones(len(states)))
        case "cg" | "nad" | "sad" | "aad" | "gad":
            return Rule(Formula.of((name,)).scores)
        case "hacs":
            return Hacs(settings.hacs)
        case "azar" | "azar-rate" | "breadth":
            breadth = {"azar": 0.0, "azar-rate": 1.0, "breadth": settings.breadth}[name]
            return Rule(lambda states: index_of(states, breadth, prior, hope))
        case "t2":
            return Rule(lambda states: least_delay(states, prior, hope))
        case "adaptive":  # as in Nutch and StormCrawler: the most overdue first
            return Rule(lambda states: states.t - states.interval)
    return Formula.of(parse(name))


def reads_of(score: ScoreFunction | None) -> frozenset[str]:
    """The terminals that a score function reads, as far as it consists of formulas."""
    if isinstance(score, ByKind):
        return reads_of(score.of_kind(True)) | reads_of(score.of_kind(False))
    return terminals_of(score.tree) if isinstance(score, Formula) else frozenset()


def rhythm_of_score(score: ScoreFunction | None) -> Rhythm:
    """The rhythm of the week that a score function uses."""
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
    """Orders the pages that have a history."""

    name: str = WORTH
    """As in the settings: a name, a formula, or a file."""
    score: ScoreFunction | None = None
    """None: by new documents expected. A function by kind orders the pages worth a request; any other decides alone."""
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
    """Seconds in one unit of a formula's time; 0: a cycle of the crawl."""


def rules_in_use(policy: Policy) -> tuple[RuleInUse, RuleInUse]:
    """The rules for lists and texts, as a lesson names them."""
    score = policy.score
    if not isinstance(score, ByKind):
        one = RuleInUse(formula_text(score.tree), score.cycle) if isinstance(score, Formula) else RuleInUse(policy.name)
        return one, one
    return _spelled(score.lists), _spelled(score.texts)


def _spelled(formula: Formula | None) -> RuleInUse:
    return RuleInUse(WORTH) if formula is None else RuleInUse(formula_text(formula.tree), formula.cycle)
