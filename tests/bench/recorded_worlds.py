"""Fleets against the sweep on worlds shaped like recordings of real sites, and on newsrooms; everything is synthetic.

    python tests/bench/recorded_worlds.py [--worlds pages,hubs] [--kinds WL,RL,WLRL,BFS] [--seeds 3] [--first 11] [--days 10]

Text pages of one station (`pages`) and of nine (`stations`, and `teletext` with all their pages), section pages (`hubs`, and
their first eight days: `week`), section pages with their articles (`articles`), five days of three papers of the Newsroom
(`newsroom`) and the same with its links rewired (`rewired`), each at several downloads an hour; every seed is another
world. The first 48 hours do not count, of a newsroom the first 12.
`lasting`: documents that stayed for six hours; `late`: mean delay in hours, a missed one counted as 24; `requests`: downloads
per document. A `*` marks what differs from the first kind in a paired t-test (p < 0.05).
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.chance import stream
from forager.clock import WallClock
from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import Settings, load_settings
from forager.simulation.fleet_rows import FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from forager.simulation.replay import default_seeds
from forager.tape.cut import rewired
from forager.tape.tape import Tape, load_tape, save
from tests.newsroom_tape import tape_of_newsroom
from tests.simulation.recorded_like import STATIONS, TELETEXT, HubWorld, PageWorld, write_hubs, write_pages

BUDGETS = {
    "pages": (29.0, 72.0, 145.0),
    "stations": (16.0, 32.0, 64.0),
    "teletext": (48.125, 96.25, 192.5),
    "hubs": (6.0, 12.0, 24.0),
    "week": (6.0, 12.0),
    "articles": (60.0, 120.0),
    "newsroom": (20.0, 40.0, 80.0),
    "rewired": (20.0, 40.0, 80.0),
}
STATION_WORLDS = {"pages": PageWorld(), "stations": STATIONS, "teletext": TELETEXT}
SHOWN = ("coverage", "lasting", "late_hours", "requests_per_story", "sent_efficiency", "freshness", "age_hours")


def tape_of(world: str, seed: int, folder: Path, days: float = 0.0) -> Tape:
    """The tape of a world, by way of its tables if it has any; `days`: as long, 0: as long as usual."""
    if world in ("newsroom", "rewired"):
        usual = NewsroomSettings()
        tape = tape_of_newsroom(
            Newsroom(replace(usual, seed=seed, days=days or 5.0, papers=usual.papers[:3]), WallClock())
        )
        return rewired(tape, stream(seed, "rewired")) if world == "rewired" else tape
    if world in STATION_WORLDS:
        pages = STATION_WORLDS[world]
        write_pages(folder, replace(pages, seed=seed, steps=round(24 * days / pages.step_hours) or pages.steps))
    else:
        hours = round(24 * days) or (192 if world == "week" else 800)
        write_hubs(folder, HubWorld(seed=seed, hours=hours), articles=world == "articles")
    identity = "text" if world in STATION_WORLDS else "url" if world == "articles" else "link"
    return import_tables(folder, origin=f"synthetic {world}", identity=identity).tape


def taped(world: str, seeds: Sequence[int], folder: Path, days: float = 0.0) -> list[Path]:
    """The tapes of a world, one for each seed."""
    paths = [folder / f"{world} {seed}.tape" for seed in seeds]
    for seed, path in zip(seeds, paths, strict=True):
        save(tape_of(world, seed, folder / f"{world} {seed}", days), path)
    return paths


def jobs_on(
    world: str, tapes: Sequence[Path], seeds: Sequence[int], kind: ForagerKind, budget: float, settings: Settings
) -> list[Job]:
    """The same fleet on every tape of a world."""
    warm_up = 3600.0 * (12 if world in ("newsroom", "rewired") else 48)
    return [
        Job(path, kind, budget, seed, default_seeds(load_tape(path, check=False)), settings, warm_up)
        for seed, path in zip(seeds, tapes, strict=True)
    ]


def cell(row: FleetRow, first: FleetRow, figure: str) -> str:
    """Mean ± standard deviation, and a star if it is not that of the first row."""
    star = row is not first and paired(row, first, figure)[1] < 0.05
    return f"{row.mean(figure):.3f} ± {row.sd(figure):.3f}{'*' if star else ' '}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", default=",".join(BUDGETS))
    parser.add_argument("--kinds", default="WL,RL,WLRL,BFS")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=11, help="seed of the first world of each kind")
    parser.add_argument(
        "--days", type=float, default=0.0, help="how long each world lasts; 0: as long as its recording"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("-s", dest="overrides", action="append", default=[], help="a setting, as for forager")
    asked = parser.parse_args()
    settings = load_settings(Path("/dev/null"), asked.overrides).settings
    kinds = [ForagerKind(kind) for kind in asked.kinds.split(",")]
    seeds = range(asked.first, asked.first + asked.seeds)
    print(f"{'world':10}{'per hour':>9}{'fleet':>7}" + "".join(f"{name[:12]:>17}" for name in SHOWN))
    with TemporaryDirectory() as name:
        for world in asked.worlds.split(","):
            tapes = taped(world, seeds, Path(name), asked.days)
            for budget in BUDGETS[world]:
                jobs = [job for kind in kinds for job in jobs_on(world, tapes, seeds, kind, budget, settings)]
                rows = rows_of(play_all(jobs, workers=asked.workers), len(seeds), lambda one: False)
                for row in rows:
                    cells = "".join(f"{cell(row, rows[0], one):>17}" for one in SHOWN)
                    print(f"{world:10}{budget:>9g}{row.kind:>7}{cells}", flush=True)


if __name__ == "__main__":
    main()
