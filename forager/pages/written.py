"""The text of an element, written out line by line, without furniture and lines of links."""

import re

from selectolax.lexbor import LexborNode

from forager.pages.furniture import is_furniture

LINKED = 0.5
"""A line with at least this share of its characters in links is navigation (ours)."""

DEPTH = 150
"""Elements nested deeper than this are not written out (ours): nobody writes such pages by hand."""

_INLINE_NAMES = """
a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var
wbr ruby rb rt rp
"""
_INLINE_TAGS = frozenset(_INLINE_NAMES.split())
_SEPARATORS = "\x1c\x1d\x1e\x1f"
_SENTENCE = re.compile(r"""[.!?…:।။。！？؟]["'”’»“」』)\]]*\s*$|.{60}|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af].{20}""")


def written(node: LexborNode, by_name: bool) -> str:
    """The lines from the first to the last that reads like a sentence: before and after stand headline and labels."""
    lines = _Lines()
    _write(node, lines, by_name, False, 0)
    lines.end()
    kept = list(lines.kept)
    first = next((place for place, line in enumerate(kept) if _SENTENCE.search(line)), len(kept))
    last = next((place for place in range(len(kept), first, -1) if _SENTENCE.search(kept[place - 1])), first)
    return "\n".join(kept[first:last])


class _Lines:
    """The text in the making, a line for each block."""

    def __init__(self) -> None:
        self.kept: dict[str, None] = {}
        """In order, each line once: captions and calls repeat, paragraphs do not."""
        self._parts: list[str] = []
        self._linked = 0
        """Characters of the present line that stand in links."""

    def add(self, text: str, linked: bool) -> None:
        self._parts.append(text)
        if linked:
            self._linked += len(text.strip())

    def end(self) -> None:
        """The next text stands on a new line."""
        if not self._parts:
            return
        text = _tidy("".join(self._parts))
        if self._linked < LINKED * len(text) and (text[0].isalpha() or any(map(str.isalpha, text))):
            self.kept.setdefault(text)
        self._parts.clear()
        self._linked = 0


def _tidy(text: str) -> str:
    """With single blanks alone, and none at the ends."""
    if "\n" in text or "  " in text or "\t" in text or not _has_plain_blanks(text):
        return " ".join(text.split())
    return text.strip(" ")


def _has_plain_blanks(text: str) -> bool:
    """Whether the blank is the only white space in a text."""
    if text.isascii():  # looking for each of the other kinds is the fastest way
        return not ("\r" in text or "\v" in text or "\f" in text or any(map(text.__contains__, _SEPARATORS)))
    return text.isprintable()


def _write(node: LexborNode, lines: _Lines, by_name: bool, linked: bool, depth: int) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            lines.add(child.text_content or "", linked)
        elif tag == "br":
            lines.end()
        elif is_furniture(child, tag, by_name) or depth >= DEPTH:
            continue
        elif tag in _INLINE_TAGS:
            _write(child, lines, by_name, linked or tag == "a", depth + 1)
        else:
            lines.end()
            _write(child, lines, by_name, linked, depth + 1)
            lines.end()
