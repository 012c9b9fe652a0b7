"""How well HACS foretells which pages change in the next cycle: as plain values, for the terminal and for the report."""

from collections.abc import Callable, Sequence

from rich.table import Table

from forager.cli.narrow_table import narrow_table
from forager.recrawl.archive_judge import THRESHOLDS, Quality, WindowJudged, judge_window
from forager.recrawl.log import ChangeLog
from forager.reports.page import section, table

_WINDOWS = (1, 2, 4, 8, 12)


def judge_windows(log: ChangeLog, tell: Callable[[str], None]) -> list[WindowJudged]:
    """HACS by the captures of the last 1, 2, 4 … cycles, as far as the log is long enough; `tell` hears how far it is."""
    judged = []
    for window in _WINDOWS:
        if window + 1 < log.cycles:
            tell(f"hacs: window of {window} cycles")
            judged.append(judge_window(log, window))
    return judged


def machine_readable(judged: Sequence[WindowJudged]) -> list[dict[str, object]]:
    """One object for each window."""
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


def as_table(judged: Sequence[WindowJudged]) -> Table:
    """For people: F1 alone; the rest is in the report and in what machines read."""
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
    """A section of the report: precision, recall and F1 of everything."""
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
    return section("HACS: which pages change in the next cycle?", note, table(heads, rows, text=(0,)))


def _values(quality: Quality) -> dict[str, float]:
    return {"precision": quality.precision, "recall": quality.recall, "f1": quality.f1}


def _shown(one: Quality) -> str:
    return f"{one.precision:.3f} / {one.recall:.3f} / {one.f1:.3f}"


def _precisions(one: WindowJudged) -> tuple[float, float, float]:
    """Weighted P@K of HACS, of Last-Obs and of any order."""
    return one.weighted_precision, one.weighted_precision_last_seen, one.weighted_precision_random
