"""Writes an element out as text, one line for each block, without furniture and without lines that consist of links.

*Furniture* is everything on a page that is not the story. Tags, classes and ids show what it is, but names can be
wrong: a whole page may be inside a form, or in a box named after the sidebar beside it. So most furniture is only
suspected: an element that holds most of the prose of a page is not furniture (see `text`). This is believed sooner of
*loose* furniture than of *fixed* furniture, such as comments and teasers.
"""

import re
from collections.abc import Collection, Mapping
from enum import Enum, auto
from functools import lru_cache

from selectolax.lexbor import LexborNode

NAME_CAP = 200  # characters of a class or id that are looked at (ours)


class Box(Enum):
    """What an element is."""

    NONE = auto()
    STORY = auto()  # it is named after the body of a story
    LOOSE = auto()
    FIXED = auto()
    NEVER = auto()  # whatever stands in it


_NEVER_TAGS = """
nav footer button figure figcaption select menu script style svg iframe video audio object canvas textarea input label
time head template
"""
_BOXES: dict[str | None, Box] = {
    **dict.fromkeys(_NEVER_TAGS.split(), Box.NEVER),
    **dict.fromkeys(("form", "aside", "dialog", "noscript"), Box.LOOSE),
    **dict.fromkeys(("html", "body", "main", "article", "h1", "p"), Box.NONE),  # whatever they are called
}
_FIXED_NAMES = re.compile(
    r"comment|disqus|related|recommend|more-(?:from|on|stories)|cookie|consent|gdpr|newsletter|outbrain|taboola|"
    r"most-?(?:read|viewed|popular)|trending|popular|teaser"
)
_LOOSE_NAMES = re.compile(
    r"share|sharing|social|read-?(?:more|next|also)|subscri|signup|privacy|promo|advert|(?:^|[\s_-])ads?(?:$|[\s_-])|sponsor|"
    r"(?<!has-)(?<!with-)sidebar|widget|footer|breadcrumb|byline|author|caption|credit|popup|modal|overlay|paywall|"
    r"(?:^|[\s_-])tags?(?:$|[\s_-])|toolbar|menu|(?:^|[\s_-])nav|navigation|copyright|disclaimer|screen-reader|sr-only|"
    r"visually-hidden|clock|weather|ticker|timestamp|pagination|pager|print-|rating|poll|survey"
)
_STORY_NAMES = re.compile(
    r"(?:^|[\s_-])(?:article|story|entry|post|news|content|page|text|main)[-_]*(?:body|content|text|copy|detail)s?"
    r"(?:$|[\s_-])"
)
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def box_of(node: LexborNode, tag: str | None, by_name: bool = True) -> Box:
    """What the element itself is; `by_name`: its attributes count as well as the tag."""
    if (known := _BOXES.get(tag)) is not None:
        return known
    attributes = node.attributes if by_name else None
    if not attributes:
        return Box.NONE
    if "hidden" in attributes:
        return Box.LOOSE
    get = attributes.get
    return _described(get("class"), get("id"), get("style"), get("aria-hidden"), get("itemprop"))


@lru_cache(maxsize=10_000)  # the pages of a site name their parts alike
def _described(classes: str | None, id: str | None, style: str | None, hidden: str | None, property: str | None) -> Box:
    if hidden == "true" or (style and _HIDDEN.search(style[:NAME_CAP])):
        return Box.LOOSE
    if property == "articleBody":
        return Box.STORY
    names = f"{(classes or '')[:NAME_CAP]} {(id or '')[:NAME_CAP]}".lower()  # thrice as fast as to ignore case
    if _FIXED_NAMES.search(names):
        return Box.FIXED
    if _LOOSE_NAMES.search(names):
        return Box.LOOSE
    return Box.STORY if _STORY_NAMES.search(names) else Box.NONE


LINKED = 0.5  # a line with at least this share of its characters in links is navigation (ours)
DEPTH = 150  # elements nested deeper than this are not written out (ours): nobody writes such pages by hand
LIST = 200  # characters of short lines from which on they are a text of their own (ours)
_INLINE_NAMES = """
a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var
wbr ruby rb rt rp
"""
_INLINE_TAGS = frozenset(_INLINE_NAMES.split())
_END = "\0"  # of a line; the HTML standard lets no text of a page hold it
_SENTENCE = re.compile(r"""[.!?…:।။。！？؟]["'”’»“」』)\]]*\s*$|.{60}|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af].{20}""")


def written_text(node: LexborNode, plain: Mapping[int, str], spared: Collection[int], *, by_name: bool = True) -> str:
    """The lines from the first to the last one that reads like a sentence; headline and labels stand before and after
    these.

    A text of mostly short lines, such as a calendar or a table, is left whole.

    `plain` holds the texts of paragraphs, by `mem_id`, that are known to hold no element and to be in no link; `spared`
    are elements that are not furniture, whatever they are called.
    """
    lines = _Lines(plain, spared, by_name)
    lines.write(node)
    kept = lines.kept()
    first = next((place for place, line in enumerate(kept) if _SENTENCE.search(line)), len(kept))
    last = next((place for place in range(len(kept), first, -1) if _SENTENCE.search(kept[place - 1])), first)
    whole, story = "\n".join(kept), "\n".join(kept[first:last])
    return whole if len(whole) >= LIST and 2 * len(story) < len(whole) else story


class _Lines:
    """The text so far, one line for each block; all lines are tidied together at the end, which is much cheaper."""

    def __init__(self, plain: Mapping[int, str], spared: Collection[int], by_name: bool) -> None:
        self._plain, self._spared, self._by_name = plain, spared, by_name
        self.parts: list[str] = []  # pieces of text, and the ends of lines between them
        self.ends = 0
        self.linked: dict[int, int] = {}
        """How many characters of a line stand in links, for lines that have any; the first line is 0."""

    def end(self) -> None:
        """Ends the line."""
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
        """The lines that say something, each once, because captions and appeals repeat and paragraphs do not.

        A text that consists of repeated lines, as a table may, is left as it is.
        """
        kept: list[str] = []
        for place, line in enumerate("".join(self.parts).split(_END)):
            text = _tidy(line)
            if self.linked.get(place, 0) < LINKED * len(text) and (text[0].isalpha() or any(map(str.isalpha, text))):
                kept.append(text)
        once = list(dict.fromkeys(kept))
        return once if 2 * sum(map(len, once)) >= sum(map(len, kept)) else kept

    def write(self, node: LexborNode, linked: bool = False, depth: int = 0) -> None:
        """Adds what is in an element; `linked`: the element is in a link."""
        for child in node.iter(include_text=True):
            tag = child.tag
            if tag == "-text":
                text = child.text_content or ""
                if linked:
                    self.add_linked(text)
                else:
                    self.parts.append(text)
            elif tag == "br":
                self.end()
            elif depth >= DEPTH:
                continue
            elif tag == "p" and (whole := self._plain.get(child.mem_id)) is not None:
                self.add_line(whole)
            elif self._is_furniture(child, tag):
                continue
            elif tag in _INLINE_TAGS:
                self.write(child, linked or tag == "a", depth + 1)
            else:
                self.end()
                self.write(child, linked, depth + 1)
                self.end()

    def _is_furniture(self, node: LexborNode, tag: str | None) -> bool:
        box = box_of(node, tag, self._by_name)
        return box is not Box.NONE and box is not Box.STORY and node.mem_id not in self._spared


def _tidy(text: str) -> str:
    """The text with single blanks, and none at the ends."""
    if text.isprintable() and "  " not in text:  # the blank is the only printable white space
        return text.strip(" ")
    return " ".join(text.split())
