"""The links of an HTML page: where they lead, what they say, where on the page they are, and the dates beside them.

On a list of dated pages, each item has a linked headline and a time. An item is the largest element with no other time
in it. A page with few such items is not such a list: a single time is that of the page itself.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from selectolax.lexbor import LexborNode

from forager.pages.head import Head, PageTree, blocks_round
from forager.pages.moments import read_moment
from forager.pages.pages_settings import PagesSettings
from forager.pages.urls import Joiner, UrlMemo
from forager.terms import Channel, Link, Region, Url

_FEED_TYPES = frozenset(
    {
        "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
        "application/xml", "text/xml",
    }
)  # fmt: skip
_ANCHOR_TEXT_LIMIT = 4_000_000  # characters in sum; anchors nested in anchors repeat their text again and again

_BOX_TAGS = "div section ul ol dl nav aside header footer main article table tr td form"
_BOXES = frozenset(_BOX_TAGS.split())
_LANDMARKS = {"nav": Region.NAV, "header": Region.NAV, "aside": Region.ASIDE, "footer": Region.FOOTER}
_ROLES = {
    "navigation": Region.NAV,
    "banner": Region.NAV,
    "menubar": Region.NAV,
    "menu": Region.NAV,
    "complementary": Region.ASIDE,
    "contentinfo": Region.FOOTER,
}
_WHOLE = r"(?:(?:site|page|main|global|primary|top|bottom|the|l|js)(?:-|_)+)?"
_END = r"(?=\s|$|__|-wrap|-contain|-inner|-area|-links)"
_NAMES = (
    (Region.FOOTER, re.compile(rf"(?<!\S){_WHOLE}(?:footer|colophon){_END}")),
    (
        Region.NAV,
        re.compile(
            rf"(?<!\S){_WHOLE}(?:header|masthead|topbar|toolbar|breadcrumbs?){_END}"
            rf"|(?<!\S)(?!has-|with-|no-|is-)(?:[a-z0-9]+[-_]+)*(?:nav|navbar|navigation|menu){_END}"
        ),
    ),
    (
        Region.ASIDE,
        re.compile(
            rf"(?<!\S)(?:(?:left|right)[-_]*)?{_WHOLE}(?:side-?bar|aside|rail){_END}"
            r"|(?<!\S)(?:related|recommended|recommendations|trending|most-?(?:read|popular|viewed))(?:[-_]\S*)?(?=\s|$)"
        ),
    ),
)


class PageLinks:
    """The links of one page in document order, each URL once: feeds, canonical and next page of the head, then the
    anchors.

    Targets are read at once, texts only for links that are asked for. Links of the page to itself are left out. A URL
    keeps its first place. If that link has no text, or only the description of a picture, a later link with a text
    gives its text and region.
    """

    def __init__(self, head: Head, *, memo: UrlMemo | None = None, settings: PagesSettings | None = None) -> None:
        self._settings, self._url = settings or PagesSettings(), (url := head.url)
        joiner = Joiner((head.base and Joiner(url).join(head.base)) or url, memo)
        self._stated = list(_stated_links(head, joiner))
        self._in_head: dict[Url, Link] = {}
        for link in self._stated:
            if link.url != url:
                self._in_head.setdefault(link.url, link)
        self._anchors: dict[Url, list[LexborNode]] = {target: [] for target in self._in_head}
        """For each URL the anchors that lead there."""
        self.related: set[Url] = set(self._in_head)  # URLs with more than a text, such as a relation
        self._tree, self._joiner = head.tree, joiner
        self._add_anchors(head.tree, joiner, url)
        self._places: dict[int, tuple[Region, bool]] = {}
        self._spent = 0

    @property
    def urls(self) -> tuple[Url, ...]:
        """Where the links lead, in their order."""
        return tuple(self._anchors)

    @property
    def latest_dates(self) -> dict[Url, float]:
        """When pages that a list names were published at the latest."""
        joined = ((self._joiner.join(href), date) for href, date in item_dates(self._tree).items())
        return {url: date for url, date in joined if url is not None}

    @property
    def own_feeds(self) -> set[Url]:
        """The feeds below the address of the page itself, or with its query: `/story/feed/` of `/story/`."""
        base, _, query = self._url.partition("?")
        return {
            link.url
            for link in self._stated
            if link.channel is Channel.ALTERNATE
            and (link.url.startswith(base.rstrip("/") + "/") if not query else query in link.url)
        }

    @property
    def canonical(self) -> Url | None:
        """What the page calls its own URL."""
        return next((link.url for link in self._stated if link.channel is Channel.CANONICAL), None)

    def all(self) -> tuple[Link, ...]:
        return tuple(map(self.to, self._anchors))

    def to(self, url: Url) -> Link:
        """The link to this one of the `urls`."""
        found = stated = self._in_head.get(url)
        if stated is not None and stated.anchor:
            return stated
        rel, channel = ((), Channel.LINK) if stated is None else (stated.rel, stated.channel)
        for node in self._anchors[url]:
            text = self._text(node)
            if not text and found is not None:
                continue
            own = node.attributes.get("rel") if url in self.related else None
            rel = tuple(own.lower().split()) if own else rel
            above = node.parent or node
            region, _ = self._places.get(above.mem_id) or self._place(above)
            found = Link(url, (text or _picture(node))[: self._settings.max_anchor], region, rel, channel)
            if text:
                break
        assert found is not None, "every URL has an element that leads there"
        return found

    def _place(self, node: LexborNode) -> tuple[Region, bool]:
        """The region of the links within an element, and whether it is inside main or article; results are kept."""
        above: LexborNode | None = node
        unknown: list[tuple[int, LexborNode]] = []
        while above is not None and above.mem_id not in self._places:
            unknown.append((above.mem_id, above))
            above = above.parent
        place = _OUTSIDE if above is None else self._places[above.mem_id]
        for number, inner in reversed(unknown):
            tag = inner.tag
            place = self._places[number] = _place_inside(inner, tag, place) if tag in _BOXES else place
        return place

    def _add_anchors(self, tree: PageTree, joiner: Joiner, own: Url) -> None:
        anchors, recall, most = self._anchors, joiner.recall, self._settings.max_links
        for node in tree.tags("a"):
            attributes = node.attributes
            href = attributes.get("href") or ""
            url = recall(href)  # nearly always known: calls of our own would double the time
            if url is None and href and href[0] != "#":
                url = joiner.join(href)
            if url is None or url == own:
                continue
            if url in anchors:
                anchors[url].append(node)
            elif len(anchors) >= most:
                return
            else:
                anchors[url] = [node]
            if "rel" in attributes:
                self.related.add(url)

    def _text(self, node: LexborNode) -> str:
        text = node.text(separator=" ") if self._spent < _ANCHOR_TEXT_LIMIT else ""
        self._spent += len(text)
        return " ".join(text.split())


def _stated_links(head: Head, joiner: Joiner) -> Iterator[Link]:
    """The link elements that lead somewhere a crawl may go."""
    for attributes in head.links:
        rel = (attributes["rel"] or "").lower().split()
        channel = _channel(rel, (attributes.get("type") or "").lower().partition(";")[0].strip())
        url = joiner.join(attributes.get("href") or "") if channel else None
        if channel and url:
            yield Link(url, anchor=" ".join((attributes.get("title") or "").split()), rel=tuple(rel), channel=channel)


def says_only_a_text(link: Link) -> bool:
    """Whether a link is an ordinary one, without relation, date or title."""
    return link.channel is Channel.LINK and link.published is None and not link.rel and not link.title


def _channel(rel: list[str], type: str) -> Channel | None:
    if "canonical" in rel:
        return Channel.CANONICAL
    if ("alternate" in rel or "feed" in rel) and type in _FEED_TYPES:
        return Channel.ALTERNATE
    return Channel.LINK if "next" in rel else None


def _picture(node: LexborNode) -> str:
    """The description of the picture in a link, or the link's own label."""
    said = None
    waiting = [node]
    while waiting and said is None:  # an eighth of the time of a question in CSS
        inner = waiting.pop()
        if inner.tag == "img":
            said = inner.attributes.get("alt")
        waiting.extend(reversed(list(inner.iter())))
    attributes = node.attributes
    return " ".join((said or attributes.get("aria-label") or attributes.get("title") or "").split())


_OUTSIDE = (Region.MAIN, False)


def _place_inside(node: LexborNode, tag: str, place: tuple[Region, bool]) -> tuple[Region, bool]:
    """The region within this element, and whether that is inside main or article.

    Headers and footers inside those belong to them. `tag` is one that may change the region; `place` is what surrounds
    the element.
    """
    region, in_text = place
    if tag == "main":
        return Region.MAIN, True
    if region is Region.NAV or region is Region.FOOTER:
        return place
    if tag == "article":
        return region, True
    if tag in ("header", "footer") and in_text:
        return place
    return _LANDMARKS.get(tag) or _by_name(node) or region, in_text


def _by_name(node: LexborNode) -> Region | None:
    """The region that role, class or id name."""
    attributes = node.attributes
    return _named(attributes.get("role"), attributes.get("class"), attributes.get("id")) if attributes else None


@lru_cache(maxsize=10_000)  # the pages of a site name their parts alike
def _named(role: str | None, classes: str | None, id: str | None) -> Region | None:
    if role and role in _ROLES:
        return _ROLES[role]
    names = f"{classes or ''} {id or ''}"[:1000].lower()
    return next((region for region, pattern in _NAMES if pattern.search(names)), None)


_FEWEST = 3  # items of a list of dated pages
_TIMES_MOST = 500
_REACH = 100  # elements around a time that are examined
_HEADLINES = "h1 a[href], h2 a[href], h3 a[href], h4 a[href], h5 a[href], h6 a[href]"


def item_dates(tree: PageTree) -> dict[str, float]:
    """For the headlines of a list, by their targets as written, the latest time that is stated beside them."""
    times = tree.css("time[datetime]")[:_TIMES_MOST]
    found: dict[str, float] = {}
    for node, item in zip(times, blocks_round(times, _REACH), strict=True):
        moment = read_moment(node.attributes.get("datetime") or "")
        targets = set() if moment is None else {link.attributes.get("href") or "" for link in item.css(_HEADLINES)}
        if moment is not None and len(targets) == 1 and (href := targets.pop()):
            found[href] = max(moment.latest, found.get(href, 0.0))
    return found if len(found) >= _FEWEST else {}
