"""The papers' table on a change log: every policy, GP4C trained on other pages or on earlier time, and the oracle.

On other pages: one fifth of them is the test set, the other four are split equally into training and validation; rotated
five times. On earlier time: learned from the first half, half of the pages for training, half for validation, and judged
on the second half, in five folds of pages.

    python tests/bench/policies_table.py                      a minute or two: 20,000 pages like BRDC'12, small populations
    python tests/bench/policies_table.py --full               417,048 pages, 300 x 50, one seed per fold
    python tests/bench/policies_table.py --log emacs          a real log: files of GNU Emacs, weekly, 2001 to 2014
    python tests/bench/policies_table.py --log emacs --time   the same, across time
    python tests/bench/policies_table.py --log pages --time   synthetic text pages, hourly; --log sections: section pages
    python tests/bench/policies_table.py --log ndr --time     a real recording of `../shared/data` ($FORAGER_DATA); teletext,
                                                              teletext-letters (8 h), teletext-daily (letters), frontpages
    python tests/bench/policies_table.py --log hubs --worlds 5      130 synthetic section pages, 6 per hour: discovery
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from brdc_like import PAGES, brdc_like
from hub_world import hub_world

from forager.chance import stream
from forager.gp import learn as learning
from forager.gp.gp_settings import GPSettings, Measure, Terminals
from forager.importers.log_files import read_log
from forager.importers.tables import import_tables
from forager.importers.tape_logs import log_of_tape
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import Judged, half_interval, victories
from forager.recrawl.formula import formula_text
from forager.recrawl.policies import Formula, ScoreFunction, named
from forager.recrawl.recrawl_settings import NAMES, RecrawlSettings
from forager.recrawl.retrain import learn_beside
from forager.recrawl.rhythm import rhythm_of
from forager.recrawl.simulate import Greedy, Oracle, simulate

DATA = Path(os.environ.get("FORAGER_DATA", "../shared/data"))
REAL = ("ndr", "teletext", "teletext-letters", "teletext-daily", "frontpages")
FOLDS = 5
PAPER = {"rand": 0.1566, "age": 0.1753, "nad": 0.7162, "sad": 0.5451, "aad": 0.6778, "gad": 0.6535, "cg": 0.6672}
PAPER |= {"basic, ndcg": 0.7164, "all, ndcg": 0.7256}
Parts = tuple[ChangeLog, ChangeLog, ChangeLog]


def read(arguments: argparse.Namespace) -> ChangeLog:
    """The log that was asked for, in random order."""
    if arguments.log == "hubs":
        return hub_worlds(arguments)[0]
    if arguments.log == "brdc":
        pages = arguments.pages or (PAGES if arguments.full else 20_000)
        return brdc_like(pages, seed=arguments.world, rhythm=arguments.rhythm)
    sys.path.insert(0, str(Path(__file__).parent.parent))
    if arguments.log in REAL:
        log = real(arguments.log).shuffled(stream(0, "policies table"))
        return log.part(np.arange(min(log.pages, arguments.pages or log.pages)))
    if arguments.log in ("pages", "sections"):
        return recorded(arguments.log, arguments.world).shuffled(stream(0, "policies table"))
    from change_corpora import emacs_log

    log = emacs_log(2015, 2021, 1) if arguments.log == "emacs-daily" else emacs_log()
    return log.shuffled(stream(0, "policies table"))


def real(name: str) -> ChangeLog:
    """The changes of a recording: teletext by its content or its letters, front pages by their links, hourly."""
    if name == "teletext-daily":
        return read_log(DATA / "teletext-2022" / "log-letters-daily.npz")
    if name.startswith("teletext"):
        with np.load(DATA / "teletext-2022" / "panel.npz") as panel:
            bits = panel["text_changed" if name.endswith("letters") else "changed"]
            changed = np.unpackbits(bits, axis=1)[:, : int(panel["n_cycles"])].astype(np.bool_)
        changed[:, 0] = False
        return ChangeLog(changed, cycle=8 * 3600.0)
    if name == "ndr":
        return replace(read_log(DATA / "ndrtext-html", cycle=3600.0, change="text"), documents=None)
    return replace(read_log(DATA / "frontpages-2022" / "log.parquet", cycle=3600.0), documents=None)


def hub_worlds(arguments: argparse.Namespace) -> list[ChangeLog]:
    seeds = range(arguments.world, arguments.world + arguments.worlds)
    return [hub_world(seed).shuffled(stream(0, "policies table")) for seed in seeds]


def recorded(kind: str, seed: int) -> ChangeLog:
    """The hourly changes of a synthetic world shaped like a recording: text pages, or section pages."""
    from simulation.recorded_like import HubWorld, PageWorld, write_hubs, write_pages

    with TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "pages":
            write_pages(folder, PageWorld(seed=seed))
        else:
            write_hubs(folder, HubWorld(seed=seed), articles=False)
        tape = import_tables(folder, origin=kind, identity="text" if kind == "pages" else "link").tape
    return replace(log_of_tape(tape, 3600.0), documents=None)


def on_other_pages(log: ChangeLog) -> list[Parts]:
    """Test, training and validation logs of every rotation."""
    folds = [np.arange(fold, log.pages, FOLDS) for fold in range(FOLDS)]
    rotations = []
    for test in range(FOLDS):
        others = [folds[(test + i) % FOLDS] for i in range(1, FOLDS)]
        train, validation = (np.sort(np.concatenate(pair)) for pair in (others[:2], others[2:]))
        rotations.append((log.part(folds[test]), log.part(train), log.part(validation)))
    return rotations


def on_earlier_time(log: ChangeLog) -> list[Parts]:
    """Five test folds of the second half; one training and validation log of the first."""
    train, validation = log.span(0, log.cycles // 2).folds(2)
    return [(test, train, validation) for test in log.span(log.cycles // 2, log.cycles).folds(FOLDS)]


def whole_hubs(log: ChangeLog) -> Parts:
    """Learned on the first half of time as `forager learn` would, judged on the second; all hubs together."""
    half = log.cycles // 2
    train, validation = learning.split_folds(
        log.span(0, half), GPSettings(fitness="discovery"), stream(0, "policies table")
    )
    return log.span(half, log.cycles), train, validation


def wishes(arguments: argparse.Namespace) -> dict[str, GPSettings]:
    sets: list[Terminals] = arguments.terminals.split(",")
    asked: list[Measure] = ["discovery"] if arguments.log == "hubs" else arguments.fitness.split(",")
    population = arguments.population or (300 if arguments.full else 60)
    generations = arguments.generations or (50 if arguments.full else 10)
    common = GPSettings(
        population=population, generations=generations, seeds=arguments.seeds, parents=arguments.breed_from
    )
    return {
        f"{terminals}, {fitness}": replace(common, terminals=terminals, fitness=fitness)
        for fitness in asked
        for terminals in sets
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--log", choices=("brdc", "emacs", "emacs-daily", "hubs", "pages", "sections", *REAL), default="brdc"
    )
    parser.add_argument("--breed-from", choices=("generation", "best"), default="generation")
    parser.add_argument("--time", action="store_true", help="learn from the first half of time, judge on the second")
    parser.add_argument("--fitness", default="ndcg,freshness", help="changerate, ndcg, freshness; with commas")
    parser.add_argument("--terminals", default="basic,all,extended", help="sets to learn with; with commas")
    parser.add_argument("--full", action="store_true", help="the papers' number of pages and population")
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--rhythm", action="store_true", help="busy pages change at even intervals (brdc)")
    parser.add_argument("--world", type=int, default=0, help="seed of the synthetic world, the first of the hub worlds")
    parser.add_argument("--worlds", type=int, default=1, help="hub worlds, each with a function of its own")
    parser.add_argument("--k", type=float, default=0.0, help="pages per cycle as a share; default 5%%, hubs 6 of 130")
    parser.add_argument("--population", type=int, default=0)
    parser.add_argument("--generations", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=0, help="0: one, with --full one per core")
    arguments = parser.parse_args()
    processes = arguments.processes or ((os.cpu_count() or 1) if arguments.full else 1)
    log = read(arguments)
    settings = RecrawlSettings(k=arguments.k or (6 / 130 if arguments.log == "hubs" else 0.05))
    if arguments.log == "hubs":
        parts = [whole_hubs(world) for world in hub_worlds(arguments)]
    else:
        parts = on_earlier_time(log) if arguments.time else on_other_pages(log)
    judged: dict[str, list] = {}
    learned: dict[tuple[int, str], ScoreFunction] = {}
    begun = time.process_time()
    for number, (test, train, validation) in enumerate(parts):
        for name in NAMES:
            judged.setdefault(name, []).append(simulate(test, named(name, stream(number, name)), settings))
        for name, wish in wishes(arguments).items():
            key = (id(train), name)
            if key not in learned:
                wish = replace(wish, k=settings.k)
                rhythm = rhythm_of(train)
                found = learn_beside(train, validation, wish, seed=0, processes=processes, rhythm=rhythm)
                learned[key] = Formula.of(found.tree, rhythm)
                figures = f"train {found.train:.4f} validation {found.validation:.4f}"
                spent = time.process_time() - begun
                print(f"fold {number + 1} {name}: {formula_text(found.tree)}   ({figures}, {spent:.0f} s)", flush=True)
            judged.setdefault(name, []).append(simulate(test, learned[key], settings))
        oracle = simulate(test, Oracle(test), settings)
        if test.documents is not None:
            oracle = replace(oracle, discovery=simulate(test, Greedy(), settings).discovery)
        judged.setdefault("oracle", []).append(oracle)
    results = [Judged(name, tuple(curves), curves[0].discovery) for name, curves in judged.items()]
    print(f"\n{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.2%} change in a cycle")
    (discovery_table if log.documents is not None else table)(results)


def table(judged: list[Judged]) -> None:
    rivals = {one.name: one for one in judged}
    print(f"± 95% over {FOLDS} folds; v/l: cycles won/lost against by ChangeRate, and against azar by freshness")
    print(f"{'policy':<24}{'paper':>7}{'ChangeRate':>16}{'NDCG':>16}{'freshness':>16}{'age':>7}", end="")
    print(f"{'v/l nad':>9}{'v/l cg':>9}{'v/l azar':>10}")
    for one in sorted(judged, key=lambda one: one.mean("change_rate")):
        row = f"{one.name:<24}{PAPER.get(one.name, ''):>7}"
        for figure in ("change_rate", "ndcg", "freshness"):
            means = one.curves(figure).mean(axis=1)
            row += f"{means.mean():>9.4f} ±{half_interval(means):.4f}"
        row += f"{one.mean('age'):>7.2f}"
        for rival, figure in (("nad", "change_rate"), ("cg", "change_rate"), ("azar", "freshness")):
            won, lost = victories(one, rivals[rival], figure)
            row += f"{f'{won}/{lost}':>9}"
        print(row)


def discovery_table(judged: list[Judged]) -> None:
    """Means over the worlds, ± 95% if there are several; a star: the worth differs from the best learned function's."""
    found = {one.name: [fold.discovery for fold in one.folds] for one in judged}
    worth = {name: np.array([world.worth for world in worlds]) for name, worlds in found.items()}
    learned = worth[max((name for name in worth if "discovery" in name), key=lambda name: worth[name].mean())]
    print(f"{'policy':<24}{'coverage':>16}{'delay h':>16}{'worth':>16}")
    for name in sorted(found, key=lambda name: worth[name].mean()):
        row = f"{name:<24}"
        coverage = np.array([world.coverage for world in found[name]])
        delay = np.array([world.delays.mean() for world in found[name]])
        for values in (coverage, delay, worth[name]):
            row += f"{values.mean():>9.3f} ±{half_interval(values):.3f}"
        difference = worth[name] - learned
        print(row + ("*" if abs(difference.mean()) > half_interval(difference) > 0 else ""))


if __name__ == "__main__":
    main()
