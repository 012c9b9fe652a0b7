"""A parsed page and what it says of itself: its elements by tag, its meta, link and JSON-LD, each read once.

Type and address decide which node of JSON-LD is the page's own story. Broken JSON is common: comments and CDATA marks
around it, raw control characters, a comma too many. JSON that cannot be repaired is searched for the pattern
`"datePublished": "…"`.

What a page asks of robots is in `<meta name=robots>` and in the X-Robots-Tag header. A header may address one robot
(`otherbot: noindex, nofollow`); the name then holds for the rest of that header or until the next name. Rules for all
robots and rules for us are combined: what any of them forbids is forbidden.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.urls import path
from forager.terms import Url

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
        answer = instance.__dict__[self._name] = self._work(instance)  # Python finds it there the next time
        return answer


_ASKED_FOR = ["meta", "link", "base", "script", "title", "h1", "h2", "h3", "h4", "a", "p", "article"]
_MARKED = (
    "h1, time, abbr.published, [itemprop], [property], [class*=date], [class*=yline], [class*=uthor], [rel~=author], "
    "article address"
)


class PageTree(LexborHTMLParser):
    """A parsed page. It finds all elements that its readers need in one walk, because a walk through a large page takes
    long.
    """

    def tags(self, name: str) -> list[LexborNode]:
        """The elements with this tag in document order; do not change the list."""
        return self._found[name] if name in _ASKED_FOR else super().tags(name)

    @lazily
    def _found(self) -> dict[str, list[LexborNode]]:
        found: dict[str, list[LexborNode]] = {tag: [] for tag in _ASKED_FOR}
        for node in self.css(", ".join(_ASKED_FOR)):
            found[node.tag or ""].append(node)
        return found

    @lazily
    def marked(self) -> list[LexborNode]:
        """The elements that may be dates or bylines, in document order, found in one walk for both."""
        return self.css(_MARKED)

    def forget(self) -> None:
        """Forgets the elements found.

        They hold the tree, and the tree holds them, so only the garbage collector would free both.
        """
        self.__dict__.clear()


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The elements in which a node stands, the nearest first, up to the body, which is left out."""
    above = node.parent
    while above is not None and above.tag not in ("body", "html"):
        yield above
        above = above.parent


def blocks_round(nodes: Sequence[LexborNode], reach: int) -> list[LexborNode]:
    """For each node the largest of the `reach` nearest elements around it that holds none of the other nodes."""
    lines: list[list[LexborNode]] = []
    holders: dict[int, tuple[list[LexborNode], int]] = {}  # by `mem_id`: the line of an element and its place in it
    for node in nodes:
        line, above = [node], node.parent
        while above is not None and len(line) <= reach and above.tag not in ("body", "html"):
            number = above.mem_id
            if number in holders:
                other, place = holders[number]
                del other[place:]
                break
            holders[number] = line, len(line)
            line.append(above)
            above = above.parent
        lines.append(line)
    return [line[-1] for line in lines]


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
    except ValueError:  # not an address
        return "", ""


_LINKED_DATA = "application/ld+json"
_INDEX = re.compile(r"(?<=/)(?:index|default|home)\.\w+$", re.IGNORECASE)
Attributes = dict[str, str | None]


class Head:
    """The statements of one page, wherever they are in its markup; each is read when it is first asked for."""

    def __init__(self, tree: PageTree, url: Url) -> None:
        self.tree, self.url = tree, url

    @lazily
    def path(self) -> str:
        """The path of the page."""
        return path(self.url)

    @lazily
    def mastheads(self) -> list[LexborNode]:
        """The `h1` elements that name the site: each as a whole links to a page above this one."""
        return [node for node in self.tree.tags("h1") if _is_masthead(node, self.path)]

    @lazily
    def headlines(self) -> list[LexborNode]:
        """The other `h1` elements."""
        mastheads = {node.mem_id for node in self.mastheads}
        return [node for node in self.tree.tags("h1") if node.mem_id not in mastheads]

    @lazily
    def metas(self) -> list[Attributes]:
        """The attributes of every meta element, in document order."""
        return [node.attributes for node in self.tree.tags("meta")]

    @lazily
    def links(self) -> list[Attributes]:
        """The attributes of every link element that has a `rel`, in document order."""
        found = [node.attributes for node in self.tree.tags("link")]
        return [attributes for attributes in found if "rel" in attributes]

    @lazily
    def base(self) -> str:
        """The base URL that the page states for its links, as written; empty if it states none."""
        found = (node.attributes for node in self.tree.tags("base"))
        return next((attributes["href"] or "" for attributes in found if "href" in attributes), "")

    @lazily
    def meta(self) -> dict[str, str]:
        """What the meta elements state, by name, property, itemprop or http-equiv in lower case; the first one counts."""
        return {name: contents[0] for name, contents in self.every.items()}

    @lazily
    def every(self) -> dict[str, list[str]]:
        """All that the meta elements state, by the same names."""
        said: dict[str, list[str]] = {}
        for attributes in self.metas:
            content = attributes.get("content") or attributes.get("datetime") or attributes.get("value")
            if not content:
                continue
            for key in ("property", "name", "itemprop", "http-equiv"):
                if name := attributes.get(key):
                    said.setdefault(name.strip().lower(), []).append(content)
        return said

    @lazily
    def named(self) -> list[tuple[str, str]]:
        """Name and content of the meta elements that have a name."""
        return [(meta["name"] or "", meta.get("content") or "") for meta in self.metas if "name" in meta]

    @lazily
    def linked_data(self) -> list[str]:
        """The text of every JSON-LD script, in document order."""
        return [script.text() for script in self.tree.tags("script") if _is_linked_data(script)]

    @lazily
    def nodes(self) -> list["Node"]:
        """Every readable node of JSON-LD, in document order, except those about something else than the page."""
        return [node for nodes in self._read.values() for node in nodes or ()]

    @lazily
    def identified(self) -> dict[str, "Node"]:
        """The nodes that others may refer to, by their identity."""
        return {id: node for node in reversed(self.nodes) if isinstance(id := node.get("@id"), str)}

    @lazily
    def stories(self) -> list["Node"]:
        """The nodes of stories, the best first: a story at the path of the page comes before others."""
        ranked = sorted(((_rank(node, self.path), node) for node in self.nodes), key=itemgetter(0))
        return [node for rank, node in ranked if rank <= 1]

    def stated_dates(self, name: str) -> list[str]:
        """The values of a date property in JSON-LD, the best story's first."""
        found: list[tuple[int, str]] = []
        for text, nodes in self._read.items():
            if nodes is None:
                found += [(2, value) for value in re.findall(rf'"{name}"\s*:\s*"([^"]{{4,60}})"', text)]
            for node in nodes or ():
                value = node.get(name)
                if isinstance(value, list) and value:
                    value = value[0]
                if isinstance(value, str | int):
                    found.append((_rank(node, self.path), str(value)))
        return [value for _, value in sorted(found, key=itemgetter(0))]

    @lazily
    def _read(self) -> dict[str, list["Node"] | None]:
        """The nodes of each JSON-LD script by its text; None if it cannot be decoded."""
        read = {text: _decoded(text) for text in self.linked_data}
        return {text: None if content is None else list(_nodes(content)) for text, content in read.items()}


def _is_masthead(heading: LexborNode, own: str) -> bool:
    target, linked = heading_link(heading, own)
    if target in ("", own) or 2 * len(linked) < len(heading.text().strip()):
        return False
    folder = _INDEX.sub("", target).rstrip("/") + "/"
    return folder != own and own.startswith(folder)


def _is_linked_data(script: LexborNode) -> bool:
    kind = script.attributes.get("type")
    return kind is not None and kind.lower().startswith(_LINKED_DATA)


_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class RobotsMeta:
    """What the page allows."""

    index: bool = True
    follow: bool = True
    archive: bool = True


def read_robots_meta(
    metas: Iterable[tuple[str, str]], headers: Iterable[str] = (), agent: str = "forager"
) -> RobotsMeta:
    """`metas`: (name, content) of meta elements, of any name; `headers`: values of X-Robots-Tag; `agent`: our name."""
    agent = agent.lower()
    said: set[str] = set()
    for name, content in metas:
        if name.strip().lower() in ("robots", agent):
            said.update(word.strip() for word in content.lower().split(","))
    for header in headers:
        said.update(_for_us(header.lower(), agent))
    nothing = "none" in said
    return RobotsMeta(
        index=not (nothing or "noindex" in said),
        follow=not (nothing or "nofollow" in said),
        archive=not (nothing or "noarchive" in said),
    )


def _for_us(header: str, agent: str) -> Iterator[str]:
    addressed = True
    for part in header.split(","):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        if colon and name not in _WITH_VALUE:
            addressed = name in ("robots", "*", agent)
            name = rest
        if addressed:
            yield name


Node = Mapping[str, object]

_NODE_CAP = 2000  # nodes of one page that are looked at (ours); large product lists hold thousands
_OTHERS = """
comment comments review reviews itemListElement liveBlogUpdate image associatedMedia video audio citation mentions
author publisher isPartOf hasPart about relatedLink recordedAt breadcrumb
"""
_OTHER_PROPERTIES = frozenset(_OTHERS.split())
"""Properties whose nodes are about something else than the page's own story."""

_WRAPPING = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|^[^\S\n]*//.*$|(?<=[\[{}\],])[ \t]*//[^\"\n]{0,200}$", re.MULTILINE)
_EXTRA_COMMA = re.compile(r",(?=\s*[}\]])")


def _decoded(text: str) -> object:
    """The parsed JSON, repaired if that is easy; `None` otherwise."""
    try:
        decoded: object = msgspec.json.decode(text)
        return decoded
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        mended: object = json.loads(_EXTRA_COMMA.sub("", _WRAPPING.sub("", text)).strip().rstrip(";"), strict=False)
        return mended
    except (ValueError, RecursionError):
        return None


def _nodes(content: object) -> Iterator[Node]:
    """Every object in it, outermost first, leaving out those about something else."""
    waiting: deque[object] = deque([content])
    for _ in range(_NODE_CAP):
        if not waiting:
            return
        node = waiting.popleft()
        if isinstance(node, list):
            waiting.extend(node[:_NODE_CAP])
        elif isinstance(node, dict):
            yield node
            waiting.extend(
                value for key, value in node.items() if key not in _OTHER_PROPERTIES and isinstance(value, dict | list)
            )


def _rank(node: Node, path: str) -> int:
    """0 for the story at this path, 1 for any story, 2 for a page or an untyped node, 3 for anything else."""
    kind = node.get("@type")
    names = " ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "")
    if "Article" in names or "Posting" in names or names == "Report" or ("headline" in node and "author" in node):
        return 0 if path.strip("/") and _address(node).rstrip("/").endswith(path.rstrip("/")) else 1
    return 2 if not names or "Page" in names else 3


def _address(node: Node) -> str:
    """The URL a node gives itself, without query and fragment; empty if none."""
    for key in ("url", "mainEntityOfPage", "@id"):
        value = node.get(key)
        if isinstance(value, dict):
            value = value.get("@id")
        if isinstance(value, str) and value:
            return value.partition("#")[0].partition("?")[0]
    return ""
