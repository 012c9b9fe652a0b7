"""The World of a tape: no parsing, no sockets; a visit is an array look-up, and time passes only by downloading."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forager.foragers.kernels import compiled
from forager.foragers.sighting import Sighting
from forager.terms import NOBODY, ForagerId, Kind, UrlId
from forager.world.tape.columns import KINDS, Tape

_LISTS = (Kind.HUB, Kind.FEED, Kind.SITEMAP)


class TapeClock:
    """A clock that stands still until somebody sleeps or downloads on it."""

    def __init__(self, start: float) -> None:
        self.time = start

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += max(0.0, seconds)


@compiled
def _advance(url: int, now: float, time: NDArray[np.float64], end: int, current: NDArray[np.int64]) -> int:
    """The version that the URL shows now; time never runs backwards, so each version is passed once."""
    version = int(current[url])
    while version + 1 < end and time[version + 1] <= now:
        version += 1
    current[url] = version
    return version


class TapeWorld:
    """Shows each page as it was at the time of the clock; every download costs `seconds` of that time."""

    def __init__(self, tape: Tape, clock: TapeClock, *, seconds: float, revisit_after: float = 0.0) -> None:
        self.tape, self.clock, self.seconds, self.revisit_after = tape, clock, seconds, revisit_after
        self.downloads = self.unrecorded = 0
        self._links = tape.links.astype(np.int64)
        self._time = np.ascontiguousarray(tape.time)
        self._begin = tape.version_start.tolist()
        self._current = tape.version_start[:-1].astype(np.int64) - 1
        self._last = np.full(tape.pages, -np.inf)
        self._hub = np.isin(tape.url_kind, [KINDS.index(kind) for kind in _LISTS]).tolist()
        self.held = np.full(tape.pages, -1, dtype=np.int64)
        """The version of each page that was downloaded last; -1 if none was."""

    def __repr__(self) -> str:
        return f"<TapeWorld {self.downloads:,} downloads, {self.unrecorded:,} of them unrecorded>"

    async def visit(self, urls: Sequence[UrlId], by: ForagerId = NOBODY) -> list[Sighting]:
        """Download pages one after the other; what was downloaded a moment ago is shared and free."""
        return [self.look(int(url)) for url in urls]

    def look(self, url: int) -> Sighting:
        """One page, now."""
        now = self.clock.time
        free = now - self._last.item(url) < self.revisit_after
        if not free:
            self._last[url] = now
            self.downloads += 1
            self.clock.time = now = now + self.seconds
        begin = self._begin[url]
        version: int = _advance(url, now, self._time, self._begin[url + 1], self._current)
        tape = self.tape
        if version < begin or tape.gone.item(version):
            if not free:
                self.unrecorded += version < begin
                self.held[url] = -1
            return Sighting(UrlId(url), now, ok=False, free=free)
        if not free:
            self.held[url] = version
        chosen = tape.link_set.item(version)
        return Sighting(
            UrlId(url),
            now,
            True,
            version,
            tape.text_print.item(version),
            tape.published.item(version),
            self._links[tape.link_start.item(chosen) : tape.link_start.item(chosen + 1)],
            self._hub[url],
            tape.state.item(version),
            free,
        )
