"""`Web`, the protocol of everything that fetches, and HTTP in our terms: request headers, and the meaning of an answer.

Every rule around fetching is a web that wraps another web; the live web and replays judge answers alike:

| status                       | outcome                                                                       |
|------------------------------|-------------------------------------------------------------------------------|
| 2xx                          | FETCHED, also with an empty body (204, 205, or just nothing)                  |
| 304                          | UNCHANGED if we asked conditionally, else FAILED (there is nothing to keep)   |
| 301 302 303 307 308          | MOVED if there is a Location, else FAILED                                     |
| 408 425 429, 5xx             | FAILED: it may be there later                                                 |
| other 4xx                    | GONE: not there, or not for us                                                |
| other 1xx, 3xx               | FAILED as broken protocol: we never asked for an upgrade or a choice          |
| 600 and above                | FAILED: invented by the server, with unknown meaning                          |
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Protocol

from forager.terms import Outcome, Request, Response, Trouble, Url, Validators

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/rss+xml,application/atom+xml,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
LATER = frozenset({408, 425, 429})
HOPELESS = frozenset({501, 505})
"""5xx statuses that a retry cannot fix: not implemented, HTTP version not supported."""

NO_SUCH_HOST = "no such host"
"""Start of the error message for a name that does not exist; other DNS trouble may pass."""

_ORIGIN = re.compile(r"[^/?#]*://[^/?#]*")
_VALIDATOR = re.compile(r"[ -~]{1,1000}")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NEVER_CACHE = re.compile(r"(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])", re.IGNORECASE)
_COMPATIBLE = re.compile(r"\(compatible;\s*([A-Za-z_-]+)")
_PRODUCT = re.compile(r"\s*([A-Za-z_-]+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """A raw answer from the wire, before it is judged."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wire_bytes: int = 0
    address: str = ""
    coded: bytes = b""


def request_headers(request: Request, user_agent: str) -> dict[str, str]:
    """Headers of a GET; validators are sent verbatim, unless they are invalid in a header."""
    headers = {"User-Agent": user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING}
    if _VALIDATOR.fullmatch(request.validators.etag):
        headers["If-None-Match"] = request.validators.etag
    if _VALIDATOR.fullmatch(request.validators.last_modified):
        headers["If-Modified-Since"] = request.validators.last_modified
    return headers


def judged(request: Request, answer: Answer, *, asked: float, seconds: float) -> Response:
    """Makes the response for an answer, by the table above."""
    moved = answer.status in REDIRECTS and any(name == "location" for name, _ in answer.headers)
    conditional = bool(request.validators.etag or request.validators.last_modified)
    outcome, trouble = meaning(answer.status, moved=moved, conditional=conditional)
    return Response(
        url=request.url,
        outcome=outcome,
        asked=asked,
        seconds=seconds,
        status=answer.status,
        headers=answer.headers,
        body=answer.body,
        wire_bytes=answer.wire_bytes,
        trouble=trouble,
        error="" if trouble is Trouble.NONE else f"the server answered with status {answer.status}",
        address=answer.address,
        coded=answer.coded,
    )


def meaning(status: int, *, moved: bool = False, conditional: bool = False) -> tuple[Outcome, Trouble]:
    """Returns the outcome of a status; `moved`: there is a Location, `conditional`: we had sent validators."""
    if 200 <= status < 300:
        return Outcome.FETCHED, Trouble.NONE
    if status == 304 and conditional:
        return Outcome.UNCHANGED, Trouble.NONE
    if status in REDIRECTS and moved:
        return Outcome.MOVED, Trouble.NONE
    if 400 <= status < 500 and status not in LATER:
        return Outcome.GONE, Trouble.STATUS
    return Outcome.FAILED, Trouble.STATUS if status >= 400 else Trouble.PROTOCOL


def failed(request: Request, trouble: Trouble, error: str, *, asked: float, seconds: float = 0.0) -> Response:
    """Makes a response for a request without a usable answer; the trouble decides between REFUSED and FAILED."""
    ours = {Trouble.ROBOTS, Trouble.ADDRESS, Trouble.BUDGET, Trouble.URL}
    outcome = Outcome.REFUSED if trouble in ours else Outcome.FAILED
    return Response(request.url, outcome, asked, seconds, trouble=trouble, error=one_line(error))


def one_line(text: str, limit: int = 300) -> str:
    """Shortens a text for an error line: without line breaks, of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def decoded_headers(raw: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Headers as text: names in lower case, bytes that are not UTF-8 read as Latin-1."""
    return tuple([(_name(name), header_text(value)) for name, value in raw])


@lru_cache(maxsize=1_000)
def _name(raw: bytes) -> str:
    return header_text(raw).lower()


def header_text(raw: bytes) -> str:
    """Decodes the text of a header: UTF-8, or else Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def validators_of(response: Response) -> Validators:
    """Validators for the next request; leaves out what could not be sent back."""
    etag, last_modified = response.header("etag"), response.header("last-modified")
    return Validators(
        etag=etag if _VALIDATOR.fullmatch(etag) else "",
        last_modified=last_modified if _VALIDATOR.fullmatch(last_modified) else "",
    )


def retry_after(response: Response, now: float) -> float | None:
    """Seconds from `now` after which the server wants to be asked again; None if it gave none.

    A date is on the server's clock, which its Date header shows.
    """
    value = response.header("retry-after").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    moment, sent = http_date(value), http_date(response.header("date"))
    return None if moment is None else max(0.0, moment - (now if sent is None else sent))


def http_date(value: str) -> float | None:
    """Reads an HTTP date as UTC seconds since the epoch."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def max_age(response: Response) -> float | None:
    """Seconds for which Cache-Control lets us keep the answer; None if it gives none."""
    value = response.header("cache-control")
    if _NEVER_CACHE.search(value):
        return 0.0
    match = _MAX_AGE.search(value)
    return float(match[1]) if match else None


def product_token(user_agent: str) -> str:
    """Our name in robots.txt files: `Forager` in `Forager/0.1 (+contact)`, also after `(compatible; `."""
    match = _COMPATIBLE.search(user_agent) or _PRODUCT.match(user_agent)
    return match[1] if match else "*"


def origin(url: Url) -> str:
    """Returns scheme, host and port: the scope of one robots.txt."""
    match = _ORIGIN.match(url)
    return match[0] if match else url


class Web(Protocol):
    async def fetch(self, request: Request) -> Response:
        """Makes one request. Failure is an outcome, never an exception."""
