"""A web that answers from recordings as of its clock, with the recorded delays.

Before its first capture a URL is UNRECORDED; afterwards the last capture at or before now gives the answer:

| it was                      | asked the same question        | asked another question                               |
|-----------------------------|--------------------------------|------------------------------------------------------|
| a body (2xx)                | the same answer                | 304 if the validators of the request fit             |
| a 304                       | the same answer                | 304 if they fit, else the body that it confirmed     |
| a redirect, error, failure  | the same answer                | the same answer                                      |

"Fit" means that the recorded ETag is equal, or Last-Modified if the request has no ETag.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forager.clock import Clock
from forager.pages.urls import canonical
from forager.terms import Outcome, Request, Response, Url, Validators
from forager.warc.captures import Capture, capture_of, captures
from forager.warc.reader import Broken, RecordPlace, WarcRecord, record_at
from forager.web.web import validators_of

_TOLERANCE = 0.001  # seconds: simulated clocks differ in their last digits, and other tools round dates
_KEPT_IN_304 = frozenset(
    {"cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary", "server"}
)
_NAMED = 20  # number of broken records kept by name
_NOTHING = Validators()


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept in memory of a capture; its bytes stay in the file."""

    asked: float
    request: Request
    outcome: Outcome
    place: RecordPlace


class WarcWeb:
    """Answers from WARC files. It reads them once to index captures, and reads bodies on demand."""

    def __init__(self, paths: Iterable[Path], clock: Clock) -> None:
        self.clock = clock
        self.broken = 0
        """Number of unusable records."""
        self.named: list[Broken] = []
        """The first unusable records."""
        self.unrecorded = 0
        """Number of requests for what was not recorded by then."""
        self.asked = 0
        self._captures: dict[Url, list[_Known]] = {}
        self._bodies: dict[str, RecordPlace] = {}
        self._load(paths)

    def __repr__(self) -> str:
        return f"<WarcWeb {len(self._captures)} URLs, {self.asked} asked, {self.unrecorded} unrecorded, {self.broken} broken>"

    @property
    def urls(self) -> Sequence[Url]:
        """Every URL with a capture, in the order of the files."""
        return list(self._captures)

    @property
    def period(self) -> tuple[float, float] | None:
        """Times of the first and the last capture; None if there are none."""
        times = [known[place].asked for known in self._captures.values() for place in (0, -1)]
        return (min(times), max(times)) if times else None

    def holds(self, url: Url) -> bool:
        """Whether there is any capture of a URL; asking for another one is no request: the answer is known."""
        return _key(url) in self._captures

    def recorded_from(self, url: Url) -> float:
        """Returns when a URL was first captured; inf if never."""
        known = self._captures.get(_key(url))
        return known[0].asked - _TOLERANCE if known else math.inf

    def times(self, url: Url) -> int:
        """Counts the captures of a URL."""
        return len(self._captures.get(_key(url), ()))

    def read(self, url: Url, most: int) -> list[Capture]:
        """Returns at most `most` captures of a URL with their bodies, evenly spread and including the first."""
        known = self._captures.get(_key(url), [])
        places = sorted({len(known) * place // most for place in range(most)}) if known else []
        return [found for place in places if (found := self._read(known[place])) is not None]

    async def fetch(self, request: Request) -> Response:
        now = self.clock.now()
        known = self._captures.get(_key(request.url), [])
        if not known:
            return Response(request.url, Outcome.UNRECORDED, now, error="never recorded")
        self.asked += 1
        seen = bisect_right(known, now + _TOLERANCE, key=lambda capture: capture.asked)
        answer = self._answer(request, known, seen)
        if answer is None:
            self.unrecorded += 1
            return Response(request.url, Outcome.UNRECORDED, now, error="no capture of it up to now")
        await self.clock.sleep(answer.took)
        return replace(_cut(answer.response, request.body_limit), url=request.url, asked=now)

    def _answer(self, request: Request, known: Sequence[_Known], seen: int) -> Capture | None:
        """Answers a request by the last of the `seen` captures; None if there is none."""
        if not seen:
            return None
        last = known[seen - 1]
        if _is_same_question(request, last) or last.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return self._read(last)
        capture = self._read(last)
        if capture is None:
            return None
        if last.outcome is Outcome.FETCHED:
            fits = _fits(request.validators, validators_of(capture.response))
            return replace(capture, response=_not_modified(capture.response)) if fits else capture
        if _fits(request.validators, validators_of(capture.response)) or _fits(
            request.validators, last.request.validators
        ):
            return capture
        confirmed = self._confirmed(last.request.validators, known[: seen - 1])
        return None if confirmed is None else replace(confirmed, took=capture.took)

    def _confirmed(self, validators: Validators, earlier: Sequence[_Known]) -> Capture | None:
        """Finds the capture with the body that a 304 confirmed; if none fits, the last one before it."""
        bodies = (self._read(known) for known in reversed(earlier) if known.outcome is Outcome.FETCHED)
        nearest = None
        for capture in filter(None, bodies):
            if _fits(validators, validators_of(capture.response)):
                return capture
            nearest = nearest or capture
        return nearest

    def _read(self, known: _Known) -> Capture | None:
        """Reads a capture with its body; None if the body was never recorded."""
        record = record_at(known.place)
        capture = None if isinstance(record, Broken) else capture_of(record, known.request)
        if not isinstance(capture, Capture) or not capture.repeats:
            return capture if isinstance(capture, Capture) else None
        first = self._bodies.get(capture.digest) or self._referred(capture.refers_to)
        original = record_at(first) if first is not None else None
        found = capture_of(original) if isinstance(original, WarcRecord) else None
        if not isinstance(found, Capture) or found.repeats:
            return None
        return replace(capture, response=_filled(capture.response, found.response))

    def _referred(self, refers_to: tuple[Url, float] | None) -> RecordPlace | None:
        """Finds the capture that a revisit names by URL and time."""
        if refers_to is None:
            return None
        url, time = refers_to
        known = self._captures.get(_key(url), [])
        seen = bisect_right(known, time + 1.0, key=lambda capture: capture.asked)  # dates may be whole seconds
        return next((capture.place for capture in reversed(known[:seen]) if capture.outcome is Outcome.FETCHED), None)

    def _load(self, paths: Iterable[Path]) -> None:
        repeated: set[str] = set()
        requests: dict[Request, Request] = {}
        for found in captures(paths):
            if isinstance(found, Broken):
                self.broken += 1
                self.named += [found] if len(self.named) < _NAMED else []
                continue
            if found.repeats:
                repeated.add(found.digest)
            elif found.digest and found.response.body:
                self._bodies.setdefault(found.digest, found.place)
            request = requests.setdefault(found.request, found.request)  # equal requests share one object
            known = _Known(found.response.asked, request, found.response.outcome, found.place)
            self._captures.setdefault(_key(found.request.url), []).append(known)
        self._bodies = {digest: place for digest, place in self._bodies.items() if digest in repeated}
        for captured in self._captures.values():
            captured.sort(key=lambda known: known.asked)  # stable: of two at the same time the later in the file wins


def _key(url: Url) -> Url:
    """Returns the canonical form of a URL, because other tools record URLs as found."""
    return canonical(url) or url


def _is_same_question(request: Request, last: _Known) -> bool:
    is_odd = last.outcome is Outcome.UNCHANGED and request.validators == _NOTHING  # some tools keep only the answer
    return request.validators == last.request.validators and not is_odd


def _fits(asked: Validators, recorded: Validators) -> bool:
    """Whether the client's copy is the recorded version; an ETag, if given, decides alone (RFC 9110, section 13.2.2)."""
    if asked.etag:
        return asked.etag.removeprefix("W/") == recorded.etag.removeprefix("W/")
    return bool(asked.last_modified) and asked.last_modified == recorded.last_modified


def _not_modified(response: Response) -> Response:
    headers = tuple(pair for pair in response.headers if pair[0] in _KEPT_IN_304)
    return replace(response, outcome=Outcome.UNCHANGED, status=304, headers=headers, body=b"", wire_bytes=0)


def _filled(response: Response, original: Response) -> Response:
    """Adds the body of the capture that a response repeats, and its headers if it has none."""
    if response.headers:
        return replace(response, body=original.body)
    return replace(original, url=response.url, asked=response.asked, seconds=response.seconds)


def _cut(response: Response, limit: int | None) -> Response:
    if limit is None or len(response.body) <= limit:
        return response
    return replace(response, body=response.body[:limit], wire_bytes=min(response.wire_bytes, limit))
