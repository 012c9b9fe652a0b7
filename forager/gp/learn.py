"""Learning a score function: N runs of the evolution, validation of the best, and a shorter way to write one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from forager.errors import InputError
from forager.gp.evolve import Generation, Measured, Measurer, Memory, evolve
from forager.gp.gp_settings import GPSettings
from forager.gp.selection import Candidate
from forager.gp.trees import Tree, canonical_tree, children, end_of, graft
from forager.recrawl.change_log import ChangeLog


@dataclass(frozen=True, slots=True)
class LearnProgress:
    """How far the learning is; enough to go on from here."""

    finished: tuple[tuple[Measured, ...], ...] = ()
    """The N_b best of each finished run."""
    current: Generation | None = None
    """The last generation of the run under way, if any."""
    evaluations: int = 0
    """Individuals that were given a fitness so far."""
    unique_evaluations: int = 0
    """Different trees that were measured for it."""

    def best(self) -> list[Measured]:
        """The best of all runs so far, without repetition, in the order of the runs."""
        runs = [*self.finished, *([self.current.best] if self.current else [])]
        return list({tree: (tree, fitness) for run in runs for tree, fitness in run}.values())


def split_folds(log: ChangeLog, settings: GPSettings, rng: np.random.Generator) -> tuple[ChangeLog, ChangeLog]:
    """Training and validation: the pages dealt out to two logs of equal size.

    For discovery, where pages show the same documents, all pages: the first and the last three quarters of the time.
    """
    if settings.fitness == "discovery":
        shuffled, quarter = log.shuffled(rng), log.cycles // 4
        return shuffled.span(0, log.cycles - quarter), shuffled.span(quarter, log.cycles)
    train, validation = log.shuffled(rng).folds(2)
    return train, validation


def learning(
    measure: Measurer, terminals: Sequence[str], settings: GPSettings, seed: int, progress: LearnProgress | None = None
) -> Iterator[LearnProgress]:
    """All runs, generation by generation; run i has the seed `seed` + i. Goes on from `progress` if there is one."""
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
    """The best of all runs with their fitness on the validation pages."""
    best = progress.best()
    judged = validate([tree for tree, _ in best])
    return [Candidate(tree, train, validation) for (tree, train), validation in zip(best, judged, strict=True)]


def shortened(candidate: Candidate, train: Measurer, validate: Measurer) -> Candidate:
    """The shortest tree found by leaving parts out that is as good on training and validation pages, or better.

    Its numbers have as few digits as is as good, too.
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


def lesson_to_text(progress: LearnProgress, settings: GPSettings, source: str) -> str:
    """A checkpoint of the learning from `source` with these settings."""
    return json.dumps({"source": source, "settings": asdict(settings), "progress": asdict(progress)})


def lesson_from_text(text: str, settings: GPSettings, source: str) -> LearnProgress:
    """Read a checkpoint back; one of another log or other settings is an `InputError`."""
    try:
        content = json.loads(text)
        if content["source"] != source or content["settings"] != json.loads(json.dumps(asdict(settings))):
            raise InputError("the checkpoint was made with other settings or another log; repeat them, or delete it")
        saved = content["progress"]
        current = saved["current"]
        return LearnProgress(
            finished=tuple(_measured(run) for run in saved["finished"]),
            current=None if current is None else _generation(current),
            evaluations=int(saved["evaluations"]),
            unique_evaluations=int(saved["unique_evaluations"]),
        )
    except (ValueError, KeyError, TypeError) as problem:
        raise InputError(f"the checkpoint cannot be read ({problem}); delete it to begin anew") from problem


def _measured(entries: Sequence[Sequence[object]]) -> tuple[Measured, ...]:
    return tuple((_tree(tree), float(str(fitness))) for tree, fitness in entries)


def _tree(symbols: object) -> Tree:
    if not isinstance(symbols, list) or not symbols:
        raise TypeError(f"no tree: {symbols!r:.40}")
    return tuple(symbols)


def _generation(saved: dict[str, list[list[object]]]) -> Generation:
    return Generation(
        seed=int(str(saved["seed"])),
        number=int(str(saved["number"])),
        population=tuple(_tree(tree) for tree in saved["population"]),
        fitness=tuple(float(str(value)) for value in saved["fitness"]),
        best=_measured(saved["best"]),
    )
