"""The main text of a page: the story without navigation, share bars, related links, comments, notices and clocks.

Paragraphs vote for the elements that contain them, the nearest ones most (the idea of Arc90's Readability). The winner,
widened while that adds much text, is written out (see `layout`). An element named after the body of a story bounds it,
if it holds most of what was found.

There are three ways, each tried only if the one before caught little: the `p` elements alone, of which a usual story
consists; text in any block as well; and text in any element. Furniture that holds most of the prose of a page, or of
its part near the headline, is not furniture after all. The tree is only read; text in a link is ignored.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.head import Head
from forager.pages.layout import DEPTH, LINKED, Box, box_of, written_text
from forager.pages.tree import PageTree, ancestors, inherited

PARAGRAPH = 25  # characters from which a text counts as a paragraph that may vote (ours)
ENOUGH = 200
"""Characters of main text below which names of furniture are distrusted, as they seem to have hit the story (ours);
furniture that holds fewer is furniture."""

PLENTY = 1_500  # characters in `p` elements from which on nothing else is asked (ours)
WIDEN = 0.2  # the winner gives way to an ancestor that holds at least this share more paragraph text (ours)
MOST = 0.5
"""Furniture that holds at least this share of the prose (of fixed furniture none is counted) is none, if the headline
stands in it, or if one element holds this share of its own prose, as a story does and a row of comments or teasers does
not. An element named after a story with this share of what was found bounds it (ours)."""

MUCH = 0.3  # the same of an element in which the headline stands (ours)
NAMED = 1.5
"""How much more the votes of paragraphs count that stand in an element named after the body of a story (ours)."""

STORIES = 10  # articles of a page among which its own story is looked for (ours)
REACH = 30  # ancestors that a paragraph votes for (ours); it bounds the work on pages nested without end
ELEMENT_CAP = 12_000
"""Elements that are looked at in one way (ours), for the same reason; twice as many in all ways together."""

_WORD = re.compile(r"\w+")
_UNITS = frozenset(["p", "div", "td", "section", "article", "blockquote", "pre"])
_PAUSES = (",", ". ", ";", "،", "，", "、", "；", "。")
_ALL_UNITS = _UNITS | frozenset(["span", "li", "dd", "font", "center", "b", "i", "em", "strong"])


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


@dataclass(slots=True)
class _Place:
    """An element that contains paragraphs: for a `p` its parent, for other units the unit itself."""

    node: LexborNode
    boxes: tuple[int, ...]
    """The furniture round it, by `mem_id`."""
    in_story: bool
    """It stands in an element named after the body of a story."""
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
    """They are no part of any story."""


_OUT = _Round(is_out=True)


class _Prose:
    """The paragraphs of a page."""

    def __init__(self, by_name: bool = True, left: int = ELEMENT_CAP) -> None:
        """`left`: how many elements may still be examined."""
        self.by_name, self.left = by_name, left
        self.found: list[tuple[LexborNode, _Round, str]] = []
        """The paragraphs in document order, each with its element and what stands round it."""
        self.others: set[int] = set()  # which of them stand in no usual block, by their numbers
        self.plain: dict[int, str] = {}  # the text of each paragraph in which there is no element, by its `mem_id`
        self.stories: set[int] = set()  # elements that are named after the body of a story
        self.fixed: set[int] = set()
        self._rounds: dict[int, _Round] = {}

    def add_paragraphs(self, tree: PageTree) -> None:
        """Add what stands in `p` elements; much cheaper than looking through the whole tree."""
        for node in tree.tags("p")[: ELEMENT_CAP // 4]:
            parent = node.parent
            if parent is not None:
                around = inherited(parent, self._rounds, _Round(), self._inside)
                if not around.is_out:
                    self._add_paragraph(node, parent, around)

    def _inside(self, node: LexborNode, around: _Round) -> _Round:
        """What stands round the elements in this one, in what stands round itself."""
        tag = node.tag
        return around if around.is_out else self._round(box_of(node, tag, self.by_name), tag, node.mem_id, around)

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
