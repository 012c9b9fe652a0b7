"""Fleet and scheduler at equal budgets in replays: shares and policies. Mean ± 95% interval.

    python tests/bench/recrawl_shares.py [--world newsroom] [--seeds 3] [--days 4] [--budget 30] [--first 501]

Worlds: tapes of Newsrooms, and tapes shaped like recordings (`tests/simulation/recorded_like.py`): text pages (72 downloads
an hour), section pages (6 and 12), section pages with their articles (60). Every line is one way to spend the same
downloads per hour on the same tapes. `learned` is a score function evolved (GP4C, Extended, for discovery where lists
show documents, else for NDCG) on two other tapes than those replayed. A `*` marks lines that differ from the default in a
paired t-test (p < 0.05).
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
from forager.core.parameters import ForagerKind
from forager.gp.gp_settings import GPSettings, Measure
from forager.importers.tables import import_tables
from forager.importers.tape_logs import log_of_tape
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.recrawl.formula import formula_text
from forager.recrawl.function_file import LearnedFunction, function_to_text
from forager.recrawl.retrain import learn_beside
from forager.settings import load_settings
from forager.simulation.fleet_rows import FIGURES
from forager.simulation.jobs import Job, Played, play_all
from forager.simulation.replay import default_seeds
from forager.tape.tape import Tape, save
from forager.terms import UrlId
from tests.newsroom_tape import tape_of_newsroom

SHOWN = ("coverage", "lasting", "late_hours", "requests_per_story", "freshness")
DEFAULT = "default: 80/20, worth"
HOUR = 3600.0
PAPERS = 3
BUDGETS = {"newsroom": (20.0, 60.0), "pages": (72.0,), "sections": (6.0, 12.0), "articles": (60.0,)}
IDENTITY = {"pages": "text", "sections": "link", "articles": "url"}


def ways(function: Path, cycle: float) -> dict[str, list[str]]:
    """How the budget is spent, by name: the settings of each way."""
    alone, learned = "crawl.recrawl_share=1", [f"crawl.policy={function}", f"crawl.cycle={cycle:g}s"]
    return {
        DEFAULT: [],
        "50/50, worth": ["crawl.recrawl_share=0.5"],
        "fleet alone": ["crawl.recrawl_share=0"],
        "scheduler alone, worth": [alone],
        "scheduler alone, azar-rate": [alone, "crawl.policy=azar-rate"],
        "scheduler alone, t2": [alone, "crawl.policy=t2"],
        "scheduler alone, learned": [alone, *learned],
        "oldest first (fixed revisit)": [alone, "crawl.policy=age"],
        "80/20, azar-rate": ["crawl.policy=azar-rate"],
        "80/20, learned": learned,
    }


def tape_of(world: str, seed: int, days: float) -> Tape:
    if world == "newsroom":
        usual = NewsroomSettings()
        settings = replace(usual, seed=seed, days=days, papers=usual.papers[:PAPERS])
        return tape_of_newsroom(Newsroom(settings, WallClock()))
    sys.path.insert(0, str(Path(__file__).parent.parent.parent))
    from tests.simulation.recorded_like import HubWorld, PageWorld, write_hubs, write_pages

    with TemporaryDirectory() as folder:
        if world == "pages":
            write_pages(Path(folder), PageWorld(seed=seed, steps=round(24 * days)))
        else:
            write_hubs(Path(folder), HubWorld(seed=seed, hours=round(24 * days)), articles=world == "articles")
        return import_tables(Path(folder), origin=f"synthetic {world}", identity=IDENTITY[world]).tape


def learned_on(tapes: Sequence[Tape], cycle: float, budget: float) -> LearnedFunction:
    """A small GP4C run: trained on the changes of one tape, chosen on those of another."""
    train, validation = (log_of_tape(tape, cycle).shuffled(stream(1, "pages")) for tape in tapes)
    fitness: Measure = "ndcg" if train.documents is None else "discovery"
    share, young = min(0.5, budget * cycle / HOUR / train.pages), 24 * HOUR / cycle
    how = GPSettings("extended", fitness, population=60, generations=10, seeds=1, k=share, young=young)
    best = learn_beside(train, validation, how, seed=1)
    return LearnedFunction(best.tree, "extended", fitness, best.train, best.validation)


def cell(values: Sequence[float], usual: Sequence[float]) -> str:
    """Mean ± interval, and a star if it is not the default's."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    differs = not np.allclose(values, usual) and stats.ttest_rel(values, usual).pvalue < 0.05
    return f"{np.mean(values):.3f} ± {half:.3f}{'*' if differs else ' '}"


def table(played: Sequence[Played], names: Sequence[str], seeds: int) -> None:
    rows = {name: played[place * seeds : (place + 1) * seeds] for place, name in enumerate(names)}
    print(f"{'':<30}" + "".join(f"{figure:>19}" for figure in SHOWN))
    for name, row in rows.items():
        cells = [
            cell([FIGURES[figure](one.figures) for one in row], [FIGURES[figure](one.figures) for one in rows[DEFAULT]])
            for figure in SHOWN
        ]
        print(f"{name:<30}" + "".join(f"{one:>19}" for one in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=tuple(BUDGETS), default="newsroom")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--first", type=int, default=501, help="seed of the first world; the two before are learned from"
    )
    parser.add_argument("--days", type=float, default=4.0)
    parser.add_argument("--budget", type=float, action="append", help="downloads per hour; may be repeated")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cycle = HOUR / 4 if options.world == "newsroom" else HOUR
    with TemporaryDirectory() as folder:
        tapes: list[tuple[Path, tuple[UrlId, ...]]] = []
        for number in range(options.seeds):
            tape, path = tape_of(options.world, options.first + number, options.days), Path(folder) / str(number)
            save(tape, path)
            homes = tuple(map(UrlId, range(PAPERS))) if options.world == "newsroom" else tuple(default_seeds(tape))
            tapes.append((path, homes))
        for budget in options.budget or BUDGETS[options.world]:
            others = [tape_of(options.world, options.first - back, options.days) for back in (1, 2)]
            function = learned_on(others, cycle, budget)
            path = Path(folder) / f"function {budget:g}.json"
            path.write_text(function_to_text(function), encoding="utf-8")
            print(
                f"\n{options.world}, {budget:g} downloads per hour, {options.seeds} of {options.days:g} days; ", end=""
            )
            print(f"learned for {function.fitness}: {formula_text(function.tree)}", flush=True)
            chosen = ways(path, cycle)
            jobs = [
                Job(
                    tape,
                    ForagerKind.WL,
                    budget,
                    options.first + number,
                    homes,
                    load_settings(Path("/dev/null"), overrides).settings,
                    warm_up=(12 if options.world == "newsroom" else 48) * HOUR,
                )
                for overrides in chosen.values()
                for number, (tape, homes) in enumerate(tapes)
            ]
            played = play_all(jobs, workers=options.workers, done=lambda count: print(count, end=" ", file=sys.stderr))
            print(file=sys.stderr)
            table(played, list(chosen), options.seeds)


if __name__ == "__main__":
    main()
