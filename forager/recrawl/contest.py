"""A lesson beside the crawl: learn a score function from its visits and let it compete with the one in use."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.chance import stream
from forager.errors import SettingsError
from forager.recrawl.formula import parse, text_of
from forager.recrawl.gp.retrain import retrain
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.policies import Formula
from forager.recrawl.scheduler import Policy
from forager.recrawl.settings import RetrainSettings
from forager.recrawl.visit_log import change_log

FEWEST = 30
"""Pages seen more than once below which nothing is learned: ten to learn from, ten to choose by, ten to judge on. Ours."""
FORMULAS = {
    "age": "t",
    "last-obs": "t",
    "brute": "t",
    **{name: name for name in ("cg", "nad", "sad", "aad", "gad", "azar")},
    "azar-rate": "gain",
    "t2": "t ^ 2 * lam",
}
"""The rules that are formulas, by their names as policies."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned from, and what a new function must be better than."""

    page: NDArray[np.int64]
    when: NDArray[np.float64]
    changed: NDArray[np.bool_]
    cycle: float
    current: str
    """The formula in use."""
    settings: RetrainSettings
    k: float
    """At most this share of the pages is visited in a simulated cycle."""
    warmup: int
    seed: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best function found, and its fitness on held-out pages against that of the one in use."""

    formula: str
    new: float
    old: float
    visits: int


def formula_of(policy: Policy) -> str:
    """The policy as a formula, to compete with; not every policy is one."""
    if isinstance(policy.score, Formula):
        return text_of(policy.score.tree)
    if policy.name not in FORMULAS:
        raise SettingsError(
            f"recrawl.retrain improves a formula, and the policy {policy.name} is none; "
            f"begin with one of {' '.join(FORMULAS)}, or with a formula"
        )
    return FORMULAS[policy.name]


def contest(lesson: Lesson) -> Verdict | None:
    """Learn and judge; None if the visits show too little: few pages, few cycles, or no change at all."""
    settings, rng = lesson.settings, stream(lesson.seed, "lesson: pages")
    log, visited = change_log(lesson.page, lesson.when, lesson.changed, lesson.cycle)
    if log.pages > settings.pages:
        log = log.part(np.sort(rng.permutation(log.pages)[: settings.pages]))
    if log.pages < FEWEST or log.cycles <= lesson.warmup or not log.changed.any():
        return None
    how = GPSettings(
        terminals=settings.terminals,
        fitness=settings.fitness,
        population=settings.population,
        generations=settings.generations,
        seeds=1,
        kept=settings.population,
        k=min(lesson.k, visited),
        warmup=lesson.warmup,
    )
    judged = retrain(log, parse(lesson.current), how, lesson.seed)
    return Verdict(text_of(judged.learned.tree), judged.new, judged.current, len(lesson.page))
