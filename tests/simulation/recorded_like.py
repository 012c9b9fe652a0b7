"""Synthetic tables shaped like recordings of real sites, for `forager import --table`. Nothing in them was recorded.

pages      linked text pages of one station, hourly; a few tickers write most of the texts; a document is a new text
hubs       section pages of several papers, hourly; a document is an article, read off the page that shows it
articles   the same, but the article itself must be downloaded

Sizes are those of three recordings that others made in 2022; rates, lives and links are drawn at random.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

HOUR = 3600
START = 1_640_995_200
"""The first of January 2022."""
_WORDS = 40


@dataclass(frozen=True, slots=True)
class PageWorld:
    """Text pages: 1,449 of 1,921 at a time, 686 hours, 85 new texts an hour."""

    pages: int = 1921
    hours: int = 686
    texts_per_hour: float = 85.0
    sections: int = 20
    lasting: float = 0.6
    """Share of pages that are there all the time; others come and go."""
    spread: float = 2.2
    """Standard deviation of the logarithm of a page's rate: with 2.2 one page in twenty writes more than half."""
    seed: int = 1


def _rhythm(hours: int) -> np.ndarray:
    """More by day than by night; 1 on average."""
    return 1 + 0.7 * np.sin(2 * np.pi * (np.arange(hours) - 7) / 24)


def write_pages(folder: Path, world: PageWorld) -> None:
    """Versions with texts, and stays."""
    rng = np.random.default_rng(world.seed)
    count, hours = world.pages, world.hours
    section = np.where(np.arange(count) < world.sections, np.arange(count), rng.integers(0, world.sections, count))
    there = _lives(rng, world)
    rate = rng.lognormal(0.0, world.spread, count)
    for _ in range(20):  # so many an hour in all, but no page more than about one
        rate = np.minimum(rate * world.texts_per_hour / (rate * there.mean(axis=1)).sum(), 0.97)
    changed = rng.random((count, hours)) < np.minimum(rate[:, None] * _rhythm(hours), 0.99)
    told = np.zeros((world.sections, hours), np.bool_)
    np.logical_or.at(told, section, changed & (rng.random((count, hours)) < 0.1))
    changed[: world.sections] |= told  # the first page of a section tells what its pages have
    began = there & ~np.pad(there, ((0, 0), (1, 0)))[:, :-1]
    ended = ~there & np.pad(there, ((0, 0), (1, 0)))[:, :-1]
    page, hour = np.nonzero((there & (changed | began)) | ended)
    order = np.lexsort((page, hour))
    page, hour = page[order], hour[order]
    names = [f"https://text.example/{100 + number}" for number in range(count)]
    gone = ended[page, hour]
    texts = [
        "" if lost else _text(rng, int(section[one]), row)
        for row, (one, lost) in enumerate(zip(page, gone, strict=True))
    ]
    _write(
        folder / "versions.parquet",
        url=[names[one] for one in page],
        time=START + HOUR * hour,
        digest=[str(row) for row in range(len(page))],
        text=texts,
        gone=gone,
    )
    origin, target = _station(rng, section, world)
    both = [np.flatnonzero(there[one] & there[other]) for one, other in zip(origin, target, strict=True)]
    kept = [place for place, seen in enumerate(both) if len(seen)]
    _write(
        folder / "stays.parquet",
        url=[names[origin[place]] for place in kept],
        target=[names[target[place]] for place in kept],
        first_time=[START + HOUR * int(both[place][0]) for place in kept],
        last_time=[START + HOUR * int(both[place][-1]) for place in kept],
    )


def _lives(rng: np.random.Generator, world: PageWorld) -> np.ndarray:
    """Which page is there in which hour."""
    there = np.ones((world.pages, world.hours), np.bool_)
    for page in range(world.sections, world.pages):
        if rng.random() >= world.lasting:
            length = int(rng.uniform(0.1, 0.9) * world.hours)
            begin = int(rng.integers(-length // 2, world.hours - length // 2))
            there[page] = False
            there[page, max(begin, 0) : begin + length] = True
    return there


def _station(rng: np.random.Generator, section: np.ndarray, world: PageWorld) -> tuple[np.ndarray, np.ndarray]:
    """Links: sections to each other and to their pages, pages back, to the next ones, and a few elsewhere."""
    pairs = [(one, other) for one in range(world.sections) for other in range(world.sections) if one != other]
    for page in range(world.sections, world.pages):
        pairs += [(int(section[page]), page), (page, int(section[page])), (page, 0)]
        pairs += [(page, int(other)) for other in rng.integers(world.sections, world.pages, 2) if other != page]
        if page + 1 < world.pages:
            pairs += [(page, page + 1), (page + 1, page)]
    origin, target = np.array(sorted(set(pairs))).T
    return origin, target


def _text(rng: np.random.Generator, topic: int, number: int) -> str:
    words = rng.integers(0, _WORDS, 6)
    return " ".join([*(f"{_letters(topic)}{_letters(int(word))}" for word in words), f"n{_letters(number)}"])


def _letters(number: int) -> str:
    out = ""
    while True:
        out += "bcdfghklmnprstvw"[number % 16] + "aeiou"[number % 5]
        number //= 16
        if not number:
            return out


@dataclass(frozen=True, slots=True)
class HubWorld:
    """Section pages of papers: 130 of them, 800 hours, 83 new articles an hour."""

    papers: int = 10
    hubs: int = 13
    """Of each paper; the first is its home page."""
    hours: int = 800
    articles_per_hour: float = 83.0
    spread: float = 1.3
    """Standard deviation of the logarithm of a hub's rate."""
    stays: float = 12.0
    """Hours that an article stands on a hub, in the median."""
    seed: int = 1


def write_hubs(folder: Path, world: HubWorld, *, articles: bool) -> None:
    """Versions and stays of the hubs; with `articles` also a version of each article, with links back."""
    rng = np.random.default_rng(world.seed)
    hubs = world.papers * world.hubs
    names = [f"https://paper{number // world.hubs}.example/{number % world.hubs or ''}" for number in range(hubs)]
    rate = rng.lognormal(0.0, world.spread, hubs) * (np.arange(hubs) % world.hubs > 0)
    rate *= world.articles_per_hour / rate.sum()
    born = rng.poisson(rate[:, None] * _rhythm(world.hours))
    hub, hour = np.repeat(np.indices(born.shape).reshape(2, -1), born.reshape(-1), axis=1)
    order = np.lexsort((hub, hour))
    hub, hour = hub[order], hour[order]
    url = [f"{names[one].rsplit('/', 1)[0]}/a{number}" for number, one in enumerate(hub)]
    last = np.minimum(hour + np.ceil(rng.lognormal(np.log(world.stays), 0.8, len(hub))).astype(int), world.hours - 1)
    home = hub // world.hubs * world.hubs
    front = rng.random(len(hub)) < 0.35
    other = home + rng.integers(1, world.hubs, len(hub))
    twice = (rng.random(len(hub)) < 0.25) & (other != hub)
    shown = [(hub, np.arange(len(hub)), last)]
    shown += [(home[front], np.flatnonzero(front), np.minimum(last, hour + 6)[front])]
    shown += [(other[twice], np.flatnonzero(twice), last[twice])]
    place, which, until = (np.concatenate([part[column] for part in shown]) for column in range(3))
    menu = [
        (one, two)
        for one in range(hubs)
        for two in range(hubs)
        if one // world.hubs == two // world.hubs and one != two
    ]
    source, target = [names[one] for one in place], [url[one] for one in which]
    first, final = hour[which], until
    source += [names[one] for one, _ in menu]
    target += [names[two] for _, two in menu]
    first = np.concatenate([first, np.zeros(len(menu), int)])
    final = np.concatenate([final, np.full(len(menu), world.hours - 1)])
    pages, times = list(names), [0] * hubs
    if articles:
        pages, times = pages + url, times + hour.tolist()
        for back in (hub, home):
            source, target = source + url, target + [names[one] for one in back]
            first, final = np.concatenate([first, hour]), np.concatenate([final, np.full(len(url), world.hours - 1)])
    _write(
        folder / "versions.parquet",
        url=pages,
        time=START + HOUR * np.array(times),
        digest=[str(row) for row in range(len(pages))],
    )
    _write(
        folder / "stays.parquet",
        url=source,
        target=target,
        first_time=START + HOUR * first,
        last_time=START + HOUR * final,
    )


def _write(path: Path, **columns: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns), path)
