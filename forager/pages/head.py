"""What a page says of itself: its meta, link and JSON-LD elements, each read once for all who ask.

Elements are asked for by their tag, and found in one walk for all.

What a page asks of robots stands in `<meta name=robots>` and in the X-Robots-Tag header. A header may address one robot
(`otherbot: noindex, nofollow`); the name then holds for the rest of that header or until the next name. Rules for all
and rules for us add up: what any of them forbids is forbidden.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.lazy import lazily
from forager.terms import Dated, Url

_LINKED_DATA = "application/ld+json"
_INDEX = re.compile(r"(?<=/)(?:index|default|home)\.\w+$", re.IGNORECASE)
Attributes = dict[str, str | None]


_ASKED_FOR = ["meta", "link", "base", "script", "title", "h1", "h2", "h3", "h4", "a", "p", "article"]
_MARKED = (
    "h1, time, abbr.published, [itemprop], [property], [class*=date], [class*=yline], [class*=uthor], [rel~=author], "
    "article address"
)


class Tree(LexborHTMLParser):
    """A parsed page that finds all elements by which it is read in one walk: of a page of megabytes each walk takes long."""

    _found: dict[str, list[LexborNode]] | None = None
    _marked: list[LexborNode] | None = None

    def tags(self, name: str) -> list[LexborNode]:
        """The elements of this tag in document order; the list is not to be changed."""
        if name not in _ASKED_FOR:
            return super().tags(name)
        if self._found is None:
            self._found = {tag: [] for tag in _ASKED_FOR}
            for node in self.css(", ".join(_ASKED_FOR)):
                self._found[node.tag or ""].append(node)
        return self._found[name]

    def marked(self) -> list[LexborNode]:
        """The elements among which stamps and bylines stand, in document order, found in one walk for both."""
        if self._marked is None:
            self._marked = self.css(_MARKED)
        return self._marked


def marked(tree: LexborHTMLParser) -> list[LexborNode]:
    """See `Tree.marked`."""
    return tree.marked() if isinstance(tree, Tree) else tree.css(_MARKED)


class Head:
    """The statements of one page, wherever they stand in its markup; read when they are asked for first."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.nodes: dict[str, list[Mapping[str, object]] | None] = {}
        """The nodes of JSON-LD that was decoded already, by its text; None if it could not be (see `linked_data`)."""
        self.stories: dict[str, list[Mapping[str, object]]] = {}
        """The nodes of stories that were looked for already, by the path of the page."""
        self.shown: dict[str, list[Dated]] = {}
        """The dates round the headline that were looked for already, by the path of the page (see `dates`)."""
        self.site_names: dict[Url, set[str]] = {}
        """What the site may be called, as far as it was asked, by the address of the page (see `about`)."""

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
        """What the page wants its links to be joined to, as written; empty if it does not say."""
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


def headlines(tree: LexborHTMLParser, own: str) -> list[LexborNode]:
    """The `h1` elements that may be the headline of the page at the path `own`: all but mastheads."""
    return [node for node in tree.tags("h1") if not _is_masthead(node, own)]


def mastheads(tree: LexborHTMLParser, own: str) -> list[LexborNode]:
    """The `h1` elements that name the site: the whole of each links to a page above this one."""
    return [node for node in tree.tags("h1") if _is_masthead(node, own)]


def _is_masthead(heading: LexborNode, own: str) -> bool:
    target, linked = heading_link(heading, own)
    if target in ("", own) or 2 * len(linked) < len(heading.text().strip()):
        return False
    folder = _INDEX.sub("", target).rstrip("/") + "/"
    return folder != own and own.startswith(folder)


def heading_link(heading: LexborNode, own: str) -> tuple[str, str]:
    """The path that a heading of the page at the path `own` links to, and the linked text; both empty if there is none."""
    above = heading.parent
    link = above if above is not None and above.tag == "a" else heading.css_first("a[href]")
    href = None if link is None else link.attributes.get("href")
    if link is None or href is None:
        return "", ""
    try:
        return urlsplit(urljoin(own, href.strip())).path or "/", link.text().strip()
    except ValueError:  # no address at all
        return "", ""


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
