"""The papers' table at the papers' size: 417,048 synthetic pages x 57 days, five folds, all policies, GP4C as published.

GP4C is as in the papers: 300 individuals x 50 generations from random trees alone, NDCG as fitness, and of the best of
all seeds the one that is best on the validation pages. Every result is added to a file as soon as it is known, and what
the file holds is not computed again, so the long experiment can be stopped, repeated and looked at in between.

    python tests/bench/papers_table.py results.jsonl                         the estimators and t * X: two minutes
    python tests/bench/papers_table.py results.jsonl --terminals basic --seeds 5          GP4C-Basic, half an hour
    python tests/bench/papers_table.py results.jsonl --terminals all --seeds 1            GP4C-All
    python tests/bench/papers_table.py results.jsonl --only-show                          the table of what is known
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from brdc_like import PAGES, brdc_like
from policies_table import FOLDS, on_other_pages

from forager.chance import stream
from forager.gp.gp_settings import GPSettings, Terminals
from forager.gp.grouped import GroupedSimulation
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import half_interval
from forager.recrawl.formula import formula_text
from forager.recrawl.policies import named
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.retrain import learn_beside
from forager.recrawl.simulate import Curves, Oracle, simulate

POLICIES = ("rand", "age", "sad", "gad", "cg", "aad", "nad", "t * X", "hacs", "azar", "azar-rate", "t2")
PAPER = {
    "rand": (0.1566, 0.1565),
    "age": (0.1753, 0.1754),
    "sad": (0.5451, 0.5674),
    "gad": (0.6535, 0.6769),
    "cg": (0.6672, 0.6888),
    "aad": (0.6778, 0.6986),
    "nad": (0.7162, 0.7288),
    "GP4C-basic": (0.7164, 0.7287),
    "GP4C-all": (0.7256, 0.7419),
}
"""ChangeRate and NDCG of the paper of 2014."""
Row = dict[str, object]


def judged(curves: Curves) -> Row:
    return {
        "changerate": float(curves.change_rate.mean()),
        "ndcg": float(curves.ndcg.mean()),
        "freshness": float(curves.freshness.mean()),
    }


def trained(train: ChangeLog, validation: ChangeLog, test: ChangeLog, terminals: Terminals, seed: int) -> Row:
    """One training from one seed, and how its function does on the test pages."""
    settings = GPSettings(terminals=terminals, fitness="ndcg", seeds=1, known_rules=False)
    found = learn_beside(train, validation, settings, seed=seed)
    figures = GroupedSimulation(test, settings.k, settings.warmup).fitness(found.tree)
    return {
        "formula": formula_text(found.tree),
        "train": found.train,
        "validation": found.validation,
        "changerate": figures.change_rate,
        "ndcg": figures.ndcg,
        "freshness": figures.freshness,
    }


def best_of_seeds(rows: list[Row]) -> list[Row]:
    """One row for each fold: of several seeds the one whose function is best on the validation pages (Best)."""
    by_fold: dict[object, Row] = {}
    for row in rows:
        rival = by_fold.get(row["fold"])
        if rival is None or row.get("validation", 0.0) > rival.get("validation", 0.0):  # type: ignore[operator]
            by_fold[row["fold"]] = row
    return list(by_fold.values())


def show(rows: list[Row]) -> None:
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[str(row["name"])].append(row)
    print(
        f"{'policy':<12}{'folds':>6}{'seeds':>6}{'paper':>8}{'ChangeRate':>16}{'paper':>8}{'NDCG':>16}{'freshness':>16}"
    )
    lines = []
    for name, own in by_name.items():
        best = best_of_seeds(own)
        line = f"{name:<12}{len(best):>6}{len({row.get('seed') for row in own}):>6}"
        for place, figure in enumerate(("changerate", "ndcg", "freshness")):
            values = np.array([row[figure] for row in best], dtype=np.float64)
            paper = f"{PAPER[name][place]:.4f}" if name in PAPER and place < 2 else ""
            line += f"{paper:>8}" if place < 2 else ""
            line += f"{values.mean():>8.4f} ±{half_interval(values):.4f}"
            if not place:
                lines.append((values.mean(), name))
        by_name[name] = [{"line": line}, *best]
    for _, name in sorted(lines):
        print(by_name[name][0]["line"])
    for name in by_name:
        for row in by_name[name][1:]:
            if "formula" in row:
                print(f"{name} fold {row['fold']}: {row['formula']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="where the results are, one JSON object a line")
    parser.add_argument("--terminals", choices=("basic", "all"), default="", help="train GP4C with these")
    parser.add_argument("--seeds", type=int, default=1, help="trainings for each fold")
    parser.add_argument("--folds", type=int, nargs="*", default=range(FOLDS), help="only these, from 0 on")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rhythm", action="store_true", help="busy pages change at even intervals")
    parser.add_argument("--only-show", action="store_true")
    arguments = parser.parse_args()
    rows: list[Row] = []
    if arguments.results.exists():
        rows = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    if arguments.only_show:
        return show(rows)
    known = {(row["name"], row["fold"], row.get("seed")) for row in rows}

    def note(name: str, fold: int, seed: int | None, begun: float, figures: Row) -> None:
        spent = round(time.process_time() - begun, 1)
        rows.append({"name": name, "fold": fold, "seed": seed, "processor_seconds": spent, **figures})
        with arguments.results.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")

    parts = on_other_pages(brdc_like(arguments.pages, rhythm=arguments.rhythm))
    for seed in range(arguments.seeds if arguments.terminals else 0):
        for fold in arguments.folds:
            test, train, validation = parts[fold]
            name = f"GP4C-{arguments.terminals}"
            if (name, fold, seed) not in known:
                begun = time.process_time()
                note(
                    name, fold, seed, begun, trained(train, validation, test, arguments.terminals, FOLDS * seed + fold)
                )
    for fold in arguments.folds if not arguments.terminals else []:
        test = parts[fold][0]
        for name in (*POLICIES, "oracle"):
            if (name, fold, None) not in known:
                begun = time.process_time()
                score = Oracle(test) if name == "oracle" else named(name, stream(fold, name))
                note(name, fold, None, begun, judged(simulate(test, score, RecrawlSettings())))
    show(rows)


if __name__ == "__main__":
    main()
