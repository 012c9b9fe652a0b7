"""What a tuning writes: a report as one HTML file, with the search and which settings mattered, and tuned.yaml.

tuned.yaml holds the settings that differ, with what they gained, on which recording, and when.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import yaml

from forager.report import charts as svg
from forager.report.charts import FigureTable, Marks, page, pair, section, table_section, tiles
from forager.report.phrases import shown, shown_moment
from forager.settings import Settings, plain, setting_leaves, setting_value
from forager.tuning.goals import Goal
from forager.tuning.held_out import FIGURES, HeldOutResult, importances
from forager.tuning.search import TuningOutcome
from forager.tuning.space import READ_BY_REPLAYS, OneOf, Plain, Point
from forager.tuning.study import Trial

SLICES, SHARES = 6, 15
"""Settings whose slices, and whose importance, are drawn (ours)."""


def tuning_report(outcome: TuningOutcome, now: float) -> str:
    tuning, trials = outcome.tuning, outcome.tuning.study.trials()
    tape, goals = tuning.tape, outcome.judged.goals
    matter = importances(tuning.study)
    head = (
        f"<p class=note>{escape(shown(tape.origin))}, {shown_moment(tape.start)} to {shown_moment(tape.end)} UTC; "
        f"{tuning.wishes.budget:g} downloads per hour; {tuning.wishes.held_out:.0%} held out; made {shown_moment(now)} UTC.</p>"
    )
    held_out = held_out_table(outcome.judged, tuning.judged).html()
    parts = [head, _headline(outcome, trials), held_out, _curves(outcome.judged), _changes(outcome)]
    parts += [_history(trials, goal, place, tuning.start[place]) for place, goal in enumerate(goals)]
    if len(goals) > 1:
        parts.append(_front(trials, goals, outcome))
    if matter:
        parts += [_importance(matter, goals[0]), _slices(trials, list(matter)[:SLICES], outcome)]
    return page(f"Tuning on {shown(tape.origin)}", parts)


def _headline(outcome: TuningOutcome, trials: Sequence[Trial]) -> str:
    judged = outcome.judged
    cells = [
        ("Trials", f"{len(trials)}", f"{sum(one.pruned for one in trials)} given up early"),
        ("Verdict", "better" if judged.better else "no better", "on the held-out part, beyond the 95% interval"),
        ("Settings changed", f"{len(outcome.changes)}", f"{len(outcome.chosen.taken_back)} taken back"),
    ]
    for goal in judged.goals:
        old, new = judged.before.mean(goal.figure), judged.after.mean(goal.figure)
        cells.append((goal.name, f"{new:.4g}", f"{goal.figure}, {old:.4g} before"))
    return tiles(cells)


def held_out_table(judged: HeldOutResult, times: int) -> FigureTable:
    """Old against new settings on the held-out part, which was used `times` times."""
    sought = {goal.figure for goal in judged.goals}
    rows = [
        [
            f"{figure}{' (sought)' if figure in sought else ''}",
            f"{judged.before.mean(figure):.4g}",
            f"{judged.after.mean(figure):.4g}",
            str(judged.difference(figure)),
        ]
        for figure in FIGURES
    ]
    note = f"Means over {len(judged.before.repeats)} seeds; after − before on the same luck, with its 95% interval."
    if times > 1:
        note += f" The held-out part was looked at {times} times: this is no fresh evidence."
    return FigureTable("Old against new on the held-out part", note, ["Figure", "Before", "After", "Difference"], rows)


def _curves(judged: HeldOutResult) -> str:
    def drawn(figure: str, label: str) -> str:
        sides = (("before", judged.before), ("after", judged.after))
        named = [(name, list(zip(*row.curve(figure), strict=True))) for name, row in sides]
        return svg.line_chart(named, label, along="hours of the held-out part")

    note = "Means over seeds, windows of three hours."
    return pair(
        section("Stories per download", note, drawn("efficiency", "Stories per download over time")),
        section("Freshness", "The same for the freshness of what is held.", drawn("freshness", "Freshness over time")),
    )


def _changes(outcome: TuningOutcome) -> str:
    chosen, base = outcome.chosen, outcome.tuning.base
    rows = [
        [escape(key), _text(plain(setting_value(base, key))), _text(value)] for key, value in chosen.changes.items()
    ]
    kept = "" if outcome.judged.better else " They are not borne out by the held-out part, so nothing was written."
    note = f"Trial {chosen.trial}, without the {len(chosen.taken_back)} changes that made no difference.{kept}"
    nothing = "Nothing that was tried is better than the settings as they were."
    return table_section("Changes", ["Setting", "Was", "Tuned"], rows, (0, 1, 2), note=note, empty=nothing)


def _history(trials: Sequence[Trial], goal: Goal, place: int, start: float) -> str:
    done = [(float(one.ticket), one.values[place]) for one in trials if not one.pruned]
    lost = [(float(one.ticket), one.values[place]) for one in trials if one.pruned]
    counted = [one for one in trials if not one.pruned and one.shortfall <= 0]
    best, line = start, [(0.0, start)]
    for one in counted:
        line.append((float(one.ticket), best))
        best = max(best, one.values[place]) if goal.more else min(best, one.values[place])
        line.append((float(one.ticket), best))
    marks = [Marks("amount", lost, 2.2), Marks("c1", done)]
    drawn = svg.scatter_chart(
        marks, f"History of {goal.figure}", along="trial", limits=_usual([value for _, value in done], goal), best=line
    )
    note = (
        f"{goal.figure} on the training part, {'more' if goal.more else 'less'} is better; soft dots were given up early, "
        f"the line is the best so far. It was {start:.4g} before."
    )
    return section(f"The search: {goal.figure}", note, drawn)


def _front(trials: Sequence[Trial], goals: Sequence[Goal], outcome: TuningOutcome) -> str:
    one, other = goals[:2]
    points = [trial.values[:2] for trial in trials if not trial.pruned and trial.shortfall <= 0]
    front = [point for point in points if not any(_beats(rival, point, goals[:2]) for rival in points)]
    chosen = outcome.chosen
    marks = [
        Marks("amount", [(a, b) for a, b in points if (a, b) not in front]),
        Marks("c1", [(a, b) for a, b in front], 3.6),
        Marks("c2", [(chosen.before[0], chosen.before[1])], 5.0),
        Marks("c0", [(chosen.after[0], chosen.after[1])], 5.0),
    ]
    across, upwards = (_usual([point[place] for point in points], goals[place]) for place in (0, 1))
    near = [replace(mark, points=[p for p in mark.points if across[0] <= p[0] <= across[1]]) for mark in marks]
    note = (
        f"{one.figure} to the right, {other.figure} upwards. Blue: trials that no other beats in both; orange: as it was; "
        "green: chosen (the largest gain in the goal that gains least)."
    )
    drawn = svg.scatter_chart(near, "Pareto front", along=one.figure, limits=upwards)
    return section("Pareto front", note, drawn)


def _beats(rival: Sequence[float], point: Sequence[float], goals: Sequence[Goal]) -> bool:
    signs = [1.0 if goal.more else -1.0 for goal in goals]
    ahead = [sign * (a - b) for sign, a, b in zip(signs, rival, point, strict=True)]
    return min(ahead) >= 0 and max(ahead) > 0


def _importance(matter: Mapping[str, float], goal: Goal) -> str:
    shares = list(matter.items())[:SHARES]
    note = f"What explains the rank of a trial by {goal.figure} (fANOVA); it says how much, not which way."
    return section("What mattered", note, svg.ranked_bars(shares, "Importance of settings"))


def _slices(trials: Sequence[Trial], keys: Sequence[str], outcome: TuningOutcome) -> str:
    goal, dimensions = outcome.judged.goals[0], outcome.tuning.space.dimensions
    done = [one for one in trials if not one.pruned]
    limits, drawn = _usual([one.values[0] for one in done], goal), []
    for key in keys:
        one = dimensions[key]
        names = [_text(value) for value in one.values] if isinstance(one, OneOf) else []
        place = {value: float(at) for at, value in enumerate(one.values)} if isinstance(one, OneOf) else {}
        points = [(place.get(trial.point[key], _number(trial.point[key])), trial.values[0]) for trial in done]
        log = not isinstance(one, OneOf) and one.log
        chart = svg.scatter_chart(
            [Marks("c1", points)], f"{goal.figure} by {key}", along=key, names=names, log=log, limits=limits
        )
        drawn.append(section(escape(key), f"{goal.figure} of each trial that came to its end.", chart))
    pairs = [pair(*drawn[at : at + 2]) if len(drawn[at : at + 2]) == 2 else drawn[at] for at in range(0, len(drawn), 2)]
    return "".join(pairs)


def _number(value: Plain) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _usual(values: Sequence[float], goal: Goal) -> tuple[float, float]:
    """Range of the better nine in ten, because hopeless trials would squeeze the rest of the chart."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return svg.OPEN
    return (float(np.quantile(known, 0.1)), math.inf) if goal.more else (-math.inf, float(np.quantile(known, 0.9)))


def _text(value: object) -> str:
    return escape(f"{value:g}" if isinstance(value, float) else str(value))


def tuned_yaml(outcome: TuningOutcome, now: float) -> str:
    """Text of tuned.yaml; only comments if the new settings are not better."""
    tape, judged, base, changes = outcome.tuning.tape, outcome.judged, outcome.tuning.base, outcome.changes
    budget = outcome.tuning.wishes.budget
    lines = [
        f"# Tuned by `forager tune` on {shown_moment(now)} UTC.",
        f"# Recording: {shown(tape.origin)}, {shown_moment(tape.start)} to {shown_moment(tape.end)}; "
        f"{budget:g} downloads per hour.",
        f"# Sought: {', '.join(goal.name for goal in judged.goals)}. "
        f"Judged on the held-out part with {len(judged.before.repeats)} seeds, paired, 95% intervals:",
    ]
    for goal in judged.goals:
        old, new = (row.mean(goal.figure) for row in (judged.before, judged.after))
        lines.append(f"#   {goal.figure}: {old:.4g} before, {new:.4g} after: {judged.difference(goal.figure)}")
    if not judged.better:
        lines.append("# No better than the settings as they were: nothing is changed here.")
    notes = {key: f"was {plain(setting_value(base, key))}" for key in changes}
    given = _given(base)
    notes |= {key: "as it was given" for key in given if key not in changes}
    return "\n".join([*lines, "", _tree({**given, **changes}, notes)]).rstrip() + "\n"


def _given(base: Settings) -> dict[str, Plain]:
    """The original settings that affect a replay and differ from the program's defaults."""
    usual = Settings()
    keys = [key for key in setting_leaves() if key.startswith(READ_BY_REPLAYS)]
    return {
        key: plain(setting_value(base, key)) for key in keys if setting_value(base, key) != setting_value(usual, key)
    }


def _tree(values: Point, notes: Mapping[str, str]) -> str:
    """Dotted names as nested YAML sections, each value with its note."""
    lines: list[str] = []
    above: list[str] = []
    for key in (key for key in setting_leaves() if key in values):
        *sections, name = key.split(".")
        common = 0
        while common < min(len(sections), len(above)) and sections[common] == above[common]:
            common += 1
        lines += [f"{'  ' * depth}{sections[depth]}:" for depth in range(common, len(sections))]
        lines.append(f"{'  ' * len(sections)}{name}: {_scalar(values[key])}  # {notes[key]}")
        above = sections
    return "\n".join(lines)


def _scalar(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True, width=1000)).splitlines()[0]
