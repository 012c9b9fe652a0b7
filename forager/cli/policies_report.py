"""Report of `compare policies` as one HTML file with charts; it loads no other files.

It also computes how well HACS predicts which pages change in the next cycle, for terminal and report.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from rich.table import Table

from forager.cli.options import write_whole
from forager.cli.terminal import narrow_table
from forager.recrawl.archive_eval import THRESHOLDS, Quality, WindowJudged, judge_window
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import Figure, Judged, victories
from forager.report import charts as svg
from forager.report import text as showing
from forager.report.charts import html_table, page, pair, section

_WINDOWS = (1, 2, 4, 8, 12)


def judge_windows(log: ChangeLog, tell: Callable[[str], None]) -> list[WindowJudged]:
    """Judges HACS with the captures of the last 1, 2, 4 … cycles, as far as the log allows; `tell` receives progress."""
    judged = []
    for window in _WINDOWS:
        if window + 1 < log.cycles:
            tell(f"hacs: window of {window} cycles")
            judged.append(judge_window(log, window))
    return judged


def hacs_json(judged: Sequence[WindowJudged]) -> list[dict[str, object]]:
    """One JSON object per window."""
    return [
        {
            "window": one.window,
            **{
                average: [
                    _values(quality) | {"threshold": theta} for theta, quality in zip(THRESHOLDS, own, strict=True)
                ]
                for average, own in (("micro", one.micro), ("macro", one.macro), ("random_micro", one.random))
            },
            "brute_micro": _values(one.brute),
            "weighted_precision": one.weighted_precision,
            "weighted_precision_last_obs": one.weighted_precision_last_seen,
            "weighted_precision_random": one.weighted_precision_random,
        }
        for one in judged
    ]


def hacs_table(judged: Sequence[WindowJudged]) -> Table:
    """Table of F1 only; the report and the JSON output have the rest."""
    narrow = narrow_table(
        "HACS: which pages change in the next cycle?",
        "F1 (micro) by window in cycles and threshold θ, and of all pages; weighted P@K of HACS, Last-Obs, Random",
        ["window", *(f"θ {threshold}" for threshold in THRESHOLDS), "all", "P@K", "Last-Obs", "Random"],
    )
    for one in judged:
        values = [*(quality.f1 for quality in one.micro), one.brute.f1, *_precisions(one)]
        narrow.add_row(str(one.window), *(f"{value:.3f}" for value in values))
    return narrow


def as_html(judged: Sequence[WindowJudged]) -> str:
    """Section of the report with precision, recall and F1."""
    rows = []
    for one in judged:
        precisions = " / ".join(f"{value:.3f}" for value in _precisions(one))
        rows += [
            [f"{one.window} micro", *map(_shown, one.micro), _shown(one.brute), precisions],
            ["macro", *map(_shown, one.macro), "", ""],
            ["random, micro", *map(_shown, one.random), "", ""],
        ]
    heads = ["Window", *(f"θ = {threshold}" for threshold in THRESHOLDS), "Brute force, micro", "Weighted P@K"]
    note = (
        "Precision / recall / F1 by window (in cycles) and threshold; random: as many pages, drawn at random; brute force: "
        "all pages. Weighted P@K of HACS, Last-Obs and Random."
    )
    return section("HACS: which pages change in the next cycle?", note, html_table(heads, rows, text=(0,)))


def _values(quality: Quality) -> dict[str, float]:
    return {"precision": quality.precision, "recall": quality.recall, "f1": quality.f1}


def _shown(one: Quality) -> str:
    return f"{one.precision:.3f} / {one.recall:.3f} / {one.f1:.3f}"


def _precisions(one: WindowJudged) -> tuple[float, float, float]:
    """Weighted P@K of HACS, of Last-Obs and of a random order."""
    return one.weighted_precision, one.weighted_precision_last_seen, one.weighted_precision_random


_GREEDY = "Found while young; delays in cycles. The oracle is greedy: it takes most documents now, not most in the end."
_LEGEND = 32
"""Characters of a policy's name below a chart, because a learned function may be far longer."""
_FIGURES: tuple[tuple[Figure, str], ...] = (
    ("change_rate", "ChangeRate"),
    ("ndcg", "NDCG"),
    ("freshness", "Freshness"),
    ("age", "Age in cycles"),
)
_BOUGHT = "In each cycle {:.2%} of them are visited; ± is half the 95% interval over folds of pages."


def write_policies_report(
    path: Path, name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]
) -> None:
    """Writes the report to a file; `k` is the share of pages visited per cycle, `windows` are those of HACS."""
    write_whole(path, policies_page(name, log, judged, k, windows))


def policies_page(
    name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]
) -> str:
    """The report as an HTML page."""
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
        as_html(windows) if windows else "",
    ]
    return page(f"Recrawl policies on {showing.shown(name)}", parts)


def _table(judged: Sequence[Judged]) -> str:
    rows = [
        [_whole(one), *(f"{one.mean(figure):.4f} ± {one.interval(figure):.4f}" for figure, _ in _FIGURES)]
        for one in judged
    ]
    return html_table(["Policy", *(label for _, label in _FIGURES)], rows, text=(0,))


def _found(judged: Sequence[Judged]) -> str:
    """Coverage and delay of documents, if the log has documents."""
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
    return section("New documents", _GREEDY, html_table(heads, rows, text=(0,))) if rows else ""


def _curves(judged: Sequence[Judged], figure: Figure, label: str) -> str:
    named = [
        (_short(one), [(float(cycle), value) for cycle, value in enumerate(one.curves(figure).mean(axis=0).tolist())])
        for one in judged
    ]
    return svg.lines(named, label, along="cycle after the warm-up", ticks=".0f")


def _short(one: Judged) -> str:
    """Name of a policy below a chart."""
    return one.name if len(one.name) <= _LEGEND else f"{one.name[: _LEGEND - 1]}…"


def _whole(one: Judged) -> str:
    """Name of a policy in a table."""
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
    return section(f"Victories / losses by cycle: {label}", note, html_table(heads, rows, text=(0,)))
