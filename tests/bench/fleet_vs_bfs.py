"""WL, RL, WLRL and the baseline BFS on the Newsroom over real HTTP, at the same politeness: what each finds, and its cost.

    python tests/bench/fleet_vs_bfs.py --seconds 40 --seeds 5

Every kind crawls the same sites (same seed, same news) in accelerated time; BFS and the fleets may ask each host equally often.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from forager.cli.crawl import arranged, run_demo
from forager.cli.log import CrawlLog
from forager.cli.options import adapted
from forager.core.parameters import ForagerKind
from forager.settings import load_settings

FIGURES = {
    "coverage": "coverage",
    "median delay, min": "delay_median_s",
    "p90 delay, min": "delay_p90_s",
    "late, min": "late_s",
    "requests": "requests",
    "requests/story": "requests_per_story",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40.0, help="of each crawl, in your time")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--kinds", default="BFS,WL,RL,WLRL")
    parser.add_argument("-s", dest="overrides", action="append", default=[], help="a setting, as for forager")
    options = parser.parse_args()
    kinds = [ForagerKind(kind) for kind in options.kinds.split(",")]
    rows = {kind: [_crawled(kind, seed, options) for seed in range(101, 101 + options.seeds)] for kind in kinds}
    print(f"{options.seeds} seeds, {rows[kinds[0]][0]['news_hours']:.0f} hours of news each; mean ± 95% interval")
    print(f"{'':<20}" + "".join(f"{kind.value:>18}" for kind in kinds))
    for name, key in FIGURES.items():
        scale = 60.0 if "min" in name else 1.0
        cells = [_interval([run[key] / scale for run in rows[kind] if run[key] is not None]) for kind in kinds]
        print(f"{name:<20}" + "".join(f"{cell:>18}" for cell in cells))


def _crawled(kind: ForagerKind, seed: int, options: argparse.Namespace) -> dict[str, float]:
    settings = load_settings(None, options.overrides).settings
    settings = arranged(adapted(settings, kind, dashboard=False), f"{options.seconds}s", seed)
    with tempfile.TemporaryDirectory() as folder:
        facts = asyncio.run(run_demo(settings, Path(folder), CrawlLog(quiet=True)))
    line = ", ".join(f"{key} {facts[key]}" for key in FIGURES.values())
    print(f"{kind.value} seed {seed}: {line}", file=sys.stderr)
    return facts


def _interval(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else "–"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.2f} ± {half:.2f}"


if __name__ == "__main__":
    main()
