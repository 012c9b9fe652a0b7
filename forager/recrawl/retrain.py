"""A lesson beside the crawl: learns a score function from its visits and lets it compete with the rule in use.

The new function takes over only if it is better on data that nobody learned from: a later time, or other pages.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from forager.arrays import IntArray
from forager.chance import stream
from forager.gp import learn as learning
from forager.gp.evolve import known_rules
from forager.gp.fitness import Judge, measurers, terminal_set
from forager.gp.gp_settings import GPSettings, Measure
from forager.gp.learn import Candidate, choose_carefully, choose_individual, is_beyond_chance, paired_difference
from forager.gp.trees import Tree
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.formula import formula_text
from forager.recrawl.policies import Formula, RuleInUse, ScoreFunction, hand_made, named
from forager.recrawl.recrawl_settings import DEFAULTS, WORTH, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.terminals import TRAILED
from forager.recrawl.visit_log import Visits, change_log

SURE = 0.995
"""Probability that a function that is no better does not take over; it is high because a crawl has many lessons."""
ForPages = Literal["", "lists", "texts"]
"""Which pages a function is for; empty: all."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The newly learned function against the one in use, on data that nobody learned from."""

    learned: Candidate
    new: float
    """Fitness of the new function."""
    current: float
    """Fitness of the function in use."""
    error: float
    """Standard error of the difference, from page to page."""
    pages: int = 1000

    @property
    def won(self) -> bool:
        from scipy import stats  # slow to load, and not needed without lessons

        errors = float(stats.t.ppf(SURE, max(1, self.pages - 1)))
        return is_beyond_chance(self.new - self.current, self.error, errors)


def learn_beside(
    train: ChangeLog,
    validation: ChangeLog,
    settings: GPSettings,
    seed: int,
    processes: int = 1,
    rhythm: Rhythm = (),
) -> Candidate:
    """All of GP4C in one call: evolves on some pages, validates on others, chooses, shortens, compares with known
    rules.
    """
    judges = {"train": Judge(train, settings, rhythm), "validation": Judge(validation, settings, rhythm)}
    terminals = [name for name in terminal_set(settings, train, rhythm) if name not in TRAILED]
    with measurers(judges, processes) as measure:
        *_, done = learning.learning(measure["train"], terminals, settings, seed)
        best = choose_individual(learning.candidates(done, measure["validation"]), settings.select)
        best = learning.shortened(best, measure["train"], measure["validation"])
        rules, by_page = known_rules(terminals, settings), judges["validation"].by_page
        return choose_carefully(best, rules, measure["train"], measure["validation"], by_page).chosen


def retrain(
    log: ChangeLog,
    current: ScoreFunction,
    settings: GPSettings,
    seed: int,
    recrawl: RecrawlSettings = DEFAULTS,
    rhythm: Rhythm = (),
) -> Contest:
    """Learns from one part of a log, chooses on another, and lets the result compete with `current` on the third.

    If lists show documents, which may be the same ones, the parts are times: the first half, a quarter and the last
    quarter. Else they are thirds of the pages. `recrawl` says how the crawl keeps the histories that both read.
    """
    log = log.shuffled(stream(seed, "retrain: order of pages"))
    if log.documents is None:
        train, validation, held_out = log.folds(3)
    else:
        cuts = [round(log.cycles * part) for part in (0.0, 0.5, 0.75, 1.0)]
        train, validation, held_out = (log.span(*ends) for ends in pairwise(cuts))
    if isinstance(current, Formula):
        settings = replace(settings, begin_with=(*_in_cycles(current, log.cycle), *settings.begin_with))
    learned = learn_beside(train, validation, settings, seed, rhythm=rhythm)
    judge = Judge(held_out, settings, rhythm)
    new, old = judge.by_page(learned.tree, recrawl), judge.by_page(current, recrawl)
    _, error = paired_difference(new, old)
    return Contest(learned, float(new.mean()), float(old.mean()), error, len(new))


def _in_cycles(current: Formula, cycle: float) -> tuple[Tree, ...]:
    """The function in use as the first tree, if it counts time as the log does, or works with cycles of any length."""
    return (current.tree,) if current.cycle in (0.0, cycle) else (_scaled(current.tree, cycle / current.cycle),)


def _scaled(tree: Tree, longer: float) -> Tree:
    """The tree with its times and rates converted to cycles that are `longer` times as long."""
    out: list[str | float] = []
    for symbol in tree:
        if symbol in TIMES:
            out += ["*", symbol, longer]
        elif symbol in PACES:
            out += ["/", symbol, longer]
        else:
            out.append(symbol)
    return tuple(out)


TIMES = ("t", "T", "since", "busy")
"""Terminals that count cycles."""
PACES = ("lam", "rate", "haz", "pace")
"""Terminals that are per cycle."""

DAY = 86_400.0
FEWEST = 10
"""Nothing is learned from fewer pages seen more than once; texts need three times as many, as each third has its own.
Ours.
"""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned from, and what a new function must beat."""

    visits: Visits
    lists: IntArray
    """The pages that are lists."""
    cycle: float
    in_use: tuple[RuleInUse, RuleInUse]
    """The rules for lists and for texts."""
    by_kind: bool
    """Whether there are two, each for its kind of pages."""
    settings: RecrawlSettings
    """At most `k` of the pages are visited in a simulated cycle."""
    seed: int
    rhythm: Rhythm = ()
    """The rhythm of the week, as far as the crawl knows it."""


@dataclass(frozen=True, slots=True)
class LessonVerdict:
    """The best function found, its fitness on data that nobody learned from, and that of the rule in use."""

    formula: str
    fitness: Measure
    new: float
    old: float
    won: bool
    """Whether it is better page by page, beyond chance."""
    visits: int
    kind: ForPages = ""


def contest(lesson: Lesson) -> LessonVerdict | None:
    """Learns and judges; None if the visits show too little: few pages, few cycles, or nothing new at all."""
    settings, rng = lesson.settings.retrain, stream(lesson.seed, "lesson: pages")
    kind = kind_of_news(lesson.visits, lesson.lists) if lesson.by_kind else ""
    visits = (
        lesson.visits if not kind else lesson.visits.at(np.isin(lesson.visits.page, lesson.lists) == (kind == "lists"))
    )
    log, visited = change_log(visits, lesson.lists, lesson.cycle, rng)
    if log.pages > settings.pages:
        log = log.part(np.sort(rng.permutation(log.pages)[: settings.pages]))
    fitness = _fitness(log, lesson)
    fewest = FEWEST if log.documents is not None else 3 * FEWEST
    if log.pages < fewest or log.cycles <= 4 * (lesson.settings.warmup + 1) or fitness is None:
        return None
    how = GPSettings(
        terminals=settings.terminals,
        fitness=fitness,
        population=settings.population,
        generations=settings.generations,
        seeds=1,
        kept=settings.population,
        k=min(lesson.settings.k, visited),
        warmup=lesson.settings.warmup,
        young=DAY / lesson.cycle,
    )
    current = _in_use(lesson, lists=kind != "texts")
    judged = retrain(log, current, how, lesson.seed, lesson.settings, lesson.rhythm)
    formula = formula_text(judged.learned.tree)
    return LessonVerdict(formula, fitness, judged.new, judged.current, judged.won, len(lesson.visits), kind)


def kind_of_news(visits: Visits, lists: IntArray) -> ForPages:
    """Which kind of pages revealed more documents."""
    on_lists = np.isin(visits.page, lists)
    return "lists" if 2 * visits.brought[on_lists].sum() >= visits.brought.sum() else "texts"


def _fitness(log: ChangeLog, lesson: Lesson) -> Measure | None:
    """What the lesson maximises; None if the log cannot tell it."""
    wanted, documents = lesson.settings.retrain.fitness, log.documents is not None
    if wanted == "discovery" and not documents:
        return None
    if not documents and not log.changed.any():
        return None
    if wanted == "auto":
        return "late" if documents or lesson.by_kind else "ndcg"
    return wanted


def _in_use(lesson: Lesson, *, lists: bool) -> ScoreFunction:
    one = lesson.in_use[0 if lists else 1]
    if one.rule == WORTH:
        return replace(hand_made(lists), rhythm=lesson.rhythm)
    rule = named(one.rule, stream(lesson.seed, "lesson: policy"), lesson.settings, DAY / lesson.cycle)
    return replace(rule, rhythm=lesson.rhythm, cycle=one.cycle) if isinstance(rule, Formula) else rule
