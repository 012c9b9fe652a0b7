"""The weblog: pages from which good paths started, with what those paths earned (Alg 1, Alg 6)."""

from collections.abc import Iterable

import numpy as np

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.core.parameters import WeblogSettings
from forager.kernel import compiled, inner
from forager.terms import UrlId


@inner
def rank_entries(urls: IntArray, values: FloatArray) -> None:
    """Sorts by value, largest first, stably. Fast if little is out of order."""
    for i in range(1, len(urls)):
        url, value, place = urls[i], values[i], i
        while place > 0 and values[place - 1] < value:
            urls[place], values[place] = urls[place - 1], values[place - 1]
            place -= 1
        urls[place], values[place] = url, value


@inner
def find_entry(urls: IntArray, url: int) -> int:
    """Index of a page; -1 if it is missing."""
    for place in range(len(urls)):
        if urls[place] == url:
            return place
    return -1


@compiled
def learned(
    urls: IntArray, values: FloatArray, path: IntArray, earned: FloatArray, entries: BoolArray, step: float
) -> tuple[IntArray, FloatArray]:
    """Entries and values after a path, best first (Alg 1). Given are its pages, what each step earned, and which pages
    may be entries.
    """
    known, count, gains = len(urls), len(urls), earned.copy()
    for i in range(len(path) - 2, -1, -1):
        gains[i] = gains[i + 1] + earned[i]
    after, worth = np.empty(known + len(path), np.int64), np.empty(known + len(path))
    after[:known], worth[:known] = urls, values
    for i in range(len(path)):
        if not entries[i]:
            continue
        place = find_entry(urls, path[i])
        if place >= 0:
            worth[place] = values[place] + step * (gains[i] - values[place])
            continue
        place = find_entry(after[:count], path[i])
        if place < 0:
            place, count = count, count + 1
        after[place], worth[place] = path[i], gains[i]
    rank_entries(after[:count], worth[:count])
    return after[:count], worth[:count]


class Weblog:
    """URL numbers with their values, best first; at most `settings.size` of them."""

    def __init__(self, settings: WeblogSettings, entries: Iterable[tuple[UrlId, float]] = ()) -> None:
        self.settings = settings
        given = dict(entries)
        self._urls: IntArray = np.fromiter(given.keys(), dtype=np.int64, count=len(given))
        self._values: FloatArray = np.fromiter(given.values(), dtype=np.float64, count=len(given))
        self._keep(self._urls, self._values)

    def __len__(self) -> int:
        return len(self._urls)

    def __contains__(self, url: UrlId) -> bool:
        return find_entry(self._urls, url) >= 0

    def __repr__(self) -> str:
        return f"<Weblog {len(self)} of {self.settings.size}>"

    @property
    def entries(self) -> list[tuple[UrlId, float]]:
        return [(UrlId(url), value) for url, value in zip(self._urls.tolist(), self._values.tolist(), strict=True)]

    @property
    def start_list(self) -> list[UrlId]:
        """The best pages to start from."""
        return [UrlId(url) for url in self._urls[: self.settings.start_size].tolist()]

    @property
    def urls(self) -> IntArray:
        """All pages, best first; do not change the array."""
        return self._urls

    @property
    def values(self) -> FloatArray:
        """Their values, in the same order; do not change the array."""
        return self._values

    def add(self, url: UrlId, value: float = 0.0) -> None:
        """Adds an entry if it is new."""
        if url not in self:
            self._keep(np.append(self._urls, np.int64(url)), np.append(self._values, value))

    def _keep(self, urls: IntArray, values: FloatArray) -> None:
        """Sets the entries, as many as there is room for."""
        rank_entries(urls, values)
        self._urls, self._values = urls[: self.settings.size], values[: self.settings.size]
