"""The main text of a page: the story without navigation, share bars, related links, comments, notices and clocks.

Paragraphs vote for the elements that contain them, the nearest ones most (the idea of Arc90's Readability). The winner,
widened while that adds much text, is written out, one line for each block and for each row of a table. An element named
after the body of a story bounds it, if it holds most of what was found.

There are three ways, each tried only if the one before caught little: the `p` elements alone, of which a usual story
consists; text in any block as well; and text in any element. The tree is only read; text in a link is ignored.

*Furniture* is everything on a page that is not the story. Tags, classes and ids show what it is, but names can be
wrong: a whole page may be inside a form, or in a box named after the sidebar beside it. So most furniture is only
suspected: an element that holds most of the prose of a page, or of its part near the headline, is not furniture. This
is believed sooner of *loose* furniture than of *fixed* furniture, such as comments and teasers.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.head import Head, PageTree, ancestors

PARAGRAPH = 25  # a text with at least this many characters is a paragraph and may vote (ours)
ENOUGH = 200
"""Characters of main text below which names of furniture are distrusted, because they seem to have removed the story;
an element with fewer characters that is named like furniture is furniture (ours).
"""

PLENTY = 1_500  # with at least this many characters in `p` elements, no other way is tried (ours)
WIDEN = 0.2  # an ancestor replaces the winner if it holds at least this share more paragraph text (ours)
MOST = 0.5
"""An element named like furniture is not furniture if it holds at least this share of the prose, and the headline is in
it or one element in it holds this share of its prose, as in a story but not in a row of comments or teasers. Prose in
fixed furniture does not count, unless fixed furniture without the headline is examined. An element named after a story
that holds this share of what was found bounds it (ours).
"""

MUCH = 0.3  # the share with which an element named after a story bounds it if the headline is in it (ours)
NAMED = 1.5
"""Factor for the votes of paragraphs in an element named after the body of a story (ours)."""

STORIES = 10  # articles of a page among which its own story is searched (ours)
REACH = 30  # ancestors that a paragraph votes for (ours); it bounds the work on pages nested without end
ELEMENT_CAP = 12_000
"""Elements that are examined in one way, for the same reason; twice as many in all ways together (ours)."""

_WORD = re.compile(r"\w+")
_UNITS = frozenset(["p", "div", "td", "section", "article", "blockquote", "pre"])
_PAUSES = (",", ". ", ";", "،", "，", "、", "；", "。")
_ALL_UNITS = _UNITS | frozenset(["span", "li", "dd", "font", "center", "b", "i", "em", "strong"])


LINKED = 0.5  # a line with at least this share of its characters in links is navigation (ours)
DEPTH = 150  # elements nested deeper than this are not written out (ours): nobody writes such pages by hand
LIST = 200  # short lines with at least this many characters are a text of their own (ours)
_INLINE_NAMES = """
a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var
wbr ruby rb rt rp
"""
_INLINE_TAGS = frozenset(_INLINE_NAMES.split())
_END = "\0"  # the end of a line; the HTML standard allows it in no text of a page
_SENTENCE = re.compile(r"""[.!?…:।။。！？؟]["'”’»“」』)\]]*\s*$|.{60}|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af].{20}""")


def story_text(head: Head) -> str:
    """The main text as the page shows it, or as JSON-LD states it if the page shows less than half of its words."""
    said = (node.get("articleBody") for node in head.stories)
    shown, stated = main_text(head.tree), max((body for body in said if isinstance(body, str)), key=len, default="")
    if len(stated) < ENOUGH:
        return shown
    lines = (LexborHTMLParser(stated).text(separator="\n") if "<" in stated else stated).splitlines()
    stated = "\n".join(line for text in lines if (line := " ".join(unescape(text).split())))
    words = Counter(_WORD.findall(stated))
    return shown if 2 * (words & Counter(_WORD.findall(shown))).total() >= words.total() else stated


def main_text(tree: PageTree) -> str:
    """The story, one paragraph a line; empty if the page has none."""
    body = tree.body
    if body is None:
        return ""
    usual = _Prose()
    usual.add_paragraphs(tree)
    text = usual.story(tree) if usual.characters >= PLENTY else ""
    if len(text) >= PLENTY:
        return text
    prose = _Prose()
    prose.search(body)
    text = max(text, prose.story(tree), key=len)
    if len(text) < ENOUGH <= usual.characters < PLENTY:
        text = max(text, usual.story(tree), key=len)
    if len(text) < ENOUGH and prose.others:
        text = max(text, prose.story(tree, widely=True), key=len)
    left = 2 * prose.left  # both ways looked at the same elements
    if len(text) < ENOUGH and left > 0:
        prose = _Prose(by_name=False, left=min(left, ELEMENT_CAP))
        prose.search(body)
        text = max(text, prose.story(tree, widely=True), key=len)
    return text


NAME_CAP = 200  # characters of a class or id that are read (ours)


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
    names = f"{(classes or '')[:NAME_CAP]} {(id or '')[:NAME_CAP]}".lower()  # three times as fast as ignoring case
    if _FIXED_NAMES.search(names):
        return Box.FIXED
    if _LOOSE_NAMES.search(names):
        return Box.LOOSE
    return Box.STORY if _STORY_NAMES.search(names) else Box.NONE


@dataclass(slots=True)
class _Place:
    """An element that contains paragraphs: for a `p` its parent, for other units the unit itself."""

    node: LexborNode
    boxes: tuple[int, ...]
    """The furniture around it, by `mem_id`."""
    in_story: bool
    """Whether it is in an element named after the body of a story."""
    paragraphs: list[str] = field(default_factory=list)

    @property
    def characters(self) -> int:
        return sum(map(len, self.paragraphs))

    @property
    def votes(self) -> float:
        """The votes of all its paragraphs; commas and full stops count, because prose has many."""
        text = "\n".join(self.paragraphs)
        votes = sum([1.0 + min(len(paragraph) / 100, 3.0) for paragraph in self.paragraphs])
        votes += sum(map(text.count, _PAUSES[:3] if text.isascii() else _PAUSES))
        return votes * (NAMED if self.in_story else 1.0)


@dataclass(slots=True)
class _Candidate:
    """An element with the votes of the paragraphs in it."""

    node: LexborNode
    votes: float = 0.0
    characters: int = 0
    """Of all paragraphs in it, however deep."""


@dataclass(frozen=True, slots=True)
class _Round:
    """What surrounds the elements in some element."""

    boxes: tuple[int, ...] = ()
    in_story: bool = False
    is_out: bool = False
    """Whether they are no part of any story."""


_OUT = _Round(is_out=True)


class _Prose:
    """The paragraphs of a page."""

    def __init__(self, by_name: bool = True, left: int = ELEMENT_CAP) -> None:
        """`left`: how many elements may still be examined."""
        self.by_name, self.left = by_name, left
        self.found: list[tuple[LexborNode, _Round, str]] = []
        """The paragraphs in document order, each with its element and what surrounds it."""
        self.others: set[int] = set()  # the positions of those in no usual block
        self.plain: dict[int, str] = {}  # the text of each paragraph without elements in it, by its `mem_id`
        self.stories: set[int] = set()  # elements that are named after the body of a story
        self.fixed: set[int] = set()
        self._rounds: dict[int, _Round] = {}

    def add_paragraphs(self, tree: PageTree) -> None:
        """Add what stands in `p` elements; much cheaper than looking through the whole tree."""
        for node in tree.tags("p")[: ELEMENT_CAP // 4]:
            parent = node.parent
            if parent is not None:
                around = self._rounds.get(parent.mem_id) or self._round_inside(parent)
                if not around.is_out:
                    self._add_paragraph(node, parent, around)

    def _round_inside(self, node: LexborNode) -> _Round:
        """What surrounds the elements in this one; results are kept."""
        above: LexborNode | None = node
        unknown: list[tuple[int, LexborNode]] = []
        while above is not None and above.mem_id not in self._rounds:
            unknown.append((above.mem_id, above))
            above = above.parent
        around = _Round() if above is None else self._rounds[above.mem_id]
        for number, inner in reversed(unknown):
            tag = inner.tag
            if not around.is_out:
                around = self._round(box_of(inner, tag, self.by_name), tag, number, around)
            self._rounds[number] = around
        return around

    def _round(self, box: Box, tag: str | None, number: int, around: _Round) -> _Round:
        if box is Box.NEVER or tag == "a":
            return _OUT
        if box is Box.STORY:
            self.stories.add(number)
            return around if around.in_story else _Round(around.boxes, True)
        if box is Box.FIXED:
            self.fixed.add(number)
        return around if box is Box.NONE else _Round((*around.boxes, number), around.in_story)

    def _add_paragraph(self, node: LexborNode, parent: LexborNode, around: _Round) -> list[LexborNode]:
        """Add a `p` element; the elements in it."""
        inside = list(node.iter())
        text = node.text().strip()
        if not inside:
            self.plain[node.mem_id] = text
        if len(text) >= PARAGRAPH and not (inside and _linked(inside) >= LINKED * len(text)):
            self.found.append((parent, around, text))
        return inside

    def search(self, body: LexborNode) -> None:
        """Add all paragraphs in the body, and text that stands in other units."""
        by_name = self.by_name
        waiting = [(body, body.iter(), _Round())]
        while waiting:
            element, nodes, around = waiting[-1]
            for node in nodes:
                tag = node.tag
                self.left -= 1
                if self.left < 0:
                    return
                if tag == "p":  # a paragraph itself is never furniture
                    if self._add_paragraph(node, element, around) and len(waiting) < DEPTH:
                        waiting.append((node, node.iter(), around))
                        break
                    continue
                box = box_of(node, tag, by_name)
                inside = around if box is Box.NONE and tag != "a" else self._round(box, tag, node.mem_id, around)
                if inside.is_out:
                    continue
                if tag in _ALL_UNITS:
                    text = node.text(deep=False).strip()
                    if len(text) >= PARAGRAPH:
                        if tag not in _UNITS:
                            self.others.add(len(self.found))
                        self.found.append((node, inside, text))
                if len(waiting) < DEPTH:
                    waiting.append((node, node.iter(), inside))
                    break
            else:
                waiting.pop()

    def _places(self, widely: bool) -> list[_Place]:
        """The elements in which paragraphs stand; `widely`: also those in no usual block."""
        places: dict[int, _Place] = {}
        for place, (node, around, text) in enumerate(self.found):
            if widely or place not in self.others:
                number = node.mem_id
                found = places.get(number)
                if found is None:
                    found = places[number] = _Place(node, around.boxes, around.in_story)
                found.paragraphs.append(text)
        return list(places.values())

    @property
    def characters(self) -> int:
        return sum(len(text) for _, _, text in self.found)

    def story(self, tree: PageTree, widely: bool = False) -> str:
        """The text that most likely is the story; empty if there is no paragraph."""
        found = self._places(widely)
        headed = _above(tree.tags("h1"))
        self.stories.update(number for number, node in headed.items() if node.tag == "article")
        spared = self._spared(found, headed)
        places = _of_one_story([one for one in found if all(box in spared for box in one.boxes)], tree)
        winner = _elect(places, self.stories, headed)
        return "" if winner is None else written_text(winner, self.plain, spared, by_name=self.by_name)

    def _spared(self, places: Sequence[_Place], headed: Collection[int]) -> set[int]:
        """The elements that look like furniture but are not; those `headed` contain the headline."""
        held: dict[int, int] = {}
        largest: dict[int, int] = {}
        total = loose = 0
        for place in places:
            characters = place.characters
            total += characters
            loose += 0 if any(box in self.fixed for box in place.boxes) else characters
            for box in place.boxes:
                held[box] = held.get(box, 0) + characters
                largest[box] = max(largest.get(box, 0), characters)
        return {
            box
            for box, characters in held.items()
            if characters >= ENOUGH
            and characters >= MOST * (total if box in self.fixed and box not in headed else loose)
            and (box in headed or largest[box] >= MOST * characters)
        }


def _of_one_story(places: list[_Place], tree: PageTree) -> list[_Place]:
    """On a page with several stories, each an `article` of one class: the places in the one that the title names."""
    articles = tree.tags("article")[:STORIES]
    classes = [node.attributes.get("class") for node in articles]
    if len(set(classes)) == len(classes):
        return places
    title = "".join(node.text() for node in tree.tags("title")[:1])
    headings = [node.css_first("h1, h2") for node in articles]
    names = ["" if heading is None else heading.text().strip() for heading in headings]
    own = next(
        (node for node, name in zip(articles, names, strict=True) if len(name) >= PARAGRAPH and name in title), None
    )
    if own is None or classes.count(own.attributes.get("class")) == 1:
        return places
    number = own.mem_id
    inside = [one for one in places if number in (one.node.mem_id, *(above.mem_id for above in ancestors(one.node)))]
    return inside if sum(place.characters for place in inside) >= ENOUGH else places


def _above(nodes: Iterable[LexborNode]) -> dict[int, LexborNode]:
    """The elements in which these stand, by `mem_id`."""
    found: dict[int, LexborNode] = {}
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id not in found:
            found[above.mem_id] = above
            above = above.parent
    return found


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


def _elect(places: Sequence[_Place], stories: Collection[int], headed: Collection[int]) -> LexborNode | None:
    """The element that most likely holds the story; `None` if there is no paragraph.

    It is the winner, widened at most to the outermost element named after a story that holds enough of it.
    """
    candidates: dict[int, _Candidate] = {}
    for place in places:
        votes, characters = place.votes, place.characters
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
    widened = _widened(winner, candidates)
    best, inner = widened, winner
    while inner is not widened:
        number = inner.node.mem_id
        if number in stories and inner.characters >= (MUCH if number in headed else MOST) * widened.characters:
            best = inner
        assert inner.node.parent is not None  # the widened one is an ancestor of the winner
        inner = candidates[inner.node.parent.mem_id]
    return (widened if widened.node.mem_id in stories else best).node


def _widened(winner: _Candidate, candidates: dict[int, _Candidate]) -> _Candidate:
    """The winner, or an ancestor below `body` that holds clearly more of the story."""
    best, above = winner, winner.node.parent
    while above is not None and above.tag != "body" and (wider := candidates.get(above.mem_id)) is not None:
        if wider.characters >= (1 + WIDEN) * best.characters:
            best = wider
        above = above.parent
    return best


def written_text(node: LexborNode, plain: Mapping[int, str], spared: Collection[int], *, by_name: bool = True) -> str:
    """The lines from the first to the last one that reads like a sentence, without the headline and labels around them.

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
            elif tag == "td" or tag == "th":  # a row is a line
                self.parts.append(" ")
                self.write(child, linked, depth + 1)
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
