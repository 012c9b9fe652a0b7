"""Loads settings from config.yaml, the environment and `-s`; every mistake gives a one-line error that says what to do.

Each package defines a small settings dataclass with its defaults; this module only combines them. Later layers win:
defaults, aim, preset, config file, `FORAGER_SECTION__KEY`, `-s section.key=value`.

config.yaml is written here as well: every setting with the explanation from the docstring of its settings class.
"""

import ast
import dataclasses
import difflib
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from forager.core.parameters import (
    AIMS,
    PAPER_AGENT,
    PAPER_FORAGER,
    FocusSettings,
    ForagerSettings,
    ReinforcingSettings,
)
from forager.engine.crawl_settings import CrawlSettings, DashboardSettings, DemoSettings
from forager.errors import ForagerError, SettingsError
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.pages.pages_settings import PagesSettings
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.store.rundir import StoreSettings, write_own
from forager.web.web_settings import (
    FollowingSettings,
    LiveSettings,
    PoliteSettings,
    RecordingSettings,
    RetryingSettings,
    RobotsSettings,
    ScopeSettings,
    TimetableSettings,
    VisitSettings,
)

T = TypeVar("T")
_WHEN_USED = ConfigDict(defer_build=True)
PRESETS: dict[str, dict[str, Any]] = {
    "": {},
    "paper": {
        **{f"forager.{key}": value for key, value in PAPER_FORAGER.items()},
        **{f"reinforcing.{key}": value for key, value in PAPER_AGENT.items()},
        "crawl.recrawl_share": 0.0,
        "visits.revisit_after": 0.0,
    },
}
"""Named sets of values. `paper` reproduces the foragers paper, for replays and comparisons, never for a live site."""

REMOVED = {"crawl.processes": "a crawl is one process now; delete the line"}
"""Settings that earlier releases wrote into the config.yaml of every run, and what to do about them."""

RETIRED = frozenset(["focus.threshold"])
"""Settings that had a successor of another meaning: in a file, such as that of an older run, they are passed over."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, one section per package."""

    preset: str = ""
    """A named set of values, which all other settings override: paper; empty for none."""
    seed: int = 1
    """Seed of all random numbers: the same seed, recording and settings give the same result."""
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    recrawl: RecrawlSettings = field(default_factory=RecrawlSettings)
    forager: ForagerSettings = field(default_factory=ForagerSettings)
    reinforcing: ReinforcingSettings = field(default_factory=ReinforcingSettings)
    focus: FocusSettings = field(default_factory=FocusSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    visits: VisitSettings = field(default_factory=VisitSettings)
    live: LiveSettings = field(default_factory=LiveSettings)
    following: FollowingSettings = field(default_factory=FollowingSettings)
    retrying: RetryingSettings = field(default_factory=RetryingSettings)
    robots: RobotsSettings = field(default_factory=RobotsSettings)
    timetable: TimetableSettings = field(default_factory=TimetableSettings)
    polite: PoliteSettings = field(default_factory=PoliteSettings)
    recording: RecordingSettings = field(default_factory=RecordingSettings)
    pages: PagesSettings = field(default_factory=PagesSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    newsroom: NewsroomSettings = field(default_factory=NewsroomSettings)
    demo: DemoSettings = field(default_factory=DemoSettings)


@dataclass(frozen=True, slots=True)
class Given:
    """A value as the operator wrote it, and where."""

    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with the origin of every value."""

    settings: Settings
    origins: Mapping[str, str]


def load_settings(
    config: Path | None = None, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Loaded:
    """Combines all layers; without `config`, reads `config.yaml` in the current folder if there is one."""
    if config is None and Path("config.yaml").is_file():
        config = Path("config.yaml")
    return _resolved(
        {**(_from_file(config) if config else {}), **_from_environment(environment or {}), **_from_overrides(overrides)}
    )


def load_values(values: Mapping[str, object]) -> Settings:
    """Settings for a program: values by dotted name over the defaults, without config file or environment."""
    for key in values:
        if key not in setting_leaves():
            raise _unknown(key, "settings")
    return _resolved({key: Given(value, "settings") for key, value in values.items()}).settings


def _resolved(given: dict[str, Given]) -> Loaded:
    """Combines the given values with their preset, what they aim at, and the defaults."""
    preset = given.get("preset", Given("", "default"))
    if preset.value not in PRESETS:
        known = ", ".join(name for name in PRESETS if name) or "none yet"
        raise SettingsError(f"{preset.origin}: no preset {preset.value!r}; known: {known}")
    aim = str(given["crawl.aim"].value) if "crawl.aim" in given else ""
    layers = {
        **{key: Given(value, f"aim {aim}") for key, value in AIMS.get(aim, {}).items()},
        **{key: Given(value, f"preset {preset.value}") for key, value in PRESETS[str(preset.value)].items()},
        **given,
    }
    values = {key: _checked(key, item) for key, item in layers.items()}
    origins = {key: layers[key].origin if key in layers else "default" for key in setting_leaves()}
    return Loaded(_built(Settings, "", values, origins), origins)


@cache
def setting_leaves() -> Mapping[str, TypeAdapter[Any]]:
    """Every setting by dotted name, with the validator of its type, which is built at first use."""
    return {name: TypeAdapter(hint, config=_WHEN_USED) for name, hint in _walk(Settings, "")}


def _walk(section: type, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(section, include_extras=True).items():
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            yield from _walk(hint, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", hint


def setting_value(settings: Settings, key: str) -> Any:
    """Value of the setting with this dotted name."""
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def changed_keys(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings with some values changed, by dotted name."""
    for key, value in changes.items():
        settings = _replaced(settings, key.split("."), setting_leaves()[key].validate_python(value))
    return settings


def _replaced(section: Any, path: list[str], value: object) -> Any:
    name, *rest = path
    return dataclasses.replace(section, **{name: _replaced(getattr(section, name), rest, value) if rest else value})


def changed(settings: Settings) -> dict[str, Any]:
    """Every setting that is not at its default, by dotted name, without those of the dashboard, which may be secret."""
    usual = Settings()
    mine = {key: setting_value(settings, key) for key in setting_leaves() if not key.startswith("dashboard.")}
    return {key: value for key, value in mine.items() if value != setting_value(usual, key)}


_DEEPEST = 20
"""The most levels a YAML file may have (ours); our own files have four."""


def read_yaml(path: Path, parse: Callable[[str], T], trouble: type[ForagerError]) -> T:
    """What `parse` makes of the text of a file; one that cannot be read, or is no YAML, is this kind of trouble."""
    try:
        return parse(_harmless(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise trouble(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise trouble(f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}") from None


def _harmless(text: str) -> str:
    """A YAML text that harms nobody: deep nesting ends the process in the parser, and a few aliases stand for gigabytes."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST or isinstance(event, yaml.AliasEvent):
            what = "an alias" if depth <= _DEEPEST else f"more than {_DEEPEST} levels"
            raise yaml.YAMLError(f"it has {what}")
    return text


def _from_file(path: Path) -> dict[str, Given]:
    node = read_yaml(path, lambda text: yaml.compose(text, Loader=yaml.CSafeLoader), SettingsError)
    given: dict[str, Given] = {}
    if node is not None:
        _collect(node, "", path, given)
    return given


def _collect(node: yaml.Node, prefix: str, path: Path, given: dict[str, Given]) -> None:
    """Flattens a YAML mapping to dotted names; unknown and repeated names are errors."""
    here = f"{path}:{node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode):
        raise SettingsError(
            f"{here}: expected settings of the form `name: value` under {prefix.rstrip('.') or 'the top'}"
        )
    for key_node, value_node in node.value:
        origin = f"{path}:{key_node.start_mark.line + 1}"
        key = f"{prefix}{key_node.value}"
        if key in setting_leaves():
            if key in given:
                raise SettingsError(f"{origin}: {key} is given twice")
            given[key] = Given(yaml.CSafeLoader("").construct_document(value_node), origin)
        elif any(name.startswith(f"{key}.") for name in setting_leaves()):
            empty = isinstance(value_node, yaml.ScalarNode) and value_node.value == ""
            if not empty:
                _collect(value_node, f"{key}.", path, given)
        elif key not in RETIRED:
            raise _unknown(key, origin)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    given = {}
    for name, text in sorted(environment.items()):
        if name.startswith("FORAGER_") and name not in ("FORAGER_DATA", "FORAGER_CORPORA"):
            key = name.removeprefix("FORAGER_").lower().replace("__", ".")
            if key not in setting_leaves():
                raise _unknown(key, name)
            given[key] = Given(_scalar(text, name), name)
    return given


def _from_overrides(overrides: Sequence[str]) -> dict[str, Given]:
    given = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals:
            raise SettingsError(f"-s {override}: expected key=value")
        if key.strip() not in setting_leaves():
            raise _unknown(key.strip(), f"-s {override}")
        given[key.strip()] = Given(_scalar(text, f"-s {override}"), f"-s {override}")
    return given


def _scalar(text: str, origin: str) -> object:
    try:
        return yaml.load(_harmless(text), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeEncodeError):
        raise SettingsError(f"{origin}: {text!r} is not a valid value") from None


def _unknown(key: str, origin: str) -> SettingsError:
    close = difflib.get_close_matches(key, setting_leaves(), n=1, cutoff=0.5) or [
        name for name in setting_leaves() if name.rpartition(".")[2] == key.rpartition(".")[2]
    ]
    if key in REMOVED:
        return SettingsError(f"{origin}: no setting {key} any more: {REMOVED[key]}")
    hint = f"; did you mean {close[0]}?" if close else "; `forager settings` lists all"
    return SettingsError(f"{origin}: no setting {key}{hint}")


def _checked(key: str, given: Given) -> object:
    """Converts a value to the type of its setting, or raises a one-line error."""
    adapter = setting_leaves()[key]
    try:
        if isinstance(given.value, bool) and adapter.json_schema().get("type") in ("number", "integer"):
            raise ValueError("expected a number")
        return adapter.validate_python(given.value)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "tuple_type" and not first["loc"] and given.value is not None:
            return _checked(key, Given([given.value], given.origin))  # a single value is a list of one
        raise SettingsError(f"{given.origin}: {key}: {expectation(first['msg'])}, not {given.value!r}") from None
    except ValueError as error:
        raise SettingsError(f"{given.origin}: {key}: {error}, not {given.value!r}") from None


def expectation(message: str) -> str:
    """Rewrites an error message of pydantic in our style."""
    message = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return message if message.startswith("expected") else f"expected {message}"


def _built(section: type, prefix: str, values: Mapping[str, object], origins: Mapping[str, str]) -> Any:
    """Builds the dataclass of a section from the values below `prefix`."""
    chosen: dict[str, object] = {}
    for name, hint in get_type_hints(section).items():
        key = f"{prefix}{name}"
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            chosen[name] = _built(hint, f"{key}.", values, origins)
        elif key in values:
            chosen[name] = values[key]
    try:
        return section(**chosen)
    except ValueError as error:
        where = next(
            (origins[f"{prefix}{name}"] for name in chosen if origins.get(f"{prefix}{name}") != "default"), "settings"
        )
        raise SettingsError(f"{where}: {prefix.rstrip('.')}: {error}") from None


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
    for one, text in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(text, ast.Expr):
            docs[one.target.id] = str(ast.literal_eval(text.value))
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
