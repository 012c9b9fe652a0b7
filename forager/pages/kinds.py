"""Is a page an article, one text that is dated once, or a hub, a list of links that is worth looking at again?

The rule is a vote of cheap signs; a positive sum is an article, anything else a hub:

- what the page says of itself: an article type in JSON-LD or Open Graph +2, a type of list in JSON-LD -2, so that both
  cancel out; Open Graph `website` -1 (many publishers leave it on articles, so it weighs little);
- its address: the root of a site -4; something after a date, or a headline at the end of the path, +2; a long number
  there +1; a path of at most two short words -1;
- its body: prose is the length of the paragraphs too long for a teaser, headlines the length of the links in the main
  region that read like a headline. At least twice as much prose as headlines +2, less prose than headlines -2; nearly
  no prose at all -1.

The weights are ours, set by hand.
"""

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from forager.pages.head import Head
from forager.pages.urls import path
from forager.terms import Kind, Link, Region, Url

_ARTICLE_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"\w*(?:Article|BlogPosting|Report|Review)"')
_LIST_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:CollectionPage|ItemList|SearchResultsPage|Blog)"')
_DATE = re.compile(r"/(?:19|20)\d\d[/-]?[01]?\d(?:[/-]?[0-3]?\d)?(?=[/-])|/(?:19|20)\d\d-[01]\d-[0-3]\d")
_HEADLINE_SLUG = re.compile(r"[^\W_]+(?:[-_][^\W_]+){3,}")
_LONG_NUMBER = re.compile(r"\d{5,}")
_PROSE = 120  # bytes of UTF-8; shorter paragraphs may be teasers
_HEADLINE = 25  # bytes of UTF-8; shorter anchors are names of sections
_SOME_PROSE = 400
_BODY = range(-3, 3)  # the votes that a body can give


def kind_of(head: Head, url: Url, links: Callable[[], Sequence[Link]]) -> Kind:
    """HUB or ARTICLE; `links` tells those of the page, and is asked only if statement and address leave it open."""
    votes = _by_statement(head) + _by_address(url)
    if votes + _BODY[0] <= 0 < votes + _BODY[-1]:
        votes += _by_body(head.tree, links())
    return Kind.ARTICLE if votes > 0 else Kind.HUB


def _by_statement(head: Head) -> int:
    stated = " ".join(head.linked_data)
    article = _ARTICLE_TYPE.search(stated) is not None
    listing = _LIST_TYPE.search(stated) is not None
    graph = head.meta.get("og:type", "").strip().lower()
    article = article or graph == "article"
    return 2 * article - 2 * listing - (graph == "website" and not article)


def _by_address(url: Url) -> int:
    address = unquote(path(url))
    parts = [part for part in address.split("/") if part and not part.startswith("index.")]
    if not parts:
        return -4 if "?" not in url else 0
    last = parts[-1].rpartition(".")[0] or parts[-1]
    date = _DATE.search(address)
    if (date and address[date.end() :].strip("/")) or _HEADLINE_SLUG.search(last):
        return 2
    if _LONG_NUMBER.search(last):
        return 1
    return -1 if len(parts) <= 2 and "." not in parts[-1] else 0


def _by_body(tree: LexborHTMLParser, links: Sequence[Link]) -> int:
    sizes = (len(node.text().encode()) for node in tree.css("p"))
    prose = sum(size for size in sizes if size >= _PROSE)
    anchors = (len(link.anchor.encode()) for link in links if link.region is Region.MAIN)
    headlines = sum(size for size in anchors if size >= _HEADLINE)
    if prose >= _SOME_PROSE and prose >= 2 * headlines:
        return 2
    return (-2 if prose < headlines else 0) - (prose < _SOME_PROSE)
