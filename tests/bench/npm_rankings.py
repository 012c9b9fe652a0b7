"""Rankings of the frontier on a real graph with real impact: npm packages, their dependencies, and their downloads.

    python tests/bench/npm_rankings.py [--splits 5]

A page is a package, a link a dependency (December 2016, from `dependent-packages`), the impact of a page its mean daily
downloads in the year to April 2017 (from `download-counts`): .93 million links. Both are taken from `FORAGER_CORPORA` (by
default `forager-corpora` in the user's cache) or fetched into it once with `npm pack`.

What it is not: a web of pages. Whoever downloads a package downloads what it depends on, so that packages of high impact
point to packages of high impact by construction, as clicked pages do only on the whole. There are no anchors and queries.
"""

import argparse
import json
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from corpora import CorpusMissing, from_npm

from forager.cli.rankings import Question, judge_rankings, rankings_table
from forager.graph.figures import first_pages
from forager.graph.graph import EdgeList, Names
from forager.graph.methods import Method, RankingSettings
from forager.graph.walks import WalkSettings

GRAPH, DOWNLOADS = ("dependent-packages", "2.2.2"), ("download-counts", "1.79.0")


def dependencies() -> Iterator[tuple[str, list[str]]]:
    """Each package with those that depend on it."""
    with tarfile.open(from_npm(*GRAPH)) as outer:
        inner = outer.extractfile("package/dependents.tgz")
        assert inner is not None
        with tarfile.open(fileobj=inner) as files:
            for member in files:
                file = files.extractfile(member) if member.name.endswith(".json") else None
                if file is not None:
                    yield (
                        str(PurePosixPath(member.name).relative_to("dependents")).removesuffix(".json"),
                        json.load(file),
                    )


def downloads() -> dict[str, float]:
    with tarfile.open(from_npm(*DOWNLOADS)) as archive:
        file = archive.extractfile("package/index.json")
        assert file is not None
        return {name: float(count or 0) for name, count in json.load(file).items()}


def question() -> Question:
    names = Names()
    edges = EdgeList(names)
    for package, dependents in dependencies():
        (target,) = names.number([package])
        sources = names.number(dependents)
        edges.add(sources, np.full(sources.size, target, dtype=np.int32))
    edges.growing.mark_downloaded(np.arange(len(names)))
    counted = downloads()
    impact = np.array([counted.get(names.name(page), 0.0) for page in range(len(names))])
    return Question(edges.growing.graph(), [impact])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--splits", type=int, default=5)
    options.add_argument("--share", type=float, default=0.35, help="of the packages that are frontier")
    chosen = options.parse_args()
    try:
        asked = question()
    except CorpusMissing as reason:
        print(f"skipped: {reason}")
        sys.exit(0)
    graph, impact = asked.graph, asked.impacts[0]
    linked = np.flatnonzero(graph.in_degree > 0)
    frontier = first_pages(chosen.share, linked.size)
    methods = [method for method in Method if not method.asks_queries]
    for gamma in (0.0, 1.0):
        comparison = judge_rankings(
            asked,
            lambda rng: rng.choice(linked, frontier, replace=False),
            methods,
            RankingSettings(walk=WalkSettings(gamma=gamma)),
            splits=chosen.splits,
        )
        top = np.sort(impact[linked])[::-1]
        print(
            f"{graph.pages:,} packages, {graph.links:,} dependencies, {impact.sum():,.0f} downloads a day, "
            f"{top[: top.size // 100].sum() / top.sum():.0%} of those of 1% of the packages; γ = {gamma:g}"
        )
        rankings_table(comparison).show(140)


if __name__ == "__main__":
    main()
