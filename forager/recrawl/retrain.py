"""A lesson beside the crawl: learn a score function from its visits and let it compete with the rule in use.

The new function takes over only if it is better on pages nobody learned from.
"""

from dataclasses import dataclass, replace

import numpy as np

from forager.arrays import IntArray
from forager.chance import stream
from forager.gp import learn as learning
from forager.gp.breed import known_rules
from forager.gp.fitness import Judge, measurers, terminal_set
from forager.gp.gp_settings import GPSettings, Measure
from forager.gp.learn import Candidate, choose_carefully, choose_individual, is_beyond_chance, paired_difference
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.formula import formula_text
from forager.recrawl.policies import FORETELLING, Expected, Foretelling, Formula, Policy, ScoreFunction, named
from forager.recrawl.recrawl_settings import DEFAULTS, WORTH, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.visit_log import Visits, change_log

SURE = 2.576
"""Standard errors by which a function must be ahead: one in 200 is so by chance, as a crawl holds lesson after lesson."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The newly learned function against the one in use, on held-out pages."""

    learned: Candidate
    new: float
    """Fitness of the new function on the held-out pages …"""
    current: float
    """… and of the one in use."""
    error: float
    """The standard error of the difference, from page to page."""

    @property
    def won(self) -> bool:
        return is_beyond_chance(self.new - self.current, self.error, SURE)


def learn_beside(
    train: ChangeLog,
    validation: ChangeLog,
    settings: GPSettings,
    seed: int,
    processes: int = 1,
    rhythm: Rhythm = (),
) -> Candidate:
    """All of GP4C in one call: evolve on some pages, validate on others, choose, shorten, hold against known rules."""
    judges = {"train": Judge(train, settings, rhythm), "validation": Judge(validation, settings, rhythm)}
    terminals = terminal_set(settings, train, rhythm)
    with measurers(judges, processes) as measure:
        *_, done = learning.learning(measure["train"], terminals, settings, seed)
        best = choose_individual(learning.candidates(done, measure["validation"]), settings.select)
        best = learning.shortened(best, measure["train"], measure["validation"])
        rules, by_page = known_rules(terminals, settings), judges["validation"].by_page
        return choose_carefully(best, rules, measure["train"], measure["validation"], by_page).chosen


def retrain(
    log: ChangeLog, current: ScoreFunction, settings: GPSettings, seed: int, recrawl: RecrawlSettings = DEFAULTS
) -> Contest:
    """Learn from two thirds of the pages and let the result compete with `current` on the last third.

    `recrawl` tells how the crawl keeps the histories that both read.
    """
    train, validation, held_out = log.shuffled(stream(seed, "retrain: order of pages")).folds(3)
    learned = learn_beside(train, validation, settings, seed)
    judge = Judge(held_out, settings)
    new, old = judge.by_page(learned.tree, recrawl), judge.by_page(current, recrawl)
    _, error = paired_difference(new, old)
    return Contest(learned, float(new.mean()), float(old.mean()), error)


DAY = 86_400.0
FEWEST = 30
"""Pages seen more than once below which nothing is learned: ten to learn from, ten to choose by, ten to judge on. Ours."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned from, and what a new function must be better than."""

    visits: Visits
    lists: IntArray
    """The pages that are lists of links."""
    cycle: float
    current: str
    """The policy in use: the name of a rule, or a formula."""
    settings: RecrawlSettings
    """At most `k` of the pages are visited in a simulated cycle."""
    seed: int
    by: Foretelling = FORETELLING
    """What new documents are foretold by."""
    rhythm: Rhythm = ()
    """Of the week, if the policy in use goes by one."""


@dataclass(frozen=True, slots=True)
class LessonVerdict:
    """The best function found, and its fitness on held-out pages against that of the rule in use."""

    formula: str
    fitness: Measure
    new: float
    old: float
    won: bool
    """It is better page by page, beyond chance."""
    visits: int


def spelled(policy: Policy) -> str:
    """The policy as a lesson names it: a rule by its name, what was learned or typed as a formula."""
    return formula_text(policy.score.tree) if isinstance(policy.score, Formula) else policy.name


def contest(lesson: Lesson) -> LessonVerdict | None:
    """Learn and judge; None if the visits show too little: few pages, few cycles, or nothing new at all."""
    settings, rng = lesson.settings.retrain, stream(lesson.seed, "lesson: pages")
    log, visited = change_log(lesson.visits, lesson.lists, lesson.cycle, rng)
    if log.pages > settings.pages:
        log = log.part(np.sort(rng.permutation(log.pages)[: settings.pages]))
    fitness = _fitness(log, lesson)
    if log.pages < FEWEST or log.cycles <= lesson.settings.warmup or fitness is None:
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
    judged = retrain(log, _in_use(lesson), how, lesson.seed, lesson.settings)
    return LessonVerdict(
        formula_text(judged.learned.tree), fitness, judged.new, judged.current, judged.won, len(lesson.visits)
    )


def _fitness(log: ChangeLog, lesson: Lesson) -> Measure | None:
    """What the lesson is about; None if the log cannot tell. The default rule, made to find documents, is judged by that."""
    wanted, documents = lesson.settings.retrain.fitness, log.documents is not None
    if wanted == "discovery" or (wanted == "auto" and (documents or lesson.current == WORTH)):
        return "discovery" if documents else None
    if not log.changed.any():
        return None
    return "ndcg" if wanted == "auto" else wanted


def _in_use(lesson: Lesson) -> ScoreFunction:
    if lesson.current == WORTH:
        return Expected(lesson.by)
    rule = named(lesson.current, stream(lesson.seed, "lesson: policy"), lesson.settings, DAY / lesson.cycle)
    return replace(rule, rhythm=lesson.rhythm) if isinstance(rule, Formula) else rule
