"""The papers' table on a change log: every policy, GP4C learned on other pages or in earlier time, and the oracle.

On other pages: one fifth of them is the test set, the other four are split equally into training and validation; rotated
five times. In earlier time: learned from the first half, half of the pages for training, half for validation, and judged
on the second half, in five folds of pages.

    python tests/bench/policies_table.py                      a minute or two: 20,000 pages like BRDC'12, small populations
    python tests/bench/policies_table.py --papers             GP4C as published: 300 x 50, from random trees alone, parents
                                                              are the best of all generations
    python tests/bench/policies_table.py --papers --pages 417048      the papers' number of pages, too: hours
    python tests/bench/policies_table.py --log ndr --time     a real recording of `../shared/data` ($FORAGER_DATA); teletext,
                                                              teletext-letters (8 h), teletext-daily (letters), frontpages
    python tests/bench/policies_table.py --log emacs --time   files of GNU Emacs, weekly, 2001 to 2014
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from brdc_like import brdc_like

from forager.chance import stream
from forager.gp.gp_settings import GPSettings
from forager.importers.log_files import read_log
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import Judged, victories
from forager.recrawl.formula import formula_text
from forager.recrawl.policies import Formula, ScoreFunction, named
from forager.recrawl.recrawl_settings import NAMES, RecrawlSettings
from forager.recrawl.retrain import learn_beside
from forager.recrawl.rhythm import rhythm_of
from forager.recrawl.simulate import Oracle, simulate

DATA = Path(os.environ.get("FORAGER_DATA", "../shared/data"))
REAL = ("ndr", "teletext", "teletext-letters", "teletext-daily", "frontpages")
FOLDS = 5
PAPER = {"rand": 0.1566, "age": 0.1753, "nad": 0.7162, "sad": 0.5451, "aad": 0.6778, "gad": 0.6535, "cg": 0.6672}
PAPER |= {"basic, ndcg": 0.7164, "all, ndcg": 0.7256}
"""ChangeRate in the paper of 2014."""
Parts = tuple[ChangeLog, ChangeLog, ChangeLog]


def read(name: str, pages: int, rhythm: bool) -> ChangeLog:
    """So many pages of the log that was asked for, or all, in random order."""
    if name == "brdc":
        return brdc_like(pages or 20_000, rhythm=rhythm)
    log = (real(name) if name in REAL else emacs()).shuffled(stream(0, "policies table"))
    return log.part(np.arange(min(log.pages, pages or log.pages)))


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


def emacs() -> ChangeLog:
    """The weekly changes of a program's files."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from change_corpora import emacs_log

    return emacs_log()


def on_other_pages(log: ChangeLog) -> Iterator[Parts]:
    """Test, training and validation logs of every rotation."""
    folds = [np.arange(fold, log.pages, FOLDS) for fold in range(FOLDS)]
    for test in range(FOLDS):
        others = [folds[(test + i) % FOLDS] for i in range(1, FOLDS)]
        train, validation = (np.sort(np.concatenate(pair)) for pair in (others[:2], others[2:]))
        yield log.part(folds[test]), log.part(train), log.part(validation)


def in_earlier_time(log: ChangeLog) -> Iterator[Parts]:
    """Five test folds of the second half; one training and validation log of the first."""
    train, validation = log.span(0, log.cycles // 2).folds(2)
    for test in log.span(log.cycles // 2, log.cycles).folds(FOLDS):
        yield test, train, validation


def wishes(asked: argparse.Namespace) -> dict[str, GPSettings]:
    """What is learned, by terminals and fitness."""
    population, generations = (300, 50) if asked.papers else (60, 10)
    common = GPSettings(
        population=asked.population or population,
        generations=asked.generations or generations,
        seeds=asked.seeds,
        parents=asked.breed_from or ("best" if asked.papers else "generation"),
        known_rules=not asked.papers,
    )
    return {
        f"{terminals}, {fitness}": replace(common, terminals=terminals, fitness=fitness)
        for fitness in asked.fitness.split(",")
        for terminals in asked.terminals.split(",")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", choices=("brdc", "emacs", *REAL), default="brdc")
    parser.add_argument("--papers", action="store_true", help="learn as the papers do")
    parser.add_argument("--breed-from", choices=("generation", "best"), default="")
    parser.add_argument("--time", action="store_true", help="learn from the first half of time, judge on the second")
    parser.add_argument("--fitness", default="ndcg,freshness", help="changerate, ndcg, freshness; with commas")
    parser.add_argument("--terminals", default="basic,all,extended", help="sets to learn with; with commas")
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--rhythm", action="store_true", help="busy pages change at even intervals (brdc)")
    parser.add_argument("--k", type=float, default=0.05, help="pages per cycle, as a share")
    parser.add_argument("--population", type=int, default=0)
    parser.add_argument("--generations", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    log = read(asked.log, asked.pages, asked.rhythm)
    settings = RecrawlSettings(k=asked.k)
    judged: dict[str, list] = {}
    learned: dict[tuple[int, str], ScoreFunction] = {}
    begun = time.process_time()
    for number, (test, train, validation) in enumerate(in_earlier_time(log) if asked.time else on_other_pages(log)):
        for name in NAMES:
            judged.setdefault(name, []).append(simulate(test, named(name, stream(number, name)), settings))
        for name, wish in wishes(asked).items():
            key = (0 if asked.time else number, name)
            if key not in learned:
                rhythm = rhythm_of(train)
                wish = replace(wish, k=asked.k)
                found = learn_beside(train, validation, wish, seed=0, processes=asked.processes, rhythm=rhythm)
                learned[key] = Formula.of(found.tree, rhythm)
                figures = f"train {found.train:.4f} validation {found.validation:.4f}"
                spent = time.process_time() - begun
                print(f"fold {number + 1} {name}: {formula_text(found.tree)}   ({figures}, {spent:.0f} s)", flush=True)
            judged.setdefault(name, []).append(simulate(test, learned[key], settings))
        judged.setdefault("oracle", []).append(simulate(test, Oracle(test), settings))
    print(f"\n{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.2%} change in a cycle")
    table([Judged(name, tuple(curves)) for name, curves in judged.items()])


def table(judged: list[Judged]) -> None:
    rivals = {one.name: one for one in judged}
    print(f"± 95% over {FOLDS} folds; v/l: cycles won/lost against by ChangeRate, and against azar by freshness;")
    print("top: NDCG of the first fifth of the schedule, two fifths and so on: at the papers' 5% the top 1% to 5%")
    print(f"{'policy':<24}{'paper':>7}{'ChangeRate':>16}{'NDCG':>16}{'freshness':>16}{'age':>7}", end="")
    print(f"{'v/l nad':>9}{'v/l cg':>9}{'v/l azar':>10}  top")
    for one in sorted(judged, key=lambda one: one.mean("change_rate")):
        row = f"{one.name:<24}{PAPER.get(one.name, ''):>7}"
        for figure in ("change_rate", "ndcg", "freshness"):
            row += f"{one.mean(figure):>9.4f} ±{one.interval(figure):.4f}"
        row += f"{one.mean('age'):>7.2f}"
        for rival, figure in (("nad", "change_rate"), ("cg", "change_rate"), ("azar", "freshness")):
            won, lost = victories(one, rivals[rival], figure)
            row += f"{f'{won}/{lost}':>9}"
        print(row + "   " + " ".join(f"{value:.3f}" for value in one.top()[1]))


if __name__ == "__main__":
    main()
