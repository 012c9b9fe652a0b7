"""HACS on real recordings, read as an archive would have caught them: irregular captures, pages and sites.

    python tests/bench/archive_updates.py [--data ndr] [--data teletext] [--seed 0]

Two recordings: the texts of `ndrtext-html` (hourly for 25 days; e is a day), and of every fifth page of `teletext-2022`
(every eight hours for eleven months; e is a week). Of the snapshots of each page only some are kept, at random (ndr one
in six, teletext one in eight): those are its captures. An update is a text that **no earlier capture** of the page had.
A site is a station's block of ten pages (120 to 129); it is updated when any of its pages is.

At each t = e, 2e, … the captures of the last w give λ (maximum likelihood, updates halfway between captures) and τ; p ≥ θ is
predicted. Judged are the pages that were captured within (t, t + e]. θ runs from 0 to 1; θ̂ is the best by F1 on the
first half of the times, and all figures are those of the second half, against as many pages at random and against all.
Weighted P@K compares the first K of the ranking with the first K that changed, in the order of their changes; beside it
Last-Obs (longest since it was captured first), and pages in any order.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.recrawl.compare import Quality, quality
from forager.recrawl.poisson import chance_of_update, likeliest_rates
from tests.bench.kinds_quality import DATA

DAY = 86_400.0
THRESHOLDS = np.arange(21) / 20
WINDOWS = (1, 2, 4, 8, 12)


@dataclass(frozen=True, slots=True)
class Captures:
    """Captures of pages, or of sites, sorted by page and time."""

    pages: int
    page: IntArray
    when: FloatArray
    updated: BoolArray


@dataclass(frozen=True, slots=True)
class Foretold:
    """What was foretold at one time of the pages that were captured afterwards."""

    chance: FloatArray
    seen: FloatArray
    """When each was captured last."""
    changed: FloatArray
    """When the first update was seen; infinite if none was."""


def versions(name: str, part: int) -> tuple[list[str], IntArray, FloatArray, IntArray]:
    """Pages of a recording; and of each of its versions, by page and time: the page, the time, and the text."""
    table = parquet.read_table(DATA / name / "versions.parquet", columns=["url", "time", "text", "gone"])
    table = table.filter(compute.invert(table["gone"]))
    urls, texts = table["url"].combine_chunks().dictionary_encode(), table["text"].combine_chunks().dictionary_encode()
    page = urls.indices.to_numpy().astype(np.int64)
    when = table["time"].cast("int64").to_numpy() / 1000
    kept = page % part == 0
    order = np.lexsort((when[kept], page[kept]))
    text = texts.indices.to_numpy().astype(np.int64)
    return urls.dictionary.to_pylist(), page[kept][order], when[kept][order], text[kept][order]


def caught(page: IntArray, when: FloatArray, text: IntArray, one_in: int, rng: np.random.Generator) -> Captures:
    """Some of the snapshots of each page, and which of them show a text that no earlier one had."""
    snapshots = np.unique(when)
    begins = np.flatnonzero(np.append(True, page[1:] != page[:-1]))
    ends = np.append(begins[1:], len(page))
    pages, whens, updates = [], [], []
    for number, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        seen = snapshots[(snapshots >= when[begin]) & (rng.random(len(snapshots)) < 1 / one_in)]
        shown = text[begin + np.searchsorted(when[begin:end], seen, side="right") - 1]
        _, first = np.unique(shown, return_index=True)
        update = np.zeros(len(seen), dtype=np.bool_)
        update[first] = True
        update[:1] = False  # what stood there at the first capture is not new
        pages.append(np.full(len(seen), number))
        whens.append(seen)
        updates.append(update)
    return Captures(len(begins), np.concatenate(pages), np.concatenate(whens), np.concatenate(updates))


def as_sites(captures: Captures, site: IntArray) -> Captures:
    """The captures of all pages of a site as its own; `site` is the number of the site of each page."""
    own = site[captures.page]
    order = np.lexsort((captures.when, own))
    page, when, updated = own[order], captures.when[order], captures.updated[order]
    begins = np.flatnonzero(np.append(True, (page[1:] != page[:-1]) | (when[1:] != when[:-1])))
    return Captures(int(site.max()) + 1, page[begins], when[begins], np.logical_or.reduceat(updated, begins))


def foretell(captures: Captures, now: float, window: float, horizon: float) -> Foretold:
    """Chances of an update by `horizon` from now, by the captures in [now − window, now]."""
    known = (captures.when >= now - window) & (captures.when <= now)
    page, when, updated = captures.page[known], captures.when[known], captures.updated[known]
    later = np.flatnonzero(page[1:] == page[:-1]) + 1
    point = when.copy()
    point[later] = np.where(updated[later], (when[later - 1] + when[later]) / 2, when[later])
    rate = likeliest_rates(captures.pages, page[later], point[later] - point[later - 1], updated[later])
    since = np.full(captures.pages, now - window)
    np.maximum.at(since, page[later][updated[later]], point[later][updated[later]])
    ahead = (captures.when > now) & (captures.when <= now + horizon)
    changed = np.full(captures.pages, np.inf)
    news = ahead & captures.updated
    np.minimum.at(changed, captures.page[news], captures.when[news])
    judged = np.unique(captures.page[ahead])
    chance = chance_of_update(rate, since, now, horizon)
    seen = np.full(captures.pages, -np.inf)
    np.maximum.at(seen, page, when)
    return Foretold(chance[judged], seen[judged], changed[judged])


def judged(made: Sequence[Foretold], threshold: float) -> tuple[Quality, Quality, Quality]:
    """Micro, macro, and what as many pages at random would give (micro)."""
    counts = np.array(
        [
            (np.sum(one.chance >= threshold), np.sum((one.chance >= threshold) & (one.changed < np.inf)),
             np.sum(one.changed < np.inf), len(one.chance))
            for one in made
        ],
        dtype=np.float64,
    )  # fmt: skip
    predicted, right, relevant, pages = counts.T
    each = [quality(*row[:3]) for row in counts]
    macro = Quality(*np.mean([(one.precision, one.recall, one.f1) for one in each], axis=0))
    lucky = float((predicted * relevant / np.maximum(pages, 1)).sum())
    micro = quality(predicted.sum(), right.sum(), relevant.sum())
    return micro, macro, quality(predicted.sum(), lucky, relevant.sum())


def ordered_precision(ranking: IntArray, changed: FloatArray) -> float:
    """Weighted P@K: how many of the first K of a ranking are among the first K that changed, for all K that changed."""
    order = np.argsort(changed, kind="stable")
    order = order[changed[order] < np.inf]
    if not len(order):
        return float("nan")
    rank = np.empty(len(ranking), dtype=np.int64)
    rank[ranking] = np.arange(len(ranking))
    both = np.maximum(rank[order], np.arange(len(order)))  # from this K + 1 on it is in both
    ranks = np.arange(1, len(order) + 1)
    overlap = np.cumsum(np.bincount(both, minlength=len(ranking)))[: len(order)]
    weights = 1 / np.log2(ranks + 1)
    return float((overlap / ranks * weights).sum() / weights.sum())


def report(title: str, captures: Captures, horizon: float, seed: int) -> None:
    begin, end = captures.when.min(), captures.when.max()
    shown = np.bincount(captures.page, minlength=captures.pages)
    later = np.flatnonzero(captures.page[1:] == captures.page[:-1]) + 1
    lengths = captures.when[later] - captures.when[later - 1]
    rates = likeliest_rates(captures.pages, captures.page[later], lengths, captures.updated[later])
    spread = np.quantile(1 / rates[rates > 0] / DAY, [0.1, 0.5, 0.9])
    updates = f"{captures.updated.mean():.0%} updates; {np.mean(rates > 0):.0%} ever updated"
    print(f"{title}: {captures.pages} with {np.median(shown):.0f} captures each (median), {updates}")
    print(f"  1/λ in days: 10% {spread[0]:.2f}, median {spread[1]:.2f}, 90% {spread[2]:.1f}")
    print("    w    θ̂  micro P     R    F1  macro F1  random   all    P@K  Last-Obs   any")
    rng = np.random.default_rng(seed)
    for window in WINDOWS:
        times = np.arange(begin + window * horizon, end - horizon, horizon)
        if len(times) < 4:
            continue
        made = [foretell(captures, float(now), window * horizon, horizon) for now in times]
        learned, tested = made[: len(made) // 2], made[len(made) // 2 :]
        theta = max(THRESHOLDS, key=lambda one: judged(learned, float(one))[0].f1)
        micro, macro, lucky = judged(tested, float(theta))
        everything = judged(tested, -1.0)[0]
        orders = [(-one.chance, one.seen, rng.random(len(one.chance))) for one in tested]
        each = [
            [ordered_precision(np.argsort(key, kind="stable"), one.changed) for key in keys]
            for one, keys in zip(tested, orders, strict=True)
        ]
        precisions = np.nanmean(each, axis=0)
        print(
            f"  {window:3}{theta:6.2f}{micro.precision:9.3f}{micro.recall:6.2f}{micro.f1:6.3f}{macro.f1:10.3f}{lucky.f1:8.3f}"
            f"{everything.f1:6.3f}{precisions[0]:7.3f}{precisions[1]:10.3f}{precisions[2]:6.3f}",
            flush=True,
        )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", action="append", choices=("ndr", "teletext"))
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    for name, part, one_in, horizon in (("ndrtext-html", 1, 6, DAY), ("teletext-2022", 5, 8, 7 * DAY)):
        if chosen.data and not any(name.startswith(one) for one in chosen.data):
            continue
        urls, page, when, text = versions(name, part)
        captures = caught(page, when, text, one_in, np.random.default_rng(chosen.seed))
        report(f"{name}, pages", captures, horizon, chosen.seed)
        numbers = {url: place for place, url in enumerate(sorted({_block(urls[one]) for one in np.unique(page)}))}
        sites = np.array([numbers[_block(urls[one])] for one in np.unique(page)])
        report(f"{name}, sites", as_sites(captures, sites), horizon, chosen.seed)


def _block(url: str) -> str:
    """The block of ten pages to which a page belongs: the address without its last digit and sub-page."""
    station, _, rest = url.removesuffix(".htm").rpartition("teletext")
    digits = "".join(filter(str.isdigit, rest))
    return f"{station}{digits[:2]}"


if __name__ == "__main__":
    main()
