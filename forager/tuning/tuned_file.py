"""tuned.yaml: the settings that differ, and in comments what they gained, on what, and when it was measured."""

from collections.abc import Mapping
from typing import Any

import yaml

from forager.report.text import shown, shown_moment
from forager.settings import Settings, setting_leaves, value_of
from forager.tuning.space import READ_BY_REPLAYS, Plain, Point, plain
from forager.tuning.tuning import TuningOutcome


def tuned_yaml(outcome: TuningOutcome, now: float) -> str:
    """The text of the file; comments alone if the settings as they were are as good."""
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
    notes = {key: f"was {plain(value_of(base, key))}" for key in changes}
    given = _given(base)
    notes |= {key: "as it was given" for key in given if key not in changes}
    return "\n".join([*lines, "", _tree({**given, **changes}, notes)]).rstrip() + "\n"


def _given(base: Settings) -> dict[str, Plain]:
    """What a replay reads of the settings before, as far as it differs from the program's defaults."""
    usual = Settings()
    keys = [key for key in setting_leaves() if key.startswith(READ_BY_REPLAYS)]
    return {key: plain(value_of(base, key)) for key in keys if value_of(base, key) != value_of(usual, key)}


def _tree(values: Point, notes: Mapping[str, str]) -> str:
    """Dotted names as nested sections, each value with its note."""
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
