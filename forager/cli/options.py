"""Options that several commands share, and the files that commands write at their end.

Commands check such a file before the work begins, and write it completely or not at all.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forager.errors import OutputError
from forager.settings import Loaded, load_settings
from forager.units import seconds


class LogFormat(StrEnum):
    """Format of the log of a crawl."""

    TEXT = "text"
    JSON = "json"


Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: config.yaml here, if there is one.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("-s", "--set", metavar="KEY=VALUE", help="Override one setting; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, only warnings and the summary.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="A line for every request, instead of the live view.")]
LogAs = Annotated[
    LogFormat | None,
    typer.Option("--log-format", help="Lines on standard error; default: text, or the live view on a terminal."),
]
NoDashboard = Annotated[bool, typer.Option("--no-dashboard", help="Do not serve the dashboard.")]
TimeLimit = Annotated[str | None, typer.Option("--time-limit", help="Stop after this time, such as 90s, 15m or 6h.")]


def loaded(config: Path | None, overrides: list[str] | None) -> Loaded:
    """Settings of this call, from all layers."""
    return load_settings(config, overrides or (), os.environ)


def time_given(text: str | None) -> float | None:
    """Value of `--time-limit` in seconds."""
    try:
        return None if text is None else float(str(seconds(text)))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-limit") from None


def check_place(path: Path | None) -> None:
    """Raises an error before hours of work if the file cannot be written."""
    if path is None or _is_device(path):
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: cannot be written: no such folder, or no right to write there")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields a draft that replaces the file when it is complete; writes directly to a device or pipe."""
    try:
        if _is_device(path):
            yield path
            return
        place = path.resolve()  # keeps a symbolic link and writes to its target
        draft = place.with_name(place.name + ".tmp")
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


def tell(outcome: str, *stories: str | None) -> None:
    """Prints the result of a command, on standard error if the stories go to standard output."""
    typer.echo(outcome, err="-" in stories)


def _is_device(path: Path) -> bool:
    """Whether the path is neither a file nor a folder: /dev/stdout, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()
