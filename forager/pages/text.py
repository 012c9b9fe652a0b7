"""The main text of a page: the story without navigation, share bars, related links, comments, notices and clocks.

Paragraphs vote for the elements they stand in, the nearest ones most (the idea of Arc90's Readability). The winner,
widened while that adds much text, is written out line by line; elements that are named after furniture, and lines that
consist of links, are left out. The tree is only read.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

PARAGRAPH = 25
"""Characters from which a text counts as a paragraph that may vote (ours)."""

ENOUGH = 200
"""Characters of main text below which names of furniture are distrusted, as they seem to have hit the story (ours)."""

WIDEN = 0.2
"""The winner gives way to an ancestor that holds at least this share more paragraph text (ours)."""

LINKED = 0.5
"""A line with at least this share of its characters in links is navigation (ours)."""

REACH = 30
"""Ancestors that a paragraph votes for (ours); it bounds the work on pages nested without end."""

UNIT_CAP = 5_000
"""Elements that are looked at (ours), for the same reason."""

NAME_CAP = 200
"""Characters of a class or id that are looked at (ours)."""

DEPTH = 150
"""Elements nested deeper than this are not written out (ours): nobody writes such pages by hand."""

_UNITS = "p, div, td, section, article, blockquote, pre"
_ALL_UNITS = f"{_UNITS}, span, li, dd, font, center, b, i, em, strong"
_FURNITURE_NAMES = """
nav aside footer form button figure figcaption select dialog menu template noscript script style svg iframe video audio
object canvas textarea input label time head
"""
_INLINE_NAMES = """
a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var
wbr ruby rb rt rp
"""
_FURNITURE_TAGS = frozenset(_FURNITURE_NAMES.split())
_INLINE_TAGS = frozenset(_INLINE_NAMES.split())
_TRUSTED_TAGS = frozenset(("html", "body", "main", "article", "h1", "p"))
_FURNITURE = re.compile(
    r"comment|disqus|share|sharing|social|related|recommend|read-?(?:more|next|also)|more-(?:from|on|stories)|newsletter|"
    r"subscri|signup|cookie|consent|gdpr|privacy|promo|advert|(?:^|[\s_-])ads?(?:$|[\s_-])|sponsor|(?<!has-)(?<!with-)sidebar|"
    r"widget|footer|breadcrumb|byline|author|caption|credit|popup|modal|overlay|paywall|outbrain|taboola|most-?(?:read|viewed|"
    r"popular)|trending|popular|(?:^|[\s_-])tags?(?:$|[\s_-])|toolbar|menu|(?:^|[\s_-])nav|navigation|copyright|disclaimer|"
    r"screen-reader|sr-only|visually-hidden|clock|weather|ticker|timestamp|pagination|pager|print-|teaser|rating|poll|survey",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"""[.!?…:।။。！？؟]["'”’»“」』)\]]*\s*$|.{60}|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af].{20}""")
_OTHER_PAUSES = ("،", "，", "、", "；", "。")
_P = LexborHTMLParser("<p>").css("p")[0].tag_id


def main_text(tree: LexborHTMLParser) -> str:
    """The story, one paragraph a line; empty if the page has none."""
    body = tree.body
    if body is None:
        return ""
    text = ""
    for units, by_name in ((_UNITS, True), (_ALL_UNITS, True), (_ALL_UNITS, False)):
        furniture = _Furniture(by_name)
        winner = _elect(body, units, furniture)
        if winner is not None:
            text = max(text, _written(winner, furniture), key=len)
        if len(text) >= ENOUGH:
            break
    return text


@lru_cache(maxsize=10_000)
def _names_furniture(class_name: str, id_name: str) -> bool:
    return _FURNITURE.search(f"{class_name} {id_name}") is not None


@dataclass(slots=True)
class _Furniture:
    """Which elements are not part of the story, remembered per element."""

    by_name: bool
    """Whether class and id count besides the tag."""
    _known: dict[int, bool] = field(default_factory=dict)

    def is_named(self, node: LexborNode, tag: str | None) -> bool:
        """Whether the element itself, by its tag or name, is furniture."""
        if tag in _FURNITURE_TAGS:
            return True
        if not self.by_name or tag in _TRUSTED_TAGS:
            return False
        attributes = node.attributes
        if not attributes:
            return False
        if "hidden" in attributes or attributes.get("aria-hidden") == "true":
            return True
        return _names_furniture((attributes.get("class") or "")[:NAME_CAP], (attributes.get("id") or "")[:NAME_CAP])

    def holds(self, node: LexborNode | None) -> bool:
        """Whether the element is furniture or stands in some, or in a link as teasers do."""
        path: list[int] = []
        above, known, found = node, self._known, False
        while above is not None:
            number = above.mem_id
            if number in known:
                found = known[number]
                break
            path.append(number)
            tag = above.tag
            if tag == "body":
                break
            if tag == "a" or self.is_named(above, tag):
                found = True
                break
            above = above.parent
        for number in path:
            known[number] = found
        return found


@dataclass(slots=True)
class _Candidate:
    """An element with what the paragraphs in it are worth."""

    node: LexborNode
    votes: float = 0.0
    characters: int = 0
    """Of all paragraphs in it, however deep."""


def _elect(body: LexborNode, units: str, furniture: _Furniture) -> LexborNode | None:
    """The element that most likely holds the story; `None` if there is no paragraph."""
    places: dict[int, _Candidate] = {}  # where paragraphs stand, with the votes of all that stand there
    for unit in body.css(units)[:UNIT_CAP]:
        is_paragraph = unit.tag_id == _P
        text = unit.text(deep=is_paragraph).strip()
        if len(text) < PARAGRAPH:
            continue
        place = unit.parent if is_paragraph else unit  # a paragraph itself is never furniture
        if place is None or furniture.holds(place) or (is_paragraph and _is_linked(unit, len(text))):
            continue
        number = place.mem_id
        standing = places.get(number)
        if standing is None:
            standing = places[number] = _Candidate(place)
        standing.votes += 1.0 + _pauses(text) + min(len(text) / 100, 3.0)
        standing.characters += len(text)
    candidates: dict[int, _Candidate] = {}
    for standing in places.values():
        above: LexborNode | None = standing.node
        for level in range(REACH):
            if above is None or above.tag == "html":
                break
            number = above.mem_id
            candidate = candidates.get(number)
            if candidate is None:
                candidate = candidates[number] = _Candidate(above)
            candidate.votes += standing.votes / (1 if level == 0 else 2 * level if level < 3 else 4 * level - 4)
            candidate.characters += standing.characters
            above = above.parent
    if not candidates:
        return None
    winner = max(candidates.values(), key=lambda candidate: candidate.votes)
    return _widened(winner, candidates).node


def _pauses(text: str) -> int:
    """Commas and full stops: prose has many."""
    count = text.count
    pauses = count(",") + count(";") + count(". ")
    return pauses if text.isascii() else pauses + sum(map(count, _OTHER_PAUSES))


def _widened(winner: _Candidate, candidates: dict[int, _Candidate]) -> _Candidate:
    """The winner, or an ancestor below `body` that holds clearly more of the story."""
    best, above = winner, winner.node.parent
    while above is not None and above.tag != "body" and (wider := candidates.get(above.mem_id)) is not None:
        if wider.characters >= (1 + WIDEN) * best.characters:
            best = wider
        above = above.parent
    return best


def _is_linked(unit: LexborNode, characters: int) -> bool:
    """Whether a paragraph is mostly links."""
    return _linked(unit) >= LINKED * characters


def _linked(node: LexborNode) -> int:
    """Characters in the links below an element."""
    return sum((len(child.text()) if child.tag == "a" else 0) + _linked(child) for child in node.iter())


class _Lines:
    """The text in the making, a line for each block; of each line how many characters stand in links."""

    def __init__(self) -> None:
        self.parts: list[list[str]] = [[]]
        self.linked: list[int] = [0]

    def end(self) -> None:
        """The next text stands on a new line."""
        if self.parts[-1]:
            self.parts.append([])
            self.linked.append(0)


def _written(winner: LexborNode, furniture: _Furniture) -> str:
    """The text of an element, a line for each block, without furniture and lines of links."""
    lines = _Lines()
    _write(winner, furniture, lines, linked=False, depth=0)
    kept: dict[str, None] = {}  # in order, each line once: captions and calls repeat, paragraphs do not
    for parts, linked in zip(lines.parts, lines.linked, strict=True):
        text = " ".join("".join(parts).split())
        if linked < LINKED * len(text) and any(map(str.isalpha, text)):
            kept.setdefault(text)
    return "\n".join(_trimmed(list(kept)))


def _trimmed(lines: list[str]) -> list[str]:
    """From the first to the last line that reads like a sentence: before and after stand headline, dates and labels."""
    sentences = [index for index, line in enumerate(lines) if _SENTENCE.search(line)]
    return lines[sentences[0] : sentences[-1] + 1] if sentences else []


def _write(node: LexborNode, furniture: _Furniture, lines: _Lines, *, linked: bool, depth: int) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            text = child.text_content or ""
            lines.parts[-1].append(text)
            if linked:
                lines.linked[-1] += len(text.strip())
        elif tag == "br":
            lines.end()
        elif tag in _INLINE_TAGS:
            if not furniture.is_named(child, tag) and depth < DEPTH:
                _write(child, furniture, lines, linked=linked or tag == "a", depth=depth + 1)
        elif not furniture.is_named(child, tag) and depth < DEPTH:
            lines.end()
            _write(child, furniture, lines, linked=linked, depth=depth + 1)
            lines.end()
