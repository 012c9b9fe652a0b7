"""What the links of a recording tell of the dates of their targets: when a feed says they were published, and when the link
appeared."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forager.terms import Dated, DateSource, Link


class Sightings:
    """Kept by URL number; the first word counts."""

    def __init__(self) -> None:
        self._announced: dict[int, float] = {}
        self._met = np.full(1024, np.nan)
        """When a link was first seen: nan for never, -inf if it stood there when the page was first looked at."""

    def __repr__(self) -> str:
        return f"<Sightings of {np.count_nonzero(~np.isnan(self._met))} links, {len(self._announced)} dates announced>"

    def note(self, links: Sequence[Link], numbers: NDArray[np.int64], now: float, *, again: bool) -> None:
        """A page showed these links; `again`: it was seen before."""
        for link, number in zip(links, numbers.tolist(), strict=True):
            if link.published is not None:
                self._announced.setdefault(number, link.published)
        self._grow(int(numbers.max(initial=-1)) + 1)
        self._met[numbers[np.isnan(self._met[numbers])]] = now if again else -np.inf

    def dates(self, number: int) -> tuple[Dated | None, Dated | None]:
        """What a feed said of a page, and when its link appeared."""
        announced = self._announced.get(number)
        met = self._met.item(number) if number < len(self._met) else np.nan
        return (
            None if announced is None else Dated(announced, DateSource.FEED),
            Dated(met, DateSource.FIRST_SEEN) if np.isfinite(met) else None,
        )

    def _grow(self, numbers: int) -> None:
        if numbers > len(self._met):
            more = np.full(max(numbers, 2 * len(self._met)) - len(self._met), np.nan)
            self._met = np.concatenate([self._met, more])
