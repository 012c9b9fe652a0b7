"""The recommendations of a study of recorded sites, each taken back alone: does the crawl get worse? All worlds synthetic.

    python tests/bench/recommendations.py [--worlds pages,hubs,articles] [--ways 4,5] [--seeds 3] [--first 21] [--days 10]

Text pages at 72 downloads an hour, section pages at 12, section pages with articles at 60, the Newsroom at 40 (see
`recorded_worlds.py`). Coverage, lasting coverage, mean delay in hours (a missed document counts as 24), downloads per document;
the mean over seeds, each another world. `worse` or `better`: coverage and delay, or one of them while the other is as it was,
differ that way in a paired t-test (p < 0.05); `as good`: neither differs; `mixed`: they disagree.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.core.parameters import ForagerKind
from forager.settings import load_settings
from forager.simulation.fleet_rows import FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from tests.bench.recorded_worlds import jobs_on, taped

BUDGETS = {"pages": 72.0, "hubs": 12.0, "articles": 60.0, "newsroom": 40.0}
FIGURES = ("coverage", "lasting", "late_hours", "requests_per_story")
DEFAULT = "default"
FLEET = "fleet alone"
WAYS: dict[str, tuple[ForagerKind, tuple[str, ...]]] = {
    DEFAULT: (ForagerKind.WL, ()),
    FLEET: (ForagerKind.WL, ("crawl.recrawl_share=0",)),
    "1 all links per step": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.links=all")),
    "1 visits shared for a second only": (ForagerKind.WL, ("visits.revisit_after=1",)),
    "2 ordered by profit alone": (ForagerKind.RL, ("crawl.recrawl_share=0", "forager.order=profit")),
    "2 profit learned beside": (ForagerKind.WLRL, ()),
    "2 no lift": (ForagerKind.WL, ("forager.expectation.lift_most=1",)),
    "2 fresh links not first": (ForagerKind.WL, ("forager.expectation.fresh_first=1",)),
    "3 never leave": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.leaving.below=0")),
    "3 never leave, 100 steps": (
        ForagerKind.WL,
        ("crawl.recrawl_share=0", "forager.leaving.below=0", "forager.max_step=100"),
    ),
    "4 no weblog": (ForagerKind.RL, ("crawl.recrawl_share=0",)),
    "4 start evenly from ten": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.start.by=list")),
    "4 start drawn by value × chance": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.start.by=draw")),
    "4 no random starts": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.start.explore=0")),
    "4 articles in the weblog": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.weblog.texts=true")),
    "5 pay the step that sent": (ForagerKind.WL, ("crawl.recrawl_share=0", "forager.credit=visit")),
    "6 half recrawl": (ForagerKind.WL, ("crawl.recrawl_share=0.5",)),
    "6 recrawl alone": (ForagerKind.WL, ("crawl.recrawl_share=1",)),
    "7 no breadth": (ForagerKind.WL, ("forager.expectation.breadth=0", "forager.expectation.text_breadth=0")),
    "7 breadth 1/2": (ForagerKind.WL, ("forager.expectation.breadth=0.5", "forager.expectation.text_breadth=0.5")),
    "7 t²λ": (ForagerKind.WL, ("crawl.policy=t2",)),
    "7 Azar × rate": (ForagerKind.WL, ("crawl.policy=azar-rate",)),
    "8 relative scores": (ForagerKind.WL, ("crawl.recrawl_share=0", "reinforcing.scores.relative=true")),
    "ours: no list expected at first": (ForagerKind.WL, ("forager.expectation.list_share=0",)),
    "ours: no thrift": (ForagerKind.WL, ("crawl.least_worth=0",)),
    "ours: nothing explored": (ForagerKind.WL, ("crawl.explore=0",)),
}
"""Each by its number in the study: a kind of fleet, and the settings that differ. What a fleet does is seen best alone."""


def verdict(row: FleetRow, usual: FleetRow) -> str:
    """How a way compares with the usual one, beyond the spread of the seeds."""
    signs = []
    for figure, good in (("coverage", 1), ("late_hours", -1)):
        difference, p = paired(row, usual, figure)
        signs.append(good * (1 if difference > 0 else -1) if p < 0.05 else 0)
    if min(signs) < 0 < max(signs):
        return "mixed"
    return {-1: "worse", 0: "as good", 1: "better"}[max(min(sum(signs), 1), -1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", default=",".join(BUDGETS))
    parser.add_argument("--ways", default="", help="only these, by how their names begin, beside the usual ones")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=21, help="seed of the first world of each kind")
    parser.add_argument(
        "--days", type=float, default=0.0, help="how long each world lasts; 0: as long as its recording"
    )
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    wanted = (DEFAULT, FLEET, *asked.ways.split(","))
    chosen = {way: how for way, how in WAYS.items() if way.startswith(wanted)}
    with TemporaryDirectory() as name:
        for world in asked.worlds.split(","):
            tapes = taped(world, seeds, Path(name), asked.days)
            print(f"\n{world}, {BUDGETS[world]:g} downloads an hour, {len(seeds)} seeds")
            print(f"{'':36}" + "".join(f"{figure[:9]:>11}" for figure in FIGURES))
            rows: dict[str, FleetRow] = {}
            for way, (kind, overrides) in chosen.items():
                settings = load_settings(Path("/dev/null"), overrides).settings
                jobs: list[Job] = jobs_on(world, tapes, seeds, kind, BUDGETS[world], settings)
                (rows[way],) = rows_of(play_all(jobs, workers=asked.workers), len(seeds), lambda one: False)
                usual = rows[FLEET if "crawl.recrawl_share=0" in overrides and way != FLEET else DEFAULT]
                told = "" if rows[way] is usual else verdict(rows[way], usual)
                cells = "".join(f"{rows[way].mean(figure):>11.3f}" for figure in FIGURES)
                print(f"{way:36}{cells}  {told}", flush=True)


if __name__ == "__main__":
    main()
