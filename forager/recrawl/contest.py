"""A lesson beside the crawl: learn a score function from its visits and let it compete with the rule in use."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forager.chance import stream
from forager.recrawl.expected import FORETELLING, Expected, Foretelling
from forager.recrawl.formula import text_of
from forager.recrawl.gp.retrain import retrain
from forager.recrawl.gp.settings import GPSettings, Measure
from forager.recrawl.log import ChangeLog
from forager.recrawl.policies import Formula, Policy, ScoreFunction, named
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.settings import WORTH, RecrawlSettings
from forager.recrawl.visit_log import Visits, change_log

DAY = 86_400.0
FEWEST = 30
"""Pages seen more than once below which nothing is learned: ten to learn from, ten to choose by, ten to judge on. Ours."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned from, and what a new function must be better than."""

    visits: Visits
    lists: NDArray[np.int64]
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
class Verdict:
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
    return text_of(policy.score.tree) if isinstance(policy.score, Formula) else policy.name


def contest(lesson: Lesson) -> Verdict | None:
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
    return Verdict(text_of(judged.learned.tree), fitness, judged.new, judged.current, judged.won, len(lesson.visits))


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
