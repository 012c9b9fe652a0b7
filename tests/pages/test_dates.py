"""When a page was published and modified."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.pages.dates import PageDates
from forager.pages.head import Head, PageTree
from forager.pages.page import load_slow_parts
from forager.terms import Dated, DateSource, Url

PLAIN = Url("https://gazette.example/story")
MORNING = datetime(2022, 3, 14, 9, 30, tzinfo=UTC).timestamp()
NOON = datetime(2022, 3, 14, 12, 0, tzinfo=UTC).timestamp()
DAY = datetime(2022, 3, 14, tzinfo=UTC).timestamp()
NOW = datetime(2022, 3, 15, tzinfo=UTC).timestamp()

LD = '<script type="application/ld+json">{}</script>'
META = '<meta property="article:published_time" content="2022-03-14T12:00:00Z">'


def page(*parts: str) -> str:
    return "<html><body>" + "".join(parts) + "</body></html>"


def published(
    markup: str, url: Url, *, now: float | None = None, last_modified: str = "", **known: Any
) -> Dated | None:
    return PageDates(Head(PageTree(markup), url), now=now, last_modified=last_modified).published(**known)


def modified(markup: str, **known: Any) -> Dated | None:
    return PageDates(Head(PageTree(markup), PLAIN), **known).modified


@pytest.mark.parametrize(
    "json_ld",
    [
        '{"@type": "NewsArticle", "datePublished": "2022-03-14T09:30:00Z"}',
        '[{"@type": "Organization"}, {"@type": ["Article"], "datePublished": "2022-03-14T09:30:00Z"}]',
        '{"@graph": [{"@type": "WebPage", "datePublished": "2022-03-13"},'
        ' {"@type": "LiveBlogPosting", "datePublished": "2022-03-14T09:30:00Z"}]}',
        '{"@type": "WebPage", "mainEntity": {"@type": "BlogPosting", "datePublished": ["2022-03-14T09:30:00Z"]}}',
        '<!-- {"@type": "NewsArticle", "datePublished": "2022-03-14T09:30:00Z",} -->',
        '//<![CDATA[\n{"@type": "NewsArticle", "headline": "a\tb\nc", "datePublished": "2022-03-14T09:30:00Z"};\n//]]>',
        '{"@type": "NewsArticle", "headline": "a "quoted" word", "datePublished": "2022-03-14T09:30:00Z"',
    ],
)
def test_json_ld_is_read_whole_nested_or_broken(json_ld: str) -> None:
    assert published(page(LD.format(json_ld)), PLAIN, now=NOW) == Dated(MORNING, DateSource.JSON_LD)


def test_dates_of_listed_stories_and_comments_are_not_the_page_s() -> None:
    listed = '{"@type": "ItemList", "itemListElement": [{"@type": "NewsArticle", "datePublished": "2022-03-01"}]}'
    comment = '{"@type": "WebPage", "comment": {"@type": "Comment", "datePublished": "2022-03-02T10:00:00Z"}}'
    assert published(page(LD.format(listed), LD.format(comment), META), PLAIN) == Dated(NOON, DateSource.META)


def test_of_several_stories_the_one_at_this_address_counts() -> None:
    other = '{"@type": "NewsArticle", "url": "https://gazette.example/other", "datePublished": "2022-03-01T01:00:00Z"}'
    own = '{"@type": "NewsArticle", "url": "https://gazette.example/story", "datePublished": "2022-03-14T09:30:00Z"}'
    assert published(page(LD.format(f"[{other},{own}]")), PLAIN) == Dated(MORNING, DateSource.JSON_LD)


@pytest.mark.parametrize(
    "meta",
    [
        '<meta property="og:article:published_time" content="2022-03-14T09:30:00Z">',
        '<meta name="DC.date.issued" content="2022-03-14T09:30:00Z">',
        '<meta name="parsely-pub-date" content="2022-03-14T09:30:00Z">',
        '<meta name="sailthru.date" content="Mon, 14 Mar 2022 04:30:00 EST">',
        '<meta name="pubdate" content="14.03.2022 09:30">',
        '<meta itemprop="datePublished" content="2022-03-14T09:30:00Z">',
    ],
)
def test_meta_elements_are_known_by_many_names(meta: str) -> None:
    assert published(page(meta), PLAIN) == Dated(MORNING, DateSource.META)


def test_a_marked_time_element_beats_an_earlier_one() -> None:
    tree = page("<time>14 March 2022 07:00</time><h1>News</h1>", '<time pubdate datetime="2022-03-14T09:30Z">x</time>')
    assert published(tree, PLAIN) == Dated(MORNING, DateSource.TIME)


def test_the_time_behind_the_headline_beats_the_one_before_it() -> None:
    tree = page('<time datetime="2022-03-13T08:00Z"></time><h1>News</h1>', "<p><time>14 March 2022 09:30</time></p>")
    assert published(tree, PLAIN) == Dated(MORNING, DateSource.TIME)


def test_times_of_side_columns_comments_and_updates_are_not_the_publication() -> None:
    tree = page(
        "<h1>News</h1>",
        '<aside><time datetime="2022-03-01T01:00Z"></time></aside>',
        '<div class="comments"><div><time datetime="2022-03-02T01:00Z"></time></div></div>',
        '<blockquote><time datetime="2022-03-03T01:00Z"></time></blockquote>',
        '<p class="updated"><time datetime="2022-03-14T12:00Z"></time></p>',
        '<p><time datetime="2022-03-14T09:30Z"></time></p>',
    )
    assert published(tree, PLAIN) == Dated(MORNING, DateSource.TIME)
    assert modified(tree) == Dated(NOON, DateSource.TIME)


@pytest.mark.parametrize(
    "path", ["/2022/03/14/story", "/2022/mar/14/story", "/politics/2022-03-14-story", "/a/20220314/b", "/2022/3/14/x"]
)
def test_the_day_in_the_address_is_read(path: str) -> None:
    assert published(page("<p>x"), Url(f"https://gazette.example{path}")) == Dated(DAY, DateSource.URL, exact=False)


def test_a_day_is_sharpened_by_a_source_that_knows_the_hour() -> None:
    day_only = LD.format('{"@type": "NewsArticle", "datePublished": "2022-03-14"}')
    assert published(page(day_only, META), PLAIN) == Dated(NOON, DateSource.META)


def test_a_day_is_not_replaced_by_an_hour_of_another_day() -> None:
    day_only = LD.format('{"@type": "NewsArticle", "datePublished": "2022-03-10"}')
    assert published(page(day_only, META), PLAIN) == Dated(DAY - 4 * 86_400, DateSource.JSON_LD, exact=False)


def test_the_text_is_searched_only_if_nothing_is_stated() -> None:
    tree = page("<h1>News</h1><p>Published: March 14, 2022</p><p>Some more text of the story.</p>")
    assert published(tree, PLAIN, now=NOW) == Dated(DAY, DateSource.TEXT, exact=False)


def test_once_slow_parts_are_loaded_no_odd_date_takes_long() -> None:
    """By processor time: the first one took a second, in which a crawl did nothing else."""
    load_slow_parts()
    odd, began = page('<meta name="date" content="3 marzo alle ore, forse 2022">', "<p>text</p>"), time.thread_time()
    published(odd, PLAIN, now=NOW)
    assert time.thread_time() - began < 0.2  # about .02


def test_the_footer_of_an_article_dates_it_though_only_the_masthead_is_a_first_heading() -> None:
    masthead = '<header><h1><a href="/">The Gazette</a></h1><p>15 March 2022</p></header>'
    footer = '<footer><p>Published: <time datetime="{}">then</time></p></footer>'
    own = '<article><h2><a href="/story">Rain</a></h2><p>It rains.</p>' + footer.format("2022-03-14T09:30:00Z")
    other = '<article><h2><a href="/sun">Sun</a></h2><p>It shines.</p>' + footer.format("2022-03-01T10:00:00Z")
    dated = Dated(MORNING, DateSource.TIME)
    assert published(page(masthead, own, "</article>", other, "</article>"), PLAIN, now=NOW) == dated
    assert published(page(masthead, other, "</article>", own, "</article>"), PLAIN, now=NOW) == dated


def test_last_modified_is_the_last_resort() -> None:
    stamp = "Mon, 14 Mar 2022 12:00:00 GMT"
    assert published(page("<p>x"), PLAIN, last_modified=stamp) == Dated(NOON, DateSource.LAST_MODIFIED)
    assert modified(page(META), last_modified=stamp) == Dated(NOON, DateSource.LAST_MODIFIED)


def test_dates_in_the_future_or_before_the_web_are_ignored() -> None:
    metas = '<meta name="pubdate" content="2031-01-01T10:00Z"><meta name="date" content="1970-01-01T00:00:01Z">'
    assert published(page(metas), PLAIN, now=NOW) is None
    tomorrow = '<meta name="pubdate" content="2022-03-15T20:00Z">'  # within a day: a zone may be wrong
    assert published(page(tomorrow), PLAIN, now=NOW) is not None


def test_a_modification_is_read_from_json_ld_and_meta() -> None:
    ld = LD.format('{"@type": "NewsArticle", "datePublished": "2022-03-13", "dateModified": "2022-03-14T09:30:00Z"}')
    assert modified(page(ld)) == Dated(MORNING, DateSource.JSON_LD)
    assert modified(page('<meta property="og:updated_time" content="1647250200">')) == Dated(MORNING, DateSource.META)


def test_an_empty_page_has_no_dates() -> None:
    tree = ""
    assert published(tree, PLAIN) is None
    assert modified(tree) is None


def test_numbers_as_dates_are_seconds_or_nothing() -> None:
    ld = '{{"@type": "NewsArticle", "datePublished": {}}}'
    assert published(page(LD.format(ld.format("1647250200"))), PLAIN) == Dated(MORNING, DateSource.JSON_LD)
    for odd in ("1e400", "true", "null", "{}", "9" * 5000, "-1", "[[]]"):
        assert published(page(LD.format(ld.format(odd))), PLAIN) is None


_PIECES = """
<time <meta <h1> itemprop=datePublished name=date property=article:published_time datetime= content= 2022-03-14T09:30 >
" ' </script> { } [ ] , : "datePublished" "@type" "NewsArticle" "@graph" 99999999999 +99:00
"""
SOUP = st.lists(st.sampled_from(["<script type=application/ld+json>", *_PIECES.split()]), max_size=30)


@given(SOUP)
@settings(deadline=None)
def test_no_markup_raises_while_dates_are_read(pieces: list[str]) -> None:
    tree = " ".join(pieces)
    published(tree, PLAIN, now=NOW)
    modified(tree, now=NOW)


def test_the_date_of_a_source_that_lies_is_not_found_again_by_searching_the_text() -> None:
    told = "<p>Posted on March 10, 2022 by the night desk.</p>"
    assert published(page(META), PLAIN, now=NOW, ignored={DateSource.META}) is None
    day = Dated(datetime(2022, 3, 10, tzinfo=UTC).timestamp(), DateSource.TEXT, exact=False)
    assert published(page(told), PLAIN, now=NOW) == day  # what only the text says is still believed


GERMAN = Url("https://www.zeitung-beispiel.de/story")


def meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


@pytest.mark.parametrize(
    ("url", "lang", "hours"),
    [
        (GERMAN, "", 1),
        (Url("https://www.zeitung.com/story"), "de", 1),
        (Url("https://www.zeitung.com/story"), "de-ch", 1),
        (Url("https://www.shinbun.jp/story"), "", 9),
        (Url("https://www.news.com/story"), "zh", 8),
        (Url("https://www.news.com/story"), "uk-uk", 2),  # Ukrainian
        (Url("https://www.news.com/story"), "ar-ar", 0),  # Arabic
        (Url("https://www.times.com/story"), "en", 0),
        (Url("https://www.news.com/story"), "en-gb", 0),
        (Url("https://www.zeitung.us/story"), "de", 0),
    ],
)
def test_a_time_without_a_zone_is_that_of_the_country(url: Url, lang: str, hours: int) -> None:
    found = published(page(meta("article:published_time", "2022-03-14T09:30:00")), url, lang=lang)
    assert found == Dated(MORNING - 3600 * hours, DateSource.META)


def test_summer_time_holds_from_the_last_sunday_of_march_to_that_of_october() -> None:
    for day, hours in (("2022-03-26", 1), ("2022-03-27", 2), ("2022-10-29", 2), ("2022-10-30", 1)):
        found = published(page(meta("article:published_time", f"{day}T09:30:00")), GERMAN)
        assert found is not None and found.zone == 3600 * hours


def test_a_time_without_a_zone_has_that_of_another_statement() -> None:
    head = page(
        meta("article:published_time", "2022-03-14T09:30"), meta("article:modified_time", "2022-03-14T15:00-0500")
    )
    assert published(head, PLAIN) == Dated(MORNING + 5 * 3600, DateSource.META)


def test_local_time_that_is_written_as_utc_is_found_out() -> None:
    stated = LD.format('{"@type": "NewsArticle", "datePublished": "2022-03-14T09:30:00Z"}')
    by_statement = page(stated, meta("article:published_time", "2022-03-14T09:30:00+09:00"))
    assert published(by_statement, PLAIN) == Dated(MORNING - 9 * 3600, DateSource.JSON_LD)
    shown = "<div><h1>Die Brücke ist offen</h1><p>14.03.2022, {} Uhr</p></div>"
    assert published(page(stated, shown.format("09:30")), GERMAN) == Dated(MORNING - 3600, DateSource.JSON_LD)
    assert published(page(stated, shown.format("10:30")), GERMAN) == Dated(MORNING, DateSource.JSON_LD)


@pytest.mark.parametrize(
    "shown",
    [
        "<p class=date>Written: 2022-03-14 09:30:00<span> / </span>Updated: 2022-03-14 12:00:00</p>",
        "<span>14 March 2022</span><span>09:30</span>",
        "<ul class=meta><li><a href=/t>14 Mar 2022 09:30</a></li></ul>",
        "<p>Available until 1 May 2023</p><p>14 March 2022, 09:30</p>",
    ],
)
def test_what_stands_round_the_headline_dates_the_page(shown: str) -> None:
    head = page(f"<div><h1>Bridge opens</h1>{shown}</div><p>{'Some prose. ' * 99}</p>")
    assert published(head, PLAIN, now=NOW) == Dated(MORNING, DateSource.TEXT)
    assert published(head, Url("https://gazette.example/2022/03/14/story"), now=NOW) == Dated(MORNING, DateSource.TEXT)


def test_a_row_of_days_below_the_headline_dates_nothing() -> None:
    days = "".join(f"<p>{day} March 2022</p>" for day in range(1, 9))
    days += f"<p>{'Some prose. ' * 99}</p>"
    day = Url("https://gazette.example/20220305/meetings")
    found = published(page(f"<div><h1>Meetings</h1>{days.replace('March 2022', 'March 2022, 10:30')}</div>"), day)
    assert found is not None and (found.source, found.exact) == (DateSource.URL, False)


def test_the_folder_of_an_old_day_tells_a_page_that_was_published_anew() -> None:
    assert published(page(META), Url("https://gazette.example/2017/7/12/story")) == Dated(
        datetime(2017, 7, 12, tzinfo=UTC).timestamp(), DateSource.URL, exact=False
    )
    assert published(page(META), Url("https://gazette.example/2022/03/13/story")) == Dated(NOON, DateSource.META)


def test_a_time_element_that_shows_another_day_of_publication_is_read_as_shown() -> None:
    head = page('<h1>Grenades</h1><time datetime="2022-03-14T12:00:00Z">Publié le 29 juin 2019</time>')
    assert published(head, PLAIN) == Dated(datetime(2019, 6, 29, tzinfo=UTC).timestamp(), DateSource.TIME, exact=False)


def test_a_time_in_a_link_of_the_page_to_itself_is_its_own() -> None:
    stamp = '<time datetime="2022-03-14T09:30:00Z">x</time>'
    assert published(page(f'<h1>x</h1><a href="/story">{stamp}</a>'), PLAIN) == Dated(MORNING, DateSource.TIME)
    assert published(page(f'<h1>x</h1><a href="/other">{stamp}</a>'), PLAIN, ignored=[DateSource.TEXT]) is None


@pytest.mark.parametrize(
    ("stated", "shown", "url", "hours"),
    [
        ("2022-03-14T02:30:00Z", "March 13, 2022 10:30 PM EDT", PLAIN, -4),
        ("2022-03-14T02:30:00Z", "March 13, 2022, 9:30 p.m.", PLAIN, -5),
        ("2022-03-14T02:30:00", "March 13, 2022, 9:30 p.m.", PLAIN, -5),
        ("2022-03-14T02:30:00Z", "", Url("https://gazette.example/2022/03/13/story"), -3),
        ("2022-03-14T22:30:00Z", "", Url("https://gazette.example/20220315/story"), 1.5),
        ("2022-03-14T22:30:00Z", "", Url("https://zeitung.de/story"), 1),
        ("2022-03-14T02:30:00Z", "March 13, 2022, 9:41 p.m.", PLAIN, 0),
        ("2022-03-14T02:30:00Z", "Some prose. " * 99 + "<time>2022-03-13 20:30</time>", PLAIN, -6),
    ],
)
def test_a_moment_of_utc_has_the_zone_of_its_readers(stated: str, shown: str, url: Url, hours: float) -> None:
    found = published(page(meta("article:published_time", stated), f"<div><h1>Bridge</h1><p>{shown}</p></div>"), url)
    assert found is not None
    assert found.time == datetime.fromisoformat(stated.removesuffix("Z")).replace(tzinfo=UTC).timestamp()
    assert found.zone == 3600 * hours


def test_a_time_without_a_zone_is_utc_if_another_statement_says_so_of_the_same_clock() -> None:
    json_ld = LD.format('{"@type": "NewsArticle", "datePublished": "2022-03-14T09:30:00"}')
    head = page(json_ld, meta("article:published_time", "2022-03-14T09:30:00Z"))
    assert published(head, GERMAN) == Dated(MORNING, DateSource.JSON_LD)


def test_a_clock_of_twelve_hours_is_read_with_the_half_of_the_day_that_the_page_shows() -> None:
    shown = "<div><h1>Bridge</h1><p>March 14, 2022, 9:30 p.m.</p></div>"
    found = published(page(meta("article:published_time", "2022-03-14T09:30:00"), shown), PLAIN)
    assert found == Dated(MORNING + 12 * 3600, DateSource.META)


def test_a_local_time_has_no_zone_that_only_its_address_would_tell() -> None:
    stated = meta("article:published_time", "2022-03-14T03:00:00")
    found = published(page(stated), Url("https://gazette.example/2022/03/13/story"))
    assert found is not None and found.zone is None


def test_a_page_is_searched_for_its_date_whatever_its_doctype() -> None:
    told = "<p>Some prose about a bridge, on 14 March 2022, and about its builders.</p>"
    found = published('<!doctype html system "about:legacy-compat">' + page(told), PLAIN)
    assert found == Dated(DAY, DateSource.TEXT, exact=False)


def test_a_clock_below_the_headline_tells_the_zone_of_a_statement_without_one() -> None:
    shown = "<div><h1>Bridge</h1><p>March 14, 2022, 9:30 a.m. EDT</p></div>"
    found = published(page(meta("article:published_time", "2022-03-14T09:30:00"), shown), PLAIN)
    assert found == Dated(MORNING + 4 * 3600, DateSource.META)


@pytest.mark.parametrize(
    ("stands", "time"),
    [
        ("<footer><p>Written on 14 March 2022 at 09:30 by Ann</p></footer>", MORNING),
        ('<ul><li><time datetime="2022-03-14T09:30:00Z">14.3.</time></li></ul>', MORNING),
        ("<p>14 March 2022, 09:30</p><p>14 March 2022, 11:00</p>", DAY),  # which of them?
        ("<p>13 March 2022, 09:30</p>", DAY),
        ("<div class=comments><p>14 March 2022, 09:30</p></div>", DAY),
        ("<p>Updated: 14 March 2022, 09:30</p>", DAY),
    ],
)
def test_a_day_is_sharpened_by_the_only_clock_of_that_day(stands: str, time: float) -> None:
    head = page(meta("date", "2022-03-14"), f"<h1>Bridge</h1><p>{'Some prose. ' * 99}</p>", stands)
    found = published(head, PLAIN)
    assert found is not None and (found.time, found.exact) == (time, time != DAY)
