"""Header lines as WARC and HTTP share them, and the dates of WARC."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

Fields = tuple[tuple[str, str], ...]
"""Names in lower case, in order."""

_BLANKS = " \t\r"
_BREAKS = re.compile(r"[\r\n]+")
_CONTROLS = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
_NO_MARKS = str.maketrans("", "", "-T:")
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T?(\d\d):?(\d\d):?(\d\d)(\.\d{1,9})?Z?")


def lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Header lines, each with its line end; a line break in a value becomes a space."""
    pairs = list(fields)
    text = "".join([f"{name}: {value}\r\n" for name, value in pairs])
    if text.count("\n") > len(pairs) or text.count("\r") > len(pairs):
        text = "".join([f"{name}: {_BREAKS.sub(' ', value)}\r\n" for name, value in pairs])
    return text.encode("utf-8", "replace")


def parsed(block: bytes) -> Fields:
    """The fields of a header block; a line that begins with a blank continues the one before; other rubbish is skipped."""
    try:
        rows = block.decode().split("\n")
    except UnicodeDecodeError:
        rows = [_text(row) for row in block.split(b"\n")]
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


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def safe_url(url: str) -> str:
    """A URL that can stand in a header line: blanks and control characters become percent codes."""
    return _CONTROLS.sub(lambda match: quote(match[0], safe="", errors="replace"), url)


@lru_cache(maxsize=16)
def warc_date(time: float) -> str:
    """UTC with microseconds, as WARC 1.1 allows; the records of an exchange ask for the same one."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def stamp(time: float) -> str:
    """The 14 digits of indexes and file names."""
    return warc_date(time)[:19].translate(_NO_MARKS)


def moment(text: str) -> float | None:
    """A WARC date or 14 digits as UTC seconds since the epoch; None if it is neither."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        whole = datetime(*(int(part) for part in match.groups()[:6]), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
    return whole.timestamp() + float(match[7] or 0.0)
