"""`forager compare policies`: measures on a change log how well each policy decides when to revisit pages."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from forager.chance import stream
from forager.cli import policies_report as hacs_view
from forager.cli.change_logs import (
    Budget,
    ChangeOf,
    CycleLength,
    DocumentsPath,
    LogPath,
    PagesOf,
    Settled,
    cut_log,
    per_cycle,
    read_change_log,
)
from forager.cli.options import Quiet, check_place
from forager.cli.policies_report import write_policies_report
from forager.cli.terminal import ProgressLine, narrow_table
from forager.errors import InputError
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.compare import Judged, MakeScore, judge_policies, victories
from forager.recrawl.formula import parse
from forager.recrawl.function_file import function_from_text
from forager.recrawl.policies import Formula, named
from forager.recrawl.recrawl_settings import NAMES, RecrawlSettings
from forager.report.text import figure


def compare_policies(
    log: LogPath,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy name, a formula or a file; may be repeated.")
    ] = None,
    k: Budget = "5%",
    warmup: Annotated[int, typer.Option(min=1, help="Cycles in which every page is visited.")] = 2,
    folds: Annotated[
        int, typer.Option(min=1, help="Parts of the pages, judged apart; shows 95% intervals. At most one a page.")
    ] = 5,
    breadth: Annotated[float, typer.Option(min=0, max=1, help="Exponent of the policy `breadth`.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of chance: order of pages, policy rand.")] = 0,
    from_: Annotated[
        str | None,
        typer.Option("--from", help="Judge on what comes after: a share (50%), a cycle (28) or a time (2022-07-01)."),
    ] = None,
    cycle: CycleLength = "auto",
    documents: DocumentsPath = None,
    young: Annotated[float, typer.Option(min=1, help="Discovery: cycles until a document is no news.")] = 24.0,
    pages: PagesOf = "auto",
    change: ChangeOf = "auto",
    settled: Settled = "10%",
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
    output: Annotated[Path | None, typer.Option("-O", "--output", help="Also write a report with plots, HTML.")] = None,
) -> None:
    """Compare recrawl policies on a change log; the oracle, which knows what changed, is always included."""
    check_place(output)
    world = read_change_log(log, cycle=cycle, documents=documents, pages=pages, change=change, settled=settled)
    settings = RecrawlSettings(k=per_cycle(k, world), warmup=warmup, breadth=breadth)
    chosen = [(name, maker(name, settings)) for name in dict.fromkeys(policy or NAMES)]
    if from_ is not None:
        world = world.span(cut_log(world, from_, "--from"), world.cycles)
    if world.cycles <= warmup or not world.pages:
        wanted = f"--warmup {warmup} wants more cycles, and there must be a page"
        raise InputError(f"{log}: {world.pages} pages and {world.cycles} cycles are too few to compare on: {wanted}")
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
    windows = hacs_view.judge_windows(ordered, progress.show) if "hacs" in dict(chosen) else []
    progress.end()
    if output is not None:
        write_policies_report(output, log.name, world, judged, settings.k, windows)
    if json:
        foretold = {"hacs": hacs_view.hacs_json(windows)} if windows else {}
        typer.echo(jsonlib.dumps(policies_json(world, judged) | foretold))
        return
    tables = [policies_table(world, judged), *([documents_table(judged)] if world.documents is not None else [])]
    for table in [*tables, *([hacs_view.hacs_table(windows)] if windows else [])]:
        Console().print(table)


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
    """The comparison as JSON values."""
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
    return {
        "changerate": one.mean("change_rate"),
        "changerate_ci": one.interval("change_rate"),
        "ndcg": one.mean("ndcg"),
        "ndcg_ci": one.interval("ndcg"),
        "freshness": one.mean("freshness"),
        "freshness_ci": one.interval("freshness"),
        "age_cycles": one.mean("age"),
    }


def policies_table(log: ChangeLog, judged: list[Judged]) -> Table:
    """The comparison as a table; victories and losses count cycles by ChangeRate against the first policy."""
    first = escape(judged[0].name)
    table = narrow_table(
        f"{log.pages:,} pages, {log.cycles} cycles, {log.changed_share():.1%} of the pages change in a cycle",
        f"± 95% interval; age in cycles; v/l: cycles won and lost by ChangeRate against {first} (paired t-test)",
        ["policy", "ChangeRate", "NDCG", "freshness", "age", "v/l"],
    )
    for one in judged:
        values = figures(one)
        cells = [f"{values[name]:.4f} ± {values[name + '_ci']:.4f}" for name in ("changerate", "ndcg", "freshness")]
        won, lost = victories(one, judged[0], "change_rate")
        table.add_row(Text(one.name), *cells, f"{values['age_cycles']:.2f}", f"{won}/{lost}")
    return table


def documents_table(judged: list[Judged]) -> Table:
    """The documents that each policy finds, as a table."""
    caption = "found while young; delays in cycles; the oracle is greedy: most documents now, not most in the end"
    table = narrow_table("New documents", caption, ["policy", "coverage", "mean delay", "median delay"])
    for one in judged:
        if (found := one.discovery) is not None:
            delays = figure(found.delay_mean, ".2f"), figure(found.delay_median, ".1f")
            table.add_row(Text(one.name), f"{found.coverage:.1%}", *delays)
    return table
