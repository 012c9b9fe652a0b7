"""HTTP messages as WARC blocks, and back.

A body is kept without chunks, and compressed as it came if all of it came. If only the body after decompression is at hand,
that is kept. Other tools undo whatever Content-Encoding and Transfer-Encoding say, so those that do not hold for the body
as it is kept, and a Content-Length that does not fit, are kept under the names that archives use for this:
`x-archive-orig-content-encoding` and so on. Received names are in lower case; a `Content-Length` in capitals is ours,
says the true length and is dropped on reading back.
"""

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from forager.terms import Request, Response, Validators
from forager.world.http import request_headers
from forager.world.warc.fields import Fields, lines, parsed, safe_url

PREFIX = "x-archive-orig-"
_HIDDEN = re.compile(rf"(?:{PREFIX})*(?:content-encoding|transfer-encoding|content-length)")
_HIDDEN_IF_CODED = re.compile(rf"(?:{PREFIX})+content-encoding|(?:{PREFIX})*(?:transfer-encoding|content-length)")
_OURS = b"Content-Length: "
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_USUAL_URL = re.compile(r"https?://([^/?#@\[\]]+)(/[^?#]*(?:\?[^?#]+)?)")
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})\b")
_REQUEST_LINE = re.compile(rb"[A-Z]+ [^\r\n]+ HTTP/\d")


def request_block(request: Request, user_agent: str) -> bytes:
    """The GET as it went over the wire."""
    host, target = _address(safe_url(request.url))
    headers = {"Host": host, **request_headers(request, user_agent)}
    return f"GET {target} HTTP/1.1\r\n".encode("utf-8", "replace") + lines(headers.items()) + b"\r\n"


def _address(url: str) -> tuple[str, str]:
    """The host, and what is asked of it."""
    usual = _USUAL_URL.fullmatch(url)
    if usual is not None:
        return usual[1], usual[2]
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2], (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def payload(response: Response) -> bytes:
    """The body as it is kept."""
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


def split_response(block: bytes) -> tuple[int, Fields, bytes] | None:
    """Status, headers as they stand, and body of a response block; None if it is no HTTP."""
    status = _STATUS_LINE.match(block)
    if status is None:
        return None
    head, body = _split(block)
    return int(status[1]), parsed(head.partition(b"\n")[2]), body


def received(block: bytes, headers: Fields) -> Fields:
    """The headers that one of our own blocks was made from."""
    last = _split(block)[0].rstrip(b"\r\n").rpartition(b"\n")[2]
    if not last.startswith(_OURS):
        return headers
    return tuple((_shown(name), value) for name, value in headers[:-1])


def _shown(name: str) -> str:
    return name.removeprefix(PREFIX) if _HIDDEN.fullmatch(name) else name


def validators_asked(block: bytes) -> Validators:
    """The validators of a request block."""
    if not _REQUEST_LINE.match(block):
        return Validators()
    asked = dict(parsed(_split(block)[0].partition(b"\n")[2]))
    return Validators(asked.get("if-none-match", ""), asked.get("if-modified-since", ""))


def _split(block: bytes) -> tuple[bytes, bytes]:
    """Head and body; some tools end lines with a bare line feed."""
    crlf = block.find(b"\r\n\r\n")
    lf = block.find(b"\n\n", 0, crlf if crlf >= 0 else len(block))
    if crlf >= 0 > lf:
        return block[: crlf + 2], block[crlf + 4 :]
    return (block[: lf + 1], block[lf + 2 :]) if lf >= 0 else (block, b"")
