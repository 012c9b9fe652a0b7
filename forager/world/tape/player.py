"""The World of a tape: no parsing, no sockets; a visit is an array look-up, and time passes only by downloading."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forager.foragers.sighting import Sighting, Sightings
from forager.terms import NOBODY, ForagerId, Kind, UrlId
from forager.world.tape.columns import KINDS, Tape
from forager.world.tape.looking import look_up, look_up_all, standing, standing_links

LISTS = [KINDS.index(kind) for kind in (Kind.HUB, Kind.FEED, Kind.SITEMAP)]


class TapeClock:
    """A clock that stands still until somebody sleeps or downloads on it."""

    def __init__(self, start: float) -> None:
        self.time = start

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += max(0.0, seconds)


class Columns(NamedTuple):
    """All that it takes to look up pages, as `look_up` and its callers know them."""

    seconds: float
    revisit_after: float
    last: NDArray[np.float64]
    current: NDArray[np.int64]
    held: NDArray[np.int64]
    begin: NDArray[np.int64]
    time: NDArray[np.float64]
    gone: NDArray[np.bool_]
    published: NDArray[np.float64]
    is_list: NDArray[np.bool_]
    state: NDArray[np.int32]
    link_set: NDArray[np.int32]
    link_start: NDArray[np.int64]
    links: NDArray[np.int64]
    waits: bool
    appears: NDArray[np.float64]


class TapeWorld:
    """Shows each page as it was at the time of the clock; every download costs `seconds` of that time."""

    def __init__(self, tape: Tape, clock: TapeClock, *, seconds: float, revisit_after: float = 0.0) -> None:
        self.tape, self.clock, self.seconds, self.revisit_after = tape, clock, seconds, revisit_after
        self.downloads = self.unrecorded = 0
        self.held = np.full(tape.pages, -1, dtype=np.int64)
        """The version of each page that was downloaded last, be it that the page was gone; -1 if there was none."""
        self._last = np.full(tape.pages, -np.inf)
        self._begin = np.asarray(tape.version_start)
        self._current = self._begin[:-1] - 1
        self._time = np.asarray(tape.time)
        self.reads_off = tape.identity == "link"
        """Pages that are only linked to are documents, read off the page that links them and never downloaded."""
        self._hub = np.isin(tape.url_kind, LISTS)
        # plain arrays: an element of a memory map costs several times as much
        self._gone, self._set, self._state = np.asarray(tape.gone), np.asarray(tape.link_set), np.asarray(tape.state)
        self._print, self._published = np.asarray(tape.text_print), np.asarray(tape.published)
        self._link_start, self._links = np.asarray(tape.link_start), np.array(tape.links, dtype=np.int64)
        self._waits = tape.waits
        self._appears = np.full(tape.pages, np.inf)
        shown = np.flatnonzero(np.diff(self._begin))
        self._appears[shown] = self._time[self._begin[shown]]
        if self.reads_off:
            read = tape.url_kind[tape.links] == KINDS.index(Kind.ARTICLE)
            self._shown_start, self._shown = _some(self._link_start, self._links, read)
            self._link_start, self._links = _some(self._link_start, self._links, ~read)

    def __repr__(self) -> str:
        return f"<TapeWorld {self.downloads:,} downloads, {self.unrecorded:,} of them unrecorded>"

    def downloadable(self, urls: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some pages that are not only read off others."""
        return urls[self._hub[urls]] if self.reads_off else urls

    def counted(self, downloads: int, unrecorded: int) -> None:
        """Somebody else, who has the columns, downloaded so many pages."""
        self.downloads += downloads
        self.unrecorded += unrecorded

    @property
    def columns(self) -> Columns:
        """For those who look up many pages themselves; they tell by `counted`."""
        return Columns(
            self.seconds,
            self.revisit_after,
            self._last,
            self._current,
            self.held,
            self._begin,
            self._time,
            self._gone,
            self._published,
            self._hub,
            self._state,
            self._set,
            self._link_start,
            self._links,
            self._waits,
            self._appears,
        )

    def shared_until(self, url: int) -> float:
        """Until when the copy of a page that was downloaded a moment ago is shared; −inf if it never was."""
        return float(self._last[url]) + self.revisit_after

    async def visit(self, urls: Sequence[UrlId], by: ForagerId = NOBODY) -> list[Sighting]:
        """Download pages one after the other; what was downloaded a moment ago is shared and free."""
        return [self.look(int(url)) for url in urls]

    def look(self, url: int) -> Sighting:
        """One page, now."""
        version, free, now = look_up(
            url,
            self.clock.time,
            self.seconds,
            self.revisit_after,
            self._last,
            self._current,
            self.held,
            self._begin,
            self._time,
        )
        self.clock.time = now
        if not free:
            self.downloads += 1
            self.unrecorded += version < 0
        if version < 0 or self._gone.item(version):
            return Sighting(UrlId(url), now, False, free=free, gone=version >= 0)
        return self.sighting(url, version, now, free)

    def look_at_all(self, urls: NDArray[np.int64]) -> Sightings:
        """Many pages, one after the other, as columns."""
        when, shown, free, hub, lost, downloads, unrecorded = look_up_all(
            urls,
            self.clock.time,
            self.seconds,
            self.revisit_after,
            self._last,
            self._current,
            self.held,
            self._begin,
            self._time,
            self._gone,
            self._state,
            self._set,
            self._link_start,
            self._hub,
        )
        if len(urls):
            self.clock.time = when.item(-1)
        self.downloads += downloads
        self.unrecorded += unrecorded
        begin, end, links = shown[2], shown[3], self._links
        if self._waits:
            begin, end, links = standing_links(begin, end, links, when, self._appears)
        return Sightings(urls, when, shown[0], free, hub, shown[1], begin, end, links, lost)

    def shown(self, version: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The documents that can be read off a page just downloaded, and which of them nobody had read before."""
        chosen = self._set.item(version)
        urls = self._shown[self._shown_start[chosen] : self._shown_start[chosen + 1]]
        new = self.held[urls] < 0
        self.held[urls] = self._begin[urls]
        return urls, new

    def shared_copy(self, seen: Sighting) -> Sighting:
        """The same page as a copy that somebody has noted already."""
        return self.sighting(seen.url, seen.version, seen.when, True)

    def shared_copies(self, sightings: Sightings, since: float) -> list[Sighting]:
        """Those that show a page dated at `since` or later, as copies that somebody else has noted."""
        return self._copies(sightings, (sightings.version >= 0) & (self._published[sightings.version] >= since))

    def copies(self, sightings: Sightings) -> list[Sighting]:
        """Those that show a page, dated or not, as copies."""
        return self._copies(sightings, sightings.version >= 0)

    def _copies(self, sightings: Sightings, chosen: NDArray[np.bool_]) -> list[Sighting]:
        urls, versions, when = sightings.urls[chosen], sightings.version[chosen], sightings.when[chosen]
        return [
            self.sighting(url, version, at, True)
            for url, version, at in zip(urls.tolist(), versions.tolist(), when.tolist(), strict=True)
        ]

    def shown_copies(self, urls: NDArray[np.int64], when: float, since: float) -> list[Sighting]:
        """Documents that a page showed, those dated at `since` or later, as copies."""
        versions = self._begin[urls]
        dated = self._published[versions] >= since
        pairs = zip(urls[dated].tolist(), versions[dated].tolist(), strict=True)
        return [self.sighting(url, version, when, True) for url, version in pairs]

    def sighting(self, url: int, version: int, now: float, free: bool) -> Sighting:
        """This version of a page, as seen now."""
        chosen, state = self._set.item(version), self._state.item(version)
        links = self._links[self._link_start.item(chosen) : self._link_start.item(chosen + 1)]
        if self._waits:
            links = standing(links, now, self._appears)
        return Sighting(
            UrlId(url),
            now,
            True,
            version,
            self._print.item(version),
            self._published.item(version),
            links,
            self._hub.item(url),
            state + 1 if state >= 0 else -1,
            free,
        )


def _some(
    start: NDArray[np.int64], links: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The link sets with only the chosen links."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
    return before[start], links[chosen]
