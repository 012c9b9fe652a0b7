"""Fleet and scheduler at equal budgets in replays of Newsroom tapes: shares, policies, breadth. Mean ± 95% interval.

    python tests/bench/recrawl_shares.py [--seeds 4] [--days 4] [--budget 20 --budget 60] [--first 501]

Every line is one way to spend the same downloads per hour on the same tapes. `learned` is a score function evolved
(GP4C, basic terminals, freshness) on the tape of another newsroom than those replayed. A `*` marks lines that differ from
the default in a paired t-test (p < 0.05).
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import stats

from forager.chance import stream
from forager.clock import WallClock
from forager.foragers.settings import ForagerKind
from forager.imports.from_newsroom import tape_of_newsroom
from forager.imports.log_of_tape import log_of_tape
from forager.recrawl.formula import text_of
from forager.recrawl.gp.retrain import learn
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.learned import Learned, to_text
from forager.settings import load
from forager.simulation.compare import FIGURES
from forager.simulation.jobs import Job, Played, play_all
from forager.terms import UrlId
from forager.world.newsroom.newsroom import Newsroom
from forager.world.newsroom.settings import NewsroomSettings
from forager.world.tape.columns import Tape, save

SHOWN = ("coverage", "lasting", "late_hours", "requests_per_story", "freshness")
DEFAULT = "80/20, worth (default)"
CYCLE = 900.0
PAPERS = 3


def ways(function: Path) -> dict[str, list[str]]:
    """How the budget is spent, by name: the settings of each way."""
    alone = "crawl.recrawl_share=1"
    return {
        DEFAULT: [],
        "50/50, worth": ["crawl.recrawl_share=0.5"],
        "fleet alone": ["crawl.recrawl_share=0"],
        "scheduler alone, worth": [alone],
        "scheduler alone, azar-rate": [alone, "crawl.policy=azar-rate"],
        "scheduler alone, t2": [alone, "crawl.policy=t2"],
        "scheduler alone, learned": [alone, f"crawl.policy={function}"],
        "scheduler alone, age": [alone, "crawl.policy=age"],
        "80/20, t2": ["crawl.policy=t2"],
        "80/20, learned": [f"crawl.policy={function}"],
        "80/20, worth, breadth 0.5": ["forager.expectation.breadth=0.5"],
        "80/20, worth, breadth 1": ["forager.expectation.breadth=1"],
    }


def tape_of(seed: int, days: float) -> Tape:
    usual = NewsroomSettings()
    return tape_of_newsroom(Newsroom(replace(usual, seed=seed, days=days, papers=usual.papers[:PAPERS]), WallClock()))


def learned_on(tape: Tape) -> Learned:
    """A small GP4C run on the changes of a tape."""
    log = log_of_tape(tape, CYCLE)
    settings = GPSettings(terminals="basic", fitness="freshness", population=40, generations=8, seeds=1, k=0.01)
    train, validation = log.shuffled(stream(1, "pages")).folds(2)
    best = learn(train, validation, settings, seed=1)
    return Learned(best.tree, "basic", "freshness", best.train, best.validation)


def cell(values: Sequence[float], usual: Sequence[float]) -> str:
    """Mean ± interval, and a star if it is not the default's."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    differs = not np.allclose(values, usual) and stats.ttest_rel(values, usual).pvalue < 0.05
    return f"{np.mean(values):.3f} ± {half:.3f}{'*' if differs else ' '}"


def table(played: Sequence[Played], names: Sequence[str], seeds: int) -> None:
    rows = {name: played[place * seeds : (place + 1) * seeds] for place, name in enumerate(names)}
    print(f"{'':<28}" + "".join(f"{figure:>19}" for figure in SHOWN))
    for name, row in rows.items():
        cells = [
            cell([FIGURES[figure](one.figures) for one in row], [FIGURES[figure](one.figures) for one in rows[DEFAULT]])
            for figure in SHOWN
        ]
        print(f"{name:<28}" + "".join(f"{one:>19}" for one in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=501, help="seed of the first newsroom")
    parser.add_argument("--days", type=float, default=4.0)
    parser.add_argument("--budget", type=float, action="append", help="downloads per hour; may be repeated")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        tapes = [Path(folder) / str(number) for number in range(options.seeds)]
        for number, path in enumerate(tapes):
            save(tape_of(options.first + number, options.days), path)
        function = learned_on(tape_of(options.first - 1, options.days))
        path = Path(folder) / "function.json"
        path.write_text(to_text(function), encoding="utf-8")
        print(f"learned on newsroom {options.first - 1}: {text_of(function.tree)}")
        for budget in options.budget or (20.0, 60.0):
            chosen = ways(path)
            jobs = [
                Job(
                    tape,
                    ForagerKind.WL,
                    budget,
                    options.first + number,
                    tuple(map(UrlId, range(PAPERS))),
                    load(Path("/dev/null"), overrides).settings,
                    warm_up=12 * 3600.0,
                )
                for overrides in chosen.values()
                for number, tape in enumerate(tapes)
            ]
            played = play_all(jobs, workers=options.workers, done=lambda count: print(count, end=" ", file=sys.stderr))
            print(f"\n{budget:g} downloads per hour, {options.seeds} newsrooms of {options.days:g} days")
            table(played, list(chosen), options.seeds)


if __name__ == "__main__":
    main()
