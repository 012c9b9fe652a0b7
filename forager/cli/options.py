"""Options that several commands share, `forager settings`, and what commands write: files and progress.

A command checks its output file before the work begins, and writes it completely or not at all. Progress goes to
standard error: in place on a terminal, one line a minute elsewhere.
"""

import json as jsonlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from forager.core.parameters import ForagerKind
from forager.errors import InputError, OutputError
from forager.report.phrases import harmless, shown, span
from forager.settings import (
    PRESETS,
    Settings,
    changed_keys,
    config_text,
    in_yaml,
    load_settings,
    plain,
    setting_leaves,
    setting_value,
)
from forager.terms import Url
from forager.units import seconds

if TYPE_CHECKING:  # slow to import, and `forager settings` needs none of them
    from forager.output.outlet import Mode, StoryWriter
    from forager.tape.tape import Tape


class LogFormat(StrEnum):
    """Format of the log of a crawl."""

    TEXT = "text"
    JSON = "json"


Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: config.yaml here, if there is one.")
]
RunDir = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a crawl, running or ended.")]
TapePath = Annotated[Path, typer.Argument(help="A tape, or the run directory of a crawl.")]
Preset = Annotated[str, typer.Option(help="A named set of settings: paper.")]
Processes = Annotated[int, typer.Option(min=0, help="Processes; 0: one for each core.")]
Set = Annotated[
    list[str] | None, typer.Option("-s", "--set", metavar="KEY=VALUE", help="Override one setting; may be repeated.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, only warnings and the summary.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="A line for every request, instead of the live view.")]
LogAs = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="Lines on standard error; default: text, or the live view on a terminal."),
]
NoDashboard = Annotated[bool, typer.Option("--no-dashboard", help="Do not serve the dashboard.")]
KindOption = Annotated[ForagerKind | None, typer.Option("--kind", help="Kind of the foragers; BFS: a plain sweep.")]
SeedFiles = Annotated[list[Path] | None, typer.Option("--seed-file", help="URLs to start from, one per line.")]
SeedUrls = Annotated[list[str] | None, typer.Option("--seed", help="A URL to start from; may be repeated.")]
AppendTo = Annotated[
    str | None,
    typer.Option("-o", "--append", metavar="FILE", help="Append to a .jsonl or .csv what it does not hold yet."),
]
WriteTo = Annotated[
    str | None,
    typer.Option("-O", "--output", metavar="FILE", help="Write stories anew: .jsonl, .csv, .parquet, .xml or .atom."),
]
ReportTo = Annotated[Path | None, typer.Option("-O", "--output", help="Also write a report with plots, HTML.")]
TimeLimit = Annotated[str | None, typer.Option("--time-limit", help="Stop after this time, such as 90s, 15m or 6h.")]


def settings_for(
    config: Path | None,
    overrides: Sequence[str] | None,
    *,
    preset: str = "",
    kind: ForagerKind | None = None,
    dashboard: bool = True,
) -> Settings:
    """Settings of this call, from all layers; options of the command line override the settings file."""
    if preset not in PRESETS:
        raise typer.BadParameter(f"no preset {preset!r}; known: {', '.join(filter(None, PRESETS))}")
    chosen = {"preset": preset, **PRESETS[preset]} if preset else {}
    layer = [f"{key}={in_yaml(value)}" for key, value in chosen.items()]
    settings = load_settings(config, [*layer, *(overrides or ())], os.environ).settings
    return changed_keys(
        settings, ({} if kind is None else {"forager.kind": kind}) | ({} if dashboard else {"dashboard.enabled": False})
    )


def given_seeds(files: Sequence[Path] | None, urls: Sequence[str] | None) -> list[Url]:
    """The URLs of `--seed-file` and `--seed`."""
    from forager.library.session import check_seeds, read_seeds

    seeds = [url for path in files or () for url in read_seeds(path)]
    return seeds + check_seeds(("--seed", text) for text in urls or ())


def stories_writer(append: str | None, overwrite: str | None, how: "Mode") -> "StoryWriter | None":
    """The writer for -o or -O, which writes in the mode `how`."""
    from forager.output.outlet import Mode
    from forager.output.writers import writer_for

    if append is not None and overwrite is not None:
        raise typer.BadParameter("give -o or -O, not both")
    name = overwrite if append is None else append
    if name is None:
        return None
    writer = writer_for(name, how if append is None else Mode.APPEND)
    if "://" not in name:
        check_place(Path(name))
    return writer


def share_of(text: str, option: str, *, whole: bool = False) -> float:
    """Converts `5%` or `0.05` to a number above 0 and below 1, or 1 itself with `whole`."""
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = 0.0
    if not (0.0 < value < 1.0 or (whole and value == 1.0)):
        raise InputError(f"{option} {text}: give a share such as 5% or 0.05")
    return value


def time_given(text: str | None) -> float | None:
    """Value of `--time-limit` in seconds."""
    return None if text is None else seconds_given(text, "--time-limit")


def seconds_given(text: str, option: str) -> float:
    """Converts a duration such as 15m to seconds."""
    try:
        return float(str(seconds(text)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def check_place(path: Path | None) -> None:
    """Raises an error before hours of work if the file cannot be written."""
    if path is None or _is_device(path):
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{path}: there is no directory {path.parent}; create it or choose another")
    if path.is_dir() or not os.access(folder, os.W_OK):
        why = "it is a directory" if path.is_dir() else f"no right to write in {path.parent}"
        raise OutputError(f"{path}: cannot be written: {why}")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields a draft that replaces the file when it is complete; writes directly to a device or pipe."""
    try:
        if _is_device(path):
            yield path
            return
        place = path.resolve()  # keeps a symbolic link and writes to its target
        draft = place.with_name(place.name + ".tmp")
        draft.unlink(missing_ok=True)  # it may be a link to elsewhere
        try:
            yield draft
            draft.replace(place)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    except OSError as problem:
        raise OutputError(f"{path}: cannot be written ({problem.strerror}); choose another place with -O") from problem


def write_whole(path: Path, text: str) -> None:
    """Writes a text file completely or not at all."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def print_result(facts: object, text: Callable[[], str] = str, *stories: str | None, json: bool = True) -> None:
    """Prints the result of a command as JSON or text, which pages may have a part in; on standard error if its stories go
    to standard output."""
    aside = "-" in stories
    told = jsonlib.dumps(facts, default=msgspec.to_builtins) if json else harmless(text())
    if not json and (sys.stderr if aside else sys.stdout).isatty():
        told = "\n".join(map(_wrapped, told.split("\n")))
    typer.echo(told, err=aside)


def _wrapped(line: str) -> str:
    """A line of prose, broken between words at the width of the terminal; continued lines are indented."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    wide = shutil.get_terminal_size().columns
    return fill(line, wide, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _is_device(path: Path) -> bool:
    """Whether the path is neither a file nor a folder: /dev/stdout, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def settings(
    config: Config = None,
    set_: Set = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a config.yaml with every default explained.")
    ] = False,
    json: Json = False,
) -> None:
    """Show every setting, its value and where it came from; --json also shows long values in full."""
    if template:
        typer.echo(config_text(), nl=False)
        return
    found = load_settings(config, set_ or (), os.environ)
    rows = [(key, plain(setting_value(found.settings, key)), found.origins[key]) for key in setting_leaves()]
    wide = max(len(key) for key, _, _ in rows)
    lines = (
        f"{key:<{wide}}  {shown(in_yaml(value), 100)}{'' if origin == 'default' else f'   # {origin}'}"
        for key, value, origin in rows
    )
    facts = {key: {"value": value, "origin": origin} for key, value, origin in rows}
    print_result(facts, lambda: "\n".join(lines), json=json)


_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:/\s*(s|min|h|d))?")
_WARM_UP = 12 * 3600.0
_PER_HOUR = {"s": 3600.0, "min": 60.0, "h": 1.0, "d": 1 / 24}


def tape_facts(tape: "Tape") -> dict[str, Any]:
    """Contents of a tape as JSON values."""
    return {
        "origin": tape.origin,
        "pages": tape.pages,
        "versions": tape.versions,
        "links": int(tape.links.size),
        "start": tape.start,
        "end": tape.end,
        "identity": tape.identity,
    }


def per_hour(text: str, tape: "Tape | None" = None) -> float:
    """Converts `60/h` to downloads per hour; also per s, min or d, and `recorded`, at which each takes as long as the
    downloads of the tape did on average, as in the foragers paper."""
    if tape is not None and text.strip() == "recorded":
        return recorded_budget(tape)
    match = _BUDGET.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"expected downloads per hour such as 60/h, not {text!r}", param_hint="--budget")
    return float(match[1]) * _PER_HOUR[match[2] or "h"]


def recorded_budget(tape: "Tape") -> float:
    """Downloads per hour at the mean download time of the tape."""
    if not tape.versions or (tape.seconds == 1.0).all():  # what a recording without times is given
        raise InputError(f"{tape.origin}: no download times were recorded; give a budget such as 60/h")
    return 3600 / max(float(tape.seconds.mean(dtype="float64")), 1e-3)


def warm_up_of(text: str | None, length: float) -> float:
    """Seconds at the start whose stories do not count: as given, or 12 hours but at most a quarter of the recording."""
    if text is None:
        return min(_WARM_UP, length / 4)
    said = seconds_given(text, "--warm-up")
    if said and said >= length:
        raise typer.BadParameter(f"{text} leaves nothing of a recording of {span(length)}", param_hint="--warm-up")
    return said


_RARE = 60.0
"""Seconds between two lines without a terminal."""


class ProgressLine:
    """A line that is rewritten in place, unless `quiet`; `end` erases it."""

    def __init__(self, *, quiet: bool = False, every: float = 0.0) -> None:
        """`every` is the least number of seconds between two lines on a terminal."""
        self.quiet, self.shown = quiet, time.monotonic()
        self._every = every

    @property
    def due(self) -> bool:
        """Whether it is time to show a line."""
        least = self._every if sys.stderr.isatty() else _RARE
        return not self.quiet and time.monotonic() - self.shown >= least

    def show(self, line: str) -> None:
        """Shows the line if one is due."""
        if self.due:
            self.shown = time.monotonic()
            wide = min(100, shutil.get_terminal_size().columns - 1)  # a line that wraps could not be erased
            sys.stderr.write(f"\r\x1b[K{line[:wide]}" if sys.stderr.isatty() else f"forager: {line}\n")
            sys.stderr.flush()

    def end(self) -> None:
        if sys.stderr.isatty() and not self.quiet:
            sys.stderr.write("\r\x1b[K")
