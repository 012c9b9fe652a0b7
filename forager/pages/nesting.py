"""Cuts markup that would cost a tree builder far more than its length: nested, reopened or attributed without end.

The HTML standard makes three things quadratic. Opening a block looks through all open elements (200,000 nested `<div>`,
1 MB, take minutes). A formatting element left open is opened again in every later block (1,000 different `<font>` and
1,000 `<p>`, 20 KB, make a million elements). Each attribute of a tag is compared with those before it. An ordinary page
is recognised by a few counts and not looked at closer; a suspicious one is scanned tag by tag and ends where it goes
too far. The scan is an estimate: it does not know all rules by which elements close each other.
"""

import re

import numpy as np

Codes = np.ndarray[tuple[int], np.dtype[np.uint8]]
Places = np.ndarray[tuple[int], np.dtype[np.intp]]

_FEW_TAGS = 1_500  # whatever these do, it costs little
_MANY_TAGS = 5_000
_LONG_BODY = 65_536
_LONG_TAG = 16_384
_MAX_ATTRIBUTES = 1_000
_MAX_FORMATS = 64

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
_LEAF_TAGS = b"""
    area base br col embed hr img input link meta param source track wbr html head body
    p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rp rt
"""
_LEAVES = frozenset(_LEAF_TAGS.split())  # empty, or closed by the next of their kind


def within_depth(body: bytes, max_depth: int) -> bytes:
    """The body, or its beginning up to the tag that goes too far."""
    return body if _is_ordinary(body, max_depth) else body[: _end(body, max_depth)]


def _is_ordinary(body: bytes, max_depth: int) -> bool:
    codes = np.frombuffer(body, np.uint8)
    opening = codes == ord("<")
    if len(body) <= _LONG_BODY and np.count_nonzero(opening) <= _FEW_TAGS:
        return True
    tags = np.flatnonzero(opening[:-1])
    if len(body) > _LONG_BODY and _has_long_tag(body, codes, tags):
        return False
    if len(tags) <= _FEW_TAGS:
        return True
    closing = np.count_nonzero(codes[tags + 1] == ord("/"))
    return len(tags) <= _MANY_TAGS and len(tags) - 2 * int(closing) <= max_depth


def _has_long_tag(body: bytes, codes: Codes, tags: Places) -> bool:
    """Whether some tag may hold very many attributes."""
    if np.count_nonzero(codes == ord(">")) > 2 * len(tags) + 3 * _MAX_ATTRIBUTES:  # they stand in quotes
        return True
    ends = np.append(tags[1:], len(body))
    begins = tags[ends - tags > _LONG_TAG].tolist()
    return any(body.find(b">", begin, begin + _LONG_TAG) < 0 for begin in begins)


def _end(body: bytes, max_depth: int) -> int:
    """Where the markup goes too far; its length if it never does."""
    stack: list[bytes] = []
    opened: dict[bytes, int] = {}
    formats: list[tuple[bytes, bytes]] = []
    place = 0
    while (tag := _MARKUP.search(body, place)) is not None:
        place = tag.end()
        closing, name, attributes = tag[1], (tag[2] or b"").lower(), tag[3] or b""
        if len(attributes) > 2 * _MAX_ATTRIBUTES and _count(attributes) > _MAX_ATTRIBUTES:
            return tag.start()
        if name in _LEAVES:
            while stack and stack[-1] in _FORMATS:  # a paragraph that ends takes its open formatting with it
                opened[stack.pop()] -= 1
        elif closing:
            _close(name, stack, opened, formats)
        elif name in _RAW:
            place = _raw_end(body, name, place)
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
    """Where the text of a script or the like ends; without an end tag it goes on to the end of the body."""
    end = re.compile(rb"</" + name, re.IGNORECASE).search(body, place)
    return end.start() if end else len(body)
