"""`forager compare fleets`: compares kinds of fleets on one recording with equal budgets and the same random seeds.

The report is one HTML file with charts; it loads no other files.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from forager.chance import stream
from forager.cli import options
from forager.cli.compilation import prepare_replays
from forager.core.parameters import ForagerKind
from forager.graph.figures import GraphFigures, graph_figures
from forager.library.playback import seeds_of, tape_folder, usual_budget
from forager.report.charts import FigureTable, line_chart, page, pair, section
from forager.report.phrases import figure, json_number, shown, span
from forager.settings import Settings
from forager.simulation.fleet_rows import FIGURES, FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from forager.tape.cut import distinct_links, rewired
from forager.tape.tape import Tape, load_tape, save

_CURVES = (("efficiency", "New documents per download (3 h windows)"), ("freshness", "Freshness"))

_MANY = 1000.0
"""Numbers from here on are shown without decimals."""
_TINY = 1e-12
"""A spread below this share of the mean is a rounding error of adding equal numbers."""


def fleets_page(tape: Tape, graphs: Sequence[GraphFigures], rows: Sequence[FleetRow]) -> str:
    days = (tape.end - tape.start) / 86_400
    size = f"{tape.pages:,} pages, {tape.versions:,} versions, {tape.links.size:,} links, {days:.1f} days."
    parts = [f"<p class=note>{size}</p>", graphs_table(graphs).html()]
    for group in _groups(rows):
        table = fleets_table(group, (name for name in FIGURES if name != "lasting"))  # lasting_coverage, as a goal
        charts = (section(label, table.title, _chart(group, name, label)) for name, label in _CURVES)
        parts += [table.html(), pair(*charts)]
    return page(f"Fleets on {shown(tape.origin)}", parts)


def graphs_table(graphs: Sequence[GraphFigures]) -> FigureTable:
    """The graph as recorded and, if there is one, rewired."""
    forms = {"clustering": ".4f", "mean_path": ".3f", "in_exponent": ".2f", "out_exponent": ".2f"}
    rows = [
        [name, f"{one.pages:,}", f"{one.links:,}", *(figure(getattr(one, key), form) for key, form in forms.items())]
        for name, one in zip(("as recorded", "rewired"), graphs, strict=False)
    ]
    heads = ["graph", "pages", "links", "clustering", "mean path", "in", "out"]
    return FigureTable("Graph", "in, out: exponents of the power laws of the degrees", heads, rows)


def fleets_table(group: Sequence[FleetRow], names: Iterable[str]) -> FigureTable:
    """Fleets of one budget and graph; a * marks what differs from the first of them."""
    first = group[0]
    title = f"{first.budget:g} downloads per hour{', rewired' if first.rewired else ''}"
    body = [[name, *(told_figure(row, first, name) for row in group)] for name in names]
    return FigureTable(title, spread_and_mark(group), ["figure", *(row.kind for row in group)], body)


def _groups(rows: Sequence[FleetRow]) -> list[list[FleetRow]]:
    """The fleets of each budget and graph."""
    groups: dict[tuple[float, bool], list[FleetRow]] = {}
    for row in rows:
        groups.setdefault((row.budget, row.rewired), []).append(row)
    return list(groups.values())


def spread_and_mark(rows: Sequence[FleetRow]) -> str:
    """Explains ± and *."""
    count = len(rows[0].repeats)
    if count == 1:
        return "one repeat: no spread, no tests"
    return f"mean ± standard deviation over {count} repeats; * differs from {rows[0].kind} (paired t-test, p < 0.05)"


def told_figure(row: FleetRow, first: FleetRow, name: str) -> str:
    """A figure with its spread; a * if it differs from that of the first fleet (paired t-test, p < 0.05)."""
    mean, spread = row.mean(name), row.sd(name)
    mark = " *" if row is not first and paired(row, first, name)[1] < 0.05 else ""
    many = abs(mean) >= _MANY
    spread = 0.0 if spread < _TINY * abs(mean) else spread
    shown = "" if np.isnan(spread) else f" ± {format(spread, ',.0f' if many or spread >= 100 else '.2g')}"
    return f"{figure(mean, ',.0f' if many else '.4g')}{shown}{mark}"


def _chart(rows: Sequence[FleetRow], name: str, label: str) -> str:
    named = [(row.kind, list(zip(*row.curve(name), strict=True))) for row in rows]
    return line_chart(named, label, along="hours")


SHOWN = (
    "downloaded",
    "sent",
    "relevant",
    "found_urls",
    "coverage",
    "lasting_coverage",
    "late_hours",
    "delay_median_s",
    "requests_per_story",
    "download_efficiency",
    "sent_efficiency",
    "relative_found_url",
    "freshness",
    "age_hours",
    "unrecorded_share",
)
"""Figures shown in the table."""
_DOUBTFUL = 0.2
"""Above this share of unrecorded downloads, a comparison means little (ours)."""


def compare_fleets(
    tape: options.TapePath,
    kind: Annotated[
        list[ForagerKind] | None, typer.Option(help="Kind of a fleet; may be repeated; default: all.")
    ] = None,
    budget: Annotated[
        list[str] | None, typer.Option(help="Downloads, such as 60/h, or recorded; may be repeated.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Replays of each fleet, each with its own luck.")] = 3,
    preset: options.Preset = "",
    also_rewired: Annotated[bool, typer.Option("--rewired", help="Also on the graph with its links shuffled.")] = False,
    warm_up: Annotated[
        str | None,
        typer.Option(help="News of this first time does not count; default: 12h, or a quarter of a shorter recording."),
    ] = None,
    processes: options.Processes = 0,
    output: options.ReportTo = None,
    config: options.Config = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare kinds of fleets on a recording: what they find, how soon, at what cost.

    --json prints tape, preset, graph (with --rewired also graph_rewired), warm_up_s, for each of `fleets` its kind, budget,
    repeats and all figures with their standard deviation (_sd), and in `paired` the difference of each figure to the first
    fleet, with p.
    """
    options.check_place(output)
    settings = options.settings_for(config, set_, preset=preset)
    kinds = list(dict.fromkeys(kind or list(ForagerKind)))
    with tape_folder(tape) as folder, _worlds(folder, settings.seed, also_rewired) as worlds:
        recorded = load_tape(folder)
        budgets = [options.per_hour(text, recorded) for text in budget or ()] or [usual_budget(recorded)]
        seeds, warm = seeds_of(recorded, ()), options.warm_up_of(warm_up, recorded.end - recorded.start)
        jobs = [
            Job(world, each, per, settings.seed + repeat, seeds, settings, warm)
            for world in worlds
            for per in budgets
            for each in kinds
            for repeat in range(repeats)
        ]
        prepare_replays(jobs, quiet=quiet)
        line = options.ProgressLine(quiet=quiet)
        played = play_all(jobs, workers=processes, done=lambda count: line.show(f"{count} of {len(jobs)} replays"))
        line.end()
        rows = rows_of(played, repeats, lambda one: one.job.tape != folder)
        graphs = [graph_of(load_tape(world, check=False), settings.seed) for world in worlds]
    if output is not None:
        options.write_whole(output, fleets_page(recorded, graphs, rows))
    if json:
        options.print_result(fleets_json(recorded, graphs, rows, settings) | {"warm_up_s": warm})
        return
    typer.echo(f"{repr(recorded)[1:-1]}. News of the first {span(warm)} does not count.")
    for table in (graphs_table(graphs), *(fleets_table(group, SHOWN) for group in _groups(rows))):
        table.show()
    if warning := doubt(rows):
        typer.echo(warning)


@contextmanager
def _worlds(folder: Path, seed: int, also_rewired: bool) -> Iterator[list[Path]]:
    """The tape and, if wanted, a rewired copy that is deleted afterwards."""
    if not also_rewired:
        yield [folder]
        return
    with TemporaryDirectory(prefix="forager-rewired-") as twin:
        save(rewired(load_tape(folder, check=False), stream(seed, "rewiring")), Path(twin))
        yield [folder, Path(twin)]


def graph_of(tape: Tape, seed: int) -> GraphFigures:
    """Figures of the graph of all links that were ever on the tape."""
    return graph_figures(*distinct_links(tape), stream(seed, "mean path"))


def fleets_json(
    tape: Tape, graphs: Sequence[GraphFigures], rows: Sequence[FleetRow], settings: Settings
) -> dict[str, Any]:
    """The comparison as JSON values; null where there is no figure."""
    shapes = dict(zip(("graph", "graph_rewired"), (_plain(asdict(one)) for one in graphs), strict=False))
    facts = {"tape": options.tape_facts(tape), "preset": settings.preset, **shapes}
    return facts | {"fleets": [_fleet(row) for row in rows], "paired": list(_pairs(rows))}


def _fleet(row: FleetRow) -> dict[str, Any]:
    head = {"kind": row.kind, "rewired": row.rewired, "budget": row.budget, "repeats": len(row.repeats)}
    means, spreads = {name: row.mean(name) for name in FIGURES}, {f"{name}_sd": row.sd(name) for name in FIGURES}
    return head | _plain(means | spreads)


def _pairs(rows: Sequence[FleetRow]) -> Iterator[dict[str, Any]]:
    """Compares every fleet with the first of the same budget and graph."""
    for first, row in ((group[0], row) for group in _groups(rows) for row in group[1:]):
        differences = {name: paired(row, first, name) for name in FIGURES}
        yield {"kind": row.kind, "against": first.kind, "rewired": row.rewired, "budget": row.budget} | {
            name: _plain({"difference": mean, "p": p}) for name, (mean, p) in differences.items()
        }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Replaces nan, which JSON lacks, by null."""
    return {name: json_number(value) for name, value in values.items()}


def doubt(rows: Sequence[FleetRow]) -> str:
    """Warns if no document appeared, or if fleets requested many pages that were not recorded; empty otherwise."""
    if not any(played.figures.delay.stories for row in rows for played in row.repeats):
        return "No document appeared on the tape that could be found: `forager import --identity` says what is one."
    shares = [(row.kind, row.mean("unrecorded_share")) for row in rows]
    much = dict.fromkeys(f"{kind} {share:.0%}" for kind, share in shares if share > _DOUBTFUL)
    if not much:
        return ""
    asked = f"{', '.join(much)} of the downloads"
    return f"Much was asked for that was not recorded then ({asked}): this comparison means little."
