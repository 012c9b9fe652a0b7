"""The text of an element, written out line by line, without furniture and lines of links."""

import re
from collections.abc import Mapping

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
_END = "\0"  # of a line; the HTML standard lets no text of a page hold it
_OTHER_BLANKS = "\n\t\r\v\f\x1c\x1d\x1e\x1f"  # all white space of ASCII but the blank
_SENTENCE = re.compile(r"""[.!?…:।။。！？؟]["'”’»“」』)\]]*\s*$|.{60}|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af].{20}""")


def written(node: LexborNode, by_name: bool, plain: Mapping[int, str]) -> str:
    """The lines from the first to the last that reads like a sentence: before and after stand headline and labels.

    `plain` holds the texts of paragraphs, by `mem_id`, that are known to hold no element, and to stand in no link.
    """
    lines = _Lines()
    _write(node, lines, by_name, plain, False, 0)
    kept = lines.kept()
    first = next((place for place, line in enumerate(kept) if _SENTENCE.search(line)), len(kept))
    last = next((place for place in range(len(kept), first, -1) if _SENTENCE.search(kept[place - 1])), first)
    return "\n".join(kept[first:last])


class _Lines:
    """The text in the making, a line for each block; all lines are tidied together at the end, which is much cheaper."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        """Pieces of text, and the ends of lines between them."""
        self.ends = 0
        self.linked: dict[int, int] = {}
        """How many characters of a line stand in links, for lines that have any; the first line is 0."""

    def end(self) -> None:
        """The next text stands on a new line."""
        if self.parts and self.parts[-1] is not _END:
            self.parts.append(_END)
            self.ends += 1

    def add_line(self, text: str) -> None:
        self.end()
        self.parts += text, _END
        self.ends += 1

    def add_linked(self, text: str) -> None:
        self.parts.append(text)
        self.linked[self.ends] = self.linked.get(self.ends, 0) + len(text.strip())

    def kept(self) -> list[str]:
        """The lines that say something, each once: captions and calls repeat, paragraphs do not."""
        whole = "".join(self.parts)
        is_plain = whole.isascii() and "  " not in whole and not any(map(whole.__contains__, _OTHER_BLANKS))
        kept: dict[str, None] = {}
        for place, line in enumerate(whole.split(_END)):
            text = line.strip(" ") if is_plain else _tidy(line)
            if self.linked.get(place, 0) < LINKED * len(text) and (text[0].isalpha() or any(map(str.isalpha, text))):
                kept[text] = None
        return list(kept)


def _tidy(text: str) -> str:
    """With single blanks alone, and none at the ends."""
    if text.isprintable() and "  " not in text:  # of all white space the blank alone can be printed
        return text.strip(" ")
    return " ".join(text.split())


def _write(node: LexborNode, lines: _Lines, by_name: bool, plain: Mapping[int, str], linked: bool, depth: int) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            text = child.text_content or ""
            if linked:
                lines.add_linked(text)
            else:
                lines.parts.append(text)
        elif tag == "br":
            lines.end()
        elif depth >= DEPTH:
            continue
        elif tag == "p" and (whole := plain.get(child.mem_id)) is not None:
            lines.add_line(whole)
        elif is_furniture(child, tag, by_name):
            continue
        elif tag in _INLINE_TAGS:
            _write(child, lines, by_name, plain, linked or tag == "a", depth + 1)
        else:
            lines.end()
            _write(child, lines, by_name, plain, linked, depth + 1)
            lines.end()
