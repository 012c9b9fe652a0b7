"""The weblog: pages from which good paths started, with what those paths earned (Alg 1, Alg 6)."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from forager.foragers.settings import WeblogSettings
from forager.terms import UrlId


class Weblog:
    """URL numbers with their values, best first; at most `settings.size` of them."""

    def __init__(self, settings: WeblogSettings, entries: Iterable[tuple[UrlId, float]] = ()) -> None:
        self.settings = settings
        self._values: dict[UrlId, float] = {}
        self._keep(dict(entries))

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, url: UrlId) -> bool:
        return url in self._values

    def __repr__(self) -> str:
        return f"<Weblog {len(self)} of {self.settings.size}>"

    @property
    def entries(self) -> list[tuple[UrlId, float]]:
        return list(self._values.items())

    @property
    def start_list(self) -> list[UrlId]:
        """The best pages to start from."""
        return list(self._values)[: self.settings.start_size]

    @property
    def urls(self) -> NDArray[np.int64]:
        """All pages, best first; do not change it."""
        return self._urls

    @property
    def values(self) -> NDArray[np.float64]:
        """Their values, in the same order; do not change it."""
        return self._worths

    def update(self, path: Sequence[UrlId], earned: Sequence[float], entries: Sequence[bool]) -> list[float]:
        """Learn from a finished path: its pages, what each step earned, and which pages may be entries (Alg 1).

        Returns how much of anything earned still later each page would take: 1 for new entries, β for known ones, 0 for
        pages that may not be entries.
        """
        gains = list(accumulate(reversed(earned)))[::-1]
        after, shares = dict(self._values), []
        for url, gain, allowed in zip(path, gains, entries, strict=True):
            known = self._values.get(url)
            share = (1.0 if known is None else self.settings.step) if allowed else 0.0
            if allowed:
                after[url] = gain if known is None else known + share * (gain - known)
            shares.append(share)
        if path:
            self._keep(after)
        return shares

    def top_up(self, path: Sequence[UrlId], shares: Sequence[float], amount: float) -> None:
        """A reinforcement that came after its path was learned: `path` up to the step that earned it."""
        after = dict(self._values)
        for url, share in zip(path, shares, strict=True):
            if url in after:
                after[url] += share * amount
        self._keep(after)

    def add(self, url: UrlId, value: float = 0.0) -> None:
        """A new entry, if it is not known yet."""
        if url not in self._values:
            self._keep({**self._values, url: value})

    def split(self, rng: np.random.Generator) -> "Weblog":
        """Give away a random half with its values; an odd entry stays here (Alg 6)."""
        given = {UrlId(int(url)) for url in rng.permutation(self._urls)[: len(self) // 2]}
        child = Weblog(self.settings, [entry for entry in self.entries if entry[0] in given])
        self._keep({url: value for url, value in self._values.items() if url not in given})
        return child

    def copy(self) -> Self:
        return type(self)(self.settings, self.entries)

    def _keep(self, values: dict[UrlId, float]) -> None:
        ranked = sorted(values, key=values.__getitem__, reverse=True)  # stable: older entries first on ties
        self._values = {url: values[url] for url in ranked[: self.settings.size]}
        self._urls = np.fromiter(self._values.keys(), dtype=np.int64, count=len(self._values))
        self._worths = np.fromiter(self._values.values(), dtype=np.float64, count=len(self._values))
