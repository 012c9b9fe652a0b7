"""How much of a crawl goes into traps, and what that costs: a Newsroom with traps beside the same one without.

python tests/bench/traps.py [--hours 24] [--seeds 1 2 3] [--kinds WL BFS] [-s key=value ...]

Virtual time over the real engine. Coverage and delay are those of the stories published after the first quarter.
"""

import argparse
from collections import Counter

import numpy as np

from forager.measures import Delay, delay
from tests.virtual import Crawled, crawl_newsroom

TRAPS = {
    "/calendar/": "calendar",
    "/events/": "calendar in folders",
    "/search?": "facets",
    "/archive?": "pagination",
    "/browse/": "maze",
    "/old/": "soft 404",
    "/?sid=": "session",
    "/?visitor=": "session",
}
"""Kinds of traps by the beginning of their address."""


def measured(crawled: Crawled, hours: float) -> Delay:
    """Against the truth, after a quarter of the time to settle."""
    start = crawled.settings.newsroom.start
    told = {story.url: story.at for story in reversed(crawled.stories)}
    truth = crawled.newsroom.truth.published_between(start + hours * 900, start + hours * 3600)
    return delay(
        np.array([story.published for story in truth]), np.array([told.get(story.url, np.nan) for story in truth])
    )


def trap_of(target: str) -> str:
    """The kind of trap that a path with its query belongs to; empty if it is none."""
    return next((kind for place, kind in TRAPS.items() if target.startswith(place)), "")


def spent(crawled: Crawled, after: float = 0.0) -> Counter[str]:
    """Requests by the kind of trap, after some hours; under the empty name those outside of all traps."""
    since = crawled.settings.newsroom.start + after * 3600
    return Counter(trap_of(asked.target) for asked in crawled.newsroom.requests if asked.at >= since)


def share(requests: Counter[str]) -> float:
    """Of requests in traps."""
    return 1 - requests[""] / max(1, requests.total())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--kinds", nargs="+", default=["WL", "BFS"])
    parser.add_argument("-s", dest="settings", action="append", default=[])
    given = parser.parse_args()
    kinds = list(dict.fromkeys(TRAPS.values()))
    print(
        "| fleet | seed | traps | requests | in traps | after a quarter | coverage | delay, min | per story | known |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in given.kinds:
        total: Counter[str] = Counter()
        for seed in given.seeds:
            for traps in (False, True):
                overrides = (f"forager.kind={kind}", f"newsroom.traps={str(traps).lower()}", *given.settings)
                crawled = crawl_newsroom(given.hours, *overrides, seed=seed)
                found, asked = measured(crawled, given.hours), spent(crawled)
                later = spent(crawled, given.hours / 4)
                stories = crawled.store.counts().stories
                print(
                    f"| {kind} | {seed} | {'yes' if traps else 'no'} | {asked.total():,} | {share(asked):.1%}"
                    f" | {share(later):.1%} | {found.coverage:.2f}"
                    f" | {found.median / 60:.0f} | {asked.total() / max(1, stories):.1f} | {crawled.store.counts().known:,} |",
                    flush=True,
                )
                total += asked if traps else Counter()
        parts = ", ".join(f"{name} {total[name] / total.total():.1%}" for name in kinds)
        print(f"{kind}: {parts}", flush=True)


if __name__ == "__main__":
    main()
