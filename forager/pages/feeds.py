"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed 1.x; what they link to, with title and date.

Well-formed XML is read with lxml. XML that lxml refuses is repaired; if that does not help, it is read up to the error.
Entity declarations are refused, and size and number of entries are bounded, so no document takes long.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec
from lxml import etree
from xxhash import xxh3_64_intdigest

from forager.pages.about import LEAD_CAP, plain_text
from forager.pages.markup import declares_entities, mended, without_bom
from forager.pages.moments import read_moment
from forager.pages.urls import canonical
from forager.terms import About, Channel, Link, Url

ENTRY_CAP = 2_000  # entries of one feed that are read (ours)
BYTE_CAP = 10_000_000  # bytes that are read (ours); a longer feed is cut and read as far as that goes
TITLE_CAP = 500  # characters of a title (ours)
MANY_ENTRIES = 4  # entries from which on it means something that they lead to few pages (ours)
EARLIEST = 631_152_000.0  # 1990: older dates are slips (ours)

_ROOT = re.compile(rb"<(?:[a-z][\w.-]*:)?(?:rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DECLARATION = re.compile(rb"<\?xml[^>]{0,200}\sencoding\s*=")
_DATES = ("published", "pubdate", "issued", "date", "created", "updated", "modified")
"""Names of date elements, best first."""
_XML_ERRORS = (etree.LxmlError, ValueError, LookupError)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry says, in its own words."""

    address: str
    base: str
    title: str
    date: str
    authors: tuple[str, ...] = ()
    summary: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed: its title, and what it links to, in its order."""

    title: str
    links: tuple[Link, ...]
    entries: Mapping[Url, Entry] = field(default_factory=dict, compare=False)
    """What it says of each link."""


def told_by(entry: Entry) -> About:
    """What an entry tells of its story."""
    authors = [name for text in entry.authors if (name := plain_text(text.partition("(")[2].rstrip(") ") or text, 100))]
    tags = [tag for text in entry.tags if (tag := plain_text(text, 100))]
    return About(
        authors=tuple(name for name in authors if "@" not in name),
        lead=plain_text(entry.summary, LEAD_CAP),
        tags=tuple(dict.fromkeys(tags)),
    )


def read_feed(body: bytes, url: Url, content_type: str = "") -> Feed | None:
    """The feed; `None` if this is not a feed."""
    body = without_bom(body[:BYTE_CAP])
    if body.startswith(b"{"):
        return _json_feed(body, url)
    if _ROOT.search(body, 0, 10_000) is None or declares_entities(body):
        return None
    charset = _charset(body, content_type)
    root = _parsed(body, url, charset)
    if root is None:
        root = _parsed(mended(body), url, charset, recover=True)
    return _xml_feed(root, url) if root is not None else None


def _charset(body: bytes, content_type: str) -> str | None:
    """The encoding that the server names, if the document names none."""
    named = None if _DECLARATION.match(body) else _CHARSET.search(content_type)
    return named[1] if named else None


def _parsed(body: bytes, url: Url, charset: str | None, *, recover: bool = False) -> etree._Element | None:
    try:
        parser = etree.XMLParser(
            encoding=charset, recover=recover, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        root: etree._Element | None = etree.fromstring(body, parser, base_url=url)
    except _XML_ERRORS:
        return None
    return root


def _xml_feed(root: etree._Element, url: Url) -> Feed | None:
    if local_name(root) not in ("rss", "feed", "rdf", "channel"):
        return None
    channel = next((child for child in root if local_name(child) == "channel"), root)
    title = next((_text(child) for child in channel if local_name(child) == "title"), "")
    found = (element for element in root.iter(etree.Element) if local_name(element) in ("item", "entry"))
    return _feed(title, map(_entry, found), url)


def _entry(element: etree._Element) -> Entry:
    said: dict[str, str] = {}
    links: list[etree._Element] = []
    authors: list[str] = []
    tags: list[str] = []
    for child in element:
        name = local_name(child)
        if name == "link":
            links.append(child)
        elif name in ("creator", "author"):
            authors.append(next((_text(one) for one in child if local_name(one) == "name"), "") or _text(child))
        elif name == "category":
            tags.append(child.get("label") or child.get("term") or _text(child))
        elif name not in said and (text := _text(child)):
            said[name] = text
    address, base = _address(element, links, said)
    date = next((said[name] for name in _DATES if name in said), "")
    summary = (said.get("description") or said.get("summary") or "")[: 4 * LEAD_CAP]
    return Entry(address, base or "", said.get("title", ""), date, tuple(authors), summary, tuple(tags))


def _address(element: etree._Element, links: list[etree._Element], said: Mapping[str, str]) -> tuple[str, str | None]:
    """The link of an entry, and the base that it is relative to: its link, its alternate link, or an identity that is a
    URL.
    """
    if "origlink" in said:  # FeedBurner: the link counts clicks, this is the page
        return said["origlink"], element.base
    for link in links:
        if link.text and link.text.strip() and "href" not in link.attrib:
            return link.text.strip(), link.base
    alternates = [link for link in links if link.get("href") and link.get("rel", "alternate").lower() == "alternate"]
    alternates.sort(key=lambda link: "html" not in link.get("type", "html"))
    if alternates:
        return alternates[0].get("href", ""), alternates[0].base
    guid = next((child for child in element if local_name(child) == "guid"), None)
    if guid is not None and guid.get("isPermaLink", "true").strip().lower() == "true" and _is_url(said.get("guid", "")):
        return said["guid"], element.base
    about = next((value for key, value in element.attrib.items() if key.endswith("}about")), "")
    return next((text for text in (said.get("id", ""), about) if _is_url(text)), ""), element.base


def _is_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))


def local_name(element: etree._Element) -> str:
    """The name of an element without its namespace: `loc` for `loc`, `{namespace}loc` and `sitemap:loc` with an
    undeclared namespace; empty for a comment.
    """
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _text(element: etree._Element) -> str:
    return "".join(element.itertext(etree.Element)).strip() if len(element) else (element.text or "").strip()


def _json_feed(body: bytes, url: Url) -> Feed | None:
    try:
        feed = msgspec.json.decode(body.decode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(feed, dict) or "jsonfeed.org/version/" not in str(feed.get("version")):
        return None
    items = feed.get("items")
    found = (_json_entry(item) for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
    return _feed(_string(feed, "title"), found, url)


def _json_entry(item: Mapping[str, object]) -> Entry:
    identity = _string(item, "id")
    address = _string(item, "url") or (identity if _is_url(identity) else "") or _string(item, "external_url")
    people = item.get("authors") or [item.get("author")]
    names = [_string(one, "name") for one in people if isinstance(one, dict)] if isinstance(people, list) else []
    tags = item.get("tags")
    return Entry(
        address,
        "",
        _string(item, "title"),
        _string(item, "date_published") or _string(item, "date_modified"),
        tuple(filter(None, names)),
        _string(item, "summary")[: 4 * LEAD_CAP],
        tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
    )


def _string(said: Mapping[str, object], key: str) -> str:
    """The text under a key; empty if there is none."""
    value = said.get(key)
    return value.strip() if isinstance(value, str) else ""


def _feed(title: str, entries: Iterable[Entry], url: Url) -> Feed:
    """Each address once, in the order of the feed. Links to comments are dropped: a page that is new in a feed of
    comments is an old one. If many entries lead to one page, they are younger than the page, so they give it neither
    date nor title.
    """
    found = list(islice(entries, ENTRY_CAP))
    if _are_comments(found):
        return Feed(plain_text(title, TITLE_CAP), (), {})
    shared = _share_pages(found)
    links: dict[Url, Link] = {}
    said: dict[Url, Entry] = {}
    for entry in found:
        target = canonical(entry.address, entry.base or url) if entry.address else None
        if target is not None and target not in links:
            read = read_moment(entry.date) if entry.date and not shared else None
            published = read.time if read is not None and read.time >= EARLIEST else None
            name = "" if shared else plain_text(entry.title, TITLE_CAP)
            links[target] = Link(target, channel=Channel.FEED, published=published, title=name)
            if not shared:
                said[target] = entry
    return Feed(plain_text(title, TITLE_CAP), tuple(links.values()), said)


def _are_comments(entries: Sequence[Entry]) -> bool:
    """Whether the entries are comments of readers: they lead to a place on a page."""
    addresses = [entry.address for entry in entries if entry.address]
    anchored = sum("#comment" in address or "#respond" in address for address in addresses)
    return bool(addresses) and 2 * anchored >= len(addresses)


def _share_pages(entries: Sequence[Entry]) -> bool:
    """Whether many entries lead to the same pages."""
    addresses = [entry.address for entry in entries if entry.address]
    pages = {address.partition("#")[0] for address in addresses}
    return len(addresses) >= MANY_ENTRIES and 2 * len(pages) <= len(addresses)


_PASSING = frozenset(["comments", "commentrss", "thumbnail"])
"""Elements that count or point, and change though the story does not."""


def entry_prints(body: bytes, url: Url) -> dict[Url, int]:
    """For each entry of a feed in XML a fingerprint of what it says of its page; if that differs, the page has changed."""
    root = None if declares_entities(body) else _parsed(without_bom(body[:BYTE_CAP]), url, None)
    prints: dict[Url, int] = {}
    found = () if root is None else (one for one in root.iter(etree.Element) if local_name(one) in ("item", "entry"))
    for element in islice(found, ENTRY_CAP):
        entry = _entry(element)
        target = canonical(entry.address, entry.base or url) if entry.address else None
        if target is not None:
            said = "\n".join(_text(child) for child in element if local_name(child) not in _PASSING)
            prints[target] = xxh3_64_intdigest(said.encode("utf-8", "replace"))
    return prints
