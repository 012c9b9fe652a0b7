"""The main text of a page: the story without navigation, share bars, related links, comments, notices and clocks.

Paragraphs vote for the elements they stand in, the nearest ones most (the idea of Arc90's Readability). The winner,
widened while that adds much text, is written out line by line; elements that are named after furniture, and lines that
consist of links, are left out. The tree is only read, and what stands in furniture or in a link not even that.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

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


def written_text(node: LexborNode, by_name: bool, plain: Mapping[int, str]) -> str:
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


PARAGRAPH = 25
"""Characters from which a text counts as a paragraph that may vote (ours)."""

ENOUGH = 200
"""Characters of main text below which names of furniture are distrusted, as they seem to have hit the story (ours)."""

WIDEN = 0.2
"""The winner gives way to an ancestor that holds at least this share more paragraph text (ours)."""

REACH = 30
"""Ancestors that a paragraph votes for (ours); it bounds the work on pages nested without end."""

ELEMENT_CAP = 20_000
"""Elements that are looked at (ours), for the same reason."""

_UNITS = frozenset(["p", "div", "td", "section", "article", "blockquote", "pre"])
_ALL_UNITS = _UNITS | frozenset(["span", "li", "dd", "font", "center", "b", "i", "em", "strong"])
_OTHER_PAUSES = ("،", "，", "、", "；", "。")


def main_text(tree: LexborHTMLParser) -> str:
    """The story, one paragraph a line; empty if the page has none."""
    body = tree.body
    if body is None:
        return ""
    text = ""
    for units, by_name in ((_UNITS, True), (_ALL_UNITS, True), (_ALL_UNITS, False)):
        places = _Places(units, by_name)
        places.search(body, None, 0)
        winner = _elect(places.found)
        if winner is not None:
            text = max(text, written_text(winner, by_name, places.plain), key=len)
        if len(text) >= ENOUGH:
            break
    return text


@dataclass(slots=True)
class _Candidate:
    """An element with what the paragraphs in it are worth."""

    node: LexborNode
    votes: float = 0.0
    characters: int = 0
    """Of all paragraphs in it, however deep."""


@dataclass(slots=True)
class _Place:
    """An element in which paragraphs stand."""

    node: LexborNode
    paragraphs: list[str]

    @property
    def votes(self) -> float:
        """Of all its paragraphs; commas and full stops count, as prose has many."""
        text = "\n".join(self.paragraphs)
        count = text.count
        pauses = count(",") + count(". ") + count(";")
        if not text.isascii():
            pauses += sum(map(count, _OTHER_PAUSES))
        return pauses + sum([1.0 + min(len(paragraph) / 100, 3.0) for paragraph in self.paragraphs])


def _elect(places: Sequence[_Place]) -> LexborNode | None:
    """The element that most likely holds the story; `None` if there is no paragraph."""
    if len(places) == 1:  # nothing to vote on
        return places[0].node
    candidates: dict[int, _Candidate] = {}
    for place in places:
        votes, characters = place.votes, sum(map(len, place.paragraphs))
        above: LexborNode | None = place.node
        for level in range(REACH):
            if above is None or above.tag == "html":
                break
            number = above.mem_id
            candidate = candidates.get(number)
            if candidate is None:
                candidate = candidates[number] = _Candidate(above)
            candidate.votes += votes / (1 if level == 0 else 2 * level if level < 3 else 4 * level - 4)
            candidate.characters += characters
            above = above.parent
    if not candidates:
        return None
    winner = max(candidates.values(), key=lambda candidate: candidate.votes)
    return _widened(winner, candidates).node


class _Places:
    """Where paragraphs stand: of a `p` that is its parent, of other units the unit itself."""

    def __init__(self, units: Collection[str], by_name: bool) -> None:
        self.units, self.by_name = units, by_name
        self.found: list[_Place] = []
        """In document order."""
        self.plain: dict[int, str] = {}
        """The text of each paragraph in which there is no element, by its `mem_id`."""
        self._left = ELEMENT_CAP

    def search(self, element: LexborNode, own: _Place | None, depth: int) -> None:
        """Look for paragraphs in an element; `own`: it is a paragraph itself."""
        for node in element.iter():
            tag = node.tag
            self._left -= 1
            if self._left < 0 or depth >= DEPTH:
                return
            if tag == "p":  # a paragraph itself is never furniture
                inside = list(node.iter())
                text = node.text().strip()
                if len(text) >= PARAGRAPH and not (inside and _linked(inside) >= LINKED * len(text)):
                    if own is None:
                        own = self._new(element)
                    own.paragraphs.append(text)
                if inside:
                    self.search(node, None, depth + 1)
                else:
                    self.plain[node.mem_id] = text
            elif tag != "a" and not is_furniture(node, tag, self.by_name):
                unit = None
                if tag in self.units:
                    text = node.text(deep=False).strip()
                    if len(text) >= PARAGRAPH:
                        unit = self._new(node)
                        unit.paragraphs.append(text)
                self.search(node, unit, depth + 1)

    def _new(self, node: LexborNode) -> _Place:
        self.found.append(_Place(node, []))
        return self.found[-1]


def _linked(nodes: list[LexborNode]) -> int:
    """Characters in the links among some elements and below them."""
    characters, waiting = 0, list(nodes)
    while waiting:
        node = waiting.pop()
        if node.tag == "a":
            characters += len(node.text())
        else:
            waiting.extend(node.iter())
    return characters


def _widened(winner: _Candidate, candidates: dict[int, _Candidate]) -> _Candidate:
    """The winner, or an ancestor below `body` that holds clearly more of the story."""
    best, above = winner, winner.node.parent
    while above is not None and above.tag != "body" and (wider := candidates.get(above.mem_id)) is not None:
        if wider.characters >= (1 + WIDEN) * best.characters:
            best = wider
        above = above.parent
    return best
