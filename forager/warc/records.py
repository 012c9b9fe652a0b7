"""HTTP messages as WARC blocks, and back; header lines of WARC and HTTP, and the dates of WARC.

A body is kept without chunks, and in its original compression if all of it arrived; otherwise the decompressed body is
kept. Other tools undo whatever Content-Encoding and Transfer-Encoding say. So if these do not match the body as kept,
or Content-Length does not, they are kept under the names that archives use for this: `x-archive-orig-content-encoding`
and so on. Received names are in lower case; a `Content-Length` in capitals is ours, gives the true length and is
dropped on reading.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from forager.terms import Request, Response, Validators
from forager.web.web import header_text, request_headers

HeaderFields = tuple[tuple[str, str], ...]
"""Names in lower case, in order."""

_BLANKS = " \t\r"
_BREAKS = re.compile(r"[\r\n]+")
_CONTROLS = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
_NO_MARKS = str.maketrans("", "", "-T:")
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T?(\d\d):?(\d\d):?(\d\d)(\.\d{1,9})?Z?")


def lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Makes header lines with line ends; a line break in a value becomes a space."""
    pairs = list(fields)
    text = "".join([f"{name}: {value}\r\n" for name, value in pairs])
    if text.count("\n") > len(pairs) or text.count("\r") > len(pairs):
        text = "".join([f"{name}: {_BREAKS.sub(' ', value)}\r\n" for name, value in pairs])
    return text.encode("utf-8", "replace")


def parsed(block: bytes) -> HeaderFields:
    """Fields of a header block; a line that begins with a blank continues the previous one; invalid lines are skipped."""
    try:
        rows = block.decode().split("\n")
    except UnicodeDecodeError:
        rows = [header_text(row) for row in block.split(b"\n")]
    fields: list[tuple[str, str]] = []
    for row in rows:
        if row[:1] in (" ", "\t") and fields and row.strip(_BLANKS):
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {row.strip(_BLANKS)}")
            continue
        before, colon, after = row.partition(":")
        if colon:
            fields.append((before.strip(_BLANKS).lower(), after.strip(_BLANKS)))
    return tuple(fields)


def safe_url(url: str) -> str:
    """Makes a URL fit for a header line: blanks and control characters become percent codes."""
    return _CONTROLS.sub(lambda match: quote(match[0], safe="", errors="replace"), url)


@lru_cache(maxsize=16)
def warc_date(time: float) -> str:
    """Writes UTC with microseconds, as WARC 1.1 allows; cached: all records of an exchange need the same one."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def stamp(time: float) -> str:
    """Writes the 14 digits of indexes and file names."""
    return warc_date(time)[:19].translate(_NO_MARKS)


def warc_moment(text: str) -> float | None:
    """Converts a WARC date or 14 digits to UTC seconds since the epoch; None if it is neither."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        whole = datetime(*(int(part) for part in match.groups()[:6]), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
    return whole.timestamp() + float(match[7] or 0.0)


PREFIX = "x-archive-orig-"
_HIDDEN = re.compile(rf"(?:{PREFIX})*(?:content-encoding|transfer-encoding|content-length)")
_HIDDEN_IF_CODED = re.compile(rf"(?:{PREFIX})+content-encoding|(?:{PREFIX})*(?:transfer-encoding|content-length)")
_OURS = b"Content-Length: "
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})\b")
_REQUEST_LINE = re.compile(rb"[A-Z]+ [^\r\n]+ HTTP/\d")


def request_block(request: Request, user_agent: str) -> bytes:
    parts = urlsplit(safe_url(request.url))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"Host": parts.netloc.rpartition("@")[2], **request_headers(request, user_agent)}
    return f"GET {target} HTTP/1.1\r\n".encode("utf-8", "replace") + lines(headers.items()) + b"\r\n"


def payload(response: Response) -> bytes:
    """Returns the body as it is kept."""
    return response.coded or response.body


def response_head(response: Response) -> bytes:
    """Status line and headers of an answer whose body is kept as its `payload`."""
    phrase = _PHRASES.get(response.status, "Unknown")
    head = f"HTTP/1.1 {response.status:03} {phrase}\r\n".encode()
    length = str(len(payload(response)))
    doubtful = _HIDDEN_IF_CODED if response.coded else _HIDDEN
    if [pair for pair in response.headers if doubtful.fullmatch(pair[0])] == [("content-length", length)]:
        return head + lines(response.headers) + b"\r\n"
    hidden = [(PREFIX + name if doubtful.fullmatch(name) else name, value) for name, value in response.headers]
    return head + lines(hidden) + _OURS + length.encode() + b"\r\n\r\n"


def split_response(block: bytes) -> tuple[int, HeaderFields, bytes] | None:
    """Splits a response block into status, headers as written, and body; None if it is not HTTP."""
    status = _STATUS_LINE.match(block)
    if status is None:
        return None
    head, body = _split(block)
    return int(status[1]), parsed(head.partition(b"\n")[2]), body


def received(block: bytes, headers: HeaderFields) -> HeaderFields:
    """Restores the received headers from which one of our own blocks was made."""
    last = _split(block)[0].rstrip(b"\r\n").rpartition(b"\n")[2]
    if not last.startswith(_OURS):
        return headers
    return tuple((_shown(name), value) for name, value in headers[:-1])


def _shown(name: str) -> str:
    return name.removeprefix(PREFIX) if _HIDDEN.fullmatch(name) else name


def validators_asked(block: bytes) -> Validators:
    """Reads the validators of a request block."""
    if not _REQUEST_LINE.match(block):
        return Validators()
    asked = dict(parsed(_split(block)[0].partition(b"\n")[2]))
    return Validators(asked.get("if-none-match", ""), asked.get("if-modified-since", ""))


def _split(block: bytes) -> tuple[bytes, bytes]:
    """Splits head and body; some tools end lines with a bare line feed."""
    crlf = block.find(b"\r\n\r\n")
    lf = block.find(b"\n\n", 0, crlf if crlf >= 0 else len(block))
    if crlf >= 0 > lf:
        return block[: crlf + 2], block[crlf + 4 :]
    return (block[: lf + 1], block[lf + 2 :]) if lf >= 0 else (block, b"")
