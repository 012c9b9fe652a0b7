"""Sitemaps: lists of pages, lists of sitemaps, news sitemaps and plain lists of URLs (sitemaps.org).

They are read as a stream: what a broken or cut document gave before it broke is kept.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice

from lxml import etree

from forager.pages.feeds import local_name
from forager.pages.markup import declares_entities, mended, without_bom
from forager.pages.moments import read_moment
from forager.pages.urls import canonical
from forager.terms import Channel, Link, Url

URL_CAP = 50_000  # URLs of one sitemap that are read (stated by the protocol)
EVENT_CAP = 20 * URL_CAP  # begins and ends of elements that are read: a packed sitemap may hold millions (ours)
OPEN_CAP = 1_000  # tags without end that are read; the parser takes a time that grows with the square of them (ours)
BYTE_CAP = 52_428_800  # bytes that are read (50 MiB, stated by the protocol)
TITLE_CAP = 500  # characters of a title (ours)


_OPEN = re.compile(rb"<[^<>]*+(?=<)")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists; an index lists only sitemaps."""

    links: tuple[Link, ...] = ()
    """Pages, with date and title if it is a news sitemap."""
    sitemaps: tuple[Link, ...] = ()
    modified: Mapping[Url, float] = field(default_factory=dict, compare=False)
    """When each page was last modified, at the latest; so it was published no later."""


def read_sitemap(body: bytes, url: Url) -> Sitemap | None:
    """The sitemap; `None` if this is not a sitemap."""
    body = without_bom(body[:BYTE_CAP])
    if not body.startswith(b"<"):
        return _plain(body, url)
    if declares_entities(body):
        return None
    body = mended(body)
    too_many = next(islice(_OPEN.finditer(body), OPEN_CAP, None), None)
    return _xml(body if too_many is None else body[: too_many.start()], url)


def _plain(body: bytes, url: Url) -> Sitemap | None:
    """A text file with one URL a line."""
    lines = [line.strip() for line in body.decode("utf-8", "replace").splitlines()[: 2 * URL_CAP] if line.strip()]
    if not lines or not lines[0].startswith(("http://", "https://")):
        return None
    found = (canonical(line, url) for line in lines if line.startswith(("http://", "https://")))
    return Sitemap(links=_links((target, None, "") for target in found if target))


def _xml(body: bytes, url: Url) -> Sitemap | None:
    """Reads on after errors; namespaces do not matter."""
    root = ""
    pages: list[tuple[Url, float | None, str]] = []
    sitemaps: list[tuple[Url, float | None, str]] = []
    modified: dict[Url, float] = {}
    stream = etree.iterparse(
        BytesIO(body), events=("start", "end"), resolve_entities=False, no_network=True, huge_tree=False, recover=True
    )
    try:
        for event, element in islice(stream, EVENT_CAP):
            name = local_name(element)
            if not root:
                root = name
                if root not in ("urlset", "sitemapindex"):
                    return None
            if event != "end" or name not in ("url", "sitemap"):
                continue
            if entry := _entry(element, url):
                (pages if name == "url" else sitemaps).append(entry)
                stated = read_moment(_said(element, "lastmod")) if name == "url" else None
                if stated is not None:
                    modified.setdefault(entry[0], stated.latest)
                if len(pages) + len(sitemaps) >= URL_CAP:
                    break
            _forget(element)
    except etree.XMLSyntaxError:
        pass  # keep what came before the error
    return Sitemap(_links(iter(pages)), _links(iter(sitemaps)), modified) if root else None


def _entry(element: etree._Element, url: Url) -> tuple[Url, float | None, str] | None:
    """Address, publication date and title of a `url` or `sitemap` element; `None` without a usable address."""
    address = _said(element, "loc")
    target = canonical(address, url) if address else None
    if target is None:
        return None
    news = next((child for child in element if local_name(child) == "news"), ())
    said = {local_name(child): child.text or "" for child in news}
    published = read_moment(said.get("publication_date", ""))
    return target, published.time if published else None, " ".join(said.get("title", "").split())[:TITLE_CAP]


def _said(element: etree._Element, name: str) -> str:
    """The text of the first child with a name."""
    return next((child.text or "" for child in element if local_name(child) == name), "").strip()


def _forget(element: etree._Element) -> None:
    """Frees an element that was read, and all before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _links(entries: Iterator[tuple[Url, float | None, str]]) -> tuple[Link, ...]:
    """Each address once, in order."""
    links: dict[Url, Link] = {}
    for target, published, title in entries:
        if target not in links and len(links) < URL_CAP:
            links[target] = Link(target, channel=Channel.SITEMAP, published=published, title=title)
    return tuple(links.values())
