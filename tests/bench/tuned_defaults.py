"""Are the default settings good? Tune on some recordings, judge on others: defaults, tuned and the paper's fleet.

    python tests/bench/tuned_defaults.py [--trials 120] [--for late,requests] [--seeds 5]
    python tests/bench/tuned_defaults.py --tapes ndrtext.tape teletext.tape frontpages.tape

Without tapes: Newsrooms of several sizes; it is tuned on all of the first list together and judged on the second, whose seeds
and plans no trial has seen. With tapes (made by `forager import`): tuned on the first half of each, judged on the second
halves of all, so also on recordings it was not tuned on; and tuned on all first halves together.

The paper's fleet is the preset with what counts as a document left as it is for the others, so that all find the same stories.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.clock import WallClock
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import Settings
from forager.simulation.fleet_rows import FleetRow, rows_of
from forager.simulation.jobs import Crew, Player
from forager.simulation.replay import default_seeds
from forager.tape.tape import load_tape, save
from forager.tuning.goals import GOALS, Goal, goals_named
from forager.tuning.held_out import (
    Replays,
    choose_trial,
    lucks_to,
    measured,
    paired_interval,
)
from forager.tuning.search import search
from forager.tuning.space import Point, Space, changed_keys, paper
from forager.tuning.study import Orders, Study, TapePart, laid_out
from tests.newsroom_tape import tape_of_newsroom

FIGURES = ("delay_median_s", "late_hours", "coverage", "requests_per_story")


@dataclass(frozen=True)
class Room:
    """A newsroom to be taped, and how often it may be asked."""

    seed: int
    papers: int
    days: float
    budget: float

    def __str__(self) -> str:
        return f"newsroom {self.seed}: {self.papers} papers, {self.days:g} days, {self.budget:g}/h"


TRAINING = (Room(21, 1, 4.0, 12.0), Room(22, 3, 4.0, 25.0), Room(23, 3, 3.0, 80.0))
JUDGED = (Room(31, 1, 5.0, 12.0), Room(32, 3, 5.0, 25.0), Room(33, 3, 5.0, 80.0), Room(34, 3, 4.0, 45.0))


def part_of(room: Room, folder: Path) -> TapePart:
    """The whole of a newsroom's tape to run on."""
    usual = NewsroomSettings()
    plan = replace(usual, seed=room.seed, days=room.days, papers=usual.papers[: room.papers])
    tape = tape_of_newsroom(Newsroom(plan, WallClock()))
    save(tape, folder / f"room{room.seed}")
    slices = max(2, round(room.days))
    scale = Settings().forager.states.scale
    return TapePart(folder / f"room{room.seed}", default_seeds(tape), room.budget, 43_200.0, slices, scale)


def tuned(
    parts: Sequence[TapePart], goals: tuple[Goal, ...], folder: Path, asked: argparse.Namespace, replays: Replays
) -> Point:
    """The settings that are best on these parts together."""
    base = Settings()
    space = Space(base)
    if not all(len(load_tape(part.tape, check=False).states) for part in parts):
        space = space.without_states()
    folder.mkdir(parents=True)
    lucks = lucks_to("trial", base.seed, asked.repeats)
    orders = Orders(folder, tuple(parts), lucks, space, goals, 0.0, base.seed)
    (start,) = filter(None, measured(orders, [{}], lucks, replays, "start"))
    orders = replace(orders, base_coverage=start.coverage)
    study, began = Study(folder, goals), time.monotonic()
    search(orders, 0, asked.trials, processes=asked.processes, tell=lambda one: None,
           expired=lambda: time.monotonic() - began > asked.minutes * 60)  # fmt: skip
    chosen = choose_trial(orders, study.trials(), start.values, lucks_to("check", base.seed, 3), replays=replays)
    finished = study.trials()
    print(f"\n{len(finished)} trials ({sum(one.pruned for one in finished)} given up early) in "
          f"{time.monotonic() - began:.0f} s; on the training part: " +
          ", ".join(f"{goal.figure} {old:.4g} -> {new:.4g}"
                    for goal, old, new in zip(goals, chosen.before, chosen.after, strict=True)))  # fmt: skip
    for key, value in chosen.changes.items():
        print(f"  {key}: {value}")
    return chosen.changes


def judge(
    name: str, part: TapePart, variants: dict[str, Settings], seeds: int, replays: Replays
) -> dict[str, FleetRow]:
    """Print the figures of all variants on one part, with paired intervals against the first."""
    jobs = [part.job(one, luck) for one in variants.values() for luck in lucks_to("judge", 1, seeds)]
    rows = dict(
        zip(variants, rows_of([one for one in replays(name, jobs) if one], seeds, lambda one: False), strict=True)
    )
    first = next(iter(rows.values()))
    print(f"\n{name}, {seeds} seeds: mean; difference to defaults with its 95% interval")
    print(f"  {'':20}{'defaults':>9}" + "".join(f"{name:>11}{'':38}" for name in list(variants)[1:]))
    for figure in FIGURES:
        cells = [f"{first.mean(figure):>9.4g}"]
        for row in list(rows.values())[1:]:
            cells.append(
                f"{row.mean(figure):>11.4g}  {paired_interval(row.values(figure), first.values(figure))!s:<36}"
            )
        print(f"  {figure:20}" + "".join(cells), flush=True)
    return rows


def summary(results: dict[str, dict[str, FleetRow]]) -> None:
    """On how many parts each variant is better or worse than the defaults beyond the interval."""
    by_figure = {goal.figure: goal for goal in GOALS.values()}
    variants = [name for name in next(iter(results.values())) if name != "defaults"]
    for name in variants:
        told = []
        for figure in FIGURES:
            differences = [
                paired_interval(rows[name].values(figure), rows["defaults"].values(figure)) for rows in results.values()
            ]
            better = sum(one.favours(by_figure[figure]) for one in differences)
            worse = sum(one.favours(by_figure[figure], old=True) for one in differences)
            told.append(f"{figure} better on {better}, worse on {worse}")
        print(f"{name} against defaults, of {len(results)}: " + "; ".join(told))


def on_newsrooms(folder: Path, goals: tuple[Goal, ...], asked: argparse.Namespace, replays: Replays) -> None:
    print("tuned on " + "; ".join(map(str, TRAINING)))
    changes = tuned([part_of(room, folder) for room in TRAINING], goals, folder / "search", asked, replays)
    base = Settings()
    variants = {"defaults": base, "tuned": changed_keys(base, changes), "paper": paper(base)}
    summary({str(room): judge(str(room), part_of(room, folder), variants, asked.seeds, replays) for room in JUDGED})


def on_tapes(folder: Path, goals: tuple[Goal, ...], asked: argparse.Namespace, replays: Replays) -> None:
    base, courses = Settings(), {}
    for path in asked.tapes:
        tape = load_tape(path)
        budget = asked.budget or max(30.0, round(tape.pages / 20))
        courses[path.name] = laid_out(tape, folder / path.name, base, held_out=0.5, budget=budget)
    variants = {"defaults": base, "paper": paper(base)}
    for name, course in courses.items():
        print(f"\ntuned on the first half of {name}:")
        changes = tuned([course.training], goals, folder / f"search {name}", asked, replays)
        variants[f"tuned on {name}"] = changed_keys(base, changes)
    if len(courses) > 1:
        print("\ntuned on all first halves:")
        parts = [course.training for course in courses.values()]
        variants["tuned on all"] = changed_keys(base, tuned(parts, goals, folder / "search all", asked, replays))
    print("\ncolumns: " + ", ".join(variants))
    summary(
        {
            name: judge(f"second half of {name}", course.held_out, variants, asked.seeds, replays)
            for name, course in courses.items()
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tapes", type=Path, nargs="+", help="recordings instead of newsrooms")
    parser.add_argument(
        "--budget", type=float, default=0.0, help="downloads per hour on tapes; a twentieth of the pages"
    )
    parser.add_argument("--for", dest="goals", default="late,requests")
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--minutes", type=float, default=60.0, help="of each search at most")
    parser.add_argument("--repeats", type=int, default=1, help="replays of each trial on each recording")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    goals = goals_named([asked.goals])
    with TemporaryDirectory() as name, Crew(asked.processes, Player) as crew:
        replays: Replays = lambda phase, jobs: crew.results(jobs)  # noqa: E731
        (on_tapes if asked.tapes else on_newsrooms)(Path(name), goals, asked, replays)


if __name__ == "__main__":
    main()
