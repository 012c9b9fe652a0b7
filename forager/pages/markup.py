"""Prepares bytes from strangers for a parser: decodes them to text, cuts endless markup, and removes XML bombs.

`decode` finds the character encoding, even if the label is wrong. The order: a byte order mark; text that is valid
UTF-8 (hardly any other text is, so no label is believed against it, except ISO-2022-JP, which consists of ASCII bytes);
the label of the HTTP header; the label in the first bytes of the document; a guess by character frequencies on a
sample. A label is believed if the bytes can be read with it. Labels mean what the WHATWG Encoding standard says:
`latin1` is windows-1252, `gb2312` is gb18030, and so on.

`within_depth` cuts markup that would cost a tree builder far more than its length: nested, reopened or attributed
endlessly. The HTML standard makes four things quadratic. Opening a block looks through all open elements (200,000
nested `<div>`, 1 MB, take minutes). A formatting element left open is opened again in every later block (1,000
different `<font>` and 1,000 `<p>`, 20 KB, make a million elements). Each attribute of a tag is compared with those
before it. Each option of a select is compared with all before it (50,000, 400 kB, take 17 s). A few counts recognise an
ordinary page, which is not examined further. Others are scanned tag by tag and end where they go too far. The scan is
an estimate: it does not know all rules by which elements close each other.

XML is checked before a parser sees it: byte order marks, entity bombs, bare ampersands.

The first decision is what the bytes are: markup for people, a feed, a sitemap, or nothing that we read. The content
type is a hint and the bytes decide: feeds come as text/html, pictures as text/html, and application/xml can be
anything.
"""

import codecs
import re
import zlib
from enum import Enum, auto
from html.entities import html5

import numpy as np

from forager.arrays import ByteArray, IntArray

_PRESCAN = 4096  # bytes of the document searched for a label (ours: browsers look at 1,024)
_SAMPLE = 4096  # bytes given to the guess
_CHUNK = 32_768  # bytes checked at once: the text is thrown away, and small strings are made 30 times as fast
_FEW = 0.02  # share of unreadable characters among those that are not ASCII up to which a label is believed (ours)

_HEADER_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META_LABEL = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML_LABEL = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE)
_TAGS = re.compile(rb"<[^>]*>")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")

_MARKS = (  # the longer first: UTF-32 little-endian begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = (  # markup without a mark gives itself away
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_BEGINNINGS = tuple(begin for begin, _ in _MARKS + _WIDE)
_CODEC_NAMES = """
cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 cp866 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6
iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic gb18030
big5hkscs cp932 euc_jp cp949
"""
_GUESSABLE = _CODEC_NAMES.split()
_CODECS = frozenset((*_GUESSABLE, "utf-8", "iso2022_jp"))
_MEANT = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc_kr": "cp949",
    "windows-874": "cp874", "windows-31j": "cp932", "windows-949": "cp949", "iso-8859-8-i": "iso8859-8",
    "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8",  # what can be read as a label is not UTF-16
}  # fmt: skip
"""What a label means on the web, where that is more than it means elsewhere."""


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a body; characters that cannot be read become U+FFFD."""
    unmarked, codec = _unmarked(body)
    if codec:
        return unmarked.decode(codec, "replace")
    labelled = _labelled(body, content_type)
    if b"\x1b" not in body or "iso2022_jp" not in labelled:
        try:
            return body.decode()
        except UnicodeDecodeError as broken:
            if len(body) - broken.start < 4:  # only the last character is cut off
                return body.decode(errors="replace")
    for codec in labelled:
        text = body.decode(codec, "replace")
        if _is_plausible(text, codec):
            return text
    return body.decode(_guess(body), "replace")


def _unmarked(body: bytes) -> tuple[bytes, str]:
    """The body without byte order mark, and the encoding that its first bytes show; empty if they show none."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :], codec
    return body, next((codec for begin, codec in _WIDE if body.startswith(begin)), "")


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """The body in UTF-8 without byte order mark, for parsers that want bytes; the same object if it is that already."""
    return body if _is_bare_utf8(body) else decode(body, content_type).encode("utf-8", "replace")


def _is_bare_utf8(body: bytes) -> bool:
    if b"\x1b" in body or body.startswith(_BEGINNINGS):
        return False
    if body.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(body), _CHUNK):
            decoder.decode(body[begin : begin + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _labelled(body: bytes, content_type: str) -> list[str]:
    """The codecs that header and document name, in this order, without unknown labels."""
    labels = [found[1] for found in [_HEADER_LABEL.search(content_type)] if found]
    for pattern in (_XML_LABEL, _META_LABEL):
        found = pattern.search(body, 0, _PRESCAN)
        if found:
            labels.append(found[1].decode("ascii", "replace"))
    return [codec for label in labels if (codec := _codec_of(label))]


def _codec_of(label: str) -> str:
    """The codec that a label means; empty if it means none that we read."""
    label = label.strip().lower().removeprefix("x-")
    try:
        name = codecs.lookup(_MEANT.get(label, label)).name
    except (LookupError, ValueError):
        return ""
    name = _MEANT.get(name, name)
    return name if name in _CODECS else ""


def _is_plausible(text: str, codec: str) -> bool:
    """Whether few enough of the characters outside ASCII were unreadable."""
    unreadable = text.count("\ufffd")
    if unreadable == 0:
        return True
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return unreadable <= (0.5 if codec == "utf-8" else _FEW) * foreign


def _guess(body: bytes) -> str:
    """The likeliest codec by the frequencies of characters around the first byte that is not ASCII."""
    from charset_normalizer import from_bytes  # slow to load, and few pages need it

    words = _TAGS.sub(b" ", body[: 64 * _SAMPLE])
    first = _NOT_ASCII.search(words)
    begin = max(0, first.start() - 64) if first else 0
    best = from_bytes(words[begin : begin + _SAMPLE], cp_isolation=_GUESSABLE, steps=4, chunk_size=512).best()
    return best.encoding if best is not None else "cp1252"


_FEW_TAGS = 1_500  # whatever these do, it costs little
_MANY_TAGS = 10_000  # of these the dearest tree takes 30 ms
_LONG_BODY = 65_536
_LONG_TAG = 16_384
_MAX_ATTRIBUTES = 1_000
_MAX_FORMATS = 64
_MAX_OPTIONS = 5_000
_VOIDS = re.compile(rb"<(?:br|hr|img|input|link|meta|source)[\s/>]|<!--")  # they have no end tag

_MARKUP = re.compile(
    rb"""<!--.*?(?:-->|\Z)
       | <(/?)([a-zA-Z][^\s/>]*+)                                                  # (closing?) (name)
         ((?:[^>"'=]++ | =\s*+(?:"[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z))?+ | ["'])*+)   # (attributes)
         (?:>|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED = re.compile(rb"""=\s*+(?:"[^"]*+"? | '[^']*+'?)""", re.VERBOSE)
_RAW = frozenset({b"script", b"style", b"textarea", b"title", b"xmp", b"noembed", b"noframes", b"iframe"})
_FORMATS = frozenset({b"b", b"big", b"code", b"em", b"font", b"i", b"s", b"small", b"strike", b"strong", b"tt", b"u"})
_FORMAT = re.compile(rb"<((?:" + b"|".join(sorted(_FORMATS)) + rb")[\s/][^>]*)", re.IGNORECASE)  # with attributes
_MAYBE_FORMAT = np.zeros(1 << 16, np.bool_)
"""By the first two bytes of a tag's name, in lower case, whether it may be one of these, with attributes."""
for _name in _FORMATS:
    for _after in _name[1:2] or b" \t\n\r\f/":
        _MAYBE_FORMAT[_name[0] << 8 | _after | 32] = True
_LEAF_TAGS = b"""
    area base br col embed hr img input link meta param source track wbr html head body
    p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup
"""
_LEAVES = frozenset(_LEAF_TAGS.split())  # empty, or closed by the next of their kind


def within_depth(body: bytes, max_depth: int) -> bytes:
    """The body, or its beginning up to the tag that goes too far."""
    return body if _is_ordinary(body, max_depth) else body[: _end(body, max_depth)]


def _is_ordinary(body: bytes, max_depth: int) -> bool:
    octets = np.frombuffer(body, np.uint8)
    tags = np.flatnonzero(octets == ord("<"))  # a tenth of the time of counting and splitting bytes
    if len(body) > _LONG_BODY and _has_long_tag(body, octets, tags):
        return False
    if len(tags) > _MANY_TAGS or _has_many_formats(body, octets, tags):
        return False
    if len(tags) <= _FEW_TAGS:
        return True
    left_open = len(tags) - 2 * int(np.count_nonzero(octets.take(tags + 1, mode="clip") == ord("/")))
    return left_open <= max_depth or left_open - len(_VOIDS.findall(body)) <= max_depth


def _has_long_tag(body: bytes, octets: ByteArray, tags: IntArray) -> bool:
    """Whether some tag may hold very many attributes; `tags`: where tags begin."""
    if np.count_nonzero(octets == ord(">")) > 2 * len(tags) + 3 * _MAX_ATTRIBUTES:  # they stand in quotes
        return True
    ends = np.append(tags[1:], len(body))
    long = np.flatnonzero(ends - tags > _LONG_TAG)
    pieces = (body[begin + 1 : end] for begin, end in zip(tags[long].tolist(), ends[long].tolist(), strict=True))
    return any(piece.find(b">", 0, _LONG_TAG) < 0 and _count(piece) > _MAX_ATTRIBUTES for piece in pieces)


def _has_many_formats(body: bytes, octets: ByteArray, tags: IntArray) -> bool:
    """Whether there are more different formatting tags than may be open at the same time, wherever they end."""
    first, second = (octets.take(tags + place, mode="clip").astype(np.int64) | 32 for place in (1, 2))
    if np.count_nonzero(_MAYBE_FORMAT[first << 8 | second]) <= _MAX_FORMATS:
        return False
    return len(set(_FORMAT.findall(body))) > _MAX_FORMATS


def _end(body: bytes, max_depth: int) -> int:
    """The place where the markup goes too far; its length if it never does."""
    stack: list[bytes] = []
    opened: dict[bytes, int] = {}
    formats: list[tuple[bytes, bytes]] = []
    options = 0
    place: int | None = 0
    while place is not None:
        begin, place = place, None
        for tag in _MARKUP.finditer(body, begin):
            closing, name, attributes = tag.groups(b"")
            name = name.lower()
            if len(attributes) > 2 * _MAX_ATTRIBUTES and _count(attributes) > _MAX_ATTRIBUTES:
                return tag.start()
            options += name == b"option"
            if options > _MAX_OPTIONS:
                return tag.start()
            if name in _LEAVES:
                while stack and stack[-1] in _FORMATS:  # a paragraph that ends takes its open formatting with it
                    opened[stack.pop()] -= 1
            elif closing:
                _close(name, stack, opened, formats)
            elif name in _RAW:
                place = _raw_end(body, name, tag.end())
                break
            elif name:
                stack.append(name)
                opened[name] = opened.get(name, 0) + 1
                if name in _FORMATS and formats.count((name, attributes)) < 3:  # at most three equal ones are reopened
                    formats.append((name, attributes))
                if len(stack) > max_depth or len(formats) > _MAX_FORMATS:
                    return tag.start()
    return len(body)


def _close(name: bytes, stack: list[bytes], opened: dict[bytes, int], formats: list[tuple[bytes, bytes]]) -> None:
    if opened.get(name, 0):
        while (last := stack.pop()) != name:
            opened[last] -= 1
        opened[name] -= 1
    if name in _FORMATS:
        for place in range(len(formats) - 1, -1, -1):
            if formats[place][0] == name:
                del formats[place]
                break


def _count(attributes: bytes) -> int:
    return len(_QUOTED.sub(b" ", attributes).replace(b"/", b" ").split())


def _raw_end(body: bytes, name: bytes, place: int) -> int:
    """The end of the text of a script or the like; without an end tag that is the end of the body."""
    end = re.compile(rb"</" + name, re.IGNORECASE).search(body, place)
    return end.start() if end else len(body)


_DECLARED = re.compile(rb"""(<\?xml[^>]{0,100}?)\s+encoding\s*=\s*["'][^"'>]{0,40}["']""")
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_CDATA = re.compile(rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))", re.DOTALL)
_BARE = re.compile(rb"&(?!#?[0-9A-Za-z]{1,31};)")
_NAMED = re.compile(rb"&[A-Za-z][0-9A-Za-z]{1,30};")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_XML_ENTITIES = frozenset((b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;"))


def without_bom(body: bytes) -> bytes:
    """The document without leading blanks and byte order mark; UTF-16 and UTF-32 become UTF-8."""
    body, codec = _unmarked(body)
    if codec and codec != "utf-8":
        body = body.decode(codec, "replace").encode()
    return (
        _DECLARED.sub(rb"\1", body, count=1) if codec else body
    ).lstrip()  # it no longer has the encoding that it declares


def declares_entities(body: bytes) -> bool:
    """Whether the document type declares entities: no feed or sitemap needs them, and XML bombs are made of them."""
    return _ENTITY.search(body) is not None


def mended(body: bytes) -> bytes:
    """The body without control characters, and with every ampersand outside CDATA part of an entity that XML knows."""
    if b"&" in body:
        parts = _CDATA.split(body)  # text and CDATA alternate
        parts[::2] = [_NAMED.sub(_entity, _BARE.sub(b"&amp;", text)) for text in parts[::2]]
        body = b"".join(parts)
    return _CONTROL.sub(b"", body)


def _entity(match: re.Match[bytes]) -> bytes:
    """`&#160;` for an entity of HTML such as `&nbsp;`; an unknown one becomes plain text."""
    found = match[0]
    if found in _XML_ENTITIES:
        return found
    meant = html5.get(found[1:].decode("ascii"))
    return meant.encode("ascii", "xmlcharrefreplace") if meant and meant not in "&<" else b"&amp;" + found[1:]


_LOOK = 4096  # bytes looked at
GZIP = b"\x1f\x8b"
_ROOT = re.compile(
    rb"\s*+(?:(?><\?.*?\?>|<!--.*?-->|<!doctype[^>\[]*+(?:\[.*?\]\s*+)?+>)\s*+)*+<([a-z][\w:.-]*)",
    re.DOTALL | re.IGNORECASE,
)
_ANY_TAG = re.compile(rb"<(?:!doctype\s+html|[a-z][a-z0-9]*[\s>/])", re.IGNORECASE)
_JSON_FEED = re.compile(rb'\s*\{.*?"version"\s*:\s*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org', re.DOTALL)
_URL_LIST = re.compile(rb"\s*https?://[^\s<>]+\s*(?:\n|\Z)", re.IGNORECASE)
_CONTROL_BYTES = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")
_BINARY = (
    b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"RIFF", b"ID3", b"OggS", b"wOF", b"\0\0\0", GZIP
)  # fmt: skip
_FEED_ROOTS = frozenset({b"rss", b"feed", b"rdf", b"channel"})
_SITEMAP_ROOTS = frozenset({b"urlset", b"sitemapindex"})


class Form(Enum):
    HTML = auto()
    FEED = auto()
    SITEMAP = auto()
    OTHER = auto()


def form_of_body(body: bytes, content_type: str = "") -> Form:
    """The form of a body; `content_type` helps only where the bytes leave it open."""
    begin = body[:_LOOK]
    if begin.startswith(_BEGINNINGS):
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
    if stated in ("", "application/octet-stream", "text/plain", "application/xml", "text/xml") and _ANY_TAG.search(
        begin
    ):
        return Form.HTML
    return Form.OTHER


def inflated_body(body: bytes, limit: int) -> bytes:
    """A body that is a gzip file, such as sitemap.xml.gz, unpacked: up to `limit` bytes, or up to the damage."""
    if not body.startswith(GZIP):
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
    controls = len(begin) - len(begin.translate(None, _CONTROL_BYTES))
    return begin.startswith(_BINARY) or controls * 10 > len(begin)
