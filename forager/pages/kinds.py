"""Whether a page is an article, one text with one date, or a hub, a list of links that is worth visiting again.

The rule is a vote of cheap signs. A positive sum means an article, anything else a hub:

- what the page says of itself: an article type in JSON-LD or Open Graph +2, a list type in JSON-LD -2, so that the two
  cancel out (Open Graph `website` says nothing: many publishers leave it on articles); the class of its body, which
  WordPress and similar systems set by the kind of page: `single` or `page` +2, `archive`, `category`, `tag` … -4;
- its headline: an `h1` as long as a headline that the title repeats +1, because lists have short names;
- its address: the root of a site -4; something after a date, or a headline at the end of the path, +2; three words or a
  long number at the end, or a long number in the query, +1; a path of at most two short words -1;
- its body: *teasers* are blocks of the same shape, each with a linked headline. *Prose* is the main text outside of
  them, *headlines* the total length of the links in the main region that read like a headline. At least twice as much
  prose as headlines +2, less prose than headlines -2; nearly no prose beside headlines -1. Long paragraphs that stand
  together, as on no list, count as much as the headlines: 0 if they are many, else -1. If the main text is in teasers
  and hardly any beside them, -4 or -5: an archive with excerpts is a list. If `<article>` elements are headed by a link
  to another page, a single one is enough for this. A page that states to be an article loses at most 3, and at most 2
  if its address or a second statement says so too.

The weights are ours, set by hand.
"""

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from forager.pages.head import Head, PageTree, blocks_round, heading_anchor
from forager.pages.urls import canonical, path
from forager.terms import Kind, Link, Region, Url

_ARTICLE_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"\w*(?:Article|BlogPosting|Report|Review)"')
_LIST_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:CollectionPage|ItemList|SearchResultsPage|Blog)"')
_DATE = re.compile(r"/(?:19|20)\d\d[/-]?[01]?\d(?:[/-]?[0-3]?\d)?(?=[/-])|/(?:19|20)\d\d-[01]\d-[0-3]\d")
_HEADLINE_SLUG = re.compile(r"[^\W_]+(?:[-_.][^\W_]+){3,}")
_SHORT_SLUG = re.compile(r"[^\W_]+(?:[-_.][^\W_]+){2}")
_LONG_NUMBER = re.compile(r"\d{5,}")
_LISTED = frozenset(["archive", "category", "tag", "author", "date", "blog", "search", "search-results"])
_SINGLE = frozenset(["single", "single-post", "page"])
_HEADLINE = 25  # bytes of UTF-8; shorter anchors are names of sections
_ROWS = frozenset(("div", "td", "section", "article", "dt", "center"))
_TITLE = 8  # bytes of UTF-8; a shorter linked heading is no headline
_SOME_PROSE, _MUCH_PROSE = 400, 1_000
_LONG = 80  # bytes of UTF-8 of a paragraph that is no label
_MOST_PARAGRAPHS = 1_000
_TEASERS = 3  # blocks of the same shape from which on they are a list
_MOST_ARTICLES = 50
_REACH = 12  # ancestors that are looked at


def kind_of(head: Head, links: Callable[[], Sequence[Link]], text: Callable[[], str]) -> Kind:
    """HUB or ARTICLE. Links and main text are computed only if statements and address leave it open."""
    stated, address = _by_statement(head), _by_address(head.url)
    least = -5 if stated <= 0 else -2 if address > 0 or stated > 2 else -3
    votes = stated + address
    if votes + least <= 0 < votes + 3:  # headline and body may decide
        votes += _by_headline(head)
        votes += max(_by_body(head, links, text()), least)
    return Kind.ARTICLE if votes > 0 else Kind.HUB


def _by_headline(head: Head) -> int:
    """+1 for a headline that the title of the page repeats; lists have names, which are shorter."""
    shown = [node for node in head.tree.tags("h1")[:3] if heading_anchor(node) is None]
    texts = [" ".join(node.text(separator=" ").split()) for node in shown]
    titles = [head.meta.get("og:title", ""), *(node.text() for node in head.tree.tags("title")[:1])]
    said = [" ".join(title.split()) for title in titles]
    return int(any(len(text.encode()) >= _HEADLINE and any(text in title for title in said) for text in texts))


def _by_statement(head: Head) -> int:
    stated = " ".join(head.linked_data)
    article = head.meta.get("og:type", "").strip().lower() == "article" or _ARTICLE_TYPE.search(stated) is not None
    listing = _LIST_TYPE.search(stated) is not None
    return 2 * article - 2 * listing + _by_body_class(head.tree)


def _by_body_class(tree: PageTree) -> int:
    """What WordPress, and many systems after it, say of a page by the class of its body."""
    body = tree.body
    classes = set() if body is None else set((body.attributes.get("class") or "").split())
    if classes & _LISTED and not classes & _SINGLE:
        return -4
    return 2 if classes & _SINGLE else 0


def _by_address(url: Url) -> int:
    address = unquote(path(url))
    parts = [part for part in address.split("/") if part and not part.startswith("index.")]
    if not parts:
        return -4 if "?" not in url else 0
    last = parts[-1].rpartition(".")[0] or parts[-1]
    date = _DATE.search(address)
    if (date and address[date.end() :].strip("/")) or _HEADLINE_SLUG.search(last):
        return 2
    if _SHORT_SLUG.search(last) or _LONG_NUMBER.search(last) or _LONG_NUMBER.search(url.partition("?")[2]):
        return 1
    return -1 if len(parts) <= 2 and "." not in parts[-1] else 0


def _by_body(head: Head, links: Callable[[], Sequence[Link]], text: str) -> int:
    teasers, excerpts = _texts(_teasers(head.tree), _excerpts(head))
    teasers = _without_story(teasers)
    teasers += [excerpt for excerpt in excerpts if excerpt not in teasers]
    shown = " ".join(teasers)
    own = [line for line in text.splitlines() if line not in shown]
    prose = sum(len(line.encode()) for line in own)
    if (len(teasers) >= _TEASERS or excerpts) and prose < _SOME_PROSE and len(text.encode()) >= 2 * prose + _HEADLINE:
        return -4 - (prose < _SOME_PROSE // 4)
    anchors = (len(link.anchor.encode()) for link in links() if link.region is Region.MAIN)
    headlines = sum(size for size in anchors if size >= _HEADLINE)
    if prose >= _SOME_PROSE and prose >= headlines:
        return 2 if prose >= 2 * headlines else int(len(teasers) < _TEASERS)
    flow = min(prose, _flow(head.tree))
    if flow >= _SOME_PROSE:
        return -int(flow < _MUCH_PROSE)
    return (-2 if prose < headlines else 0) - (headlines > 0 and prose < _SOME_PROSE)


def _texts(*groups: Sequence[LexborNode]) -> list[list[str]]:
    """The texts of these elements; an element in several groups is read only once."""
    nodes = {node.mem_id: node for group in groups for node in group}
    texts = {number: " ".join(node.text(separator=" ").split()) for number, node in nodes.items()}
    return [[texts[node.mem_id] for node in group] for group in groups]


def _flow(tree: PageTree) -> int:
    """The length of the longest text formed by several long paragraphs that stand together, as on no list."""
    flows: dict[int, list[int]] = {}
    for node in tree.tags("p")[:_MOST_PARAGRAPHS]:
        size = len(node.text().strip().encode())
        if size >= _LONG and node.parent is not None and _is_text(node):
            flows.setdefault(node.parent.mem_id, []).append(size)
    return max((sum(sizes) for sizes in flows.values() if len(sizes) >= _TEASERS), default=0)


def _is_text(node: LexborNode) -> bool:
    """Whether a paragraph is no link, and in none."""
    above = node.parent
    links = [one for one in node.iter() if one.tag == "a"]
    return (above is None or above.tag != "a") and sum(len(one.text()) for one in links) * 2 < len(node.text())


def _teasers(tree: PageTree) -> list[LexborNode]:
    """The blocks around linked headings that occur several times in one shape; each is the largest that holds only one
    of them.
    """
    shapes: dict[tuple[str, str, str], list[LexborNode]] = {}
    for tag in ("h1", "h2", "h3", "h4"):
        for node in tree.tags(tag):
            if heading_anchor(node) is not None and len(node.text().strip().encode()) >= _TITLE:
                above = node.parent
                key = (tag, node.attributes.get("class") or "", "" if above is None else above.tag or "")
                shapes.setdefault(key, []).append(node)
    for node in tree.tags("a"):  # lists without headings
        above = node.parent
        if above is not None and above.tag in _ROWS and len(node.text().strip().encode()) >= _HEADLINE:
            shapes.setdefault(("a", above.tag, above.attributes.get("class") or ""), []).append(node)
    headings = [heading for alike in shapes.values() if len(alike) >= _TEASERS for heading in alike]
    articles = [node for node in tree.tags("article") if node.css_first("a") is not None]
    if len(articles) >= _TEASERS:
        headings += articles
    return blocks_round(headings, _REACH)


def _excerpts(head: Head) -> list[LexborNode]:
    """Elements that are marked as articles but headed by a link to another page; even a single one is no story of this
    page.
    """
    found = []
    for node in head.tree.tags("article")[:_MOST_ARTICLES]:
        heading = node.css_first("h1, h2, h3, h4")
        link = None if heading is None else heading_anchor(heading)
        target = None if link is None else canonical(link.attributes.get("href") or "", head.url)
        if target is not None and target != head.url:
            found.append(node)
    return found


def _without_story(blocks: list[str]) -> list[str]:
    """The texts of blocks without one that is as long as all others together: that one is the story among its teasers."""
    half = sum(map(len, blocks)) / 2
    return [block for block in blocks if len(block) < max(half, 1)]
