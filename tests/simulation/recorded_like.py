"""Synthetic tables shaped like recordings of real sites, for `forager import --table`. Nothing in them was recorded.

pages      linked text pages of one station, hourly; a few tickers write most of the texts; a document is a new text
stations   the same of nine stations, seen every eight hours only, a third of their pages; `TELETEXT` has all of them
hubs       section pages of several papers, hourly; a document is an article, read off the page that shows it
articles   the same, but the article itself must be downloaded

Sizes are those of three recordings that others made in 2022. Rates, lives and links are drawn at random; how they spread was
chosen on one seed so that simple rules find about as much as was reported of them on the recordings: visiting the longest
unvisited page .21 of the texts (.67 of the lasting ones) with 72 downloads an hour, and .74, .82 and .89 of the articles
with 6, 12 and 24; the index of Azar et al. times the rate .59 (.50) of the texts. No fleet was looked at for that.
"""

from dataclasses import dataclass, replace
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
    """Text pages: about 1,480 of 1,921 at a time, 686 hours, 85 new texts an hour. Rates are texts per step of time."""

    pages: int = 1921
    stations: int = 1
    steps: int = 686
    step_hours: int = 1
    texts_per_step: float = 85.0
    sections: int = 20
    """Of all stations together: pages that link to those of their section, and change when these do, at times."""
    lasting: float = 0.6
    """Share of pages that are there all the time; others come and go."""
    tickers: float = 0.045
    """Share of pages that change nearly every step, all the time."""
    ticker_rate: float = 0.83
    dailies: float = 0.06
    """Share of pages that change a few times a day, all the time."""
    daily_rate: float = 0.12
    spread: float = 1.0
    """All others share the rest of the texts: standard deviation of the logarithm of their rates."""
    awake: float = 0.27
    """Share of the time in which such a page changes at all: it has its busy spells, …"""
    spell: float = 48.0
    """… of so many steps on average."""
    seed: int = 1


STATIONS = PageWorld(pages=5100, stations=9, steps=400, step_hours=8, texts_per_step=500.0, sections=54, lasting=0.1,
                     tickers=0.1, ticker_rate=0.85, dailies=0.0, awake=0.1, spell=4.0)  # fmt: skip
"""Nine stations: about 2,600 of 5,100 pages at a time."""
TELETEXT = replace(STATIONS, pages=15_343, steps=150, texts_per_step=1503.0, sections=162)
"""The same as large as the recording, for 50 days: about 7,700 pages at a time. Visiting the longest unvisited page finds .07,
.14 and .29 of its texts with 385, 770 and 1,540 downloads in eight hours (one seed); on the recording .07, .14 and .27."""


def _rhythm(hours: np.ndarray) -> np.ndarray:
    """More by day than by night; 1 on average."""
    return 1 + 0.7 * np.sin(2 * np.pi * (hours - 7) / 24)


def _spells(rng: np.random.Generator, world: PageWorld) -> np.ndarray:
    """In which step each page is awake."""
    awake = np.empty((world.pages, world.steps), np.bool_)
    state = rng.random(world.pages) < world.awake
    rest = world.spell * (1 - world.awake) / world.awake
    for step in range(world.steps):
        awake[:, step] = state
        state = state ^ (rng.random(world.pages) < np.where(state, 1 / world.spell, 1 / rest))
    return awake


def _changes(rng: np.random.Generator, world: PageWorld, there: np.ndarray) -> np.ndarray:
    """In which step each page has a new text."""
    share = there.mean(axis=1)
    kind = rng.random(world.pages)
    ticker, daily = kind < world.tickers, (kind >= world.tickers) & (kind < world.tickers + world.dailies)
    usual = np.select([ticker, daily], [world.ticker_rate, world.daily_rate]) * rng.lognormal(0.0, 0.4, world.pages)
    usual = np.minimum(usual, 0.99)
    rest = np.where(ticker | daily, 0.0, rng.lognormal(0.0, world.spread, world.pages))
    rest *= (world.texts_per_step - (usual * share).sum()) / (rest * share).sum()
    day = _rhythm(world.step_hours * np.arange(world.steps)) if world.step_hours < 8 else np.ones(world.steps)
    rate = np.where(ticker[:, None], usual[:, None], usual[:, None] * day)
    rate += rest[:, None] * day * _spells(rng, world) / world.awake
    return rng.random(there.shape) < np.minimum(rate, 0.99)


def write_pages(folder: Path, world: PageWorld) -> None:
    """Versions with texts, and stays."""
    rng = np.random.default_rng(world.seed)
    count, steps = world.pages, world.steps
    section = np.where(np.arange(count) < world.sections, np.arange(count), rng.integers(0, world.sections, count))
    there = _lives(rng, world)
    changed = _changes(rng, world, there)
    told = np.zeros((world.sections, steps), np.bool_)
    np.logical_or.at(told, section, changed & (rng.random((count, steps)) < 0.02))
    changed[: world.sections] |= told  # the first page of a section tells what its pages have
    began = there & ~np.pad(there, ((0, 0), (1, 0)))[:, :-1]
    ended = ~there & np.pad(there, ((0, 0), (1, 0)))[:, :-1]
    page, step = np.nonzero((there & (changed | began)) | ended)
    order = np.lexsort((page, step))
    page, step = page[order], step[order]
    seconds = HOUR * world.step_hours
    names = [f"https://text{section[one] % world.stations or ''}.example/{100 + one}" for one in range(count)]
    gone = ended[page, step]
    texts = [
        "" if lost else _text(rng, int(section[one]), row)
        for row, (one, lost) in enumerate(zip(page, gone, strict=True))
    ]
    _write(
        folder / "versions.parquet",
        url=[names[one] for one in page],
        time=START + seconds * step,
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
        first_time=[START + seconds * int(both[place][0]) for place in kept],
        last_time=[START + seconds * int(both[place][-1]) for place in kept],
    )


def _lives(rng: np.random.Generator, world: PageWorld) -> np.ndarray:
    """Which page is there in which step."""
    there = np.ones((world.pages, world.steps), np.bool_)
    for page in range(world.sections, world.pages):
        if rng.random() >= world.lasting:
            length = int(rng.uniform(0.1, 0.9) * world.steps)
            begin = int(rng.integers(-length // 2, world.steps - length // 2))
            there[page] = False
            there[page, max(begin, 0) : begin + length] = True
    return there


def _station(rng: np.random.Generator, section: np.ndarray, world: PageWorld) -> tuple[np.ndarray, np.ndarray]:
    """Links within stations: sections to each other and to their pages, pages back, to the next ones, and a few elsewhere."""
    station = section % world.stations
    pairs = [(one, other) for one in range(world.sections) for other in range(world.sections) if one != other]
    for number in range(world.stations):
        pages = np.flatnonzero(station == number)
        own = pages[pages >= world.sections]
        for page, following in zip(own.tolist(), np.roll(own, -1).tolist(), strict=True):
            pairs += [(int(section[page]), page), (page, int(section[page])), (page, number)]
            pairs += [(page, int(other)) for other in rng.choice(own, 2) if other != page]
            pairs += [(page, following), (following, page)]
    origin, target = np.array(sorted(set(pairs))).T
    inside = station[origin] == station[target]
    return origin[inside], target[inside]


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
    spread: float = 1.8
    """Standard deviation of the logarithm of a hub's rate."""
    room: float = 42.0
    """Articles that a hub shows, in the median: where much is new, nothing stands for long."""
    room_spread: float = 0.5
    """Standard deviation of its logarithm."""
    luck: float = 0.8
    """How unevenly the articles of a hub stay: standard deviation of the logarithm of the hours."""
    longest: float = 200.0
    """Hours that articles stay on hubs with few new ones, in the median."""
    seed: int = 1


def write_hubs(folder: Path, world: HubWorld, *, articles: bool) -> None:
    """Versions and stays of the hubs; with `articles` also a version of each article, with links back."""
    rng = np.random.default_rng(world.seed)
    hubs = world.papers * world.hubs
    names = [f"https://paper{number // world.hubs}.example/{number % world.hubs or ''}" for number in range(hubs)]
    rate = rng.lognormal(0.0, world.spread, hubs) * (np.arange(hubs) % world.hubs > 0)
    rate *= world.articles_per_hour / rate.sum()
    born = rng.poisson(rate[:, None] * _rhythm(np.arange(world.hours)))
    hub, hour = np.repeat(np.indices(born.shape).reshape(2, -1), born.reshape(-1), axis=1)
    order = np.lexsort((hub, hour))
    hub, hour = hub[order], hour[order]
    url = [f"{names[one].rsplit('/', 1)[0]}/a{number}" for number, one in enumerate(hub)]
    home = hub // world.hubs * world.hubs
    front = rng.random(len(hub)) < 0.35
    other = home + rng.integers(1, world.hubs, len(hub))
    twice = (rng.random(len(hub)) < 0.25) & (other != hub)
    place = np.concatenate([hub, home[front], other[twice]])
    which = np.concatenate([np.arange(len(hub)), np.flatnonzero(front), np.flatnonzero(twice)])
    until = np.minimum(hour[which] + _stays(rng, place, world) - 1, world.hours - 1)
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


def _stays(rng: np.random.Generator, place: np.ndarray, world: HubWorld) -> np.ndarray:
    """How many hours each link stands: a hub has room for so many, and new ones push out the old."""
    inflow = np.bincount(place, minlength=world.papers * world.hubs) / world.hours
    room = world.room * rng.lognormal(0.0, world.room_spread, len(inflow))
    usual = np.minimum(room / np.maximum(inflow, 1e-9), world.longest)
    return np.maximum(1, np.round(usual[place] * rng.lognormal(0.0, world.luck, len(place)))).astype(int)


def _write(path: Path, **columns: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns), path)
