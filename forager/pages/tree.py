"""A parsed page: its elements by tag, found in one pass for all uses, and what surrounds them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Generic, TypeVar
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

Owner = TypeVar("Owner")
T = TypeVar("T")


class lazily(Generic[Owner, T]):
    """A method as a property that is computed when it is first asked for, and then kept in the object.

    Like `functools.cached_property`, but without the lock that it has up to Python 3.11: a page has twenty such
    answers, and each page is read by one thread.
    """

    def __init__(self, work: Callable[[Owner], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    def __get__(self, instance: Owner, owner: type[Owner]) -> T:
        answer = instance.__dict__[self._name] = self._work(instance)  # found there the next time
        return answer


_ASKED_FOR = ["meta", "link", "base", "script", "title", "h1", "h2", "h3", "h4", "a", "p", "article"]
_MARKED = (
    "h1, time, abbr.published, [itemprop], [property], [class*=date], [class*=yline], [class*=uthor], [rel~=author], "
    "article address"
)


class PageTree(LexborHTMLParser):
    """A parsed page that finds all elements by which it is read in one walk: of a page of megabytes each walk takes long."""

    def tags(self, name: str) -> list[LexborNode]:
        """The elements of this tag in document order; the list is not to be changed."""
        return self._found[name] if name in _ASKED_FOR else super().tags(name)

    @lazily
    def _found(self) -> dict[str, list[LexborNode]]:
        found: dict[str, list[LexborNode]] = {tag: [] for tag in _ASKED_FOR}
        for node in self.css(", ".join(_ASKED_FOR)):
            found[node.tag or ""].append(node)
        return found

    @lazily
    def marked(self) -> list[LexborNode]:
        """The elements among which stamps and bylines stand, in document order, found in one walk for both."""
        return self.css(_MARKED)

    def forget(self) -> None:
        """Forgets the elements found. They hold the tree, and the tree holds them, so only the garbage collector would
        free both.
        """
        self.__dict__.clear()


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The elements in which a node stands, the nearest first, up to the body, which is left out."""
    above = node.parent
    while above is not None and above.tag not in ("body", "html"):
        yield above
        above = above.parent


def inherited(node: LexborNode, known: dict[int, T], outermost: T, inside: Callable[[LexborNode, T], T]) -> T:
    """What `inside` tells for an element, given what holds around it; results are kept in `known`, by `mem_id`."""
    unknown: list[tuple[int, LexborNode]] = []
    above: LexborNode | None = node
    told = outermost
    while above is not None:
        number = above.mem_id
        if number in known:
            told = known[number]
            break
        unknown.append((number, above))
        above = above.parent
    for number, inner in reversed(unknown):
        told = known[number] = inside(inner, told)
    return told


def blocks_round(nodes: Sequence[LexborNode], reach: int) -> list[LexborNode]:
    """For each node the largest of the `reach` nearest elements around it that holds none of the other nodes."""
    lines = [[(above.mem_id, above) for above in islice(ancestors(node), reach)] for node in nodes]
    held = Counter(number for line in lines for number, _ in line)
    alone = ([above for _, above in takewhile(lambda pair: held[pair[0]] == 1, line)] for line in lines)
    return [line[-1] if line else node for node, line in zip(nodes, alone, strict=True)]


def heading_anchor(heading: LexborNode) -> LexborNode | None:
    """The link that contains a heading, or the link in it."""
    above = heading.parent
    return above if above is not None and above.tag == "a" else heading.css_first("a[href]")


def heading_link(heading: LexborNode, own: str) -> tuple[str, str]:
    """The path that a heading of the page at the path `own` links to, and the linked text; both empty if there is none."""
    link = heading_anchor(heading)
    href = None if link is None else link.attributes.get("href")
    if link is None or href is None:
        return "", ""
    try:
        return urlsplit(urljoin(own, href.strip())).path or "/", link.text().strip()
    except ValueError:  # no address at all
        return "", ""
