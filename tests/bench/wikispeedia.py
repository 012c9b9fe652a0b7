"""Rankings of the frontier on Wikispeedia: the links of a small Wikipedia, and what people clicked in a game on it.

    python tests/bench/wikispeedia.py [--splits 5] [--gamma 1] [--regression tree]

The folder `../shared/data/wikispeedia` (or `$FORAGER_DATA/wikispeedia`) holds SNAP's files, in any sub-folder:

- `links.tsv`: source and target, percent-encoded names, lines with # are comments;
- `paths_finished.tsv`, `paths_unfinished.tsv`: games; the fourth column is the path, names separated by `;`, with `<` for a
  click on Back; of unfinished games the fifth is the target. Impact of a page: how often players clicked on a link to it.
  Queries: the targets of all games, which the players were looking for;
- `clicks.csv` (url, clicks) in place of `paths_finished.tsv`, which is hard to come by; queries are then the targets of
  unfinished games alone;
- `*.htm` pages (`wpcd/wp/…`) or `anchors.csv.gz` (source, target, anchor), if there: the words of links are the anchors;
  without them Q-Overlap and Q-Hybrid are left out.

Click-through rate: how often players clicked on a link to a page for each time that one was shown to them. Nobody counted that;
here every click on a page shows all its links once, and starts of games, which are no clicks, show none.

γ is 1, as the paper has it for Wikipedia, unless told otherwise. Impact of held-out pages comes from the same games as that
of the others.
"""

import argparse
import csv
import gzip
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from forager.arrays import FloatArray
from forager.cli.rankings import Question, judge_rankings, rankings_table
from forager.graph.figures import first_pages
from forager.graph.graph import EdgeList, Graph, Names
from forager.graph.learned import LearnedSettings, Regression
from forager.graph.methods import Method, Overlap, Queries, RankingSettings
from forager.graph.walks import Ranking, WalkSettings

BACK = "<"
_LINK = re.compile(r'<a\b[^>]*?\bhref="([^"#]+?)\.html?(?:#[^"]*)?"[^>]*>(.*?)</a>', re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def data_folder() -> Path:
    shared = Path(__file__).parents[2].parent / "shared" / "data"
    return Path(os.environ.get("FORAGER_DATA", shared)) / "wikispeedia"


def why_not(folder: Path) -> str:
    """Why it cannot be read; empty if it can."""
    wanted = (("links.tsv",), ("paths_finished.tsv", "clicks.csv"))
    missing = [" or ".join(names) for names in wanted if not any(one for name in names for one in folder.rglob(name))]
    return f"{folder}: has no {' and no '.join(missing)}" if missing else ""


def read_links(folder: Path) -> EdgeList:
    names = Names()
    edges = EdgeList(names)
    pairs = [row[:2] for row in _rows(folder, "links.tsv")]
    sources, targets = (names.number([_name(pair[end]) for pair in pairs]) for end in (0, 1))
    edges.add(sources, targets)
    return edges


def read_games(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """How often each page was clicked, and how often it was the target."""
    clicks: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for file in ("paths_finished.tsv", "paths_unfinished.tsv"):
        for row in _rows(folder, file):
            path = row[3].split(";")
            clicks.update(_name(page) for page in path[1:] if page != BACK)
            targets[_name(row[4] if file == "paths_unfinished.tsv" else path[-1])] += 1
    counted = [] if any(folder.rglob("paths_finished.tsv")) else sorted(folder.rglob("clicks.csv"))
    for table in counted:
        with table.open(encoding="utf-8", newline="") as rows:
            clicks = Counter({row["url"]: int(row["clicks"]) for row in csv.DictReader(rows)})
    return clicks, targets


def read_overlap(folder: Path, names: Names, targets: Counter[str], pages: int) -> Ranking | None:
    """Q-Overlap of the words of links in the HTML pages, or in a table; None if there is neither."""
    overlap = Overlap(Queries((name.replace("_", " "), float(count)) for name, count in targets.items()))
    files = sorted([*folder.rglob("*.htm"), *folder.rglob("*.html")])
    for file in files:
        for link, words in _LINK.findall(file.read_text(encoding="utf-8", errors="replace")):
            (number,) = names.find([_name(link.rsplit("/", 1)[-1])])
            if number >= 0:
                overlap.add(int(number), _TAG.sub(" ", words))
    tables = [] if files else sorted(folder.rglob("anchors.csv.gz"))
    for table in tables:
        with gzip.open(table, "rt", encoding="utf-8", newline="") as rows:
            read = [(row["target"], row["anchor"]) for row in csv.DictReader(rows)]
        for number, (_, anchor) in zip(names.find([target for target, _ in read]).tolist(), read, strict=True):
            if number >= 0:
                overlap.add(number, anchor)
    return overlap.ranking(pages) if files or tables else None


def question(folder: Path) -> tuple[Question, np.ndarray]:
    """What the rankings are asked, and the pages from which a frontier is drawn."""
    edges = read_links(folder)
    assert edges.names is not None
    pages = np.arange(len(edges.names))
    edges.growing.mark_downloaded(pages)
    graph = edges.growing.graph()
    clicks, targets = read_games(folder)
    impact = np.array([float(clicks[edges.names.name(page)]) for page in pages.tolist()])
    overlap = read_overlap(folder, edges.names, targets, graph.pages)
    return Question(graph, [impact], click_rates(graph, impact), overlap), pages


def click_rates(graph: Graph, clicks: FloatArray) -> FloatArray:
    """Clicks on a page per time that a link to it was shown."""
    targets = np.repeat(np.arange(graph.pages), graph.in_degree)
    shown = np.bincount(targets, weights=clicks[graph.into.indices], minlength=graph.pages)
    return np.divide(clicks, shown, out=np.zeros(graph.pages), where=shown > 0)


def impact_of_frontier(asked: Question, frontier: np.ndarray) -> list[float]:
    """Its share of all impact; what frontier pages earn for each link to them, and for each page that links to them.

    Both from the half of the downloaded pages with more impact and from the other: the paper sets pages that were clicked
    against those that were not, and here nearly all were.
    """
    impact, graph = asked.impacts[0], asked.graph
    outside = np.zeros(graph.pages, dtype=bool)
    outside[frontier] = True
    targets, sources = np.repeat(np.arange(graph.pages), graph.in_degree), graph.into.indices
    leading = outside[targets] & ~outside[sources]
    more = impact > np.median(impact[~outside])
    found = [float(impact[frontier].sum() / impact.sum())]
    for half in (more, ~more):
        earned = impact[targets[leading & half[sources]]]
        found += [float(earned.mean()), float(earned.sum() / np.count_nonzero(half & ~outside))]
    return found


def _rows(folder: Path, name: str) -> Iterator[list[str]]:
    for path in sorted(folder.rglob(name)):
        with path.open(encoding="utf-8") as file:
            yield from (line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#"))


def _name(encoded: str) -> str:
    return unquote(encoded)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--folder", type=Path, default=data_folder())
    options.add_argument("--splits", type=int, default=5)
    options.add_argument("--gamma", type=float, default=1.0)
    options.add_argument("--regression", type=Regression, default=Regression.TREE, help="of ML: tree, online, boosting")
    options.add_argument("--share", type=float, default=0.35, help="of the pages that are frontier")
    chosen = options.parse_args()
    reason = why_not(chosen.folder)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(0)
    asked, pages = question(chosen.folder)
    methods = [method for method in Method if asked.overlap is not None or not method.asks_queries]
    frontier = first_pages(chosen.share, pages.size)
    comparison = judge_rankings(
        asked,
        lambda rng: rng.choice(pages, frontier, replace=False),
        methods,
        RankingSettings(WalkSettings(gamma=chosen.gamma), learned=LearnedSettings(regression=chosen.regression)),
        splits=chosen.splits,
    )
    print(f"{pages.size:,} pages, {asked.graph.links:,} links, {asked.impacts[0].sum():,.0f} clicks")
    drawn = [np.random.default_rng(seed).choice(pages, frontier, replace=False) for seed in range(chosen.splits)]
    ratio, link, page, other_link, other_page = np.mean([impact_of_frontier(asked, one) for one in drawn], axis=0)
    print(
        f"frontier: {ratio:.1%} of all clicks; behind a link of a page of the more clicked half {link:.0f}, of the other"
    )
    print(f"{other_link:.0f}; behind all links of such a page {page:,.0f} and {other_page:,.0f}")
    rankings_table(comparison).show(140)


if __name__ == "__main__":
    main()
