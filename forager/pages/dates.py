"""When a page was published and last modified: read from JSON-LD, meta, `<time>` and the URL, in this order.

What a page shows round its headline comes next. Only a page that states nothing anywhere is handed to htmldate, which
searches the whole text; the server's Last-Modified is the last resort. A source that gives only the day is sharpened by
a later one that knows the hour of about that day.

Zones are often wrong. A time without one is local: in the zone of another statement of the page, else of its country.
One that claims to be UTC is local all the same if another statement gives the very same clock in another zone, or if the
page shows that clock to its readers.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from lxml.etree import LxmlError
from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.head import Head
from forager.pages.linked_data import stated_dates
from forager.pages.moments import LONGEST, read_moment
from forager.pages.urls import path
from forager.pages.zones import country_of, local_offset
from forager.terms import Dated, DateSource, Url

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
"""Nothing on the web is older (ours)."""

FUTURE = 86_400.0
"""Seconds a date may lie ahead of now: zones are often missing or wrong (ours)."""

LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
"""The end of the time that is searched for dates in the text (ours); htmldate would ask the clock of the machine."""

SAME_DAY = 36 * 3600.0
"""Seconds between a day and a moment of that day in any zone (ours)."""

SAME_ZONE = 60 * 86_400.0
"""Seconds between two dates of a page within which it hardly changed from winter to summer time (ours)."""

MINUTE = 60.0

MANY_DAYS = 3
"""Different days from which on dates that stand together are a list (ours)."""

HEAD_REACH, HEAD_TEXT = 4, 400
"""Ancestors of a headline, and characters before it (twice as many behind), in which dates are looked for (ours)."""

SEARCHED_CHARACTERS = 300_000
"""Of a page without stated dates, how much is searched at most (ours)."""

_PUBLISHED_META = """
article:published_time og:article:published_time og:published_time datepublished article:published article.published
parsely-pub-date sailthru.date cxenseparse:recs:publishtime cxenseparse:publishtime rnews:datepublished publish-date
publish_date publishdate published-date published_date published_at publication_date publication-date publicationdate
pubdate pub_date originalpublicationdate article_date_original article:post_date bt:pubdate rbpubdate
dcsext.articlefirstpublished shareaholic:article_published_time vr:published_time dc.date.issued dcterms.issued
dc.date.published prism.publicationdate citation_publication_date citation_date og:regdate weibo:article:create_at
dc.date.created dcterms.created dcterms.date dc.date datecreated dc.created article:created_time creation_date created
release_date video:release_date og:video:release_date displaydate timestamp ptime date
"""
PUBLISHED_META = tuple(_PUBLISHED_META.split())
"""Names (or properties, itemprops) of meta elements that state the publication date, best first."""

_MODIFIED_META = """
article:modified_time og:article:modified_time og:modified_time datemodified article:modified article.updated
og:updated_time cxenseparse:recs:modifiedtime dcterms.modified dc.date.modified dc.modified modified_time
modified_date modified-date modificationdate moddate updated_time last-modified last_modified lastmodified
last-updated last_updated lastmod revision_date revised updated utime
"""
MODIFIED_META = tuple(_MODIFIED_META.split())
"""The same for the modification date."""

_PUBLISHED_HINT = re.compile(r"publi|pubdate|entry-date|post-?date|article-?date|created|issued", re.IGNORECASE)
_MODIFIED_HINT = re.compile(r"modif|updat|revis|last-?edit", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"comment|related|sidebar|widget|teaser|recommend|most-|promo|breaking|ticker|clock", re.IGNORECASE
)
_FOOTER = re.compile(r"footer", re.IGNORECASE)
_PUBLISHED_ON = re.compile(r"\W*(?:publi|posted|veröffentlicht|erschienen|pubblicat|gepubliceerd)", re.IGNORECASE)
_ANOTHER_DAY = re.compile(
    r"updat|modif|aktualisiert|stand:|ge[aä]ndert|mis à jour|actualiz|aggiornat|bijgewerkt|(?:upp|op|opp)dater|©|copyright|"
    r"joined|member since|registrier|mitglied seit|\bbis\b|\buntil\b|jusqu|hasta",
    re.IGNORECASE,
)
_DAY_SHOWN = re.compile(r"(?<!\d)(?:(?:19|20)\d\d(?!\d)|\d\d?\.\s?\d\d?\.\s?\d\d(?!\d))")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_STAMPS = (
    "h1, time, [itemprop~=datePublished], [itemprop~=dateModified], [property~='schema:datePublished'], "
    "abbr.published, [class*=publish-date], [class*=published-date], [class*=pubdate], [class*=post-date], "
    "[class*=article-date], [class*=article__date]"
)
_STAMP_CAP = 60
_URL_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:([/_-])(\d\d?|[a-z]{3})\2(\d\d?)|(\d\d)(\d\d))(?!\d)")


def published(
    head: Head,
    url: Url,
    *,
    last_modified: str = "",
    now: float | None = None,
    ignored: Collection[DateSource] = (),
    lang: str = "",
) -> Dated | None:
    """When the page says it was first published; `now` (default: no limit) bounds dates that lie in the future.

    Sources in `ignored` are known to lie on this site: the next one is asked instead. `lang` hints at its country.
    """
    shown = () if DateSource.TEXT in ignored else _shown(head.tree)
    believed = (dated for dated in chain(_stated(head, url), shown) if dated.source not in ignored)
    found = _best(believed, now)
    if found is not None and DateSource.URL not in ignored:
        found = _first(found, url)
    if found is not None:
        return _zoned(found, head, country_of(url, lang))
    return (_best(_searched(head, url, now, ignored), now) if DateSource.TEXT not in ignored else None) or (
        _best(_dated([last_modified], DateSource.LAST_MODIFIED), now)
        if DateSource.LAST_MODIFIED not in ignored
        else None
    )


def _stated(head: Head, url: Url) -> Iterator[Dated]:
    """The publication dates that a page and its address state, best source first."""
    yield from _dated(stated_dates(head, "datePublished", path(url)), DateSource.JSON_LD)
    yield from _dated(_meta(head, PUBLISHED_META), DateSource.META)
    yield from _dated(_stamps(head.tree, _PUBLISHED_HINT, _MODIFIED_HINT, path(url)), DateSource.TIME)
    yield from _dated(_url_days(url), DateSource.URL)


def modified(head: Head, *, last_modified: str = "", now: float | None = None) -> Dated | None:
    """When the page says it was last modified."""
    stated = chain(
        _dated(stated_dates(head, "dateModified"), DateSource.JSON_LD),
        _dated(_meta(head, MODIFIED_META), DateSource.META),
        _dated(_stamps(head.tree, _MODIFIED_HINT, _PUBLISHED_HINT, None), DateSource.TIME),
        _dated([last_modified], DateSource.LAST_MODIFIED),
    )
    return _best(stated, now)


def _dated(texts: Iterable[str], source: DateSource) -> Iterator[Dated]:
    for text in texts:
        if text and (read := read_moment(text)) is not None:
            yield Dated(read.time, source, read.exact, read.zone)


def _best(found: Iterable[Dated], now: float | None) -> Dated | None:
    """The first possible date, or an exact one of about the same day if the first knows only the day."""
    latest = float("inf") if now is None else now + FUTURE
    first: Dated | None = None
    for dated in found:
        if not EARLIEST <= dated.time <= latest:
            continue
        if dated.exact and (first is None or abs(dated.time - first.time) <= SAME_DAY):
            return dated
        first = first or dated
    return first


def _first(dated: Dated, url: Url) -> Dated:
    """The day in the path of the address, if the page states one much later: it was moved, or published anew."""
    folder = next(_dated(_url_days(url, folders=True), DateSource.URL), None)
    return dated if folder is None or folder.time < EARLIEST or dated.time - folder.time < 2 * SAME_DAY else folder


def _zoned(dated: Dated, head: Head, country: str) -> Dated:
    """The moment in the zone that is meant."""
    if not dated.exact or dated.zone:
        return dated
    offset = None
    zoned = [one for one in _clocks(head) if one.zone]
    if dated.zone is None:
        offset = next((one.zone for one in zoned if abs(one.time - dated.time) < SAME_ZONE), None)
        offset = local_offset(country, dated.time) if offset is None and country else offset
    elif any(abs(one.time + (one.zone or 0.0) - dated.time) < MINUTE for one in zoned):
        offset = next(one.zone for one in zoned if abs(one.time + (one.zone or 0.0) - dated.time) < MINUTE)
    elif country and (local := local_offset(country, dated.time)):
        clocks = [one.time for one in _shown(head.tree) if one.exact and one.zone is None]
        offset = local if any(abs(clock - dated.time) < MINUTE for clock in clocks) else None
    return dated if offset is None else replace(dated, time=dated.time - offset, zone=offset)


def _clocks(head: Head) -> Iterator[Dated]:
    """All times that JSON-LD and meta elements state, of publication and of changes."""
    for name, names in (("datePublished", PUBLISHED_META), ("dateModified", MODIFIED_META)):
        texts = chain(stated_dates(head, name), _meta(head, names))
        yield from (dated for dated in _dated(texts, DateSource.META) if dated.exact)


def _shown(tree: LexborHTMLParser) -> Iterator[Dated]:
    """Dates that stand round the headline, each on a line of its own, those behind it first."""
    for headline in tree.tags("h1")[:2]:
        name, above = headline.text().strip(), headline.parent
        text = ""
        for _ in range(HEAD_REACH):
            if above is None or above.tag == "html":
                break
            text = above.text(separator="\n")
            if len(text) > len(name) + HEAD_TEXT:
                break
            above = above.parent
        place = max(0, text.find(name[:40]))
        behind = text[place + len(name) : place + len(name) + 2 * HEAD_TEXT].split("\n")
        before = text[max(0, place - HEAD_TEXT) : place].split("\n")
        yield from _told(_dated(_dated_lines(behind), DateSource.TEXT))
        yield from _told(_dated(_dated_lines(before), DateSource.TEXT))


def _told(found: Iterable[Dated]) -> list[Dated]:
    """Dates that stand together, those with a clock first; none if they are many different days, as of a list."""
    dates = sorted(found, key=lambda dated: not dated.exact)
    return dates if len({dated.time // 86_400 for dated in dates}) < MANY_DAYS else []


def _dated_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are little more than a date, each with a clock that stands on the next; not those of changes and ends."""
    said = [" ".join(line.split()) for line in lines]
    said = [line for line in said if line]
    for line, following in zip(said, [*said[1:], ""], strict=False):
        if _DAY_SHOWN.search(line) and len(line) <= LONGEST and not _ANOTHER_DAY.search(line):
            yield f"{line} {following}" if len(following) <= 20 and ":" in following else line


def _meta(head: Head, names: tuple[str, ...]) -> Iterator[str]:
    """What the meta elements of these names say, in the order of the names."""
    said = head.meta
    yield from (said[name] for name in names if name in said)


def _stamps(tree: LexborHTMLParser, wanted: re.Pattern[str], other: re.Pattern[str], own: str | None) -> Iterator[str]:
    """Dates in `<time>` and its like: first those marked as wanted, then those nearest the headline.

    `own` is the path of the page, for links to itself; None: only those marked are wanted.
    """
    marked: list[LexborNode] = []
    before: list[LexborNode] = []
    after: list[LexborNode] = []
    nodes = tree.css(_STAMPS)[:_STAMP_CAP]
    headline_seen = all(node.tag != "h1" for node in nodes)
    for node in nodes:
        if node.tag == "h1":
            headline_seen = True
            continue
        marks = _marks(node)
        if wanted.search(marks):
            marked.append(node)
        elif own is not None and not other.search(marks):
            (after if headline_seen else before).append(node)
    for node in marked:
        if not _is_elsewhere(node, ("aside", "nav", "footer")):
            yield _stamp(node)
    for node in chain(after, reversed(before)):
        if not _is_elsewhere(node, ("aside", "nav", "footer", "a", "li", "blockquote"), own or ""):
            yield _stamp(node)


def _marks(node: LexborNode) -> str:
    """The words of an element that hint at what its date means; its parent's class counts too."""
    attributes = node.attributes
    words = [attributes.get(key) or "" for key in ("itemprop", "class", "id", "property")]
    if "pubdate" in attributes:
        words.append("pubdate")
    if node.parent is not None:
        words.append(node.parent.attributes.get("class") or "")
    return " ".join(words)


def _stamp(node: LexborNode) -> str:
    """What an element states as its date, or what it shows if that is said to be the publication on another day."""
    attributes = node.attributes
    stated = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    shown = node.text(separator=" ").strip()
    if stated and _PUBLISHED_ON.match(shown):
        ours, theirs = read_moment(stated), read_moment(shown)
        if ours is not None and theirs is not None and abs(ours.time - theirs.time) > SAME_DAY:
            return shown
    return stated or shown


def _is_elsewhere(node: LexborNode, tags: tuple[str, ...], own: str = "") -> bool:
    """Whether the date belongs to another text: within one of these elements, or one named after such a thing.

    The footer of the article under the headline belongs to it; many themes state the date there.
    """
    in_footer = False
    above = node.parent
    for _ in range(8):
        if above is None or above.tag in ("body", "main"):
            break
        names = f"{above.attributes.get('class') or ''} {above.attributes.get('id') or ''}"
        if above.tag == "article":
            in_footer = in_footer and above.css_first("h1") is None
        elif above.tag == "footer" or _FOOTER.search(names):
            in_footer = True
        elif above.tag == "a" and len(own) > 1 and own in (above.attributes.get("href") or ""):
            pass  # a link of the page to itself
        elif above.tag in tags or _ELSEWHERE.search(names):
            return True
        above = above.parent
    return in_footer


def _url_days(url: Url, *, folders: bool = False) -> Iterator[str]:
    """`/2022/03/14/`, `/2022/mar/14/`, `2022-3-14` or `20220314` in the path, as text; `folders`: only the first two."""
    for match in _URL_DAY.finditer(path(url).lower()):
        if folders and match[2] != "/":
            continue
        year, month, day = match[1], match[3] or match[5], match[4] or match[6]
        yield f"{year}-{month:0>2}-{day:0>2}" if month.isdigit() else f"{day} {month} {year}"


def _without_others(tree: LexborHTMLParser) -> str:
    """The page without what dates other pages: lists of dated links."""
    copy = LexborHTMLParser(tree.html or "")
    if copy.body is None:
        return ""
    for node in copy.css("ul, ol"):
        entries = [entry for entry in node.iter() if entry.tag == "li"]
        dated = [
            entry for entry in entries if _YEAR.search(entry.html or "") and entry.css_first("a[href]") is not None
        ]
        if len(dated) > 1 and 2 * len(dated) >= len(entries):
            node.decompose()
    return copy.html or ""


def _searched(head: Head, url: Url, now: float | None, ignored: Collection[DateSource]) -> Iterator[Dated]:
    """What htmldate makes of the text; it parses the page anew, so this is the dear way.

    It also looks where dates are stated, and so may come back with what an `ignored` source said.
    """
    import htmldate  # slow to load as well

    html = _without_others(head.tree)
    if not html.startswith("<") or len(html) > SEARCHED_CHARACTERS:  # what is no markup it might take for an address
        return
    latest = datetime.fromtimestamp(LATEST if now is None else min(now + FUTURE, LATEST), UTC)
    try:
        day = htmldate.find_date(
            html,
            original_date=True,
            deferred_url_extractor=True,
            outputformat="%Y-%m-%dT%H:%M:%S",
            min_date="1990-01-01",
            max_date=latest.strftime("%Y-%m-%d"),
        )
    except (ValueError, TypeError, AttributeError, LxmlError):  # an empty page, or a date it stumbles over
        return
    found = _dated([day or ""], DateSource.TEXT)
    lies = [dated.time for dated in _stated(head, url) if dated.source in ignored] if ignored else []
    yield from (dated for dated in found if all(abs(dated.time - lie) > SAME_DAY for lie in lies))
