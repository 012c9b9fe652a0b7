"""From bytes to text: which character encoding is it, and what if the label lies.

The order: a byte order mark; text that is valid UTF-8 (hardly any other text is, so no label is believed against it,
save that of ISO-2022-JP, which is made of ASCII bytes); the label of the HTTP header; the label in the first bytes of
the document; a guess by character frequencies on a sample. A label is believed if the bytes can be read with it. Labels
mean what the WHATWG Encoding standard says they mean: `latin1` is windows-1252, `gb2312` is gb18030, and so on.
"""

import codecs
import re

_PRESCAN = 4096  # bytes of the document searched for a label (ours: browsers look at 1,024)
_SAMPLE = 4096  # bytes given to the guess
_CHUNK = 32_768  # bytes checked at once: the text is thrown away, and small strings are made 30 times as fast
_FEW = 0.02  # share of unreadable characters among those that are not ASCII up to which a label is believed (ours)

_HEADER_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META_LABEL = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML_LABEL = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE)
_TAGS = re.compile(rb"<[^>]*>")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")

_MARKS = (
    (codecs.BOM_UTF8, codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0", b"", "utf-16-le"),  # markup without a mark gives itself away
    (b"\0<", b"", "utf-16-be"),
)
_BEGINNINGS = tuple(begin for begin, _, _ in _MARKS)
_CODEC_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode utf-16 utf-16le utf-16be ucs-2",  # a readable label is not UTF-16
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 latin1 latin-1 l1 ascii us-ascii",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251 win-1251",
    "cp1253": "windows-1253 cp1253",
    "cp1254": "windows-1254 cp1254 iso-8859-9 iso8859-9 iso_8859-9 latin5 l5",
    "cp1255": "windows-1255 cp1255",
    "cp1256": "windows-1256 cp1256",
    "cp1257": "windows-1257 cp1257",
    "cp1258": "windows-1258 cp1258",
    "cp874": "windows-874 tis-620 iso-8859-11 iso8859-11 dos-874",
    "cp866": "ibm866 cp866 866",
    "iso8859-2": "iso-8859-2 iso8859-2 iso_8859-2 latin2 l2",
    "iso8859-3": "iso-8859-3 iso8859-3 latin3",
    "iso8859-4": "iso-8859-4 iso8859-4 latin4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 arabic",
    "iso8859-7": "iso-8859-7 iso8859-7 greek",
    "iso8859-8": "iso-8859-8 iso8859-8 iso-8859-8-i hebrew visual logical",
    "iso8859-10": "iso-8859-10 latin6",
    "iso8859-13": "iso-8859-13",
    "iso8859-14": "iso-8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 latin9 latin-9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi8 koi8_r koi",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk chinese iso-ir-58",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
    "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms_kanji cp932",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr ks_c_5601-1987 ks_c_5601 korean windows-949 cp949 ksc5601",
}
_CODECS = {label: codec for codec, labels in _CODEC_LABELS.items() for label in labels.split()}
_GUESSABLE = [codec for codec in _CODEC_LABELS if codec not in ("utf-8", "iso2022_jp")]


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a body; characters that cannot be read become U+FFFD."""
    for begin, mark, codec in _MARKS:
        if body.startswith(begin):
            return body[len(mark) :].decode(codec, "replace")
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
    return [codec for label in labels if (codec := _CODECS.get(label.strip().lower()))]


def _is_plausible(text: str, codec: str) -> bool:
    """Whether few enough of the characters that are not ASCII were unreadable."""
    unreadable = text.count("\ufffd")
    if unreadable == 0:
        return True
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return unreadable <= (0.5 if codec == "utf-8" else _FEW) * foreign


def _guess(body: bytes) -> str:
    """The likeliest codec by the frequencies of characters round the first byte that is not ASCII."""
    from charset_normalizer import from_bytes  # slow to load, and few pages need it

    words = _TAGS.sub(b" ", body[: 64 * _SAMPLE])
    first = _NOT_ASCII.search(words)
    begin = max(0, first.start() - 64) if first else 0
    best = from_bytes(words[begin : begin + _SAMPLE], cp_isolation=_GUESSABLE, steps=4, chunk_size=512).best()
    return best.encoding if best is not None else "cp1252"
