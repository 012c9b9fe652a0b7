"""Does the order of never-visited pages matter? Fleets with td, rw-eg and mixed ordering on Newsroom tapes at equal budgets.

    python tests/bench/ordering.py [--newsrooms 8] [--first 500] [--days 3] [--budgets 20 60] [--recrawl-shares .8 0]

Every newsroom is one sample: another site with other news. Intervals are 95% (Student's t) over newsrooms; differences to
the usual fleet (WL, td) are paired by newsroom, and marked * if their interval does not hold 0. Newsrooms from number 500
on were used for nothing else. With `recrawl_share` 0 the fleet is alone: the recrawl cycle finds nothing for it. States
are learned from the articles of yet another newsroom (see paper_experiment.py).

    python tests/bench/ordering.py --cost [--pages 100000]

What renewing the scores costs while a crawl of 40 links a page grows: processor seconds of all renewals and of the last, and
of telling it what pages showed.
"""

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from paper_experiment import newsroom, progress, texts, with_states

from forager.chance import stream
from forager.cli.rankings import ranking_interval
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings, ForagerKind, StateSettings
from forager.core.states import States
from forager.engine.link_order import Ordering
from forager.settings import Settings
from forager.simulation.fleet_rows import FIGURES
from forager.simulation.jobs import Job, Played, play_all
from forager.tape.tape import save
from forager.terms import UrlId
from tests.newsroom_tape import tape_of_newsroom

FLEETS = (("td", "WL"), ("td", "WLRL"), ("rw-eg", "WL"), ("mixed", "WL"), ("mixed", "WLRL"))
SHOWN = {
    "coverage": ("coverage", 1),
    "median delay, min": ("delay_median_s", 1 / 60),
    "late, h": ("late_hours", 1),
    "requests per story": ("requests_per_story", 1),
}
TEACHER = 499
"""The newsroom whose articles teach the states."""


def tapes(folder: Path, first: int, count: int, days: float) -> list[tuple[Path, tuple[UrlId, ...]]]:
    """One tape for each newsroom, with the numbers of its home pages."""
    teacher = texts(newsroom(TEACHER, days))
    states = States(StateSettings()).train(list(teacher.values()))
    made = []
    for seed in range(first, first + count):
        room = newsroom(seed, days)
        path = folder / str(seed)
        save(with_states(tape_of_newsroom(room), texts(room), states), path)
        made.append((path, tuple(UrlId(number) for number in range(len(room.homes)))))
    return made


def settings_of(ordering: str, recrawl_share: float) -> Settings:
    usual = Settings()
    return replace(usual, crawl=replace(usual.crawl, ordering=ordering, recrawl_share=recrawl_share))


def table(title: str, played: Sequence[Sequence[Played]]) -> None:
    """`played` has one row for each fleet, one column for each newsroom."""
    print(f"\n{title}, {len(played[0])} newsrooms")
    print(f"{'':12}" + "".join(f"{name:>34}" for name in SHOWN) + f"{'born':>7}")
    values = [
        {name: [scale * FIGURES[figure](one.figures) for one in row] for name, (figure, scale) in SHOWN.items()}
        for row in played
    ]
    for (ordering, kind), row, runs in zip(FLEETS, values, played, strict=True):
        cells = []
        for name in SHOWN:
            mean, half = ranking_interval(row[name])
            difference, wide = ranking_interval(
                [one - usual for one, usual in zip(row[name], values[0][name], strict=True)]
            )
            against = (
                "" if row is values[0] else f" ({difference:+.3f} ± {wide:.3f}{'*' if abs(difference) > wide else ' '})"
            )
            cells.append(f"{mean:.3f} ± {half:.3f}{against:>20}")
        born = statistics.fmean(one.born for one in runs)
        print(f"{ordering:6}{kind:6}" + "".join(f"{cell:>34}" for cell in cells) + f"{born:7.1f}", flush=True)


def cost(pages: int, links_per_page: int = 40) -> None:
    """A crawl that goes from page to page; as many known as visited, popular ones linked more often."""
    rng = stream(1, "ordering cost")
    visits = PageTable(ExpectationSettings())
    visits.reserve(2 * pages)
    ordering = Ordering("rw-eg", visits, every=math.inf)
    telling = renewing = longest = last = 0.0
    steps = 0
    for page in range(pages):
        known = min(2 * pages, 2 * page + 100)
        shown = np.unique((known * rng.random(links_per_page) ** 2).astype(np.int64))
        began = time.process_time()
        ordering.saw(UrlId(page), shown)
        told = time.process_time()
        if ordering.due(0.0):
            graph, ranking, appeal = ordering.renewal(0.0).done()
            ordering.take(graph, ranking, appeal)
            last = time.process_time() - told
            renewing, longest, steps = renewing + last, max(longest, last), ranking.iterations
        telling += told - began
    print(
        f"{pages:,} pages visited, {ordering!r}\n"
        f"telling {telling:.2f} s in all; renewing {renewing:.2f} s in all ({1e6 * renewing / pages:.0f} µs a page), "
        f"the last {last:.2f} s ({steps} steps), the longest {longest:.2f} s"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--newsrooms", type=int, default=8)
    options.add_argument("--first", type=int, default=500)
    options.add_argument("--days", type=float, default=3)
    options.add_argument("--warm-up", type=float, default=12, help="hours whose stories do not count")
    options.add_argument("--budgets", type=float, nargs="+", default=[20, 60])
    options.add_argument("--recrawl-shares", type=float, nargs="+", default=[0.8, 0.0])
    options.add_argument("--workers", type=int, default=0)
    options.add_argument("--cost", action="store_true", help="only what renewing the scores costs")
    options.add_argument("--pages", type=int, default=100_000)
    chosen = options.parse_args()
    if chosen.cost:
        cost(chosen.pages)
        return
    with TemporaryDirectory() as folder:
        worlds = tapes(Path(folder), chosen.first, chosen.newsrooms, chosen.days)
        for share, budget in product(chosen.recrawl_shares, chosen.budgets):
            jobs = [
                Job(path, ForagerKind(kind), budget, 1, seeds, settings_of(ordering, share), 3600 * chosen.warm_up)
                for ordering, kind in FLEETS
                for path, seeds in worlds
            ]
            played = play_all(jobs, workers=chosen.workers, done=partial(progress, total=len(jobs)))
            size = len(worlds)
            title = f"{budget:g} downloads an hour, {share:.0%} for the recrawl cycle"
            table(title, [played[first : first + size] for first in range(0, len(played), size)])


if __name__ == "__main__":
    main()
