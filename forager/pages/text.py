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
_PAUSES = (",", ";", ". ")
_ALL_PAUSES = (*_PAUSES, "،", "，", "、", "；", "。")


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

    def holds(self, node: LexborNode) -> bool:
        """Whether the element stands in furniture, or in a link as teasers do."""
        path: list[int] = []
        above: LexborNode | None = node
        found = False
        while above is not None and (tag := above.tag) != "body":
            number = above.mem_id
            known = self._known.get(number)
            if known is not None:
                found = known
                break
            path.append(number)
            if tag == "a" or self.is_named(above, tag):
                found = True
                break
            above = above.parent
        for number in path:
            self._known[number] = found
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
        is_paragraph = unit.tag == "p"
        text = unit.text(deep=is_paragraph).strip()
        if len(text) < PARAGRAPH or furniture.holds(unit) or (is_paragraph and _is_linked(unit, len(text))):
            continue
        place = unit.parent if is_paragraph else unit
        if place is None:
            continue
        standing = places.get(place.mem_id)
        if standing is None:
            standing = places[place.mem_id] = _Candidate(place)
        standing.votes += 1.0 + _pauses(text) + min(len(text) / 100, 3.0)
        standing.characters += len(text)
    candidates: dict[int, _Candidate] = {}
    for standing in places.values():
        above: LexborNode | None = standing.node
        for level in range(REACH):
            if above is None or above.tag == "html":
                break
            candidate = candidates.setdefault(above.mem_id, _Candidate(above))
            candidate.votes += standing.votes / (1 if level == 0 else 2 * level if level < 3 else 4 * level - 4)
            candidate.characters += standing.characters
            above = above.parent
    if not candidates:
        return None
    winner = max(candidates.values(), key=lambda candidate: candidate.votes)
    return _widened(winner, candidates).node


def _pauses(text: str) -> int:
    """Commas and full stops: prose has many."""
    return sum(map(text.count, _PAUSES if text.isascii() else _ALL_PAUSES))


def _widened(winner: _Candidate, candidates: dict[int, _Candidate]) -> _Candidate:
    """The winner, or an ancestor below `body` that holds clearly more of the story."""
    best, above = winner, winner.node.parent
    while above is not None and above.tag != "body" and (wider := candidates.get(above.mem_id)) is not None:
        if wider.characters >= (1 + WIDEN) * best.characters:
            best = wider
        above = above.parent
    return best


def _is_linked(unit: LexborNode, characters: int) -> bool:
    """Whether a paragraph is mostly links; one without elements has none, as most."""
    if all(False for _ in unit.iter()):
        return False
    return sum(len(link.text()) for link in unit.css("a")) >= LINKED * characters


@dataclass(slots=True)
class _Line:
    parts: list[str] = field(default_factory=list)
    linked: int = 0
    """Characters in links."""


def _written(winner: LexborNode, furniture: _Furniture) -> str:
    """The text of an element, a line for each block, without furniture and lines of links."""
    lines = [_Line()]
    _write(winner, furniture, lines, linked=False, depth=0)
    kept: dict[str, None] = {}  # in order, each line once: captions and calls repeat, paragraphs do not
    for line in lines:
        text = " ".join("".join(line.parts).split())
        if line.linked < LINKED * len(text) and any(map(str.isalpha, text)):
            kept.setdefault(text)
    return "\n".join(_trimmed(list(kept)))


def _trimmed(lines: list[str]) -> list[str]:
    """From the first to the last line that reads like a sentence: before and after stand headline, dates and labels."""
    sentences = [index for index, line in enumerate(lines) if _SENTENCE.search(line)]
    return lines[sentences[0] : sentences[-1] + 1] if sentences else []


def _write(node: LexborNode, furniture: _Furniture, lines: list[_Line], *, linked: bool, depth: int) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            text = child.text_content or ""
            lines[-1].parts.append(text)
            lines[-1].linked += len(text.strip()) if linked else 0
        elif tag == "br":
            lines.append(_Line())
        elif tag in _INLINE_TAGS:
            if not furniture.is_named(child, tag) and depth < DEPTH:
                _write(child, furniture, lines, linked=linked or tag == "a", depth=depth + 1)
        elif not furniture.is_named(child, tag) and depth < DEPTH:
            lines.append(_Line())
            _write(child, furniture, lines, linked=linked, depth=depth + 1)
            lines.append(_Line())
