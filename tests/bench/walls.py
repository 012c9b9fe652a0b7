"""What a wall costs a crawl: a Newsroom most of whose articles answer 403, with and without the belief in walls.

python tests/bench/walls.py [--hours 24] [--seeds 1 2 3] [--wall .7] [-s key=value ...]

Virtual time over the real engine. Stories are those of articles that answer.
"""

import argparse
from collections import Counter
from unittest.mock import patch

from forager.engine import walls
from tests.virtual import Crawled, crawl_newsroom


def row(crawled: Crawled) -> str:
    seen = Counter(asked.status for asked in crawled.newsroom.requests)
    share = seen[403] / max(1, seen.total())
    return f"{seen.total():,} | {share:.1%} | {crawled.store.counts().stories}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--wall", type=float, default=0.7)
    parser.add_argument(
        "-s", dest="settings", action="append", default=["newsroom.pace=2", "timetable.download_delay=5s"]
    )
    given = parser.parse_args()
    print("| seed | walls believed | requests | answered 403 | stories |\n|---|---|---|---|---|")
    for seed in given.seeds:
        for believed in (False, True):
            belief = {"_PATIENCE": walls._PATIENCE if believed else 10**9, "_LONGEST": 10 if believed else -(10**3)}
            with patch.multiple(walls, **belief):
                crawled = crawl_newsroom(given.hours, f"newsroom.wall={given.wall}", *given.settings, seed=seed)
            print(f"| {seed} | {'yes' if believed else 'no'} | {row(crawled)} |", flush=True)


if __name__ == "__main__":
    main()
