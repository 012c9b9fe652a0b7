"""A synthetic web crawl with impact as concentrated as in the random-walk paper, and the rankings compared on it.

Planted after the paper's Tables 1 and 2: 0.4% of the frontier and 0.14% of the downloaded pages have impact; some
56% of the impactful frontier pages are linked from impactful pages, all of them also from pages without impact.
That impactful pages link to each other is therefore assumed, not found: the table shows how much of it each ranking
recovers when links are otherwise topical (by site) and preferential (popular pages get more), and impact is heavy-
tailed.

    python tests/bench/impact_web.py --pages 200000 --splits 5
"""

import argparse
from dataclasses import dataclass

import numpy as np

from forager.chance import stream
from forager.cli.rankings import Question, judge_rankings, rankings_table
from forager.graph.graph import Graph, GrowingGraph
from forager.graph.methods import Method, Overlap, Queries, RankingSettings
from forager.graph.walks import Ranking

FRONTIER_SHARE = 0.24
IMPACT_IN_FRONTIER, IMPACT_IN_DOWNLOADED = 0.004, 0.0014
LINKED_BY_IMPACT = 0.56
SITE = 100
WORDS = 5000


@dataclass(frozen=True, slots=True)
class ImpactWeb:
    graph: Graph
    """With every page downloaded; frontier pages have no links."""
    frontier: np.ndarray
    impact: np.ndarray
    overlap: Ranking


def impact_web(pages: int, rng: np.random.Generator, links_per_page: int = 12) -> ImpactWeb:
    """A web of so many pages; the numbers of pages say nothing about them."""
    frontier = rng.permutation(pages)[: int(FRONTIER_SHARE * pages)]
    is_frontier = np.zeros(pages, dtype=bool)
    is_frontier[frontier] = True
    downloaded = np.flatnonzero(~is_frontier)
    famous_new = rng.choice(frontier, max(1, round(IMPACT_IN_FRONTIER * frontier.size)), replace=False)
    famous_old = rng.choice(downloaded, max(1, round(IMPACT_IN_DOWNLOADED * downloaded.size)), replace=False)
    impact = np.zeros(pages)
    famous = np.concatenate([famous_new, famous_old])
    impact[famous] = np.ceil(10 * rng.pareto(1.2, famous.size) + 1)

    sources, targets = _plain_links(downloaded, pages, rng, links_per_page)
    planted = _planted_links(famous_old, famous_new, famous, rng)
    growing = GrowingGraph()
    for chunk in ((sources, targets), planted):
        growing.add_links(chunk[0].astype(np.int32), chunk[1].astype(np.int32))
    growing.mark_downloaded(np.arange(pages))
    return ImpactWeb(growing.graph(), frontier, impact, _overlap(pages, impact, rng))


def _plain_links(downloaded, pages, rng, links_per_page):
    """Heavy-tailed out-degrees; 70% of the links stay on the site, the rest go to popular pages anywhere."""
    degrees = np.minimum(rng.zipf(1.9, downloaded.size) + links_per_page // 2, 40 * links_per_page)
    sources = np.repeat(downloaded, degrees)
    sites = rng.permutation(pages)  # page -> place; pages of one site stand side by side
    page_at = np.argsort(sites)
    on_site = page_at[np.minimum(sites[sources] // SITE * SITE + rng.integers(0, SITE, sources.size), pages - 1)]
    popular = rng.permutation(pages)[(pages * rng.random(sources.size) ** 3).astype(np.int64)]
    return sources, np.where(rng.random(sources.size) < 0.7, on_site, popular)


def _planted_links(famous_old, famous_new, famous, rng):
    """Impactful pages link to impactful ones: to other downloaded ones, and to 56% of those in the frontier."""
    reached = famous_new[rng.random(famous_new.size) < LINKED_BY_IMPACT]
    sources = [rng.choice(famous_old, 2 * reached.size), rng.choice(famous_old, 3 * famous_old.size)]
    targets = [np.repeat(reached, 2), rng.choice(famous_old, 3 * famous_old.size)]
    return np.concatenate(sources), np.concatenate(targets)


def _overlap(pages, impact, rng):
    """Anchors of three words; half of the past queries use words of impactful pages, the others any."""
    words = (WORDS * rng.random((pages, 3)) ** 2).astype(np.int64)
    asked = words[rng.choice(np.flatnonzero(impact), 500)].ravel()
    anything = (WORDS * rng.random(1500) ** 2).astype(np.int64)
    overlap = Overlap(Queries((f"w{word}", 1.0) for word in np.concatenate([asked, anything]).tolist()))
    for page, anchor in enumerate(words.tolist()):
        overlap.add(page, " ".join(f"w{word}" for word in anchor))
    return overlap.ranking(pages)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", type=int, default=200_000)
    options.add_argument(
        "--splits", type=int, default=5, help="webs drawn per table are one, splits of its frontier many"
    )
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    web = impact_web(chosen.pages, stream(chosen.seed, "impact web"))
    question = Question(web.graph, [web.impact], None, web.overlap)
    comparison = judge_rankings(
        question, lambda rng: web.frontier, list(Method), RankingSettings(), splits=chosen.splits, seed=chosen.seed
    )
    rankings_table(comparison).show(150)


if __name__ == "__main__":
    main()
