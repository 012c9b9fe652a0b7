"""What the bytes of a body are: markup for people, a feed, a sitemap, or nothing we read.

The content type is a hint and the bytes decide: feeds come as text/html, pictures as text/html, and application/xml can
be anything.
"""

import re
import zlib
from enum import Enum, auto

from forager.pages.decode import to_utf8

_LOOK = 4096  # bytes looked at
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(
    rb"\s*+(?:(?><\?.*?\?>|<!--.*?-->|<!doctype[^>\[]*+(?:\[.*?\]\s*+)?+>)\s*+)*+<([a-z][\w:.-]*)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(rb"<(?:!doctype\s+html|[a-z][a-z0-9]*[\s>/])", re.IGNORECASE)
_JSON_FEED = re.compile(rb'\s*\{.*?"version"\s*:\s*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org', re.DOTALL)
_URL_LIST = re.compile(rb"\s*https?://[^\s<>]+\s*(?:\n|\Z)", re.IGNORECASE)
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")
_BINARY = (
    b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"RIFF", b"ID3", b"OggS", b"wOF", b"\0\0\0", _GZIP
)  # fmt: skip
_FEED_ROOTS = frozenset({b"rss", b"feed", b"rdf", b"channel"})
_SITEMAP_ROOTS = frozenset({b"urlset", b"sitemapindex"})


class Form(Enum):
    HTML = auto()
    FEED = auto()
    SITEMAP = auto()
    OTHER = auto()


def form_of(body: bytes, content_type: str = "") -> Form:
    """The form of a body; `content_type` helps only where the bytes leave it open."""
    begin = body[:_LOOK]
    if begin.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"<\0", b"\0<")):
        begin = to_utf8(begin)
    if not begin.strip() or _is_binary(begin):
        return Form.OTHER
    root = _ROOT.match(begin)
    if root is not None:
        name = root[1].lower()
        local = name.rpartition(b":")[2]
        if local in _FEED_ROOTS:
            return Form.FEED
        if local in _SITEMAP_ROOTS:
            return Form.SITEMAP
        if name != b"html" and begin.lstrip()[:5].lower() == b"<?xml" and "html" not in content_type.lower():
            return Form.OTHER
    if _JSON_FEED.match(begin) or "feed+json" in content_type.lower():
        return Form.FEED
    stated = content_type.lower().partition(";")[0].strip()
    if stated in ("", "text/plain") and _URL_LIST.match(begin):
        return Form.SITEMAP
    if stated in ("text/html", "application/xhtml+xml"):
        return Form.HTML
    if stated in ("", "application/octet-stream", "text/plain", "application/xml", "text/xml") and _TAG.search(begin):
        return Form.HTML
    return Form.OTHER


def unpacked(body: bytes, limit: int) -> bytes:
    """A body that is a gzip file, such as sitemap.xml.gz, without its packing: `limit` bytes, or up to the damage."""
    if not body.startswith(_GZIP):
        return body
    inflate = zlib.decompressobj(wbits=31)
    found = bytearray()
    try:
        while body and len(found) < limit and not inflate.eof:
            found += inflate.decompress(body, min(limit - len(found), 1 << 20))
            body = inflate.unconsumed_tail
    except zlib.error:
        pass  # keep what came before the damage
    return bytes(found)


def _is_binary(begin: bytes) -> bool:
    controls = len(begin) - len(begin.translate(None, _CONTROL))
    return begin.startswith(_BINARY) or controls * 10 > len(begin)
