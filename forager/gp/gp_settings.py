"""The settings of GP4C."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from forager.units import Count, Share

Terminals = Literal["basic", "all", "extended"]
Measure = Literal["changerate", "ndcg", "freshness", "discovery", "late"]
OF_DOCUMENTS: tuple[Measure, ...] = ("discovery", "late")
"""The measures that count documents, not pages."""
Selection = Literal["best", "avg", "sum"]
Parents = Literal["generation", "best"]


@dataclass(frozen=True, slots=True)
class GPSettings:
    """How a score function is evolved."""

    terminals: Terminals = "basic"
    """What trees may read: basic n X t; all adds the estimators (stated); extended adds the time observed (ours)."""
    fitness: Measure = "ndcg"
    """What is maximised on the training pages; the papers use changerate and ndcg, the others are ours."""
    select: Selection = "best"
    """How the final function is picked from the best of all runs; stated."""
    population: Annotated[int, Field(ge=2)] = 300
    """N_p; stated."""
    generations: Count = 50
    """N_g; stated."""
    seeds: Count = 5
    """N runs with different luck; stated."""
    kept: Count = 50
    """N_b best individuals kept through all generations for validation; stated."""
    parents: Parents = "generation"
    """From whom the next generation is bred: the last generation, or the N_b best of all generations (B_t), as the papers
    write. The former is ours: it keeps more variety."""
    tournament: Count = 2
    """Individuals drawn to pick a parent; stated."""
    crossover: Share = 0.9
    """Chance that a child has two parents; stated."""
    reproduction: Share = 0.15
    """Share of the next generation that are the best, copied; stated as a rate, the reading is reconstructed."""
    replacement: Share = 0.05
    """Chance that a subtree of a child is replaced by a random one; stated."""
    swap: Share = 0.05
    """Chance that two subtrees of a child change places; stated."""
    max_depth: Count = 10
    """d, deepest tree; stated."""
    crossover_depth: Count = 9
    """Deepest tree that takes part in crossover; stated."""
    initial_depth: Count = 6
    """Ramped half-and-half makes trees of depth 2 to this; ours (Koza's habit)."""
    known_rules: bool = True
    """Whether the first population holds the rules that people found, besides random trees, and an evolved function is
    taken only if it is better than the best of these beyond chance; ours, the papers: no."""
    begin_with: tuple[tuple[str | float, ...], ...] = ()
    """Further trees of the first population: what is in use, so that the evolution begins there."""
    constants: Share = 0.25
    """Share of constants among random leaves; ours."""
    k: Share = 0.05
    """Share of the pages downloaded per cycle; stated."""
    more_k: tuple[Share, ...] = ()
    """Further such shares; the fitness is then the mean over all, so that a function suits more than one budget; ours."""
    warmup: Count = 2
    """Cycles in which every page is visited; stated."""
    young: Annotated[float, Field(gt=0)] = 24.0
    """For discovery and late: cycles after which a document is worth nothing; 24 hours of hourly cycles, ours."""
