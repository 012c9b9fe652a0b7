"""The evolution of GP4C: generation after generation, keeping the N_b best trees of all generations; and how trees are
made.

All random numbers of a generation follow from the seed and its number, so a run can be resumed after any generation,
and does not depend on how the trees are spread over processes. A tree whose canonical form was measured before is not
measured again. A child that would be too deep is replaced by its parent.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from forager.chance import stream
from forager.gp.gp_settings import GPSettings
from forager.gp.machine import program, values
from forager.gp.trees import ARITY, CONSTANTS, Symbol, Tree, arity, children, depth, end_of, graft, terminals_of

FUNCTIONS = tuple(ARITY)
_TRIES = 20
_REPLACEMENT_DEPTH = 4


KNOWN_RULES: tuple[Tree, ...] = (
    ("t",),
    ("*", "t", "X"),  # found by the papers
    ("/", "*", "t", "X", "n"),  # ranks as NAD does
    ("/", "*", "t", "+", "X", 0.1, "+", "n", 1.0),
    *((name,) for name in ("cg", "nad", "sad", "aad", "gad", "azar", "gain")),
    ("*", "*", "t", "t", "lam"),  # least summed delay
    ("*", "azar", "pow", "lam", 0.5),  # between Azar and Azar × rate
    ("hacs",),
    ("*", "rate", "t"),
    ("*", "docs", "t"),
    ("*", "pace", "t"),  # the documents expected; ranks as Azar × rate of documents does
    ("*", "pace", "*", "t", "t"),  # least summed delay of documents
    ("*", "pace", "busy"),  # the documents expected when hours are not alike
    ("*", "pace", "*", "t", "busy"),
    ("*", "*", "pace", "t", "pow", "busy", 0.5),
    ("*", "lam", "busy"),
    ("*", "rate", "busy"),
    ("wlate",),  # least summed delay, with losses
    ("pow", "*", "*", "rate", "busy", "wlate", 0.5),  # ranks as rate · busy · √K
    ("*", "pow", "*", "*", "rate", "busy", "wlate", 0.5, "pow", "+", 0.1, "elsewhere", -0.3),
    ("*", "*", "rate", "busy", "pow", "*", "t", "haz", 0.1667),
    ("*", "wlate", "pow", "rate", 0.5),  # between least summed delay and most documents
)
"""Rules that people found; evolution may find better ones."""


def canonical_tree(tree: Tree) -> Tree:
    """The tree in a standard form: constants folded, neutral elements dropped, arguments of + and * in a fixed order.

    Every rule keeps the value of the tree exactly, so two trees with the same form need to be evaluated only once.
    """
    if not arity(tree[0]):
        return tree
    parts = [canonical_tree(child) for child in children(tree)]
    symbol = str(tree[0])
    if all(isinstance(part[0], float) for part in parts):
        folded = values(program((symbol, *(part[0] for part in parts))), np.zeros((0, 1)), np.zeros(1))
        return (float(folded[0]) + 0.0,)  # + 0.0 turns −0.0 into 0.0
    return (symbol, *parts[0]) if len(parts) == 1 else _binary(symbol, parts[0], parts[1])


def _binary(symbol: str, left: Tree, right: Tree) -> Tree:
    zero, one = (0.0,), (1.0,)
    if symbol == "+" and zero in (left, right):
        return right if left == zero else left
    if symbol == "-" and right == zero:
        return left
    if symbol == "-" and left == right:
        return zero
    if symbol == "*" and zero in (left, right):
        return zero
    if symbol == "*" and one in (left, right):
        return right if left == one else left
    if symbol == "/" and zero in (left, right):
        return zero
    if symbol in ("/", "pow") and right == one:
        return left
    if symbol == "pow" and (left == one or right == zero):
        return one
    if symbol in "+*" and _key(right) < _key(left):
        left, right = right, left
    return (symbol, *left, *right)


def _key(tree: Tree) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Sorts smaller trees first, then by symbols; numbers before names."""
    return len(tree), tuple((isinstance(symbol, str), str(symbol)) for symbol in tree)


def known_rules(terminals: Sequence[str], settings: GPSettings) -> list[Tree]:
    """The trees to begin with, and, if wanted, the known rules that can be written with these terminals."""
    rules = (*settings.begin_with, *(KNOWN_RULES if settings.known_rules else ()))
    return [tree for tree in dict.fromkeys(rules) if terminals_of(tree) <= set(terminals)]


def random_tree(rng: np.random.Generator, terminals: Sequence[str], deepest: int, full: bool, constants: float) -> Tree:
    """A tree of at most this depth; `full`: all leaves are that deep, otherwise branches may end earlier."""
    leaves = len(terminals) + len(CONSTANTS)
    if deepest == 0 or (not full and rng.random() < leaves / (leaves + len(FUNCTIONS))):
        return (_leaf(rng, terminals, constants),)
    function = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    tree: tuple[Symbol, ...] = (function,)
    for _ in range(ARITY[function]):
        tree += random_tree(rng, terminals, deepest - 1, full, constants)
    return tree


def _leaf(rng: np.random.Generator, terminals: Sequence[str], constants: float) -> Symbol:
    if rng.random() < constants:
        return CONSTANTS[int(rng.integers(len(CONSTANTS)))]
    return terminals[int(rng.integers(len(terminals)))]


def ramped(rng: np.random.Generator, terminals: Sequence[str], settings: GPSettings) -> list[Tree]:
    """The first population: depths 2 … `initial_depth` in turn, half of them full; different trees if they are easy to
    get.

    It begins with the known rules that can be written with these terminals, if wanted.
    """
    population = known_rules(terminals, settings)[: settings.population // 2]
    seen: set[Tree] = {canonical_tree(tree) for tree in population}
    depths = range(min(2, settings.initial_depth), settings.initial_depth + 1)
    for number in range(settings.population - len(population)):
        deepest, full = depths[(number // 2) % len(depths)], number % 2 == 0
        for _ in range(_TRIES):
            tree = random_tree(rng, terminals, deepest, full, settings.constants)
            if canonical_tree(tree) not in seen:
                break
        seen.add(canonical_tree(tree))
        population.append(tree)
    return population


def cross(rng: np.random.Generator, mother: Tree, father: Tree, settings: GPSettings) -> Tree:
    """The mother with a random subtree replaced by one of the father's."""
    if max(depth(mother), depth(father)) > settings.crossover_depth:
        return mother
    start = int(rng.integers(len(father)))
    child = graft(mother, int(rng.integers(len(mother))), father[start : end_of(father, start)])
    return child if depth(child) <= settings.max_depth else mother


def replace_part(rng: np.random.Generator, tree: Tree, terminals: Sequence[str], settings: GPSettings) -> Tree:
    """Replacement mutation: a new random tree takes the place of a random subtree."""
    scion = random_tree(rng, terminals, int(rng.integers(_REPLACEMENT_DEPTH + 1)), False, settings.constants)
    child = graft(tree, int(rng.integers(len(tree))), scion)
    return child if depth(child) <= settings.max_depth else tree


def swap_parts(rng: np.random.Generator, tree: Tree, settings: GPSettings) -> Tree:
    """Swap mutation: two random subtrees, neither inside the other, change places."""
    for _ in range(_TRIES if len(tree) > 2 else 0):
        first, second = sorted(int(at) for at in rng.integers(len(tree), size=2))
        first_end = end_of(tree, first)
        if first_end <= second:
            second_end = end_of(tree, second)
            child = (
                tree[:first]
                + tree[second:second_end]
                + tree[first_end:second]
                + tree[first:first_end]
                + tree[second_end:]
            )
            return child if depth(child) <= settings.max_depth else tree
    return tree


Measured = tuple[Tree, float]
Measurer = Callable[[Sequence[Tree]], Sequence[float]]
"""Measures many trees at once, in order."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A measured population, and the best trees of all generations so far."""

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
    """One run: yields every generation once it is measured; continues `after` a generation of the same run."""
    current = after
    for number in range(0 if after is None else after.number + 1, settings.generations):
        rng = stream(seed, f"gp4c generation {number}")
        population = _bred(rng, current, terminals, settings) if current else ramped(rng, terminals, settings)
        forms = [canonical_tree(tree) for tree in population]
        fitness = measure(forms)
        best = _best([*(current.best if current else ()), *zip(forms, fitness, strict=True)], settings.kept)
        current = Generation(seed, number, tuple(population), tuple(fitness), best)
        yield current


def _best(measured: Sequence[Measured], count: int) -> tuple[Measured, ...]:
    """The best different trees. Ties go to the shorter tree, then by symbols."""
    different = dict(measured)
    ranked = sorted(different.items(), key=lambda entry: (-entry[1], len(entry[0]), str(entry[0])))
    return tuple(ranked[:count])


def _bred(rng: np.random.Generator, last: Generation, terminals: Sequence[str], settings: GPSettings) -> list[Tree]:
    """The next population: the best trees copied, the others bred."""
    parents = last.best if settings.parents == "best" else tuple(zip(last.population, last.fitness, strict=True))
    population = [tree for tree, _ in _best(parents, round(settings.reproduction * settings.population))]
    while len(population) < settings.population:
        child = _winner(rng, parents, settings)
        if rng.random() < settings.crossover:
            child = cross(rng, child, _winner(rng, parents, settings), settings)
        if rng.random() < settings.replacement:
            child = replace_part(rng, child, terminals, settings)
        if rng.random() < settings.swap:
            child = swap_parts(rng, child, settings)
        population.append(child)
    return population


def _winner(rng: np.random.Generator, parents: Sequence[Measured], settings: GPSettings) -> Tree:
    drawn = rng.integers(len(parents), size=settings.tournament)
    best: Measured = max((parents[one] for one in drawn), key=lambda parent: parent[1])
    return best[0]
