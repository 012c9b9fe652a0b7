"""Records as requests and responses: our own exactly as they were, those of other tools decoded.

A capture whose body was written earlier (a `revisit`) has the digest of that body; `WarcWeb` and other readers look it
up. A 304 has no body.

Chunks and compression that other tools leave in a payload are removed. Tools differ: some keep the bytes as received,
some keep decoded bytes under the old headers. So a body that does not match its headers is taken as it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.warc.reader import Broken, RecordPlace, WarcRecord, records
from forager.warc.records import HeaderFields, received, split_response, validators_asked, warc_moment
from forager.web.inflate import InflateError, Inflater
from forager.web.web import Answer, failed, judged, validators_of

_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


class TooLongError(Exception):
    """The decompressed body exceeds the limit."""


def decoded(headers: HeaderFields, payload: bytes, limit: int) -> bytes:
    """Decodes a payload to its body. Raises TooLongError beyond `limit` bytes."""
    if "chunked" in _value(headers, "transfer-encoding").lower():
        payload = dechunked(payload)
    body = _inflated(_value(headers, "content-encoding"), payload, limit)
    if len(body) > limit:
        raise TooLongError
    return body


def dechunked(payload: bytes) -> bytes:
    """Removes chunk sizes from a payload, if it has any; of one that is cut off it keeps the available part."""
    parts: list[bytes] = []
    at = 0
    while (size := _CHUNK.match(payload, at)) is not None:
        length = int(size[1], 16)
        if length == 0:
            return b"".join(parts)
        parts.append(payload[size.end() : size.end() + length])
        at = size.end() + length
        at += 2 if payload[at : at + 2] == b"\r\n" else 1
    return b"".join(parts) if parts and at >= len(payload) else payload


def _inflated(encoding: str, payload: bytes, limit: int) -> bytes:
    if not encoding or not payload:
        return payload
    try:
        inflater = Inflater(encoding, max(limit, len(payload)))
        inflater.feed(payload)
        if not inflater.full:
            inflater.finish()
    except InflateError:
        return payload
    if inflater.full:
        raise TooLongError
    return inflater.body


def _value(headers: HeaderFields, name: str) -> str:
    return ", ".join(value for key, value in headers if key == name)


BODY_LIMIT = 10_000_000
"""Maximum size of a decoded body in bytes, as in a live crawl."""

_OUR_LIMIT = 100_000_000  # our own bodies kept to the limit of their crawl
_LAST = 253_402_300_800.0  # the end of the year 9999
_NOT_MODIFIED = "revisit/server-not-modified"


@dataclass(frozen=True, slots=True)
class Capture:
    """An exchange found in a recording."""

    request: Request
    response: Response
    """The response, without its body if `repeats` is set."""
    took: float
    """Seconds the client waited, on the clock of the crawl; 0 if unknown."""
    digest: str
    """Digest of the payload, as in the record; may be empty."""
    repeats: bool
    """Whether the body is that of an earlier capture with the same digest."""
    place: RecordPlace
    """Place of the record that holds the answer."""
    refers_to: tuple[Url, float] | None = None
    """URL and time of the capture whose body is repeated, if the record names it."""


def captures(
    paths: Iterable[Path], passed: Callable[[WarcRecord], None] = lambda record: None
) -> Iterator[Capture | Broken]:
    """Yields every exchange in some WARC files, in order, and every unusable record.

    `passed` is told of sound records that hold no answer.
    """
    for path in paths:
        asked: dict[str, Request] = {}
        for record in records(path):
            if isinstance(record, Broken):
                yield record
            elif record.kind == "request":
                asked = {record.field("warc-record-id"): request_of(record)}  # our request precedes its answer
                passed(record)
            elif (found := capture_of(record, asked.get(record.field("warc-concurrent-to")))) is not None:
                yield found
            else:
                passed(record)


def capture_of(record: WarcRecord, request: Request | None = None) -> Capture | Broken | None:
    """Returns the exchange that a record answers; None for records of other kinds."""
    if not record.url.lower().startswith(("http://", "https://")):
        return None
    request = request or Request(Url(record.url))
    try:
        if any(name == "forager-asked" for name, _ in record.fields):
            return _ours(record, request)
        return _foreign(record, request)
    except (ValueError, KeyError, TooLongError) as error:
        return Broken(record.place, f"cannot be understood: {error}")


def request_of(record: WarcRecord) -> Request:
    limit = record.field("forager-body-limit")
    return Request(
        Url(record.url),
        validators_asked(record.block),
        int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 20 else None,
    )


def _ours(record: WarcRecord, request: Request) -> Capture:
    fields = dict(reversed(record.fields))
    asked, took = _seconds(fields["forager-asked"]), _seconds(fields["forager-took"])
    http = (0, (), b"") if record.kind == "metadata" else split_response(record.block)
    if http is None:
        raise ValueError("no HTTP answer")
    status, headers, kept = http
    repeats = record.kind == "revisit" and not fields.get("warc-profile", "").endswith(_NOT_MODIFIED)
    response = Response(
        url=request.url,
        outcome=Outcome(fields["forager-outcome"]),
        asked=asked,
        seconds=_seconds(fields.get("forager-seconds", took)),
        status=status,
        headers=received(record.block, headers),
        body=decoded(headers, kept, _OUR_LIMIT),
        wire_bytes=int(fields["forager-wire-bytes"]),
        trouble=Trouble(fields.get("forager-trouble", "")),
        error=fields.get("forager-error", ""),
        address=fields.get("warc-ip-address", ""),
    )
    return Capture(request, response, took, fields.get("warc-payload-digest", ""), repeats, record.place)


def _seconds(said: str | float) -> float:
    """Reads a duration, or a time since the epoch, that a calendar has."""
    seconds = float(said)
    if not 0 <= seconds < _LAST:
        raise ValueError(f"{seconds} is no time")
    return seconds


def _foreign(record: WarcRecord, request: Request) -> Capture | None:
    if record.kind not in ("response", "revisit", "resource"):
        return None
    time = warc_moment(record.field("warc-date"))
    if time is None:
        raise ValueError(f"WARC-Date {record.field('warc-date')[:40]!r} is no date")
    digest = record.field("warc-payload-digest")
    http = split_response(record.block) if record.kind != "resource" else _resource(record)
    is_revisit = record.kind == "revisit"
    if is_revisit and record.field("warc-profile").endswith(_NOT_MODIFIED):
        headers = http[1] if http else ()
        unchanged = Response(request.url, Outcome.UNCHANGED, time, status=304, headers=headers)
        return Capture(_conditional(request, unchanged), unchanged, 0.0, digest, False, record.place)
    if http is None and not is_revisit:
        raise ValueError("no HTTP answer")
    status, headers, payload = http or (200, (), b"")
    address = record.field("warc-ip-address")
    try:
        body = b"" if is_revisit else decoded(headers, payload, BODY_LIMIT)
        response = judged(request, Answer(status, headers, body, len(payload), address), asked=time, seconds=0.0)
    except TooLongError:
        response = failed(request, Trouble.SIZE, f"the body passes the cap of {BODY_LIMIT} bytes", asked=time)
    if status == 304:
        response = replace(response, outcome=Outcome.UNCHANGED, trouble=Trouble.NONE, error="")
        request = _conditional(request, response)
    return Capture(request, response, 0.0, digest, is_revisit, record.place, _refers_to(record))


def _refers_to(record: WarcRecord) -> tuple[Url, float] | None:
    time = warc_moment(record.field("warc-refers-to-date"))
    return None if time is None else (Url(record.field("warc-refers-to-target-uri")), time)


def _resource(record: WarcRecord) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """Reads a file that was kept without its HTTP headers."""
    kind = record.field("content-type")
    return 200, ((("content-type", kind),) if kind else ()), record.block


def _conditional(request: Request, unchanged: Response) -> Request:
    """Completes the request behind a 304 of which only the answer was kept: it must have had these validators."""
    if request.validators != Validators():
        return request
    return replace(request, validators=validators_of(unchanged))
