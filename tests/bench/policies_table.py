"""The papers' table on a synthetic log like BRDC'12: every policy, GP4C trained on other folds, and the oracle.

One fifth of the pages is the test set, the other four are split equally into training and validation; rotated five
times.

    python tests/bench/policies_table.py            a minute or two: 20,000 pages, small populations
    python tests/bench/policies_table.py --full     417,048 pages, 300 x 50, one seed per fold
"""

import argparse
import os
import time
from dataclasses import replace

import numpy as np
from brdc_like import PAGES, brdc_like

from forager.chance import stream
from forager.recrawl.comparison import Judged, half_interval, victories
from forager.recrawl.formula import text_of
from forager.recrawl.gp.retrain import learn
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.log import ChangeLog
from forager.recrawl.policies import NAMES, Formula, named
from forager.recrawl.settings import RecrawlSettings
from forager.recrawl.simulate import Curves, Oracle, simulate

FOLDS = 5
PAPER = {"rand": 0.1566, "age": 0.1753, "nad": 0.7162, "sad": 0.5451, "aad": 0.6778, "gad": 0.6535, "cg": 0.6672}
PAPER |= {"gp4c-basic": 0.7164, "gp4c-all": 0.7256}
LEARNED = {
    "gp4c-basic": GPSettings(terminals="basic", fitness="ndcg"),
    "gp4c-all": GPSettings(terminals="all", fitness="ndcg"),
    "gp4c-extended, freshness": GPSettings(terminals="extended", fitness="freshness"),
}


def parts_of(folds: list[np.ndarray], log: ChangeLog, test: int) -> tuple[ChangeLog, ChangeLog, ChangeLog]:
    """Test, training and validation pages of one rotation."""
    others = [folds[(test + i) % FOLDS] for i in range(1, FOLDS)]
    train, validation = (np.sort(np.concatenate(pair)) for pair in (others[:2], others[2:]))
    return log.part(folds[test]), log.part(train), log.part(validation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the papers' number of pages and population")
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--population", type=int, default=0)
    parser.add_argument("--generations", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=0, help="0: one, with --full one per core")
    arguments = parser.parse_args()
    population = arguments.population or (300 if arguments.full else 40)
    generations = arguments.generations or (50 if arguments.full else 8)
    processes = arguments.processes or ((os.cpu_count() or 1) if arguments.full else 1)
    log = brdc_like(arguments.pages or (PAGES if arguments.full else 20_000))
    folds = [np.arange(fold, log.pages, FOLDS) for fold in range(FOLDS)]
    judged: dict[str, list[Curves]] = {}
    settings = RecrawlSettings()
    begun = time.perf_counter()
    for number in range(FOLDS):
        test, train, validation = parts_of(folds, log, number)
        for name in NAMES:
            judged.setdefault(name, []).append(simulate(test, named(name, stream(number, name)), settings))
        for name, wish in LEARNED.items():
            gp = replace(wish, population=population, generations=generations, seeds=arguments.seeds)
            found = learn(train, validation, gp, seed=0, processes=processes)
            judged.setdefault(name, []).append(simulate(test, Formula.of(found.tree), settings))
            figures = f"train {found.train:.4f} validation {found.validation:.4f}"
            print(f"fold {number + 1} {name}: {text_of(found.tree)}   ({figures}, {time.perf_counter() - begun:.0f} s)")
        judged.setdefault("oracle", []).append(simulate(test, Oracle(test), settings))
    table([Judged(name, tuple(curves)) for name, curves in judged.items()], log)


def table(judged: list[Judged], log: ChangeLog) -> None:
    rivals = {one.name: one for one in judged}
    print(f"\n{log.pages:,} pages, {log.cycles} cycles; ± 95% over {FOLDS} folds; v/l: cycles won/lost against")
    print(
        f"{'policy':<26}{'paper':>7}{'ChangeRate':>16}{'NDCG':>16}{'freshness':>16}{'age':>7}{'v/l nad':>9}{'v/l cg':>9}"
    )
    for one in sorted(judged, key=lambda one: one.mean("change_rate")):
        row = f"{one.name:<26}{PAPER.get(one.name, ''):>7}"
        for figure in ("change_rate", "ndcg", "freshness"):
            means = one.curves(figure).mean(axis=1)
            row += f"{means.mean():>9.4f} ±{half_interval(means):.4f}"
        row += f"{one.mean('age'):>7.2f}"
        for rival in ("nad", "cg"):
            won, lost = victories(one, rivals[rival], "change_rate")
            row += f"{f'{won}/{lost}':>9}"
        print(row)


if __name__ == "__main__":
    main()
