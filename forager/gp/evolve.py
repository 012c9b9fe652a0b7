"""The evolution of GP4C: generation after generation, with the N_b best of all generations kept.

All chance of a generation comes from the seed and its number alone, so a run can be resumed after any generation and
does not depend on how the trees are spread over processes. A tree whose canonical form was measured before is never
measured again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from forager.chance import stream
from forager.gp import breed
from forager.gp.gp_settings import GPSettings
from forager.gp.trees import Tree, canonical_tree

Measured = tuple[Tree, float]
Measurer = Callable[[Sequence[Tree]], Sequence[float]]
"""Measures many trees at once, in order."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A measured population, and the best of all generations so far."""

    seed: int
    number: int
    population: tuple[Tree, ...]
    fitness: tuple[float, ...]
    best: tuple[Measured, ...]
    """The N_b best different trees in canonical form, best first."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.fitness))


class Memory:
    """A measurer that never measures the same tree twice."""

    def __init__(self, measure: Measurer) -> None:
        self._measure = measure
        self._known: dict[Tree, float] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __call__(self, trees: Sequence[Tree]) -> list[float]:
        unknown = list(dict.fromkeys(tree for tree in trees if tree not in self._known))
        if unknown:
            self.remember(list(zip(unknown, self._measure(unknown), strict=True)))
        return [self._known[tree] for tree in trees]

    def remember(self, measured: Sequence[Measured]) -> None:
        self._known.update(measured)


def evolve(
    measure: Memory, terminals: Sequence[str], settings: GPSettings, seed: int, after: Generation | None = None
) -> Iterator[Generation]:
    """One run: yields every generation once it is measured; goes on `after` a generation of the same run."""
    current = after
    for number in range(0 if after is None else after.number + 1, settings.generations):
        rng = stream(seed, f"gp4c generation {number}")
        population = _bred(rng, current, terminals, settings) if current else breed.ramped(rng, terminals, settings)
        forms = [canonical_tree(tree) for tree in population]
        fitness = measure(forms)
        best = _best([*(current.best if current else ()), *zip(forms, fitness, strict=True)], settings.kept)
        current = Generation(seed, number, tuple(population), tuple(fitness), best)
        yield current


def _best(measured: Sequence[Measured], count: int) -> tuple[Measured, ...]:
    """The best different trees; ties: the shorter, then by symbols."""
    different = dict(measured)
    ranked = sorted(different.items(), key=lambda entry: (-entry[1], len(entry[0]), str(entry[0])))
    return tuple(ranked[:count])


def _bred(rng: np.random.Generator, last: Generation, terminals: Sequence[str], settings: GPSettings) -> list[Tree]:
    """The next population: the best copied, the rest bred."""
    parents = last.best if settings.parents == "best" else tuple(zip(last.population, last.fitness, strict=True))
    population = [tree for tree, _ in _best(parents, round(settings.reproduction * settings.population))]
    while len(population) < settings.population:
        child = _winner(rng, parents, settings)
        if rng.random() < settings.crossover:
            child = breed.crossover(rng, child, _winner(rng, parents, settings), settings)
        if rng.random() < settings.replacement:
            child = breed.replace(rng, child, terminals, settings)
        if rng.random() < settings.swap:
            child = breed.swap(rng, child, settings)
        population.append(child)
    return population


def _winner(rng: np.random.Generator, parents: Sequence[Measured], settings: GPSettings) -> Tree:
    drawn = rng.integers(len(parents), size=settings.tournament)
    return max((parents[one] for one in drawn), key=lambda parent: parent[1])[0]
