"""When a page was published and last modified: read from JSON-LD, meta, `<time>` and the URL, in this order.

After these come the dates that the page shows near its headline. Only a page that states nothing anywhere is given to
htmldate, which searches the whole text; Last-Modified of the server is the last resort. If a source gives only the day,
the hour comes from a later source that knows it for about that day, or from the only clock time of that day on the
page.

A date may belong to another text: a teaser, a comment, the clock of the site. Dates in such elements, or in a link to
another page, are left out. Lists of links count as other texts too, except in a search for the clock time on a known
day.

Time zones are often wrong, so other statements of the page decide:

- A time without a zone is local: in the zone of another statement of the page, else in that of its country. It is UTC
  if another statement says so of the same clock time, or if the page shows its readers the same minute of another hour.
  A difference of twelve hours means a clock of twelve hours.
- A time that claims to be UTC is local if another statement gives the same clock time in another zone, or if the page
  shows that clock time to readers of a country with another zone.
- A time that is really UTC also has a zone, in which its readers count the days: that of other statements, of the clock
  time they are shown, of the country, or one that fits the day in the address.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice

from lxml.etree import LxmlError
from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.pages.head import Head, PageTree, heading_link, lazily
from forager.pages.moments import LONGEST, country_of, local_offset, read_moment
from forager.pages.urls import path
from forager.terms import Dated, DateSource, Url

SAME_DAY = 36 * 3600.0  # seconds between a day and a moment of that day in any zone (ours)
DAY = 86_400.0

MANY_DAYS = 3  # different days from which on dates that stand together are a list (ours)
HEAD_REACH, HEAD_TEXT = 4, 400
"""Ancestors of a headline, and characters before it (twice as many behind), in which dates are searched (ours)."""

LINE_CAP = 3_000  # lines of a page in which the clock time of a known day is searched (ours)


_PUBLISHED_HINT = re.compile(r"publi|pubdate|entry-date|post-?date|article-?date|created|issued")
_MODIFIED_HINT = re.compile(r"modif|updat|revis|last-?edit")
_ELSEWHERE = re.compile(r"comment|related|sidebar|widget|teaser|recommend|most-|promo|breaking|ticker|clock")
_PUBLISHED_ON = re.compile(r"\W*(?:publi|posted|veröffentlicht|erschienen|pubblicat|gepubliceerd)", re.IGNORECASE)
_ANOTHER_DAY = re.compile(
    r"updat|modif|aktualisiert|stand:|ge[aä]ndert|mis à jour|actualiz|aggiornat|bijgewerkt|(?:upp|op|opp)dater|©|copyright|"
    r"joined|member since|registrier|mitglied seit|\bbis\b|\buntil\b|jusqu|hasta",
    re.IGNORECASE,
)
_DAY_SHOWN = re.compile(r"(?<!\d)(?:(?:19|20)\d\d(?!\d)|\d\d?\.\s?\d\d?\.\s?\d\d(?!\d))")
_OTHER_TAGS = frozenset(("aside", "nav", "script", "style", "template", "svg"))
_STATED_AS = frozenset(("datePublished", "dateModified", "schema:datePublished", "schema:dateCreated"))
_DATE_CLASS = re.compile("publish-date|published-date|pubdate|post-date|article-date|article__date")
_STAMP_CAP = 60


EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()  # nothing on the web is older (ours)
FUTURE = DAY  # seconds a date may lie ahead of now: zones are often missing or wrong (ours)

LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
"""The end of the time that is searched for dates in the text (ours); htmldate would ask the clock of the machine."""

SAME_ZONE = 60 * DAY
"""Seconds between two dates of a page within which it hardly changed from winter to summer time (ours)."""

MINUTE, HALF_HOUR, HALF_DAY = 60.0, 1800.0, DAY / 2

WESTMOST, EASTMOST = -12 * 3600.0, 14 * 3600.0  # zones ahead of UTC, in seconds
SEARCHED_CHARACTERS = 300_000  # a page without stated dates is searched only up to this length (ours)
_PUBLISHED_META = """
article:published_time og:article:published_time og:published_time datepublished article:published article.published
parsely-pub-date sailthru.date cxenseparse:recs:publishtime cxenseparse:publishtime rnews:datepublished publish-date
publish_date publishdate published-date published_date published_at publication_date publication-date publicationdate
pubdate pub_date originalpublicationdate article_date_original article:post_date bt:pubdate rbpubdate
dcsext.articlefirstpublished shareaholic:article_published_time vr:published_time dc.date.issued dcterms.issued
dc.date.published prism.publicationdate citation_publication_date citation_date og:regdate weibo:article:create_at
dc.date.created dcterms.created dcterms.date dc.date datecreated dc.created article:created_time creation_date created
release_date video:release_date og:video:release_date og:article:time displaydate timestamp ptime date
"""
PUBLISHED_META = tuple(_PUBLISHED_META.split())
"""Names (or properties, itemprops) of meta elements that state the publication date, best first."""

_MODIFIED_META = """
article:modified_time og:article:modified_time og:modified_time datemodified article:modified article.updated
og:updated_time cxenseparse:recs:modifiedtime dcterms.modified dc.date.modified dc.modified modified_time
modified_date modified-date modificationdate moddate updated_time last-modified last_modified lastmodified
last-updated last_updated lastmod revision_date revised updated utime
"""
MODIFIED_META = tuple(_MODIFIED_META.split())  # the same for the modification date

_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)(?<!\d{5})")  # four times as fast as looking back first
_URL_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:([/_-])(\d\d?|[a-z]{3})\2(\d\d?)|(\d\d)(\d\d))(?!\d)")


class PageDates:
    """The dates of one page."""

    def __init__(self, head: Head, *, last_modified: str = "", now: float | None = None) -> None:
        """`last_modified`: what the server says; `now` (default: no limit) bounds dates in the future."""
        self._head, self._last_modified = head, last_modified
        self._latest = float("inf") if now is None else now + FUTURE

    def published(self, *, ignored: Collection[DateSource] = (), lang: str = "") -> Dated | None:
        """When the page says that it was first published.

        Sources in `ignored` are known to be wrong on this site, so the next one is used. `lang` hints at its country.
        """
        found = self._best(one for one in self._stated() if one.source not in ignored)
        if found is not None and DateSource.URL not in ignored:
            found = _first(found, self._head.url)
        if found is None and DateSource.TEXT not in ignored:
            found = self._best(self._searched(ignored))
        if found is not None:
            return self._zoned(self._sharpened(found, ignored), country_of(self._head.url, lang))
        served = () if DateSource.LAST_MODIFIED in ignored else self._served()
        return self._best(served)

    @property
    def modified(self) -> Dated | None:
        """When the page says it was last modified."""
        stated = chain(
            _read_dates(self._head.stated_dates("dateModified"), DateSource.JSON_LD),
            _read_dates(_meta(self._head, MODIFIED_META), DateSource.META),
            _read_dates(self._stamps_marked(_MODIFIED_HINT), DateSource.TIME),
            self._served(),
        )
        return self._best(stated)

    def _stated(self) -> Iterator[Dated]:
        """The publication dates in the page, in its address and near its headline, best source first."""
        yield from _read_dates(self._head.stated_dates("datePublished"), DateSource.JSON_LD)
        yield from _read_dates(_meta(self._head, PUBLISHED_META), DateSource.META)
        yield from _read_dates(self._published_stamps(), DateSource.TIME)
        yield from _read_dates(_url_days(self._head.url), DateSource.URL)
        yield from self._shown

    def _served(self) -> Iterator[Dated]:
        return _read_dates([self._last_modified], DateSource.LAST_MODIFIED)

    def _best(self, found: Iterable[Dated]) -> Dated | None:
        """The first possible date, or an exact one of about the same day if the first gives only the day."""
        first: Dated | None = None
        for dated in found:
            if not EARLIEST <= dated.time <= self._latest:
                continue
            if dated.exact and (first is None or abs(dated.time - first.time) <= SAME_DAY):
                return dated
            first = first or dated
        return first

    def _sharpened(self, found: Dated, ignored: Collection[DateSource]) -> Dated:
        """The time on a day of which no source near the headline gives the hour."""
        if found.exact or DateSource.TIME in ignored or DateSource.TEXT in ignored:
            return found
        clock = self._moment_on(found)
        return found if clock is None or self._best([clock]) is None else clock

    def _zoned(self, found: Dated, country: str) -> Dated:
        """The moment in the right zone, and that zone."""
        if not found.exact or found.zone:
            return found
        shown = [one for one in self._shown if one.exact]
        if found.zone is None or not shown:
            shown += [one for one in _read_dates(self._published_stamps(), DateSource.TIME) if one.exact]
        stated = [*_clocks(self._head), *shown]
        if found.zone is None:
            later = (one.time + (one.zone or 0.0) - found.time for one in shown)
            half = next((late for late in later if abs(abs(late) - HALF_DAY) < MINUTE), 0.0)
            is_utc = any(one.zone == 0.0 and abs(one.time - found.time) < MINUTE for one in stated)
            found = replace(found, time=found.time + half, zone=0.0 if is_utc else None)
        told = [one for one in stated if one.zone and abs(one.time - found.time) < SAME_ZONE]
        local = local_offset(country, found.time) if country else None
        same = next((one.zone for one in told if abs(one.time + (one.zone or 0.0) - found.time) < MINUTE), None)
        bare = [one.time - found.time for one in shown if one.zone is None]
        behind = next((ahead for late in bare if (ahead := _zone_between(late)) and local in (None, ahead)), None)
        if same is None and behind is None and found.zone is None:
            same = told[0].zone if told else local
        if same is None and local and any(abs(late) < MINUTE for late in bare):
            same = local
        if same is not None:
            return replace(found, time=found.time - same, zone=same)
        other = told[0].zone if told else local
        by_address = _zone_by_address(found.time, self._head.url) if found.zone is not None else None
        return replace(found, zone=behind or other or by_address or found.zone)

    @lazily
    def _stamped(self) -> list[tuple[LexborNode, str]]:
        """The headlines, and the elements marked as dates, each with the words that hint at what its date means."""
        stamps = islice(filter(_is_stamp, self._head.tree.marked), _STAMP_CAP)
        return [(node, "" if node.tag == "h1" else _marks(node)) for node in stamps]

    def _stamps_marked(self, hint: re.Pattern[str]) -> Iterator[str]:
        """Dates in `<time>` and similar elements whose words match this hint."""
        for node, marks in self._stamped:
            if hint.search(marks) and not is_elsewhere(node, ("aside", "nav", "footer"), self._head.path):
                yield _stamp(node)

    def _published_stamps(self) -> Iterator[str]:
        """Dates in `<time>` and similar elements: first those marked as publication, then those nearest the headline."""
        yield from self._stamps_marked(_PUBLISHED_HINT)
        before: list[LexborNode] = []
        after: list[LexborNode] = []
        following = after if all(node.tag != "h1" for node, _ in self._stamped) else before
        for node, marks in self._stamped:
            if node.tag == "h1":
                following = after
            elif not _PUBLISHED_HINT.search(marks) and not _MODIFIED_HINT.search(marks):
                following.append(node)
        for node in chain(after, reversed(before)):
            if not is_elsewhere(node, ("aside", "nav", "footer", "a", "li", "blockquote"), self._head.path):
                yield _stamp(node)

    @lazily
    def _shown(self) -> list[Dated]:
        """Dates near the headline, each on a line of its own; those after it come first."""
        found: list[Dated] = []
        for headline in self._head.headlines[:2]:
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
            found += _told(_dated_lines(behind)) + _told(_dated_lines(before))
        return found

    def _moment_on(self, day: Dated) -> Dated | None:
        """The one moment of that day that stands anywhere on the page; None if there are several."""
        tree, own = self._head.tree, self._head.path
        nodes = [node for node, marks in self._stamped if node.tag != "h1" and not _MODIFIED_HINT.search(marks)]
        stamps = (_stamp(node) for node in nodes if not is_elsewhere(node, ("aside", "nav", "a", "blockquote"), own))
        found = _moments(_read_dates(stamps, DateSource.TIME), day)
        if not found and _moments(_read_dates(_dated_lines(_lines_of(day, tree)), DateSource.TEXT), day):
            found = _moments(_told(_dated_lines(list(_lines(tree)))), day)
        return next(iter(found.values())) if len(found) == 1 else None

    def _searched(self, ignored: Collection[DateSource]) -> Iterator[Dated]:
        """What htmldate makes of the text; expensive, because it parses the page again.

        It also looks where dates are stated, and so may return what an `ignored` source said.
        """
        import htmldate  # slow to load as well

        html = _without_others(self._head.tree)
        # htmldate might take anything but markup for an address
        if not html.startswith("<") or len(html) > SEARCHED_CHARACTERS:
            return
        try:
            day = htmldate.find_date(
                html,
                original_date=True,
                deferred_url_extractor=True,
                outputformat="%Y-%m-%dT%H:%M:%S",
                min_date="1990-01-01",
                max_date=datetime.fromtimestamp(min(self._latest, LATEST), UTC).strftime("%Y-%m-%d"),
            )
        except (ValueError, TypeError, AttributeError, LxmlError):  # an empty page, or a date that it cannot handle
            return
        lies = [one.time for one in self._stated() if one.source in ignored] if ignored else []
        for found in _read_dates([day or ""], DateSource.TEXT):
            if all(abs(found.time - lie) > SAME_DAY for lie in lies):
                yield found


def _read_dates(texts: Iterable[str], source: DateSource) -> Iterator[Dated]:
    """The moments that these texts name."""
    for text in texts:
        if text and (read := read_moment(text)) is not None:
            yield Dated(read.time, source, read.exact, read.zone)


def _first(dated: Dated, url: Url) -> Dated:
    """The day in the path of the address, if the page states a much later one: then it was moved or published again."""
    folder = next(_read_dates(_url_days(url, folders=True), DateSource.URL), None)
    return dated if folder is None or folder.time < EARLIEST or dated.time - folder.time < 2 * SAME_DAY else folder


def _zone_between(late: float) -> float:
    """The zone whose clock shows this much more than UTC, to the minute; 0 if there is none."""
    ahead = round(late / HALF_HOUR) * HALF_HOUR
    return ahead if abs(late - ahead) < MINUTE and EASTMOST >= ahead >= WESTMOST else 0.0


def _zone_by_address(time: float, url: Url) -> float:
    """The zone nearest to UTC in which a moment lies on the day in the address, if that is the day before or after."""
    day = next(_read_dates(_url_days(url), DateSource.URL), None)
    late = 0.0 if day is None else time - day.time
    if DAY <= late < DAY - WESTMOST:
        return -HALF_HOUR * (1 + (late - DAY) // HALF_HOUR)
    return -HALF_HOUR * (late // HALF_HOUR) if -EASTMOST <= late < 0 else 0.0


def _clocks(head: Head) -> Iterator[Dated]:
    """All times that JSON-LD and meta elements state, of publication and of changes."""
    for name, names in (("datePublished", PUBLISHED_META), ("dateModified", MODIFIED_META)):
        texts = chain(head.stated_dates(name), _meta(head, names))
        yield from (dated for dated in _read_dates(texts, DateSource.META) if dated.exact)


def _meta(head: Head, names: tuple[str, ...]) -> Iterator[str]:
    """What the meta elements of these names say, in the order of the names."""
    said = head.meta
    yield from (said[name] for name in names if name in said)


def _url_days(url: Url, *, folders: bool = False) -> Iterator[str]:
    """`/2022/03/14/`, `/2022/mar/14/`, `2022-3-14` or `20220314` in the path, as text; `folders`: only the first two."""
    for match in _URL_DAY.finditer(path(url).lower()):
        if folders and match[2] != "/":
            continue
        year, month, day = match[1], match[3] or match[5], match[4] or match[6]
        yield f"{year}-{month:0>2}-{day:0>2}" if month.isdigit() else f"{day} {month} {year}"


def _without_others(tree: PageTree) -> str:
    """The page without lists of dated links, whose dates are those of other pages."""
    html = tree.html or ""
    if not any(map(_dates_others, tree.css("ul, ol"))):
        return html
    copy = LexborHTMLParser(html)  # some trees cannot be cloned
    for node in reversed(list(filter(_dates_others, copy.css("ul, ol")))):  # inner lists first
        node.decompose()
    return copy.html or ""


def _dates_others(node: LexborNode) -> bool:
    """Whether most entries of a list are dated links."""
    if not _YEAR.search(node.html or ""):
        return False
    entries = [entry for entry in node.iter() if entry.tag == "li"]
    dated = [entry for entry in entries if _YEAR.search(entry.html or "") and entry.css_first("a[href]") is not None]
    return len(dated) > 1 and 2 * len(dated) >= len(entries)


def _moments(found: Iterable[Dated], day: Dated) -> dict[float, Dated]:
    """The moments of this day, each once, by the minute."""
    wanted = (day.time + (day.zone or 0.0)) // DAY
    exact = [one for one in found if one.exact and (one.time + (one.zone or 0.0)) // DAY == wanted]
    return {one.time // 60: one for one in reversed(exact)}


def _lines_of(day: Dated, tree: PageTree) -> list[str]:
    """The lines of the whole page that name the year of this day, each with the next one; cheaper than `_lines`."""
    text = "" if tree.body is None else tree.body.text(separator="\n")
    year = str(datetime.fromtimestamp(day.time + (day.zone or 0.0), UTC).year)
    lines = text.split("\n") if year in text else []
    named = [place for place, line in enumerate(lines) if year in line and len(line) <= 2 * LONGEST]
    return [line for place in named for line in (lines[place], *lines[place + 1 : place + 2])]


def _lines(tree: PageTree) -> Iterator[str]:
    """The text of a page without what belongs to other texts, a line for each element."""
    waiting = [] if tree.body is None else [tree.body]
    for _ in range(LINE_CAP):
        if not waiting:
            return
        node = waiting.pop()
        if node.tag == "-text":
            yield node.text_content or ""
        elif node.tag not in _OTHER_TAGS and not _ELSEWHERE.search(_names(node)):
            waiting.extend(reversed(list(node.iter(include_text=True))))


def _told(lines: Iterable[str]) -> list[Dated]:
    """Dates that stand together, those with a clock time first; none if they are many different days, as on a list."""
    dates = sorted(_read_dates(lines, DateSource.TEXT), key=lambda dated: not dated.exact)
    return dates if len({dated.time // DAY for dated in dates}) < MANY_DAYS else []


def _dated_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are little more than a date, each with a clock time on the next line.

    Dates of changes and ends are left out.
    """
    said = [" ".join(line.split()) for line in lines]
    said = [line for line in said if line]
    for line, following in zip(said, [*said[1:], ""], strict=False):
        if _DAY_SHOWN.search(line) and len(line) <= LONGEST and not _ANOTHER_DAY.search(line):
            yield f"{line} {following}" if len(following) <= 20 and ":" in following else line


def _is_stamp(node: LexborNode) -> bool:
    tag = node.tag
    if tag == "h1" or tag == "time":
        return True
    attributes = node.attributes
    stated = f"{attributes.get('itemprop') or ''} {attributes.get('property') or ''}"
    if not _STATED_AS.isdisjoint(stated.split()):
        return True
    names = attributes.get("class") or ""
    return _DATE_CLASS.search(names) is not None or (tag == "abbr" and "published" in names.split())


def _marks(node: LexborNode) -> str:
    """The words of an element that hint at what its date means, in lower case; the class of its parent counts too."""
    attributes = node.attributes
    words = [attributes.get(key) or "" for key in ("itemprop", "class", "id", "property")]
    if "pubdate" in attributes:
        words.append("pubdate")
    if node.parent is not None:
        words.append(node.parent.attributes.get("class") or "")
    return " ".join(words).lower()


def _stamp(node: LexborNode) -> str:
    """What an element states as its date.

    If it shows another day and calls that the publication date, what it shows instead.
    """
    attributes = node.attributes
    stated = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    shown = node.text(separator=" ").strip()
    if stated and _PUBLISHED_ON.match(shown):
        ours, theirs = read_moment(stated), read_moment(shown)
        if ours is not None and theirs is not None and abs(ours.time - theirs.time) > SAME_DAY:
            return shown
    return stated or shown


def is_elsewhere(node: LexborNode, tags: tuple[str, ...], own: str) -> bool:
    """Whether an element belongs to another text: it is within one of these elements, or in one with such a name.

    The footer of the article with the headline belongs to it; many themes state the date there.
    """
    in_footer = False
    above = node.parent
    for _ in range(8):
        if above is None or above.tag in ("body", "main"):
            break
        names = _names(above)
        if above.tag == "article":
            in_footer = in_footer and not _has_headline(above, own)
        elif above.tag == "footer" or "footer" in names:
            in_footer = True
        elif above.tag == "a" and len(own) > 1 and own in (above.attributes.get("href") or ""):
            pass  # a link of the page to itself
        elif above.tag in tags or _ELSEWHERE.search(names):
            return True
        above = above.parent
    return in_footer


def _has_headline(article: LexborNode, own: str) -> bool:
    """Whether an article has a headline of its own, and not one that links to another page as those of teasers do."""
    heading = article.css_first("h1, h2")
    return heading is not None and (heading.tag == "h1" or heading_link(heading, own)[0] in ("", own))


def _names(node: LexborNode) -> str:
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
