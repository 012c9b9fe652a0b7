"""Learning beside a running crawl: a new score function takes over only if it is better on pages nobody learned from."""

from dataclasses import dataclass

from forager.chance import stream
from forager.recrawl.gp import learning
from forager.recrawl.gp.breed import known_rules
from forager.recrawl.gp.careful import choose_carefully, difference, is_beyond_chance
from forager.recrawl.gp.choose import Candidate, choose
from forager.recrawl.gp.fitness import Judge, terminal_set
from forager.recrawl.gp.parallel import measurers
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.log import ChangeLog
from forager.recrawl.policies import ScoreFunction
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.settings import DEFAULTS, RecrawlSettings

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


def learn(
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
        best = choose(learning.candidates(done, measure["validation"]), settings.select)
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
    learned = learn(train, validation, settings, seed)
    judge = Judge(held_out, settings)
    new, old = judge.by_page(learned.tree, recrawl), judge.by_page(current, recrawl)
    _, error = difference(new, old)
    return Contest(learned, float(new.mean()), float(old.mean()), error)
