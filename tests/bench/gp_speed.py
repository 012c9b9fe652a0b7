"""How fast GP4C learns: our grouped simulation beside a straightforward DEAP + numpy program that does the same.

The peer compiles each tree with DEAP and, in every cycle, scores all pages with numpy, takes the top k with the same
tie rule, and updates arrays of n, X and the running sums. Both get the same trees and must agree on ChangeRate.
Times are processor time, so other programs on the machine disturb less; that of a training is summed over its processes.

    python tests/bench/gp_speed.py            a minute or two: 41,000 pages compared, growth to 100,000 pages
    python tests/bench/gp_speed.py --full     the papers' fold of 166,819 pages, growth to 1,000,000, whole trainings
    python tests/bench/gp_speed.py --full --only training --terminals basic     one part of it
"""

import argparse
import os
import resource
import time

import numpy as np
from brdc_like import brdc_like
from deap import gp

from forager.gp.evolve import Memory, canonical_tree, evolve
from forager.gp.fitness import Judge, measurers
from forager.gp.gp_settings import GPSettings
from forager.gp.grouped import GroupedSimulation
from forager.gp.trees import EXPONENT_LIMIT, LIMIT, Tree, arity, terminals_of
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.terminals import ALL, BASIC

WARMUP, K = 2, 0.05
SETS = {"basic": BASIC, "all": ALL}


def divide(a, b):  # type: ignore[no-untyped-def]
    return np.clip(np.where(b == 0.0, 0.0, a / np.where(b == 0.0, 1.0, b)), -LIMIT, LIMIT)


def power(a, b):  # type: ignore[no-untyped-def]
    """a to the b, 0 where that is not a real number."""
    defined = (a > 0.0) | ((a == 0.0) & (b >= 0.0)) | ((a < 0.0) & (b == np.floor(b)))
    raised = np.power(np.where(defined, a, 1.0), np.where(defined, b, 1.0))
    return np.where(defined, np.clip(raised, -LIMIT, LIMIT), 0.0)


FUNCTIONS = {
    "+": np.add,
    "-": np.subtract,
    "*": lambda a, b: np.clip(a * b, -LIMIT, LIMIT),
    "/": divide,
    "pow": power,
    "log": lambda a: np.log(np.where(a > 0.0, a, 1.0)),
    "exp": lambda a: np.exp(np.clip(a, -EXPONENT_LIMIT, EXPONENT_LIMIT)),
}
"""Protected as ours are, see `gp.machine`."""


def of_arrays(function):  # type: ignore[no-untyped-def]
    """DEAP hands constants over as plain numbers."""
    return lambda *arguments: function(*map(np.asarray, arguments))


def primitive_set(terminals: tuple[str, ...]) -> gp.PrimitiveSet:
    """Our functions as DEAP primitives; names that are no Python names get one."""
    pset = gp.PrimitiveSet("score", len(terminals))
    pset.renameArguments(**{f"ARG{i}": name for i, name in enumerate(terminals)})
    names = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
    for symbol, function in FUNCTIONS.items():
        pset.addPrimitive(of_arrays(function), arity(symbol), names.get(symbol, symbol))
    return pset


def as_deap(tree: Tree, pset: gp.PrimitiveSet) -> gp.PrimitiveTree:
    names = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
    nodes = []
    for symbol in tree:
        if isinstance(symbol, float):
            nodes.append(gp.Terminal(symbol, False, object))
        else:
            nodes.append(pset.mapping[names.get(symbol, symbol)])
    return gp.PrimitiveTree(nodes)


class StraightforwardProgram:
    """The simulation as one would write it with DEAP and numpy: everything for every page in every cycle."""

    def __init__(self, log: ChangeLog, terminals: tuple[str, ...]) -> None:
        self.log, self.terminals, self.pset = log, terminals, primitive_set(terminals)
        self.k = max(1, round(K * log.pages))

    def change_rate(self, tree: Tree) -> float:
        score = gp.compile(as_deap(tree, self.pset), self.pset)
        pages, cycles = self.log.changed.shape
        n, X, S, G, recent = (np.zeros(pages) for _ in range(5))
        last = np.zeros(pages)
        stale = np.zeros(pages, dtype=bool)
        rates = []
        for cycle in range(cycles):
            stale |= self.log.changed[:, cycle]
            if cycle < WARMUP:
                chosen = np.arange(pages)
            else:
                t = cycle - last
                values = self.columns(n, X, S, G, recent, t)
                scores = np.broadcast_to(score(*values), (pages,))
                chosen = np.lexsort((last, -scores))[: self.k]
                rates.append(stale[chosen].mean())
            found = stale[chosen] & (cycle > 0)
            n[chosen] += 1
            X[chosen] += found
            S[chosen] += n[chosen] * found
            G[chosen] = (G[chosen] + found) / 2
            recent[chosen] = found
            last[chosen] = cycle
            stale[chosen] = False
        return float(np.mean(rates))

    def columns(self, n, X, S, G, recent, t):  # type: ignore[no-untyped-def]
        if self.terminals == BASIC:
            return n, X, t
        return (
            *(n, X, t, -np.log((n - X + 0.5) / (n + 0.5)), 1 - np.exp(-X / n * t), 1 - np.exp(-recent * t)),
            *(1 - np.exp(-2 * S / (n * (n + 1)) * t), 1 - np.exp(-G / (1 - np.exp2(-n)) * t)),
        )


def sample(log: ChangeLog, terminals: tuple[str, ...], count: int) -> list[Tree]:
    """Trees as a training meets them: drawn from the first ten generations on a small part of the log."""
    settings = GPSettings(population=60, generations=10)
    judge = Judge(log.part(np.arange(min(log.pages, 4000))), settings)
    memory = Memory(lambda trees: [judge(tree) for tree in trees])
    forms: dict[Tree, None] = {}
    for generation in evolve(memory, terminals, settings, seed=1):
        forms |= dict.fromkeys(canonical_tree(tree) for tree in generation.population)
    found = [tree for tree in forms if terminals_of(tree)]
    picked = np.random.default_rng(0).permutation(len(found))[:count]
    return [found[i] for i in picked]


def side_by_side(log: ChangeLog, count: int) -> None:
    print(f"\none individual, {log.pages:,} pages x {log.cycles} cycles, mean of {count} trees, one process")
    print(f"{'terminals':<10}{'DEAP + numpy':>14}{'grouped':>12}{'ratio':>8}   same ChangeRate")
    for name, terminals in SETS.items():
        trees = sample(log, terminals, count)
        grouped, peer = GroupedSimulation(log, K, WARMUP), StraightforwardProgram(log, terminals)
        grouped.fitness(trees[0])  # compile
        ours = theirs = 0.0
        same = 0
        for tree in trees:  # taking turns: both meet the same load of the machine
            begun = time.process_time()
            expected = peer.change_rate(tree)
            between = time.process_time()
            found = grouped.fitness(tree).change_rate
            theirs, ours = theirs + between - begun, ours + time.process_time() - between
            same += abs(found - expected) < 1e-9
        ratio = theirs / ours
        print(f"{name:<10}{theirs / count:>12.3f} s{ours / count * 1e3:>9.1f} ms{ratio:>8.0f}   {same}/{count}")


def growth(sizes: list[int], count: int) -> None:
    print(f"\nmean milliseconds per individual as the log grows, {count} trees")
    print(f"{'pages':>10}" + "".join(f"{name:>10}" for name in SETS))
    for pages in sizes:
        log = brdc_like(pages)
        row = f"{pages:>10,}"
        for terminals in SETS.values():
            trees = sample(log, terminals, count)
            grouped = GroupedSimulation(log, K, WARMUP)
            grouped.fitness(trees[0])
            begun = time.process_time()
            for tree in trees:
                grouped.fitness(tree)
            row += f"{(time.process_time() - begun) / count * 1e3:>10.1f}"
        print(row)


def training(log: ChangeLog, population: int, generations: int, names: list[str]) -> None:
    processes = os.cpu_count() or 1
    print(f"\none training, {population} x {generations}, {log.pages:,} pages, {processes} processes")
    for name in names:
        settings = GPSettings(population=population, generations=generations)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun, begun_here = time.perf_counter(), time.process_time()
        with measurers({"train": Judge(log, settings)}, processes) as measure:
            memory = Memory(measure["train"])
            *_, final = evolve(memory, SETS[name], settings, seed=1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + time.process_time() - begun_here
        print(f"{name:<10}{spent:>8.1f} s of processors, {spent / processes:.1f} s each ", end="")
        print(f"({time.perf_counter() - begun:.0f} s on the clock), ", end="")
        print(f"{len(memory):,} trees measured, NDCG {final.best[0][1]:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the papers' scale")
    parser.add_argument("--trees", type=int, default=0, help="trees to measure with; default 12, 20 with --full")
    parser.add_argument("--only", choices=("compare", "growth", "training"), default="")
    parser.add_argument("--terminals", default="basic,all", help="sets to train with; with commas")
    arguments = parser.parse_args()
    count = arguments.trees or (20 if arguments.full else 12)
    if arguments.only in ("", "compare"):
        side_by_side(brdc_like(166_819 if arguments.full else 41_000), count)
    if arguments.only in ("", "growth"):
        growth([10_000, 100_000, 1_000_000] if arguments.full else [10_000, 30_000, 100_000], count)
    if arguments.only in ("", "training"):
        size = (166_819, 300, 50) if arguments.full else (20_000, 60, 10)
        training(brdc_like(size[0]), size[1], size[2], arguments.terminals.split(","))


if __name__ == "__main__":
    main()
