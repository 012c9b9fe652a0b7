"""Which settings a search may change, within which bounds, and the constraints between them.

Settings that define a document (`identity`, `hubs`, `max_age`) never change: they would change the measure, not the
fleet.

A space is written as YAML: `key: [low, high]`, `key: {choices: […]}`, a fixed value, or `false` to leave a setting
unchanged.

crawl.least_worth: [0.1, 0.5]             # narrower bounds
crawl.cycle: [5m, 1h, log]                # on a logarithmic scale
forager.kind: {choices: [WL, RL]}
forager.max_step: 10                      # the same in all trials
reinforcing.scores.relative: false        # unchanged; to fix it to false: {choices: [false]}
"""

import dataclasses
import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import ValidationError

from forager.core.parameters import INHERITED
from forager.errors import InputError
from forager.settings import (
    PRESETS,
    Settings,
    changed_keys,
    expectation,
    plain,
    read_yaml,
    setting_leaves,
    setting_value,
)

Plain = bool | int | float | str
Point = Mapping[str, Plain]
"""Values of the settings of a space, by dotted name."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high`, inclusive."""

    low: float
    high: float
    log: bool = False
    """Whether the scale is logarithmic."""
    whole: bool = False

    def nearest(self, value: Plain) -> Plain:
        near = min(max(float(value), self.low), self.high)
        return round(near) if self.whole else near

    def drawn(self, rng: np.random.Generator) -> Plain:
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = rng.uniform(low, high)
        return self.nearest(math.exp(value) if self.log else value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values."""

    values: tuple[Plain, ...]

    def nearest(self, value: Plain) -> Plain:
        return value if value in self.values else self.values[0]

    def drawn(self, rng: np.random.Generator) -> Plain:
        return self.values[int(rng.integers(len(self.values)))]


Dimension = Range | OneOf


def _whole(low: int, high: int) -> Range:
    return Range(low, high, log=True, whole=True)


USUAL: Mapping[str, Dimension] = {
    "forager.kind": OneOf(("WL", "RL", "WLRL")),
    "forager.links": OneOf(("one", "all")),
    "forager.order": OneOf(("expectation", "profit")),
    "forager.credit": OneOf(("revealer", "visit")),
    "forager.harvest": OneOf((True, False)),
    **{f"forager.{key}": Range(*bounds) for key, bounds in INHERITED.items()},
    "forager.weblog.start_size": _whole(1, 100),
    "forager.weblog.texts": OneOf((False, True)),
    "forager.start.by": OneOf(("best", "draw", "list")),
    "forager.leaving.memory": _whole(50, 5000),
    "forager.expectation.breadth": Range(0.0, 1.0),
    "forager.expectation.text_breadth": Range(0.0, 1.0),
    "forager.expectation.main_rate": Range(0.5, 200.0, log=True),
    "forager.expectation.hub_rate": Range(0.05, 20.0, log=True),
    "forager.expectation.hub_weight": Range(0.05, 10.0, log=True),
    "forager.expectation.place_weight": Range(0.2, 20.0, log=True),
    "forager.expectation.patience": Range(0.0, 120.0),
    "forager.expectation.backlog_worth": Range(0.02, 2.0, log=True),
    "forager.expectation.prior_hours": Range(1.0, 200.0, log=True),
    "forager.expectation.prior_links": Range(0.5, 50.0, log=True),
    "forager.expectation.fresh_first": Range(1.0, 150.0, log=True),
    "forager.expectation.lift_most": Range(1.0, 6.0),
    "forager.states.scale": Range(1.0, 40.0, log=True),
    "forager.profit.learn": OneOf(("arrivals", "moves")),
    "reinforcing.mutation": Range(0.0, 0.5),
    "reinforcing.slice": Range(30.0, 3600.0, log=True),
    "reinforcing.relevancy.reward": Range(10.0, 1000.0, log=True),
    "reinforcing.relevancy.penalty": Range(-50.0, 0.0),
    "reinforcing.scores.initial": Range(10.0, 300.0, log=True),
    "reinforcing.scores.sent": Range(0.0, 0.8),
    "reinforcing.scores.multiply_at": Range(50.0, 1000.0, log=True),
    "reinforcing.scores.delete_below": Range(-50.0, 100.0),
    "reinforcing.scores.relative": OneOf((False, True)),
    "reinforcing.population.first": _whole(1, 16),
    "reinforcing.population.least": _whole(1, 16),
    "reinforcing.population.most": _whole(2, 64),
    "crawl.recrawl_share": Range(0.0, 1.0),
    "crawl.cycle": Range(60.0, 7200.0, log=True),
    "crawl.policy": OneOf(("learned", "worth", "t2", "nad")),
    "crawl.ordering": OneOf(("td", "rw-eg", "mixed")),
    "crawl.least_worth": Range(0.0, 0.9),
    "crawl.explore": Range(0.0, 0.3),
    "visits.revisit_after": Range(0.0, 3600.0),
}
"""The settings that a search may change; bounds are ours, wide around the defaults and the paper's values."""

NEEDS_STATES = ("forager.states.",)
"""Settings without effect on a tape without states."""

AT_MOST = (
    ("forager.weblog.start_size", "forager.weblog.size"),
    ("reinforcing.population.first", "reinforcing.population.most"),
    ("reinforcing.population.least", "reinforcing.population.most"),
    ("reinforcing.scores.initial", "reinforcing.scores.multiply_at"),
    ("reinforcing.scores.delete_below", "reinforcing.scores.initial"),
)
"""Pairs of settings of which the first must not exceed the second."""


@dataclass(frozen=True, slots=True)
class Space:
    """Where a search looks: the dimensions that vary, values fixed for all trials, and the original settings."""

    base: Settings
    dimensions: Mapping[str, Dimension] = field(default_factory=lambda: USUAL)
    fixed: Point = field(default_factory=dict)
    survivors: Point = field(default_factory=dict)
    """Values that foragers of a run were selected with, tried early; none: no such run is given."""

    def __repr__(self) -> str:
        return f"<Space {len(self.dimensions)} settings move, {len(self.fixed)} fixed>"

    def without_states(self) -> "Space":
        """The space for a tape without states."""
        kept = {key: one for key, one in self.dimensions.items() if not key.startswith(NEEDS_STATES)}
        return dataclasses.replace(self, dimensions=kept)

    def of(self, settings: Settings) -> dict[str, Plain]:
        """Values of the settings that vary."""
        return {key: plain(setting_value(settings, key)) for key in self.dimensions}

    def nearest(self, settings: Settings) -> dict[str, Plain]:
        """The closest point of the space to these settings, setting by setting."""
        return {key: self.dimensions[key].nearest(value) for key, value in self.of(settings).items()}

    def near(self, share: float, rng: np.random.Generator) -> dict[str, Plain]:
        """The original settings with about this share of them redrawn."""
        point = self.nearest(self.base)
        for key, one in self.dimensions.items():
            if rng.random() < share:
                point[key] = one.drawn(rng)
        return point

    def survived(self) -> dict[str, Plain]:
        """The start with what survived elsewhere."""
        kept = {
            key: self.dimensions[key].nearest(value) for key, value in self.survivors.items() if key in self.dimensions
        }
        return self.nearest(self.base) | kept

    def changes(self, point: Point) -> dict[str, Plain]:
        """The changes of a trial to the original settings, corrected to satisfy the constraints."""
        values: dict[str, Plain] = {**self.fixed, **point}
        for lower, upper in AT_MOST * 2:  # correcting one pair may break an earlier one
            small, large = (float(values.get(key, setting_value(self.base, key))) for key in (lower, upper))
            if small > large and lower in point:
                values[lower] = values.get(upper, plain(setting_value(self.base, upper)))
            elif small > large and upper in point:
                values[upper] = values.get(lower, plain(setting_value(self.base, lower)))
        return {key: value for key, value in values.items() if value != plain(setting_value(self.base, key))}


def paper(base: Settings) -> Settings:
    """The paper's fleet, measured on the same documents as `base`."""
    return changed_keys(base, {key: value for key, value in PRESETS["paper"].items() if key in USUAL})


READ_BY_REPLAYS = ("crawl.", "forager.", "reinforcing.", "visits.revisit_after")
"""Prefixes of the settings that affect a replay."""
MEASURE = ("identity", "hubs", "max_age")
"""Last parts of the names of settings that define a document."""


def read_space(path: Path, base: Settings) -> Space:
    """The default space, changed by a file."""
    given = read_yaml(path, lambda text: yaml.load(text, Loader=yaml.CSafeLoader), InputError)
    if given is not None and not isinstance(given, dict):
        raise InputError(
            f"{path}: expected lines such as `crawl.least_worth: [0.1, 0.5]`; see forager tune --show-space"
        )
    return narrowed(base, given or {}, str(path))


def narrowed(base: Settings, given: Mapping[str, Any], origin: str) -> Space:
    """The default space with the given dimensions and fixed values."""
    dimensions, fixed = dict(USUAL), dict[str, Plain]()
    for key, wanted in given.items():
        _check_key(str(key), origin)
        dimensions.pop(key, None)
        if isinstance(wanted, list):
            dimensions[key] = _range(key, wanted, base, origin)
        elif isinstance(wanted, dict):
            dimensions[key] = _choices(key, wanted, origin)
        elif wanted is not False:
            fixed[key] = _value(key, wanted, origin)
    if not dimensions:
        raise InputError(f"{origin}: nothing is left to move")
    return Space(base, dimensions, fixed)


def shown_space(dimensions: Mapping[str, Dimension]) -> str:
    """The space in the format of such a file."""
    wide = max(map(len, dimensions), default=0) + 1
    return "".join(f"{key + ':':<{wide}} {_text(one)}\n" for key, one in dimensions.items())


def _text(one: Dimension) -> str:
    if isinstance(one, OneOf):
        return f"{{choices: {json.dumps(list(one.values), ensure_ascii=False)}}}"
    return f"[{one.low:g}, {one.high:g}{', log' if one.log else ''}]"


def _check_key(key: str, origin: str) -> None:
    if key not in setting_leaves():
        tunable = [*USUAL, *(known for known in setting_leaves() if known.startswith(READ_BY_REPLAYS))]
        close = difflib.get_close_matches(key, tunable, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else "forager tune --show-space lists what can move"
        raise InputError(f"{origin}: no setting {key}; {hint}")
    if key.rpartition(".")[2] in MEASURE:
        raise InputError(f"{origin}: {key} says what counts as a document; to move it would change the measure")
    if not key.startswith(READ_BY_REPLAYS):
        raise InputError(f"{origin}: {key} has no effect in a replay, so it cannot be tuned on one")


def _range(key: str, wanted: list[Any], base: Settings, origin: str) -> Range:
    usual, present = USUAL.get(key), plain(setting_value(base, key))
    if isinstance(present, bool) or not isinstance(present, int | float):
        raise InputError(f"{origin}: {key} is no number; write {{choices: […]}}")
    if len(wanted) not in (2, 3) or wanted[2:] not in ([], ["log"]):
        raise InputError(f"{origin}: {key}: expected [low, high] or [low, high, log]")
    low, high = (float(_value(key, end, origin)) for end in wanted[:2])
    if low > high or (low <= 0 and len(wanted) == 3):
        raise InputError(f"{origin}: {key}: [{low:g}, {high:g}] is no range{' of factors' if low <= high else ''}")
    as_usual = isinstance(usual, Range) and usual.log and low > 0
    return Range(low, high, log=len(wanted) == 3 or as_usual, whole=isinstance(present, int))


def _choices(key: str, wanted: dict[str, Any], origin: str) -> OneOf:
    values = wanted.get("choices")
    if set(wanted) != {"choices"} or not isinstance(values, list) or not values:
        raise InputError(f"{origin}: {key}: expected {{choices: [one, another]}}")
    return OneOf(tuple(_value(key, one, origin) for one in values))


def _value(key: str, wanted: Any, origin: str) -> Plain:
    """Converts a value to the type of the setting."""
    try:
        value: Plain = plain(setting_leaves()[key].validate_python(wanted))
    except ValidationError as error:
        raise InputError(f"{origin}: {key}: {expectation(error.errors()[0]['msg'])}, not {wanted!r}") from None
    return value
