"""Files that commands write at their end: looked after before the work begins, written as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from forager.errors import OutputError


def check_place(path: Path | None) -> None:
    """Find out before hours of work what cannot be written."""
    if path is None or _is_device(path):
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: cannot be written: no such folder, or no right to write there")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the place of the file when it is complete; a device or pipe is written to itself."""
    try:
        if _is_device(path):
            yield path
            return
        place = path.resolve()  # a link stays, and leads to what was written
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
    """Write a text file."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def tell(outcome: str, *stories: str | None) -> None:
    """Say what came of the work; on standard error if the stories go to standard output, where nothing else does."""
    typer.echo(outcome, err="-" in stories)


def _is_device(path: Path) -> bool:
    """Whether this is neither a file nor a folder: /dev/stdout, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()
