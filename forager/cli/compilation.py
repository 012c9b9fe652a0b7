"""What is compiled once per installation before replays and learning begin: they need the speed, and their processes load
what this one has compiled.

Kernels stay on disk (see `compiling`), and a file beside them says that they are all there. It holds for the sources as they
stand.
"""

import os
import platform
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

import forager
from forager.compiler import compilations
from forager.gp.gp_settings import GPSettings
from forager.gp.trees import Tree
from forager.recrawl.change_log import ChangeLog

if TYPE_CHECKING:  # slow to load, or needed for types alone
    from forager.simulation.jobs import Job


PACKAGE = Path(forager.__file__).parent
TRIAL = 6 * 3600.0
"""Seconds of a replay in which nearly every kernel is called (ours)."""


def prepare_replays(jobs: "Sequence[Job]", *, quiet: bool = False) -> None:
    """Compile what these jobs call, unless that was done before: the first hours of one of each kind of fleet are replayed."""
    kinds = {job.kind: job for job in jobs}
    with once(f"replays-{'-'.join(sorted(kinds))}", quiet=quiet) as is_new:
        if is_new:
            from forager.simulation.jobs import replay_of
            from forager.tape.tape import load_tape

            for job in kinds.values():
                tape = load_tape(job.tape, check=False)
                replay_of(tape, job).run(min(tape.start + TRIAL, tape.end))


def prepare_learning(settings: GPSettings) -> None:
    """Compile what functions are measured by, unless that was done before."""
    trees: list[Tree] = [("t",)]
    if settings.terminals == "extended" and settings.fitness != "discovery":
        trees.append(("rate",))  # a page's own: measured page by page, as documents are
    simulations = "pages" if settings.fitness == "discovery" else "states" if len(trees) == 1 else "states-pages"
    with once(f"learn-{simulations}") as is_new:
        if is_new:
            from forager.gp.fitness import Judge

            judge = Judge(ChangeLog(np.eye(4, dtype=np.bool_)), settings)
            judge.by_page(trees[0])
            for tree in trees:
                judge(tree)


@contextmanager
def once(name: str, *, quiet: bool = False) -> Iterator[bool]:
    """Around what may compile: says how far that is, and remembers at the end that it is done. Whether it is the first
    time."""
    mark = f"prepared-{name}-{_fingerprint():08x}"
    if any((folder / mark).exists() for folder in _folders()):
        yield False
        return
    with compilations(lambda done, most: None if quiet else _tell(done, most)):
        yield True
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / mark).touch()
            return


def _tell(done: int, most: int) -> None:
    """In place on a terminal; elsewhere a line now and then."""
    line = f"forager: compiling, once per installation: {done} of at most {most} kernels"
    if sys.stderr.isatty():
        typer.echo(f"\r{line}", err=True, nl=done == most)
    elif done % 10 == 1:
        typer.echo(line, err=True)


def _folders() -> Iterator[Path]:
    """Where kernels may be kept, and the mark with them: as numba looks for a place."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(given)
        return
    yield PACKAGE / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "forager"


def _fingerprint() -> int:
    """Of the machine and of all sources: what a kernel is made from may stand anywhere in the house."""
    told = zlib.crc32(f"{sys.version} {platform.machine()}".encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        told = zlib.crc32(path.read_bytes(), told)
    return told
