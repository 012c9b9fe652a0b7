"""Fleets against the sweep on three worlds shaped like recordings of real sites; the tables are synthetic.

    python tests/bench/recorded_worlds.py [--worlds pages,hubs,articles] [--kinds WL,RL,WLRL,BFS] [--repeats 2]

Linked text pages at 72 downloads an hour, section pages at 6, 12 and 24, section pages with their articles at 60 and 120;
the first 48 hours do not count. `lasting`: documents that stayed for six hours; `late`: mean delay in hours, a missed one
counted as 24; `req`: downloads per document.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from forager.foragers.settings import ForagerKind
from forager.imports.tables import import_tables
from forager.settings import load
from forager.simulation.compare import rows_of
from forager.simulation.jobs import Job, play_all
from forager.simulation.seeds import default_seeds
from forager.world.tape.columns import Tape, save
from tests.simulation.recorded_like import HubWorld, PageWorld, write_hubs, write_pages

BUDGETS = {"pages": (72.0,), "hubs": (6.0, 12.0, 24.0), "articles": (60.0, 120.0)}
SHOWN = ("coverage", "lasting", "late_hours", "requests_per_story", "sent_efficiency", "freshness", "age_hours")
WARM_UP = 48 * 3600.0


def tape_of(world: str, folder: Path) -> Tape:
    """The tape of a world, by way of its tables."""
    if world == "pages":
        write_pages(folder, PageWorld())
    else:
        write_hubs(folder, HubWorld(), articles=world == "articles")
    identity = {"pages": "text", "hubs": "link", "articles": "url"}[world]
    return import_tables(folder, origin=f"synthetic {world}", identity=identity).tape


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", default="pages,hubs,articles")
    parser.add_argument("--kinds", default="WL,RL,WLRL,BFS")
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    settings = load(Path("/dev/null")).settings
    kinds = [ForagerKind(kind) for kind in asked.kinds.split(",")]
    print(f"{'world':10}{'per hour':>9}{'fleet':>7}" + "".join(f"{name[:12]:>16}" for name in SHOWN))
    with TemporaryDirectory() as name:
        for world in asked.worlds.split(","):
            tape = tape_of(world, Path(name) / world)
            folder = Path(name) / f"{world}.tape"
            save(tape, folder)
            seeds = default_seeds(tape)
            jobs = [
                Job(folder, kind, budget, 1 + repeat, seeds, settings, WARM_UP)
                for budget in BUDGETS[world]
                for kind in kinds
                for repeat in range(asked.repeats)
            ]
            played = play_all(jobs)
            for row in rows_of(played, asked.repeats, lambda one: False):
                cells = "".join(f"{f'{row.mean(one):.3f} ± {row.sd(one):.3f}':>16}" for one in SHOWN)
                print(f"{world:10}{row.budget:>9g}{row.kind:>7}{cells}", flush=True)


if __name__ == "__main__":
    main()
