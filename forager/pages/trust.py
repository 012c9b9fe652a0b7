"""Learns which date sources are wrong on which site: dates that never change, or that are in the future, are ignored.

The rule is ours. The source of a site is judged by its last dates. A date is *bad* if it is in the future, or if it
repeats the date of the document before. If dates name only the day, many documents share the present day, so only a
repeated old date is bad. When more than half of the last `WINDOW` dates were bad, and at least `FEWEST` were seen, the
source is not believed on that site until it improves.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from forager.pages.page import Page
from forager.terms import Dated, DateSource

_ORDER = list(DateSource)
DAY = 86_400.0
WINDOW = 20
FEWEST = 5
OLD = 2 * DAY  # seconds after which a day is not the present one in any zone
FUTURE = 3600.0  # seconds a date may lie ahead of us: clocks differ


EAST, WEST = 14 * 3600.0, 12 * 3600.0
"""How much earlier a day begins than in UTC where it begins first, and how much later it ends where it ends last."""


def _is_on(day: Dated, time: float) -> bool:
    """Whether a time may lie on a day."""
    before, after = (0.0, 0.0) if day.zone is not None else (EAST, WEST)
    return day.time - before <= time < day.time + DAY + after


class Trust:
    """Learns from the dates of each document, and chooses which of several dates to believe."""

    def __init__(self) -> None:
        self._bad: dict[tuple[str, DateSource], deque[bool]] = {}
        self._last: dict[tuple[str, DateSource], float] = {}

    def __repr__(self) -> str:
        liars = [f"{site} {source}" for site, source in self._bad if not self.believes(site, source)]
        return f"<Trust in {len(self._bad)} sources, not in {liars}>"

    def believes(self, site: str, source: DateSource) -> bool:
        """Whether dates of this source are believed on this site; unknown sources are."""
        bad = self._bad.get((site, source), ())
        return len(bad) < FEWEST or sum(bad) * 2 <= len(bad)

    def liars(self, site: str) -> frozenset[DateSource]:
        """The sources that are not believed on this site."""
        return frozenset(source for source in DateSource if not self.believes(site, source))

    def published(
        self, site: str, page: Page, others: Iterable[Dated | None], now: float, *, new: bool
    ) -> Dated | None:
        """The date of a document to believe, its own or one that others state; `new`: it was not seen before, so its
        date teaches.

        If the best source names only the day, a more exact date of that day is better; without a zone, of that day
        anywhere on Earth.
        """
        stated = page.published
        if stated is not None and new:
            self.learn(site, stated, now)
        if stated is not None and not self.believes(site, stated.source):
            stated = page.published_but(self.liars(site))
        candidates = sorted(filter(None, (stated, *others)), key=lambda dated: _ORDER.index(dated.source))
        chosen = self.choose(site, candidates, now)
        if chosen is not None and not chosen.exact:
            chosen = next((one for one in candidates if one.exact and _is_on(chosen, one.time)), chosen)
        if chosen is not None and chosen.source is DateSource.LAST_MODIFIED:
            return self._no_later(chosen, candidates, now)
        return chosen

    @staticmethod
    def _no_later(modified: Dated, candidates: Sequence[Dated], now: float) -> Dated | None:
        """The date of a page for which only the server gives one: the earlier of its last modification and our first
        sighting.

        That an old page was written to disk lately, as all pages are when a site is built anew, does not make it new.
        So a page whose link nobody saw appear has no date if it would be a late one.
        """
        seen = next((one for one in candidates if one.source is DateSource.FIRST_SEEN), None)
        if seen is None:
            return modified if now - modified.time > OLD else None
        return min(modified, seen, key=lambda dated: dated.time)

    def choose(self, site: str, dates: Iterable[Dated | None], now: float) -> Dated | None:
        """The first date that is believed and does not lie in the future; give them best source first."""
        for dated in dates:
            if dated is not None and dated.time <= now + FUTURE and self.believes(site, dated.source):
                return dated
        return None

    def learn(self, site: str, dated: Dated, now: float) -> None:
        """Note a date stated by a document that was not seen before."""
        key = (site, dated.source)
        repeated = self._last.get(key) == dated.time and (dated.exact or now - dated.time > OLD)
        self._bad.setdefault(key, deque(maxlen=WINDOW)).append(repeated or dated.time > now + FUTURE)
        self._last[key] = dated.time

    def save(self) -> dict[str, list[bool]]:
        """What was learned, by `site source`."""
        return {f"{site} {source}": list(bad) for (site, source), bad in self._bad.items()}

    def load(self, saved: Mapping[str, Iterable[bool]]) -> None:
        """Go on from what was saved."""
        for name, bad in saved.items():
            site, _, source = name.rpartition(" ")
            self._bad[site, DateSource(source)] = deque(bad, maxlen=WINDOW)
