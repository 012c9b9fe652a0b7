"""Learns a score function: N runs of the evolution, validation of the best trees, and a shorter way to write the
winner.

Best, Avg or Sum decides which of the best trees of all runs becomes the function (GP4C). It replaces the rules that
people found only if it is better beyond chance, because the best of many functions on the validation pages is partly
the luckiest.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from forager.arrays import FloatArray
from forager.errors import InputError
from forager.gp.evolve import Generation, Measured, Measurer, Memory, canonical_tree, evolve
from forager.gp.gp_settings import OF_DOCUMENTS, GPSettings, Selection
from forager.gp.trees import Tree, children, end_of, graft
from forager.recrawl.change_log import ChangeLog


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree with its fitness on training and on validation pages."""

    tree: Tree
    train: float
    validation: float

    @property
    def spread(self) -> float:
        """σ of the two figures."""
        return abs(self.train - self.validation) / 2.0


_WORTH: Mapping[Selection, Callable[[Candidate], float]] = {
    "best": lambda one: one.validation,
    "avg": lambda one: (one.train + one.validation) / 2.0 - one.spread,
    "sum": lambda one: one.train + one.validation - one.spread,
}


def choose_individual(candidates: Sequence[Candidate], select: Selection) -> Candidate:
    """The best candidate by this rule. Ties go to the shorter tree, then by symbols."""
    worth = _WORTH[select]
    return min(candidates, key=lambda one: (-worth(one), len(one.tree), str(one.tree)))


BEYOND_CHANCE = 1.645
"""Number of standard errors by which a function must be ahead: by chance, fewer than one in twenty are."""

ByPage = Callable[[Tree], FloatArray]
"""What each page contributes to the fitness of a tree; the mean of these is the fitness."""


@dataclass(frozen=True, slots=True)
class CarefulChoice:
    """The function that was chosen, and how the evolved one compares with the best known rule."""

    chosen: Candidate
    evolved: Candidate
    known: Candidate | None = None
    """The best known rule on training and validation pages together; None if no comparison was asked for."""
    gain: float = 0.0
    """Fitness of the evolved function minus that of the rule, on the validation pages."""
    error: float = 0.0
    """Standard error of this difference, from page to page."""

    @property
    def is_evolved(self) -> bool:
        return self.chosen is self.evolved


def paired_difference(one: FloatArray, other: FloatArray) -> tuple[float, float]:
    """The mean over pages by which the first is better, and its standard error."""
    gains = one - other
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
    return float(gains.mean()) if len(gains) else 0.0, float(error)


def is_beyond_chance(gain: float, error: float, errors: float = BEYOND_CHANCE) -> bool:
    """Whether a gain is more than `errors` times its standard error."""
    return gain > 0.0 and gain > errors * error


def choose_carefully(
    evolved: Candidate, rules: Sequence[Tree], train: Measurer, validate: Measurer, by_page: ByPage
) -> CarefulChoice:
    """The evolved function, or the best of these rules; `by_page` measures on the validation pages."""
    if not rules:
        return CarefulChoice(evolved, evolved)
    judged = [Candidate(*one) for one in zip(rules, train(rules), validate(rules), strict=True)]
    known = max(judged, key=lambda one: (one.train + one.validation, -len(one.tree)))
    gain, error = paired_difference(by_page(evolved.tree), by_page(known.tree))
    better = is_beyond_chance(gain, error) and evolved.train >= known.train
    return CarefulChoice(evolved if better else known, evolved, known, gain, error)


@dataclass(frozen=True, slots=True)
class LearnProgress:
    """How far the learning is; enough to continue from here."""

    finished: tuple[tuple[Measured, ...], ...] = ()
    """The N_b best trees of each finished run."""
    current: Generation | None = None
    """The last generation of the run under way, if any."""
    evaluations: int = 0
    """Trees that were given a fitness so far."""
    unique_evaluations: int = 0
    """Different trees that were measured for it."""

    def best(self) -> list[Measured]:
        """The best trees of all runs so far, without repetition, in the order of the runs."""
        runs = [*self.finished, *([self.current.best] if self.current else [])]
        return list({tree: (tree, fitness) for run in runs for tree, fitness in run}.values())


def split_folds(log: ChangeLog, settings: GPSettings, rng: np.random.Generator) -> tuple[ChangeLog, ChangeLog]:
    """Training and validation: the pages distributed over two logs of equal size.

    For documents, which several pages may show, both have all pages: the first and the last three quarters of the time.
    """
    if settings.fitness in OF_DOCUMENTS:
        shuffled, quarter = log.shuffled(rng), log.cycles // 4
        return shuffled.span(0, log.cycles - quarter), shuffled.span(quarter, log.cycles)
    train, validation = log.shuffled(rng).folds(2)
    return train, validation


def learning(
    measure: Measurer, terminals: Sequence[str], settings: GPSettings, seed: int, progress: LearnProgress | None = None
) -> Iterator[LearnProgress]:
    """All runs, generation by generation; run i has the seed `seed` + i. Continues from `progress` if there is one."""
    progress = progress or LearnProgress()
    memory = Memory(measure)
    memory.remember(progress.best())
    if progress.current is not None:
        forms = [canonical_tree(tree) for tree in progress.current.population]
        memory.remember(list(zip(forms, progress.current.fitness, strict=True)))
    remembered = len(memory) - progress.unique_evaluations
    for run in range(len(progress.finished), settings.seeds):
        for generation in evolve(memory, terminals, settings, seed + run, progress.current):
            evaluations = progress.evaluations + len(generation.population)
            progress = replace(
                progress, current=generation, evaluations=evaluations, unique_evaluations=len(memory) - remembered
            )
            yield progress
        if progress.current is not None:
            progress = replace(progress, finished=(*progress.finished, progress.current.best), current=None)
    yield progress


def candidates(progress: LearnProgress, validate: Measurer) -> list[Candidate]:
    """The best trees of all runs, with their fitness on the validation pages."""
    best = progress.best()
    judged = validate([tree for tree, _ in best])
    return [Candidate(tree, train, validation) for (tree, train), validation in zip(best, judged, strict=True)]


def shortened(candidate: Candidate, train: Measurer, validate: Measurer) -> Candidate:
    """The shortest tree, found by leaving parts out, that is as good on training and validation pages, or better.

    Its numbers have as few digits as possible, too.
    """

    def as_good(trees: Sequence[Tree]) -> list[Candidate]:
        judged = zip(trees, train(trees), validate(trees), strict=True)
        return [
            Candidate(tree, on_train, on_validation)
            for tree, on_train, on_validation in judged
            if on_train >= candidate.train and on_validation >= candidate.validation
        ]

    while good := as_good(sorted(_shorter(candidate.tree), key=lambda tree: (len(tree), str(tree)))):
        candidate = good[0]
    return next(iter(as_good(_rounder(candidate.tree))), candidate)


def _shorter(tree: Tree) -> set[Tree]:
    """The trees with one subtree replaced by one of its own parts, in canonical form."""
    found: set[Tree] = set()
    for start in range(len(tree)):
        for child in children(tree[start : end_of(tree, start)]):
            form = canonical_tree(graft(tree, start, child))
            if len(form) < len(tree):
                found.add(form)
    return found


def _rounder(tree: Tree) -> list[Tree]:
    """The trees with fewer digits in their numbers, the fewest first."""
    forms = [
        canonical_tree(tuple(float(f"{symbol:.{digits}g}") if isinstance(symbol, float) else symbol for symbol in tree))
        for digits in (1, 2, 3, 6)
    ]
    return [form for form in dict.fromkeys(forms) if form != tree]


class _Checkpoint(msgspec.Struct):
    source: str
    settings: GPSettings
    progress: LearnProgress


def lesson_to_text(progress: LearnProgress, settings: GPSettings, source: str) -> str:
    """A checkpoint of the learning from `source` with these settings."""
    return msgspec.json.encode(_Checkpoint(source, settings, progress)).decode()


def lesson_from_text(text: str, settings: GPSettings, source: str) -> LearnProgress:
    """Reads a checkpoint back; raises an `InputError` if it belongs to another log or other settings."""
    try:
        kept = msgspec.json.decode(text, type=_Checkpoint)
    except msgspec.MsgspecError as problem:
        raise InputError(f"the checkpoint cannot be read ({problem}); delete it to begin anew") from problem
    if kept.source != source or kept.settings != settings:
        raise InputError("the checkpoint was made with other settings or another log; repeat them, or delete it")
    return kept.progress
