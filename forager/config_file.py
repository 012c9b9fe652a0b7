"""Writes config.yaml: every setting with the explanation from the docstrings of its settings class."""

import ast
import dataclasses
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

from forager.settings import Settings
from forager.store.rundir import write_own

HEAD = """\
# Every setting of Forager with its default, commented out: remove the # in front of what you change.
# Durations: 500ms 90s 15m 6h 2d (plain numbers are seconds). Sizes: 500k 10M (plain numbers are bytes).
# Override with `-s section.key=value` or FORAGER_SECTION__KEY=value; `forager settings` shows what holds and why.
# Where a default comes from: "stated" in a paper, "reconstructed" where the paper leaves it open, or "ours".
"""


def config_text(chosen: Settings | None = None) -> str:
    """Text of a config.yaml that explains every setting, with the default or the chosen values."""
    return HEAD + "".join(_section_text(Settings(), "", "# ") if chosen is None else _section_text(chosen, "", ""))


def write_config(chosen: Settings, run_dir: Path) -> None:
    """Writes the settings of a run into its directory; with a token in it nobody else may read the file."""
    advice = "make room or choose another directory"
    write_own(run_dir / "config.yaml", config_text(chosen), advice, secret=bool(chosen.dashboard.token))


def _section_text(values: Any, indent: str, mark: str) -> Iterator[str]:
    section = type(values)
    explained = _field_docs(section)
    for name, hint in get_type_hints(section).items():
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            yield f"\n{_comment((hint.__doc__ or '').strip(), indent)}{indent}{name}:\n"
            yield from _section_text(getattr(values, name), indent + "  ", mark)
        else:
            yield _comment(explained.get(name, ""), indent)
            yield f"{indent}{mark}{name}: {in_yaml(plain(getattr(values, name)))}\n"


def _comment(text: str, indent: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), width=118 - len(indent))
    return "".join(f"{indent}# {line}\n" for line in lines)


def _field_docs(section: type) -> dict[str, str]:
    """The docstring of each field of a settings class, read from its source."""
    docs, body = {}, _classes(section.__module__)[section.__name__].body
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            docs[field.target.id] = str(ast.literal_eval(text.value))
    return docs


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Class definitions in the source of a module, by name."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {one.name: one for one in body if isinstance(one, ast.ClassDef)}


def plain(value: Any) -> Any:
    """Converts a value to types that JSON has."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def in_yaml(value: Any) -> str:
    """Formats a value on one line of YAML."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
