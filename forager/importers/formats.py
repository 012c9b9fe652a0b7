"""Which format a stream is in, judged by its first bytes and never by its name."""

import re
from enum import StrEnum

from forager.importers.cdx import COMMENTS, FIELDS, cdx_header

_CDXJ = re.compile(rb"\S+ \d{4,17} \{")
_CDX = re.compile(rb"\S+ \d{4,17} \S+(?: \S+)*\r?")
_LINK = re.compile(rb"\s*<[^<>\s]+>\s*;", re.ASCII)
_WORDS = re.compile(rb"[\s\"',;]+")
_ZST_DICTIONARY = b"\x5d\x2a\x4d\x18"
"""How a WARC.zst begins that carries its own dictionary."""
_TRIED = 50
"""Lines looked at; the first ones may be broken."""


class Format(StrEnum):
    """What can be imported."""

    CDX = "CDX"
    CDXJ = "CDXJ"
    LINK_TIMEMAP = "TimeMap (link format)"
    JSON_TIMEMAP = "TimeMap (JSON)"
    CSV = "change log (CSV)"
    JSON_LINES = "change log (JSON lines)"
    PARQUET = "change log (Parquet)"
    WARC = "WARC"
    ARC = "ARC"
    WACZ = "WACZ"
    UNKNOWN = "unknown"


def sniff(head: bytes) -> Format:
    """The format of a stream that begins like this, once unpacked."""
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith(b"PK\x03\x04"):
        return Format.WACZ
    if head.startswith((b"WARC/", _ZST_DICTIONARY)):
        return Format.WARC
    if head.startswith(b"filedesc:"):
        return Format.ARC
    if head.lstrip()[:1] in (b"{", b"["):
        return _json(head.lstrip())
    if _LINK.match(head):
        return Format.LINK_TIMEMAP
    lines = head.split(b"\n")[:_TRIED]
    for line in lines:
        found = _by_line(line)
        if found is not Format.UNKNOWN:
            return found
    columns = {word.lower() for word in _WORDS.split(lines[0])}
    return Format.CSV if b"url" in columns or b"page" in columns else Format.UNKNOWN


def _by_line(line: bytes) -> Format:
    if cdx_header(line):
        return Format.CDX
    if _CDXJ.match(line) or (line.startswith(COMMENTS) and b"CDXJ" in line):
        return Format.CDXJ
    return Format.CDX if _CDX.fullmatch(line) and line.count(b" ") + 1 in FIELDS else Format.UNKNOWN


def _json(text: bytes) -> Format:
    """One object a line is a change log; mementos, or rows of rows, a TimeMap."""
    if text.startswith(b"["):
        return Format.JSON_TIMEMAP
    if b'"mementos"' in text or b'"original_uri"' in text:
        return Format.JSON_TIMEMAP
    return Format.JSON_LINES if b'"url"' in text or b'"page"' in text else Format.UNKNOWN
