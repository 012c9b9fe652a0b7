"""The comparison of rankings as one HTML file, with charts as in the paper; it loads nothing from elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from forager.cli.outputs import write_whole
from forager.cli.rankings import CURVE, Comparison, Judged, interval
from forager.measures.impact import SHARES
from forager.reports import svg
from forager.reports.page import page, pair, section, table
from forager.reports.showing import shown


def write_report(path: Path, comparison: Comparison, title: str) -> None:
    """Write the report to a file."""
    write_whole(path, report(comparison, title))


def report(comparison: Comparison, title: str) -> str:
    """The report as a page."""
    judged = comparison.judged
    sizes = (
        f"{comparison.downloaded:,} pages downloaded, {comparison.frontier:,} in the frontier, "
        f"{comparison.links:,} links; "
        f"{len(comparison.omegas)} split(s), ω = {', '.join(map(str, comparison.omegas))}"
    )
    impact = _chart("Impact relative to the ideal", judged, lambda one: one.impact)
    rank = _chart("PageRank relative to the highest", judged, lambda one: one.page_rank)
    parts = [f"<p class=note>{sizes}</p>", _table(comparison), pair(impact, rank)]
    if any(one.click_rate for one in judged):
        parts.append(_chart("Click rate relative to the highest", judged, lambda one: one.click_rate))
    return page(f"Rankings of {shown(title)}", parts)


def _table(comparison: Comparison) -> str:
    rates = any(judged.click_rate for judged in comparison.judged)
    heads = ["First pages", *(f"{share:.1%}" for share in SHARES), "PageRank", *(["CTR"] if rates else [])]
    rows = [
        [
            str(judged.method),
            *(_cell(*judged.at(share)) for share in SHARES),
            _cell(*interval([curve[-1] for curve in judged.page_rank])),
            *([_cell(*interval([curve[-1] for curve in judged.click_rate]))] if rates else []),
        ]
        for judged in comparison.judged
    ]
    note = (
        "Impact of the first pages of the ranked frontier relative to the ideal order; mean PageRank and click rate of the "
        "first 10% relative to the highest possible. With several splits ± is the 95% interval."
    )
    return section("Rankings", note, table(heads, rows, text=(0,)))


def _cell(mean: float, half: float) -> str:
    return f"{mean:.1%}{f' ± {100 * half:.1f}' if half else ''}"


def _chart(title: str, methods: Sequence[Judged], curves: Callable[[Judged], list[list[float]]]) -> str:
    named = [
        (str(judged.method), list(zip(CURVE, np.mean(curves(judged), axis=0).tolist(), strict=True)))
        for judged in methods
        if curves(judged)
    ]
    drawn = svg.lines(named, title, along="share of the frontier fetched", form=".1%", ticks=".1%", zero=True)
    return section(title, "", drawn)
