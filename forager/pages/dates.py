"""When a page was published and last modified: read from JSON-LD, meta, `<time>` and the URL, in this order.

After these come the dates that the page shows near its headline. Only a page that states nothing anywhere is given to
htmldate, which searches the whole text; Last-Modified of the server is the last resort. If a source gives only the day,
the hour comes from a later source that knows it for about that day, or from the only clock time of that day on the
page.

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
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from lxml.etree import LxmlError
from selectolax.lexbor import LexborHTMLParser

from forager.pages.head import Head
from forager.pages.moments import country_of, local_offset
from forager.pages.stamps import DAY, SAME_DAY, modified_stamps, moment_on, published_stamps, read_dates, shown_dates
from forager.pages.tree import PageTree
from forager.pages.urls import path
from forager.terms import Dated, DateSource, Url

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()  # nothing on the web is older (ours)
FUTURE = DAY  # seconds a date may lie ahead of now: zones are often missing or wrong (ours)

LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
"""The end of the time that is searched for dates in the text (ours); htmldate would ask the clock of the machine."""

SAME_ZONE = 60 * DAY
"""Seconds between two dates of a page within which it hardly changed from winter to summer time (ours)."""

MINUTE, HALF_HOUR, HALF_DAY = 60.0, 1800.0, DAY / 2

WESTMOST, EASTMOST = -12 * 3600.0, 14 * 3600.0  # zones ahead of UTC, in seconds
SEARCHED_CHARACTERS = 300_000  # of a page without stated dates, how much is searched at most (ours)
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

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_URL_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:([/_-])(\d\d?|[a-z]{3})\2(\d\d?)|(\d\d)(\d\d))(?!\d)")


def published(
    head: Head,
    *,
    last_modified: str = "",
    now: float | None = None,
    ignored: Collection[DateSource] = (),
    lang: str = "",
) -> Dated | None:
    """When the page says that it was first published; `now` (default: no limit) bounds dates in the future.

    Sources in `ignored` are known to be wrong on this site, so the next one is used. `lang` hints at its country.
    """
    shown = () if DateSource.TEXT in ignored else shown_dates(head)
    believed = (one for one in chain(_stated(head), shown) if one.source not in ignored)
    found = _best(believed, now)
    if found is not None and DateSource.URL not in ignored:
        found = _first(found, head.url)
    if found is None and DateSource.TEXT not in ignored:
        found = _best(_searched(head, now, ignored), now)
    if found is not None:
        return _zoned(_sharpened(found, head, now, ignored), head, country_of(head.url, lang))
    return (
        _best(read_dates([last_modified], DateSource.LAST_MODIFIED), now)
        if DateSource.LAST_MODIFIED not in ignored
        else None
    )


def _stated(head: Head) -> Iterator[Dated]:
    """The publication dates that a page and its address state, best source first."""
    yield from read_dates(head.stated_dates("datePublished"), DateSource.JSON_LD)
    yield from read_dates(_meta(head, PUBLISHED_META), DateSource.META)
    yield from read_dates(published_stamps(head), DateSource.TIME)
    yield from read_dates(_url_days(head.url), DateSource.URL)


def modified(head: Head, *, last_modified: str = "", now: float | None = None) -> Dated | None:
    """When the page says it was last modified."""
    stated = chain(
        read_dates(head.stated_dates("dateModified"), DateSource.JSON_LD),
        read_dates(_meta(head, MODIFIED_META), DateSource.META),
        read_dates(modified_stamps(head), DateSource.TIME),
        read_dates([last_modified], DateSource.LAST_MODIFIED),
    )
    return _best(stated, now)


def _best(found: Iterable[Dated], now: float | None) -> Dated | None:
    """The first possible date, or an exact one of about the same day if the first gives only the day."""
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
    """The day in the path of the address, if the page states a much later one: then it was moved or published again."""
    folder = next(read_dates(_url_days(url, folders=True), DateSource.URL), None)
    return dated if folder is None or folder.time < EARLIEST or dated.time - folder.time < 2 * SAME_DAY else folder


def _sharpened(found: Dated, head: Head, now: float | None, ignored: Collection[DateSource]) -> Dated:
    """The time on a day of which no source near the headline gives the hour."""
    if found.exact or DateSource.TIME in ignored or DateSource.TEXT in ignored:
        return found
    clock = moment_on(found, head)
    return found if clock is None or _best([clock], now) is None else clock


def _zoned(found: Dated, head: Head, country: str) -> Dated:
    """The moment in the right zone, and that zone."""
    if not found.exact or found.zone:
        return found
    shown = [one for one in shown_dates(head) if one.exact]
    if found.zone is None or not shown:
        shown += [one for one in read_dates(published_stamps(head), DateSource.TIME) if one.exact]
    stated = [*_clocks(head), *shown]
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
    by_address = _zone_by_address(found.time, head.url) if found.zone is not None else None
    return replace(found, zone=behind or other or by_address or found.zone)


def _zone_between(late: float) -> float:
    """The zone whose clock shows this much more than UTC, to the minute; 0 if there is none."""
    ahead = round(late / HALF_HOUR) * HALF_HOUR
    return ahead if abs(late - ahead) < MINUTE and EASTMOST >= ahead >= WESTMOST else 0.0


def _zone_by_address(time: float, url: Url) -> float:
    """The zone nearest to UTC in which a moment lies on the day in the address, if that is the day before or after."""
    day = next(read_dates(_url_days(url), DateSource.URL), None)
    late = 0.0 if day is None else time - day.time
    if DAY <= late < DAY - WESTMOST:
        return -HALF_HOUR * (1 + (late - DAY) // HALF_HOUR)
    return -HALF_HOUR * (late // HALF_HOUR) if -EASTMOST <= late < 0 else 0.0


def _clocks(head: Head) -> Iterator[Dated]:
    """All times that JSON-LD and meta elements state, of publication and of changes."""
    for name, names in (("datePublished", PUBLISHED_META), ("dateModified", MODIFIED_META)):
        texts = chain(head.stated_dates(name), _meta(head, names))
        yield from (dated for dated in read_dates(texts, DateSource.META) if dated.exact)


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
    """The page without dated links to other pages, which form lists."""
    copy = LexborHTMLParser(tree.html or "")  # some trees cannot be cloned
    for node in copy.css("ul, ol"):
        entries = [entry for entry in node.iter() if entry.tag == "li"]
        dated = [
            entry for entry in entries if _YEAR.search(entry.html or "") and entry.css_first("a[href]") is not None
        ]
        if len(dated) > 1 and 2 * len(dated) >= len(entries):
            node.decompose()
    return copy.html or ""


def _searched(head: Head, now: float | None, ignored: Collection[DateSource]) -> Iterator[Dated]:
    """What htmldate makes of the text; expensive, because it parses the page again.

    It also looks where dates are stated, and so may return what an `ignored` source said.
    """
    import htmldate  # slow to load as well

    html = _without_others(head.tree)
    if not html.startswith("<") or len(html) > SEARCHED_CHARACTERS:  # it might take anything but markup for an address
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
    found = read_dates([day or ""], DateSource.TEXT)
    lies = [one.time for one in _stated(head) if one.source in ignored] if ignored else []
    yield from (one for one in found if all(abs(one.time - lie) > SAME_DAY for lie in lies))
