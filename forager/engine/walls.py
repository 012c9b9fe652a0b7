"""Walls: where on a site pages do not answer, so that the crawl spends its visits elsewhere.

A page does not answer if it gives 401, 403, 404 and their like, a redirect to one place to which other pages led before
(consent, login, subscription), a text that another page of the host showed (*please allow cookies*), or, in a replay,
no capture. Answers are counted for each *pattern* of a host, its path with signs for numbers and names, and for the
whole host; the latter speaks for patterns not yet known if nothing of the host has ever answered. About the last thirty
pages count, and of a page that never answered only the first visit. A pattern is a wall if, after eight pages, fewer
than one in four is believed to answer. Behind a wall, pages that never answered are mostly skipped: the fewer answer
the fewer are asked. A wall is hopeless if none of the last sixteen or more pages answered. A site may link to any
number of pages behind it, so the requests there are a share of the answered requests elsewhere on the host: in the end
one in sixteen, to test the belief. Each page that answers opens the wall a little.

A page that does not answer is requested again after a while, which doubles each time it still does not answer; much
later if it says that it is gone for good.
"""

import re
from dataclasses import dataclass

import msgspec

from forager.engine.memory import remember
from forager.errors import StoreError
from forager.pages.urls import host
from forager.terms import Outcome, Url

_MEMORY = 0.97
"""Factor by which older answers count less with each page (ours: about thirty pages are remembered)."""
_PATIENCE = 8
"""Pages of a pattern before anything is believed of it (ours)."""
_LEAST = 0.25
"""A pattern is a wall below this probability of an answer (ours)."""
_HOPELESS = 16
"""A wall is hopeless after this many pages of which none answered (ours)."""
_FORGOTTEN = 0.5
"""Below this value the answers of a pattern count as forgotten: after 23 pages that did not answer (ours)."""
_SAME_PLACE = 3
"""A place is taken for a wall after this many pages were redirected to it (ours)."""
_REMEMBERED = 20_000
"""Maximum number of patterns, places and pages, each; the least recently used goes first (ours: about 6 MB)."""

_LONGEST = 10
"""The while is doubled at most this often (ours)."""
_FOR_GOOD = 4
"""It is doubled this often at once for a page that says it is gone for good, with status 410 (ours)."""

_NO_ANSWER = frozenset({Outcome.GONE, Outcome.UNRECORDED})

_NAME = re.compile(r"[a-z]{1,24}(?:[-_][a-z]{1,24})?", re.IGNORECASE)


@dataclass(slots=True)
class Answers:
    """How the latest pages of a pattern answered."""

    answered: float = 0.0
    refused: float = 0.0
    pages: int = 0
    passed: int = 0
    """Pages that were skipped."""
    credit: float = 0.0
    """Pages behind the wall that may be requested."""

    @property
    def chance(self) -> float:
        """The probability that the next page answers."""
        return (self.answered + 0.5) / (self.answered + self.refused + 1)

    @property
    def is_wall(self) -> bool:
        return self.pages >= _PATIENCE and self.chance < _LEAST

    @property
    def is_hopeless(self) -> bool:
        return self.pages >= _HOPELESS and self.answered < _FORGOTTEN

    @property
    def requested(self) -> float:
        """The share of pages behind the wall that is requested; if it is hopeless, a share of the host's requests."""
        return self.chance / _LEAST


@dataclass(slots=True)
class Purse:
    """Requests that may be spent on pages behind the hopeless walls of a host."""

    answers: int = 0
    """Answered visits of the host since the credit was last computed, without pages behind walls."""
    credit: float = 0.0
    """Number of pages that may be requested."""


@dataclass(slots=True)
class Refused:
    """A page that did not answer."""

    last: float
    times: int = 0
    for_good: bool = False
    """Whether it said that it is gone for good."""


class WallsSaved(msgspec.Struct):
    """The saved form of `Walls`."""

    patterns: dict[str, Answers]
    places: dict[str, list[str]]
    pages: dict[Url, Refused]
    purses: dict[str, Purse] = {}


class Walls:
    """Learns from visits which patterns of URLs do not answer."""

    def __init__(self, retry_after: float = 3600.0) -> None:
        """`retry_after` is the time in seconds to the second request for a page that did not answer."""
        self.retry_after = retry_after
        self._patterns: dict[str, Answers] = {}
        self._places: dict[str, list[str]] = {}
        """Where redirects led, with the first pages that led there."""
        self._pages: dict[Url, Refused] = {}
        self._purses: dict[str, Purse] = {}

    def __repr__(self) -> str:
        return f"<Walls: {sum(one.is_wall for one in self._patterns.values())} in {len(self._patterns)} patterns>"

    # Asking.

    def at(self, url: Url) -> Answers | None:
        """Returns the answers of pages like this one if it is behind a wall, else None."""
        own = self._patterns.get(pattern(url))
        if own is None or (own.pages < _PATIENCE and not own.answered):
            own = self._patterns.get(_whole(url))
            if own is not None and own.answered:
                return None
        return own if own is not None and own.is_wall else None

    def next_request(self, url: Url) -> float:
        """Returns when a page that did not answer may be requested again; 0 if at any time."""
        refused = self._pages.get(url)
        if refused is None:
            return 0.0
        doubled = refused.times - 1 + _FOR_GOOD * refused.for_good
        return refused.last + self.retry_after * 2.0 ** min(doubled, _LONGEST)

    def why(self, url: Url, now: float) -> str:
        """Says why a page, or pages like it, are hardly requested; empty if they are."""
        known, again = self.at(url), self.next_request(url)
        if again > now:
            return f"it did not answer {self._pages[url].times} times, and is asked again in {again - now:.0f} s"
        if known is None:
            return ""
        asked = (
            f"as many as {known.requested:.0%} of the requests of the host"
            if known.is_hopeless
            else f"{known.requested:.0%}"
        )
        return (
            f"pages like {pattern(url)} do not answer: {known.chance:.0%} of them are believed to, by {known.pages} that were "
            f"asked; {known.passed} were passed by, {asked} are asked to see whether that still holds"
        )

    # Deciding.

    def skips(self, url: Url, now: float) -> bool:
        """Whether to skip a page that never answered; behind a wall most are skipped."""
        if self.next_request(url) > now:
            return True
        known = self.at(url)
        if known is None:
            return False
        purse: Answers | Purse = known
        if known.is_hopeless:
            purse = self._purse(url)
            purse.credit = min(1.0, purse.credit + purse.answers * known.requested)
            purse.answers = 0
        else:
            known.credit += known.requested
        if purse.credit >= 1:
            purse.credit -= 1
            return False
        known.passed += 1
        return True

    def _purse(self, url: Url) -> Purse:
        purse = self._purses.get(host(url)) or Purse()
        remember(self._purses, host(url), purse, _REMEMBERED)
        return purse

    # Learning.

    def learn(
        self, url: Url, outcome: Outcome, now: float, *, first: bool, is_copy: bool = False, for_good: bool = False
    ) -> None:
        """Learns from a visit.

        `first`: it is the first of the page, or the page answered until now. `is_copy`: another page of the host showed
        the same text. `for_good`: the page says that it is gone for good.
        """
        refused = self._pages.pop(url, None)
        if outcome in _NO_ANSWER:
            times = 1 if refused is None else refused.times + 1
            remember(self._pages, url, Refused(now, times, for_good), _REMEMBERED)
            if first:
                self._count(url, answered=False)
        elif outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
            if self.at(url) is None:
                self._purse(url).answers += 1
            if first or not is_copy:
                self._count(url, answered=not is_copy)

    def redirected(self, url: Url, target: Url) -> None:
        """Learns from a redirect; a place to which several pages lead counts as no answer."""
        place = target.partition("?")[0]
        sources = self._places.get(place, [])
        if url not in sources and len(sources) < _SAME_PLACE:
            sources = [*sources, url]
        remember(self._places, place, sources, _REMEMBERED)
        if len(sources) >= _SAME_PLACE:
            self._count(url, answered=False)

    def _count(self, url: Url, *, answered: bool) -> None:
        for name in (_whole(url), pattern(url)):
            known = self._patterns.get(name) or Answers()
            known.answered = known.answered * _MEMORY + answered
            known.refused = known.refused * _MEMORY + (not answered)
            known.pages += 1
            remember(self._patterns, name, known, _REMEMBERED)

    # Keeping.

    def save(self) -> bytes:
        return msgspec.msgpack.encode(WallsSaved(self._patterns, self._places, self._pages, self._purses))

    def load(self, saved: bytes) -> None:
        """Takes over what another one learned."""
        try:
            kept = msgspec.msgpack.decode(saved, type=WallsSaved)
        except msgspec.MsgspecError as error:
            raise StoreError(f"the kept walls cannot be read ({error}); start a new run directory") from None
        self._patterns, self._places, self._pages = kept.patterns, kept.places, kept.pages
        self._purses = kept.purses


def pattern(url: Url) -> str:
    """Returns host and path of a URL, with `#` for numbers and `*` for anything but a plain name; of its query only the
    names.
    """
    path, _, query = url.partition("?")
    parts = path.split("/")
    shaped = "/".join([*parts[:3], *map(_shape, parts[3:])])
    return f"{shaped}?{'&'.join(field.partition('=')[0] for field in query.split('&'))}" if query else shaped


def _whole(url: Url) -> str:
    return f"{host(url)} as a whole"


def _shape(segment: str) -> str:
    stem, dot, ending = segment.rpartition(".")
    if dot and ending.isalpha() and len(ending) <= 5:
        return f"{_shape(stem)}.{ending}"
    if not segment or _NAME.fullmatch(segment):
        return segment
    return "#" if segment.isdigit() else "*"
