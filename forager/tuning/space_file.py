"""A space as YAML: `key: [low, high]`, `key: {choices: […]}`, a fixed value, or `false` for what shall not move.

crawl.least_worth: [0.1, 0.5]             # narrowed
crawl.cycle: [5m, 1h, log]                # factors count, not differences
forager.kind: {choices: [WL, RL]}
forager.max_step: 10                      # the same in all trials
reinforcing.scores.relative: false        # left as it is; fixed to false: {choices: [false]}
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from forager.errors import InputError
from forager.settings import Settings, leaves, value_of
from forager.tuning.space import USUAL, Choices, Dimension, Plain, Range, Space, plain

READ_BY_REPLAYS = ("crawl.", "forager.", "reinforcing.", "visits.revisit_after")
"""Where settings stand that a replay obeys."""
MEASURE = ("identity", "hubs", "max_age")
"""The last parts of names of settings that say what counts as a document."""


def read_space(path: Path, base: Settings) -> Space:
    """The usual space as narrowed by a file."""
    try:
        given = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}") from None
    if given is not None and not isinstance(given, dict):
        raise InputError(
            f"{path}: expected lines such as `crawl.least_worth: [0.1, 0.5]`; see forager tune --show-space"
        )
    return narrowed(base, given or {}, str(path))


def narrowed(base: Settings, given: Mapping[str, Any], origin: str) -> Space:
    """The usual space with what was given for some settings."""
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


def shown(dimensions: Mapping[str, Dimension]) -> str:
    """The space as such a file."""
    wide = max(map(len, dimensions), default=0) + 1
    return "".join(f"{key + ':':<{wide}} {_text(one)}\n" for key, one in dimensions.items())


def _text(one: Dimension) -> str:
    if isinstance(one, Choices):
        return f"{{choices: {json.dumps(list(one.values), ensure_ascii=False)}}}"
    return f"[{one.low:g}, {one.high:g}{', log' if one.log else ''}]"


def _check_key(key: str, origin: str) -> None:
    if key not in leaves():
        close = difflib.get_close_matches(key, _tunable(), n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else "forager tune --show-space lists what can move"
        raise InputError(f"{origin}: no setting {key}; {hint}")
    if key.rpartition(".")[2] in MEASURE:
        raise InputError(f"{origin}: {key} says what counts as a document; to move it would change the measure")
    if not key.startswith(READ_BY_REPLAYS):
        raise InputError(f"{origin}: {key} has no effect in a replay, so it cannot be tuned on one")


def _tunable() -> Iterable[str]:
    return [*USUAL, *(key for key in leaves() if key.startswith(READ_BY_REPLAYS))]


def _range(key: str, wanted: list[Any], base: Settings, origin: str) -> Range:
    usual, present = USUAL.get(key), plain(value_of(base, key))
    if isinstance(present, bool) or not isinstance(present, int | float):
        raise InputError(f"{origin}: {key} is no number; write {{choices: […]}}")
    if len(wanted) not in (2, 3) or wanted[2:] not in ([], ["log"]):
        raise InputError(f"{origin}: {key}: expected [low, high] or [low, high, log]")
    low, high = (float(_value(key, end, origin)) for end in wanted[:2])
    if low > high or (low <= 0 and len(wanted) == 3):
        raise InputError(f"{origin}: {key}: [{low:g}, {high:g}] is no range{' of factors' if low <= high else ''}")
    as_usual = isinstance(usual, Range) and usual.log and low > 0
    return Range(low, high, log=len(wanted) == 3 or as_usual, whole=isinstance(present, int))


def _choices(key: str, wanted: dict[str, Any], origin: str) -> Choices:
    values = wanted.get("choices")
    if set(wanted) != {"choices"} or not isinstance(values, list) or not values:
        raise InputError(f"{origin}: {key}: expected {{choices: [one, another]}}")
    return Choices(tuple(_value(key, one, origin) for one in values))


def _value(key: str, wanted: Any, origin: str) -> Plain:
    """A value in the setting's own type."""
    try:
        value: Plain = plain(leaves()[key].validate_python(wanted))
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        raise InputError(f"{origin}: {key}: expected {problem.removeprefix('expected ')}, not {wanted!r}") from None
    return value
