"""The comparison of recrawl policies as one HTML file with charts; it loads nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from forager.cli import hacs_view
from forager.cli.outputs import write_whole
from forager.recrawl.archive_judge import WindowJudged
from forager.recrawl.comparison import Figure, Judged, victories
from forager.recrawl.log import ChangeLog
from forager.reports import showing, svg
from forager.reports.page import page, pair, section, table

_GREEDY = "Found while young; delays in cycles. The oracle is greedy: it takes most documents now, not most in the end."
_LEGEND = 32
"""Characters of a policy below a chart: a learned function may be far longer than that."""
_FIGURES: tuple[tuple[Figure, str], ...] = (
    ("change_rate", "ChangeRate"),
    ("ndcg", "NDCG"),
    ("freshness", "Freshness"),
    ("age", "Age in cycles"),
)
_BOUGHT = "In each cycle {:.2%} of them are visited; ± is half the 95% interval over folds of pages."


def write_report(
    path: Path, name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]
) -> None:
    """Write the report to a file; `k` is the share of the pages visited per cycle, `windows` are those of HACS."""
    write_whole(path, report(name, log, judged, k, windows))


def report(name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]) -> str:
    """The report as a page."""
    size = f"{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.1%} of the pages change in a cycle."
    charts = [
        section(label, "Cycle by cycle, mean over folds.", _curves(judged, figure, label)) for figure, label in _FIGURES
    ]
    parts = [
        f"<p class=note>{size} {_BOUGHT.format(k)}</p>",
        section("Policies", "", _table(judged)),
        _found(judged),
        pair(*charts[:2]),
        pair(*charts[2:]),
        section("The top of the schedule", "ChangeRate of the first part of each cycle's schedule.", _top(judged, k)),
        _victories(judged, "change_rate", "ChangeRate"),
        _victories(judged, "freshness", "Freshness"),
        hacs_view.as_html(windows) if windows else "",
    ]
    return page(f"Recrawl policies on {showing.shown(name)}", parts)


def _table(judged: Sequence[Judged]) -> str:
    rows = [
        [_whole(one), *(f"{one.mean(figure):.4f} ± {one.interval(figure):.4f}" for figure, _ in _FIGURES)]
        for one in judged
    ]
    return table(["Policy", *(label for _, label in _FIGURES)], rows, text=(0,))


def _found(judged: Sequence[Judged]) -> str:
    """Coverage and delay of documents, where the log knows of documents."""
    rows = [
        [
            _whole(one),
            f"{found.coverage:.1%}",
            showing.figure(found.delay_mean, ".2f"),
            showing.figure(found.delay_median, ".1f"),
        ]
        for one in judged
        if (found := one.discovery) is not None
    ]
    heads = ["Policy", "Coverage", "Mean delay", "Median delay"]
    return section("New documents", _GREEDY, table(heads, rows, text=(0,))) if rows else ""


def _curves(judged: Sequence[Judged], figure: Figure, label: str) -> str:
    named = [
        (_short(one), [(float(cycle), value) for cycle, value in enumerate(one.curves(figure).mean(axis=0).tolist())])
        for one in judged
    ]
    return svg.lines(named, label, along="cycle after the warm-up", ticks=".0f")


def _short(one: Judged) -> str:
    """The name of a policy as it stands below a chart."""
    return one.name if len(one.name) <= _LEGEND else f"{one.name[: _LEGEND - 1]}…"


def _whole(one: Judged) -> str:
    """The name of a policy in a table."""
    return f"<span class=formula>{escape(one.name)}</span>"


def _top(judged: Sequence[Judged], k: float) -> str:
    shares = [100.0 * k * part / 5 for part in range(1, 6)]
    named = [(_short(one), list(zip(shares, one.top(), strict=True))) for one in judged]
    return svg.lines(named, "ChangeRate of the top of the schedule", along="% of all pages, best first")


def _victories(judged: Sequence[Judged], figure: Figure, label: str) -> str:
    rows = []
    for one in judged:
        results = [victories(one, other, figure) for other in judged]
        rows.append([_whole(one), *(f"{won}/{lost}" for won, lost in results)])
    note = "Cycles in which the policy of the row beats / loses to that of the column, paired t-test, p &lt; 0.05."
    heads = ["", *(_whole(one) for one in judged)]
    return section(f"Victories / losses by cycle: {label}", note, table(heads, rows, text=(0,)))
