"""Compiles kernels once per installation before replays and learning begin.

Replays and learning need compiled kernels, and their processes load what this process has compiled. Kernels stay on
disk (see `kernel`); a file beside them records that all are compiled for the current sources.
"""

import math
import os
import platform
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import forager
from forager.cli.options import ProgressLine
from forager.compiler import compilations
from forager.gp.gp_settings import OF_DOCUMENTS, GPSettings
from forager.gp.trees import Tree
from forager.recrawl.change_log import ChangeLog

if TYPE_CHECKING:  # slow to import, or needed for types only
    from forager.simulation.jobs import Job


PACKAGE = Path(forager.__file__).parent
TRIAL = 6 * 3600.0
"""Seconds of a replay that call nearly every kernel (ours)."""


def prepare_replays(jobs: "Sequence[Job]", *, quiet: bool = False) -> None:
    """Compiles what these jobs call, if not done before: replays the first hours of one job of each kind of fleet."""
    kinds = {job.kind: job for job in jobs}
    with once(f"replays-{'-'.join(sorted(kinds))}", quiet=quiet) as is_new:
        if is_new:
            from forager.simulation.jobs import replay_of
            from forager.tape.tape import load_tape

            for job in kinds.values():
                tape = load_tape(job.tape, check=False)
                replay_of(tape, job).run(min(tape.start + TRIAL, tape.end))


def prepare_learning(settings: GPSettings) -> None:
    """Compiles the kernels that measure functions, if not done before."""
    trees: list[Tree] = [("t",)]
    if settings.terminals == "extended" and settings.fitness not in OF_DOCUMENTS:
        trees.append(("rate",))  # reads a page's own data: measured page by page, as documents are
    simulations = "pages" if settings.fitness in OF_DOCUMENTS else "states" if len(trees) == 1 else "states-pages"
    with once(f"learn-{simulations}") as is_new:
        if is_new:
            from forager.gp.fitness import Judge

            judge = Judge(ChangeLog(np.eye(4, dtype=np.bool_)), settings)
            judge.by_page(trees[0])
            for tree in trees:
                judge(tree)


@contextmanager
def once(name: str, *, quiet: bool = False) -> Iterator[bool]:
    """Shows progress around work that may compile, and marks it as done at the end; yields whether it is the first
    time."""
    mark = f"prepared-{name}-{_fingerprint():08x}"
    if any((folder / mark).exists() for folder in _folders()):
        yield False
        return
    line = ProgressLine(quiet=quiet)
    line.shown = -math.inf  # the first kernel is told at once

    def tell(done: int, most: int) -> None:
        line.show(f"compiling, once per installation: {done} of at most {most} kernels")

    with compilations(tell):
        yield True
    line.end()
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / mark).touch()
            return


def _folders() -> Iterator[Path]:
    """Folders for cached kernels, and for the mark beside them, in numba's order."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(given)
        return
    yield PACKAGE / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "forager"


def _fingerprint() -> int:
    """Digest of the machine and of all sources, because any module may become part of a kernel."""
    told = zlib.crc32(f"{sys.version} {platform.machine()}".encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        told = zlib.crc32(path.read_bytes(), told)
    return told
