"""What is compiled for this machine, once after an installation: before a crawl begins, so that its clock does not wait,
and before functions are learned, so that not every process compiles the same.

The kernels of a crawl (see `compiling`) are those that a crawl calls: a made-up site is crawled for some hours in simulated
time. They stay on disk, and a file beside them says that they are all there. It holds for the sources as they stand.
"""

import gc
import os
import platform
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import typer

import forager
from forager.clock import run_virtual
from forager.recrawl.gp.settings import GPSettings
from forager.recrawl.gp.tree import Tree
from forager.recrawl.log import ChangeLog
from forager.recrawl.settings import WORTH
from forager.settings import Settings

PACKAGE = Path(forager.__file__).parent
COMPILING, LOADING = 6.0, 1.0
"""Hours of a rehearsal in which every kernel is called, and in which nearly all are (ours)."""


def prepare_crawl(settings: Settings, *, quiet: bool = False, loaded: bool = False) -> None:
    """Compile what a crawl of this kind and policy calls, unless that was done before.

    `loaded`: what was compiled before is loaded now as well, for a crawl whose clock runs fast.
    """
    policy = settings.crawl.policy if settings.crawl.policy == WORTH else "policy"
    with once(f"crawl-{settings.forager.kind.value}-{policy}", quiet=quiet) as is_new:
        if is_new or loaded:
            from forager.cli.rehearsal import rehearse  # slow to load, and seldom asked for

            run_virtual(rehearse(settings, COMPILING if is_new else LOADING))
            gc.collect()  # a whole crawl goes, before what is there is looked at no more


def prepare_learning(settings: GPSettings) -> None:
    """Compile what functions are measured by, unless that was done before."""
    trees: list[Tree] = [("t",)]
    if settings.terminals == "extended" and settings.fitness != "discovery":
        trees.append(("rate",))  # a page's own: measured page by page, as documents are
    simulations = "pages" if settings.fitness == "discovery" else "states" if len(trees) == 1 else "states-pages"
    with once(f"learn-{simulations}") as is_new:
        if is_new:
            from forager.recrawl.gp.fitness import Judge  # slow to load, and only this needs it

            judge = Judge(ChangeLog(np.eye(4, dtype=np.bool_)), settings)
            judge.by_page(trees[0])
            for tree in trees:
                judge(tree)


@contextmanager
def once(name: str, *, quiet: bool = False) -> Iterator[bool]:
    """Around what compiles for the first time: says so, and remembers it at the end. Whether it is the first time."""
    mark = f"prepared-{name}-{_fingerprint():08x}"
    if any((folder / mark).exists() for folder in _folders()):
        yield False
        return
    if not quiet:
        typer.echo("Preparing, once: compiling for this machine, some 30 seconds.", err=True)
    yield True
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / mark).touch()
            return


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
