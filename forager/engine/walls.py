"""Walls: where on a site pages do not answer, so that the crawl spends its visits elsewhere.

A page answers, or it does not: 401, 403, 404 and their like, a redirect to one place to which other pages led before
(consent, login, subscription), a text that another page of the host showed (*please allow cookies*), no capture in a
replay. What pages did is counted for each *pattern* of a host, its path with signs for numbers and slugs, and for the whole
host, which speaks for patterns not yet known if nothing of it has ever answered. The last thirty pages or so count, and of
a page that never answered only the first visit. Where, after eight pages, fewer than one in four is believed to answer, pages
that never did are passed by, but for a share: the fewer answer the fewer are asked. Where none of the last sixteen and more
answered, the share is one of the host's other requests, not of its pages, since a site may name any number of pages behind
its walls: in the end one is asked for sixteen others that are answered, which tests the belief. Each that answers opens the
wall a little.

A page that does not answer is asked again after a while, and after twice that while each time it still does not; much later
if it says that it is gone for good.
"""

import re
from dataclasses import dataclass

import msgspec

from forager.engine.memory import remember
from forager.errors import StoreError
from forager.pages.urls import host
from forager.terms import Outcome, Url

_MEMORY = 0.97
"""What was seen before counts so much less with each page (ours: about thirty pages are remembered)."""
_PATIENCE = 8
"""Pages of a pattern before anything is believed of it (ours)."""
_LEAST = 0.25
"""Below this chance of an answer a pattern is a wall (ours)."""
_HOPELESS = 16
"""Pages of a pattern, none of which answered, before its share is one of the host's requests (ours)."""
_FORGOTTEN = 0.5
"""Below this an answer does not count any more: after 23 pages that did not answer (ours)."""
_SAME_PLACE = 3
"""Pages that were redirected to one place, from which on it is taken for a wall (ours)."""
_REMEMBERED = 20_000
"""Patterns, places and pages at most, of each; the one unused for longest goes first (ours: some 6 MB)."""

_LONGEST = 10
"""Times that the while is doubled at most (ours)."""
_FOR_GOOD = 4
"""Times that it is doubled at once for a page that says it is gone for good: status 410 (ours)."""

_NO_ANSWER = frozenset({Outcome.GONE, Outcome.UNRECORDED})

_NAME = re.compile(r"[a-z]{1,24}(?:[-_][a-z]{1,24})?", re.IGNORECASE)


@dataclass(slots=True)
class Answers:
    """How the latest pages of a pattern answered."""

    answered: float = 0.0
    refused: float = 0.0
    pages: int = 0
    passed: int = 0
    """Pages passed by."""
    credit: float = 0.0
    """Pages behind the wall that may be asked."""

    @property
    def chance(self) -> float:
        """The chance that the next page answers."""
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
    """What pays for pages behind the hopeless walls of a host."""

    answers: int = 0
    """Visits of the host that were answered, but for pages behind walls, since the credit was worked out."""
    credit: float = 0.0
    """Pages that may be asked."""


@dataclass(slots=True)
class Refused:
    """A page that did not answer."""

    last: float
    times: int = 0
    for_good: bool = False
    """It said so."""


class WallsSaved(msgspec.Struct):
    """The saved form of `Walls`."""

    patterns: dict[str, Answers]
    places: dict[str, list[str]]
    pages: dict[Url, Refused]
    purses: dict[str, Purse] = {}


class Walls:
    """Learns from visits which patterns of URLs do not answer."""

    def __init__(self, retry_after: float = 3600.0) -> None:
        """`retry_after` is the time to the second request for a page that did not answer, in seconds."""
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
        """Returns the answers of pages like this one if it lies behind a wall, else None."""
        own = self._patterns.get(pattern(url))
        if own is None or (own.pages < _PATIENCE and not own.answered):
            own = self._patterns.get(_whole(url))
            if own is not None and own.answered:
                return None
        return own if own is not None and own.is_wall else None

    def next_request(self, url: Url) -> float:
        """Returns when a page that did not answer may be requested again; 0 if it may be at any time."""
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

        `first`: it is the first of the page, or the page answered until now; `is_copy`: another page of the host showed the
        same text; `for_good`: the page says that it is gone for good.
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
        """Learns from a redirect; once several pages lead to the same place, this is no answer."""
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
    """Returns host and path of a URL, with `#` for numbers and `*` for what is no plain name; of its query the names."""
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
