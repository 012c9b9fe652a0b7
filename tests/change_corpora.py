"""A real change log: on which days the files of GNU Emacs were changed, as its ChangeLog files tell from 1985 on.

Thousands of linked documents, changed by hundreds of people, recorded by themselves. Nothing of it is kept in this
repository: the source package is taken from the cache folder of `corpora` (`emacs_*.orig.tar.xz`, put there by hand if
you like), or fetched into it once with `apt-get source`, from where this machine gets its packages.
"""

import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
from corpora import CorpusMissing, _cache_folder

from forager.recrawl.change_log import ChangeLog

DOWNLOAD_TIMEOUT = 300.0
"""Seconds apt may take."""
_HEAD = re.compile(r"(\d{4})-(\d\d)-(\d\d)\s")
_AFTER_NAMES = re.compile(r"[:(\[]")
_NAME = re.compile(r"[A-Za-z0-9_./+-]+")

Touched = list[tuple[date, str]]


@cache
def emacs_changes() -> Touched:
    """Every (day, file) of a ChangeLog entry, in no order; some 200,000. Read once, then kept in the cache as CSV."""
    kept = _cache_folder() / "emacs-changes.csv"
    if not kept.is_file():
        touched = _read_changes()
        draft = kept.with_suffix(f".{os.getpid()}")
        draft.write_text("".join(f"{day},{name}\n" for day, name in touched), encoding="utf-8")
        draft.replace(kept)
    rows = (line.split(",") for line in kept.read_text(encoding="utf-8").splitlines())
    return [(date.fromisoformat(day), name) for day, name in rows]


def _read_changes() -> Touched:
    touched: Touched = []
    with tarfile.open(_archive()) as archive:
        for member in archive:
            path = Path(member.name)
            if member.isfile() and path.name.startswith("ChangeLog"):
                content = archive.extractfile(member)
                assert content is not None
                folder = Path(*path.parts[1:-1])
                text = content.read().decode("utf-8", "replace")
                touched += [(day, (folder / name).as_posix()) for day, name in entries(text)]
    return touched


def entries(text: str) -> Iterator[tuple[date, str]]:
    """The day and each file of the entries of a ChangeLog: `\\t* simple.el, files.el (save-buffer): Doc fix.`"""
    day: date | None = None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if head := _HEAD.match(line):
            try:
                day = date(*map(int, head.groups()))
            except ValueError:
                day = None
        elif day is not None and line.startswith("\t* "):
            names, following = line[3:], number + 1
            while not _AFTER_NAMES.search(names) and names.rstrip().endswith(",") and following < len(lines):
                names += " " + lines[following].strip()
                following += 1
            for name in _AFTER_NAMES.split(names)[0].split(","):
                if _NAME.fullmatch(name.strip()) and ("." in name or name.strip()[0].isupper()):
                    yield day, name.strip()


def emacs_log(first: int = 2001, last: int = 2014, days: int = 7) -> ChangeLog:
    """The log of the files known before the year `first`, from then to the end of the year `last`; weekly cycles."""
    touched = emacs_changes()
    known = sorted({name for day, name in touched if day.year < first})
    number = {name: place for place, name in enumerate(known)}
    begin, end = date(first, 1, 1), date(last + 1, 1, 1)
    within = [
        ((day - begin).days // days, number[name]) for day, name in touched if begin <= day < end and name in number
    ]
    cycle, page = (np.array(column, dtype=np.int64) for column in zip(*within, strict=True))
    log = ChangeLog.of_visits(page, cycle, np.ones(len(page), dtype=np.bool_), tuple(known), (end - begin).days // days)
    start = (begin - date(1970, 1, 1)).days * 86_400.0
    return ChangeLog(log.changed, log.urls, start=start, cycle=days * 86_400.0)


def _archive() -> Path:
    """The source package in the cache, fetched if need be."""
    folder = _cache_folder()
    kept = sorted(folder.glob("emacs_*.orig.tar.xz"))
    if kept:
        return kept[-1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            _fetch(Path(aside))
            (fetched,) = Path(aside).glob("emacs_*.orig.tar.xz")
            return fetched.replace(folder / fetched.name)
    except (OSError, ValueError) as trouble:
        raise CorpusMissing(f"the source package of emacs cannot be had: {trouble}") from trouble


def _fetch(folder: Path) -> None:
    """Ask apt for the source package, with lists of its own, so that nothing of the machine's apt is touched."""
    places = _apt(folder, "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    wanted = sorted({line for line in places.splitlines() if line.endswith(" main")})
    (folder / "sources.list").write_text("".join(f"deb-src {place}\n" for place in wanted), encoding="utf-8")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    own = [f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=-"]
    own += [f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}/cache", "APT::Sandbox::User=root"]
    options = [part for one in own for part in ("-o", one)]
    _apt(folder, *options, "update")
    _apt(folder, *options, "source", "--download-only", "emacs")


def _apt(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["apt-get", *arguments],
            check=True,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_TIMEOUT,
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
        )
    except FileNotFoundError as trouble:
        raise CorpusMissing("there is no apt-get to fetch the source package of emacs with") from trouble
    except subprocess.TimeoutExpired as trouble:
        raise CorpusMissing(f"apt-get took longer than {DOWNLOAD_TIMEOUT:.0f} s for the source of emacs") from trouble
    except subprocess.CalledProcessError as trouble:
        said = (trouble.stderr.strip().splitlines() or ["no message"])[-1]
        raise CorpusMissing(f"apt-get cannot fetch the source package of emacs: {said}") from trouble
    return done.stdout
