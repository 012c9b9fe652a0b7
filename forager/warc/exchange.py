"""An exchange as WARC records: the request, then its result.

| the answer                                   | becomes                                                          |
|----------------------------------------------|------------------------------------------------------------------|
| a status, and a body not seen before         | `response`                                                       |
| a status, and a body already written         | `revisit`, profile identical-payload-digest                      |
| 304 to a conditional request                 | `revisit`, profile server-not-modified                           |
| none: refused, no connection, no answer      | `metadata` with outcome, trouble and error                       |

Our own fields (`Forager-…`) keep exactly what WARC has no name for, so that a replay can return the same `Response`.
Ids are computed from the content and place of a record: a simulated crawl with the same seed writes the same bytes.

`Payloads` knows which bodies are already written, so that a repeated body is only referred to.
"""

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from uuid import UUID, uuid5

from forager.terms import Outcome, Request, Response, Trouble
from forager.warc.index import REVISIT, Line, media_type, read_line
from forager.warc.records import lines, payload, request_block, response_head, safe_url, stamp, warc_date, warc_moment


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, its response, and how long the caller waited."""

    request: Request
    response: Response
    took: float
    """Seconds on the crawl's clock; `response.seconds` may differ if that clock is accelerated."""


class Written(NamedTuple):
    """Where a body was first written."""

    url: str
    date: str


class Payloads:
    """Bodies by digest, and the last digest of each URL; forgets the oldest beyond `remember`."""

    def __init__(self, remember: int) -> None:
        self._remember = remember
        self._written: dict[str, Written] = {}
        self._latest: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Payloads {len(self._written)} bodies of {len(self._latest)} URLs>"

    def where(self, digest: str) -> Written | None:
        """Returns where a body with this digest was written."""
        return self._written.get(digest)

    def latest(self, url: str) -> str:
        """Returns the digest of the last body of this URL; empty if unknown."""
        return self._latest.get(url, "")

    def note(self, url: str, digest: str, date: str, *, version: bool) -> None:
        """Notes that a body was written or referred to; `version`: it is the current content of the URL, not an error
        page."""
        if digest not in self._written:
            self._written[digest] = Written(url, date)
            _trim(self._written, self._remember)
        if version:
            self._note_version(url, digest)

    def _note_version(self, url: str, digest: str) -> None:
        self._latest.pop(url, None)
        self._latest[url] = digest
        _trim(self._latest, self._remember)

    def load(self, index: Iterable[str]) -> None:
        """Loads the lines of an index; a revisit has no body to refer to."""
        for line in filter(None, map(read_line, index)):
            time, is_version = warc_moment(line.stamp), line.status.startswith("2")
            if time is None or not line.digest:
                continue
            if line.mime != REVISIT:
                self.note(line.url, line.digest, warc_date(time)[:19] + "Z", version=is_version)
            elif is_version:
                self._note_version(line.url, line.digest)


def _trim(known: dict[str, Written] | dict[str, str], most: int) -> None:
    """Removes the oldest tenth if there are too many; removing single entries would scan the front of the dict each
    time."""
    if len(known) > most:
        for key in list(islice(known, most // 10 + 1)):
            del known[key]


VERSION = b"WARC/1.1\r\n"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
WARC_FIELDS = "application/warc-fields"

_TAIL = b"\r\n\r\n"
_TRUNCATED = {Trouble.SIZE: "length", Trouble.TIMEOUT: "time", Trouble.PROTOCOL: "disconnect"}
_NAMESPACE = UUID("7e7a5b0e-3a0c-5d55-9c7e-1f0d6a8c9e21")

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Made:
    """A record ready to be compressed."""

    bytes: bytes
    index: Line | None = None
    """Its index entry without file name, offset and length; None: not indexed."""


class Composer:
    """Makes the records of one file; `payloads` outlives it."""

    def __init__(self, filename: str, user_agent: str, payloads: Payloads) -> None:
        self.filename, self.user_agent, self.payloads = filename, user_agent, payloads
        self._made = 0
        self._info = ""

    def warcinfo(self, about: Mapping[str, str], time: float) -> Made:
        """Makes the first record: who wrote this file, and with which settings."""
        fields = [("WARC-Filename", self.filename)]
        self._info, record = self._record("warcinfo", time, fields, WARC_FIELDS, lines(about.items()))
        return Made(record)

    def records(self, exchange: Exchange) -> tuple[Made, Made]:
        request, response = exchange.request, exchange.response
        url = safe_url(request.url)
        common = [("WARC-Target-URI", url), ("WARC-Warcinfo-ID", self._info)]
        limit = [] if request.body_limit is None else [("Forager-Body-Limit", str(request.body_limit))]
        block = request_block(request, self.user_agent)
        content = "application/http; msgtype=request"
        asked, made = self._record("request", response.asked, [*common, *limit], content, block)
        asking = Made(made)
        if response.address:
            common.append(("WARC-IP-Address", response.address))
        common.append(("WARC-Concurrent-To", asked))
        common += _exactly(exchange)
        if response.status == 0:
            said = {"outcome": response.outcome, "trouble": response.trouble, "error": response.error}
            return asking, Made(self._record("metadata", response.asked, common, WARC_FIELDS, lines(said.items()))[1])
        return asking, self._answer(url, request, response, common)

    def _answer(self, url: str, request: Request, response: Response, common: Pairs) -> Made:
        head, body, date = response_head(response), payload(response), warc_date(response.asked)
        if response.outcome is Outcome.UNCHANGED:
            digest, profile = self.payloads.latest(url), NOT_MODIFIED
            first = self.payloads.where(digest)
        else:
            digest, profile = sha1(body), IDENTICAL
            first = self.payloads.where(digest) if body else None
            if body:
                self.payloads.note(url, digest, date, version=response.outcome is Outcome.FETCHED)
        fields = [*common, *([("WARC-Payload-Digest", digest)] if digest else [])]
        is_revisit = first is not None or profile is NOT_MODIFIED
        if is_revisit:
            fields.append(("WARC-Profile", profile))
        if first is not None:
            fields += [("WARC-Refers-To-Target-URI", first.url), ("WARC-Refers-To-Date", first.date)]
        if truncated := _truncated(request, response):
            fields.append(("WARC-Truncated", truncated))
        index = Line(
            url=url,
            mime=REVISIT if is_revisit else media_type(response.header("content-type")),
            status=str(response.status),
            digest=digest,
            stamp=stamp(response.asked),
        )
        block = (head,) if is_revisit else (head, body)
        kind = "revisit" if is_revisit else "response"
        content = "application/http; msgtype=response"
        _, made = self._record(kind, response.asked, fields, content, *block)
        is_indexed = not truncated or response.outcome is not Outcome.FAILED
        return Made(made, index if is_indexed else None)

    def _record(self, kind: str, time: float, fields: Pairs, content: str, *block: bytes) -> tuple[str, bytes]:
        held = hashlib.sha1(usedforsecurity=False)
        for part in block:
            held.update(part)
        digest = held.digest()
        self._made += 1
        id = f"<urn:uuid:{uuid5(_NAMESPACE, f'{self.filename} {self._made} {digest.hex()}')}>"
        head = lines(
            [
                ("WARC-Type", kind),
                ("WARC-Record-ID", id),
                ("WARC-Date", warc_date(time)),
                *fields,
                ("WARC-Block-Digest", _written(digest)),
                ("Content-Type", content),
                ("Content-Length", str(sum(map(len, block)))),
            ]
        )
        return id, b"".join((VERSION, head, b"\r\n", *block, _TAIL))


def _exactly(exchange: Exchange) -> Pairs:
    """Returns our own fields, which are needed to return exactly the same response."""
    response = exchange.response
    fields = [
        ("Forager-Asked", repr(response.asked)),
        ("Forager-Took", repr(exchange.took)),
        ("Forager-Outcome", str(response.outcome)),
        ("Forager-Wire-Bytes", str(response.wire_bytes)),
    ]
    if response.seconds != exchange.took:
        fields.append(("Forager-Seconds", repr(response.seconds)))
    if response.trouble is not Trouble.NONE:
        fields.append(("Forager-Trouble", str(response.trouble)))
    if response.error:
        fields.append(("Forager-Error", response.error))
    return fields


def _truncated(request: Request, response: Response) -> str:
    """Returns why the body is incomplete, in the terms of WARC; empty if it is complete."""
    if response.outcome is Outcome.FAILED and 200 <= response.status < 300:
        return _TRUNCATED.get(response.trouble, "")
    is_cut = request.body_limit is not None and len(response.body) >= request.body_limit > 0
    return "length" if is_cut else ""


def sha1(payload: bytes) -> str:
    """Computes the digest of a payload in the format of archives."""
    return _written(hashlib.sha1(payload, usedforsecurity=False).digest())


def _written(digest: bytes) -> str:
    return f"sha1:{b32encode(digest).decode()}"
