"""Archives as histories: of every page when it was captured, and which captures show something new."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from forager.imports.files import import_files
from forager.imports.opening import sources
from forager.recrawl.captured import Captured, changes
from forager.world.tape.columns import CONTENTS, Tape, load


def histories(name: str) -> Iterator[Captured]:
    """The pages of a recording in any format that `forager import` reads, or of a tape, which holds changes only."""
    if (Path(name) / CONTENTS).exists():
        return _pages(load(Path(name)))
    return _pages(import_files(sources([name]), origin=name, every_capture=True).tape)


def _pages(tape: Tape) -> Iterator[Captured]:
    begin, urls = np.asarray(tape.version_start), tape.urls()
    for page, url in enumerate(urls):
        part = slice(int(begin[page]), int(begin[page + 1]))
        if part.start < part.stop:
            when = np.asarray(tape.time[part])
            yield Captured(url, when, changes(np.asarray(tape.digest[part]), np.asarray(tape.gone[part])))
