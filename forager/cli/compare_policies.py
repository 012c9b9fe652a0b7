"""`forager compare policies`: measures on a change log how well each policy decides when to revisit pages.

The report is one HTML file with charts; it loads no other files. It also says how well HACS predicts which pages change.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from forager.chance import stream
from forager.cli import log_input
from forager.cli.options import Json, ProgressLine, Quiet, ReportTo, check_place, print_result, write_whole
from forager.errors import InputError
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import (
    THRESHOLDS,
    Figure,
    Judged,
    MakeScore,
    Quality,
    WindowJudged,
    judge_policies,
    judge_window,
    victories,
)
from forager.recrawl.formula import parse
from forager.recrawl.function_file import function_from_text
from forager.recrawl.policies import Formula, named
from forager.recrawl.recrawl_settings import NAMES, RecrawlSettings
from forager.report.charts import FigureTable, line_chart, page, pair, section
from forager.report.phrases import amount, figure, shown


def compare_policies(
    log: log_input.LogPath,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy name, a formula or a file; may be repeated.")
    ] = None,
    k: log_input.Budget = "5%",
    warmup: log_input.WarmUpCycles = 2,
    folds: Annotated[
        int, typer.Option(min=1, help="Parts of the pages, judged apart; shows 95% intervals. At most one a page.")
    ] = 5,
    breadth: Annotated[float, typer.Option(min=0, max=1, help="Exponent of the policy `breadth`.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of chance: order of pages, policy rand.")] = 0,
    from_: Annotated[
        str | None,
        typer.Option("--from", help="Judge on what comes after: a share (50%), a cycle (28) or a time (2022-07-01)."),
    ] = None,
    cycle: log_input.CycleLength = "auto",
    documents: log_input.DocumentsPath = None,
    young: Annotated[float, typer.Option(min=1, help="Discovery: cycles until a document is no news.")] = 24.0,
    pages: log_input.PagesOf = "auto",
    change: log_input.ChangeOf = "auto",
    settled: log_input.Settled = "10%",
    quiet: Quiet = False,
    json: Json = False,
    output: ReportTo = None,
) -> None:
    """Compare recrawl policies on a change log; the oracle, which knows what changed, is always included.

    --json prints log (pages, cycles, changed_share), and for each of `policies` and for `oracle` changerate, ndcg and
    freshness with half their 95% interval (_ci), age_cycles and, with documents, coverage, delay_mean and delay_median;
    `hacs` by window if that is among them.
    """
    check_place(output)
    world = log_input.read_change_log(
        log, cycle=cycle, documents=documents, pages=pages, change=change, settled=settled
    )
    settings = RecrawlSettings(k=log_input.per_cycle(k, world), warmup=warmup, breadth=breadth)
    chosen = [(name, maker(name, settings)) for name in dict.fromkeys(policy or NAMES)]
    if from_ is not None:
        world = world.span(log_input.cut_log(world, from_, "--from"), world.cycles)
    if world.cycles <= warmup or not world.pages:
        sizes = f"{amount(world.pages, 'page')} and {amount(world.cycles, 'cycle')}"
        wanted = f"--warm-up {warmup} wants more cycles, and there must be a page"
        raise InputError(f"{log}: {sizes} are too few to compare on: {wanted}")
    folds = min(folds, world.pages)
    places = {name: f"{place} of {len(chosen) + 1}" for place, name in enumerate([*dict(chosen), "oracle"], 1)}
    progress = ProgressLine(quiet=quiet)
    judged = judge_policies(
        world,
        chosen,
        settings,
        folds=folds,
        seed=seed,
        young=young,
        begin=lambda name: progress.show(f"policy {places[name]}: {name}"),
    )
    ordered = world.shuffled(stream(seed, "compare: order of pages"))
    windows = judge_windows(ordered, progress.show) if "hacs" in dict(chosen) else []
    progress.end()
    if output is not None:
        write_whole(output, policies_page(log.name, world, judged, settings.k, windows))
    if json:
        foretold = {"hacs": hacs_json(windows)} if windows else {}
        print_result(policies_json(world, judged) | foretold)
        return
    found = [documents_table(judged)] if world.documents is not None else []
    for table in (policies_table(world, judged), *found, *([hacs_table(windows)] if windows else [])):
        table.show()


def maker(name: str, settings: RecrawlSettings) -> MakeScore:
    """How to make the score function for a policy name, a file or a formula."""
    if name in NAMES:
        return lambda rng: named(name, rng, settings)
    if _is_file(name):
        try:
            learned = function_from_text(Path(name).read_text(encoding="utf-8"), name)
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "it is no text"
            raise InputError(f"{name}: cannot be read ({reason})") from problem
        return lambda rng: Formula.of(learned.tree, learned.rhythm)
    try:
        formula = Formula.of(parse(name))
    except InputError as problem:
        expected = f"expected one of {' '.join(NAMES)}, a formula such as t * X ({problem}), or a file"
        raise InputError(f"--policy: {expected}") from None
    return lambda rng: formula


def _is_file(name: str) -> bool:
    """Whether a policy is a file name; a name that ends in .json always is, even if the file does not exist."""
    try:
        return name.endswith(".json") or Path(name).is_file()
    except OSError:  # too long for a file name
        return False


def policies_json(log: ChangeLog, judged: list[Judged]) -> dict[str, object]:
    return {
        "log": {"pages": log.pages, "cycles": log.cycles, "changed_share": log.changed_share()},
        "policies": [{"name": one.name, **figures(one), **_discovered(one)} for one in judged[:-1]],
        "oracle": {**figures(judged[-1]), **_discovered(judged[-1])},
    }


def _discovered(one: Judged) -> dict[str, float | None]:
    """Figures about documents; no delay if none was found."""
    if (found := one.discovery) is None:
        return {}
    delays = {"delay_mean": found.delay_mean, "delay_median": found.delay_median}
    return {"coverage": found.coverage, **(delays if len(found.delays) else dict.fromkeys(delays))}


def figures(one: Judged) -> dict[str, float]:
    shares: tuple[Figure, ...] = ("change_rate", "ndcg", "freshness")
    pairs = {name.replace("_", ""): (one.mean(name), one.interval(name)) for name in shares}
    facts = {
        f"{name}{end}": value for name, pair in pairs.items() for end, value in zip(("", "_ci"), pair, strict=True)
    }
    return facts | {"age_cycles": one.mean("age")}


def policies_table(log: ChangeLog, judged: Sequence[Judged]) -> FigureTable:
    """The comparison as a table; victories and losses count cycles by ChangeRate against the first policy."""
    rows = []
    for one in judged:
        values = figures(one)
        cells = [f"{values[name]:.4f} ± {values[name + '_ci']:.4f}" for name in ("changerate", "ndcg", "freshness")]
        won, lost = victories(one, judged[0], "change_rate")
        rows.append([one.name, *cells, f"{values['age_cycles']:.2f}", f"{won}/{lost}"])
    return FigureTable(
        f"{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.1%} of the pages change in a cycle",
        f"± 95% interval; age in cycles; v/l: cycles won and lost by ChangeRate against {judged[0].name} (paired t-test)",
        ["policy", "ChangeRate", "NDCG", "freshness", "age", "v/l"],
        rows,
    )


def documents_table(judged: Sequence[Judged]) -> FigureTable:
    """The documents that each policy finds."""
    rows = [
        [one.name, f"{found.coverage:.1%}", figure(found.delay_mean, ".2f"), figure(found.delay_median, ".1f")]
        for one in judged
        if (found := one.discovery) is not None
    ]
    note = "found while young; delays in cycles; the oracle is greedy: most documents now, not most in the end"
    return FigureTable("New documents", note, ["policy", "coverage", "mean delay", "median delay"], rows)


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
    return [
        {
            "window": one.window,
            **{
                average: [
                    asdict(quality) | {"threshold": theta} for theta, quality in zip(THRESHOLDS, own, strict=True)
                ]
                for average, own in (("micro", one.micro), ("macro", one.macro), ("random_micro", one.random))
            },
            "brute_micro": asdict(one.brute),
            "weighted_precision": one.weighted_precision,
            "weighted_precision_last_obs": one.weighted_precision_last_seen,
            "weighted_precision_random": one.weighted_precision_random,
        }
        for one in judged
    ]


_ASKED = "HACS: which pages change in the next cycle?"


def hacs_table(judged: Sequence[WindowJudged]) -> FigureTable:
    """F1 only; the report and the JSON output have the rest."""
    note = "F1 (micro) by window in cycles and threshold θ, and of all pages; weighted P@K of HACS, Last-Obs, Random"
    heads = ["window", *(f"θ {threshold}" for threshold in THRESHOLDS), "all", "P@K", "Last-Obs", "Random"]
    rows = []
    for one in judged:
        values = [*(quality.f1 for quality in one.micro), one.brute.f1, *_precisions(one)]
        rows.append([str(one.window), *(f"{value:.3f}" for value in values)])
    return FigureTable(_ASKED, note, heads, rows)


def whole_hacs_table(judged: Sequence[WindowJudged]) -> FigureTable:
    """Precision, recall and F1."""
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
    return FigureTable(_ASKED, note, heads, rows)


def _shown(one: Quality) -> str:
    return f"{one.precision:.3f} / {one.recall:.3f} / {one.f1:.3f}"


def _precisions(one: WindowJudged) -> tuple[float, float, float]:
    """Weighted P@K of HACS, of Last-Obs and of a random order."""
    return one.weighted_precision, one.weighted_precision_last_seen, one.weighted_precision_random


_LEGEND = 32
"""Characters of a policy's name below a chart, because a learned function may be far longer."""
_FIGURES: tuple[tuple[Figure, str], ...] = (
    ("change_rate", "ChangeRate"),
    ("ndcg", "NDCG"),
    ("freshness", "Freshness"),
    ("age", "Age in cycles"),
)
_BOUGHT = "In each cycle {:.2%} of the pages are visited; ± is half the 95% interval over folds of pages."


def policies_page(
    name: str, log: ChangeLog, judged: Sequence[Judged], k: float, windows: Sequence[WindowJudged]
) -> str:
    charts = [
        section(label, "Cycle by cycle, mean over folds.", _curves(judged, figure, label)) for figure, label in _FIGURES
    ]
    parts = [
        f"<p class=note>{_BOUGHT.format(k)}</p>",
        policies_table(log, judged).html(),
        documents_table(judged).html() if log.documents is not None else "",
        pair(*charts[:2]),
        pair(*charts[2:]),
        _top(judged, k),
        _victories(judged, "change_rate", "ChangeRate").html(),
        _victories(judged, "freshness", "Freshness").html(),
        whole_hacs_table(windows).html() if windows else "",
    ]
    return page(f"Recrawl policies on {shown(name)}", parts)


def _curves(judged: Sequence[Judged], figure: Figure, label: str) -> str:
    named = [
        (_short(one), [(float(cycle), value) for cycle, value in enumerate(one.curves(figure).mean(axis=0).tolist())])
        for one in judged
    ]
    return line_chart(named, label, along="cycle after the warm-up", ticks=".0f")


def _short(one: Judged) -> str:
    """Name of a policy below a chart."""
    return one.name if len(one.name) <= _LEGEND else f"{one.name[: _LEGEND - 1]}…"


def _top(judged: Sequence[Judged], k: float) -> str:
    """ChangeRate and NDCG of the first part of each cycle's schedule, side by side."""
    shares = [100.0 * k * part / 5 for part in range(1, 6)]
    charts = []
    for place, label in enumerate(("ChangeRate", "NDCG")):
        named = [(_short(one), list(zip(shares, one.top()[place], strict=True))) for one in judged]
        title = f"{label} of the top of the schedule"
        drawn = line_chart(named, title, along="% of all pages, best first")
        charts.append(section(title, "The first part of what each cycle visits.", drawn))
    return pair(*charts)


def _victories(judged: Sequence[Judged], figure: Figure, label: str) -> FigureTable:
    rows = []
    for one in judged:
        results = [victories(one, other, figure) for other in judged]
        rows.append([one.name, *(f"{won}/{lost}" for won, lost in results)])
    note = "Cycles in which the policy of the row beats / loses to that of the column, paired t-test, p < 0.05."
    return FigureTable(f"Victories / losses by cycle: {label}", note, ["", *(one.name for one in judged)], rows)
