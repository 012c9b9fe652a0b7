"""XML bytes from strangers, before a parser sees them: byte order marks, entity bombs, bare ampersands."""

import codecs
import re
from html.entities import html5

_BOMS = (  # the longer first: UTF-32 little-endian begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = (  # `<` and the next character without a mark before them
    (re.compile(rb"<\0\0\0.\0\0\0", re.DOTALL), "utf-32-le"),
    (re.compile(rb"\0\0\0<\0\0\0.", re.DOTALL), "utf-32-be"),
    (re.compile(rb"<\0.\0", re.DOTALL), "utf-16-le"),
    (re.compile(rb"\0<\0.", re.DOTALL), "utf-16-be"),
)
_DECLARED = re.compile(rb"""(<\?xml[^>]{0,100}?)\s+encoding\s*=\s*["'][^"'>]{0,40}["']""")
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_CDATA = re.compile(rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))", re.DOTALL)
_BARE = re.compile(rb"&(?!#?[0-9A-Za-z]{1,31};)")
_NAMED = re.compile(rb"&[A-Za-z][0-9A-Za-z]{1,30};")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_XML_ENTITIES = frozenset((b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;"))


def without_bom(body: bytes) -> bytes:
    """The document without leading blanks and byte order mark; UTF-16 and UTF-32 become UTF-8."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return _utf8(body[len(bom) :], encoding).lstrip()
    for start, encoding in _WIDE:
        if start.match(body):
            return _utf8(body, encoding)
    return body.lstrip()


def _utf8(body: bytes, encoding: str) -> bytes:
    """In UTF-8, and no longer declared to be anything else."""
    if encoding != "utf-8":
        body = body.decode(encoding, "replace").encode()
    return _DECLARED.sub(rb"\1", body, count=1)


def declares_entities(body: bytes) -> bool:
    """Whether the document type declares entities: no feed or sitemap needs them, and bombs are made of them."""
    return _ENTITY.search(body) is not None


def mended(body: bytes) -> bytes:
    """Without control characters, and with every ampersand outside CDATA part of an entity that XML knows."""
    if b"&" in body:
        parts = _CDATA.split(body)  # text and CDATA by turns
        parts[::2] = [_NAMED.sub(_entity, _BARE.sub(b"&amp;", text)) for text in parts[::2]]
        body = b"".join(parts)
    return _CONTROL.sub(b"", body)


def _entity(match: re.Match[bytes]) -> bytes:
    """`&#160;` for an entity of HTML, as `&nbsp;`; one that nobody knows becomes plain text."""
    found = match[0]
    if found in _XML_ENTITIES:
        return found
    meant = html5.get(found[1:].decode("ascii"))
    return meant.encode("ascii", "xmlcharrefreplace") if meant and meant not in "&<" else b"&amp;" + found[1:]
