"""From a response to a page, whatever the bytes."""

import gc
import gzip
import weakref

import pytest

from forager.pages.head import RobotsMeta
from forager.pages.page import Page
from forager.pages.pages_settings import PagesSettings
from forager.pages.urls import UrlMemo
from forager.terms import Channel, DateSource, Kind, Outcome, Response, Url

URL = Url("https://gazette.example/news/2024/05/01/bridge-opens")
NOON = 1_714_564_800.0  # 2024-05-01T12:00:00Z
PROSE = "The council said on Monday that a new bridge over the river would open next year after long talks. " * 4
ARTICLE = f"""<!doctype html><html lang=en-GB><head><meta charset=utf-8><title> Bridge
    opens </title><link rel=canonical href=/bridge><link rel=alternate type=application/rss+xml href=/rss>
    <meta name=robots content="noarchive, nofollow">
    <script type="application/ld+json">{{"@type": "NewsArticle", "datePublished": "2024-05-01T08:00:00Z",
    "dateModified": "2024-05-01T09:00:00Z"}}</script></head>
    <body><nav><a href=/>Home</a></nav><main><article><h1>Bridge opens</h1><p>{PROSE}<p>{PROSE}
    <a href=/old>an older story</a></article></main></body></html>"""
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Gazette</title><link>https://gazette.example/</link>
    <item><title>Bridge opens</title><link>https://gazette.example/a?utm_source=rss</link>
    <pubDate>Wed, 01 May 2024 08:00:00 GMT</pubDate></item></channel></rss>"""
SITEMAP = """<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://gazette.example/a</loc></url></urlset>"""
INDEX = """<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <sitemap><loc>https://gazette.example/s1.xml</loc></sitemap></sitemapindex>"""


def page(body: bytes | str, content_type: str = "text/html", *headers: tuple[str, str], url: Url = URL) -> Page:
    body = body.encode() if isinstance(body, str) else body
    named = (("content-type", content_type), *headers)
    return Page(Response(url, Outcome.FETCHED, NOON, status=200, headers=named, body=body))


def everything(seen: Page) -> tuple[object, ...]:
    said = (seen.kind, seen.title, seen.canonical, seen.lang, seen.links, seen.published, seen.modified, seen.text)
    return (*said, seen.byte_print, seen.text_print, seen.simhash, seen.robots, repr(seen))


def test_the_words_of_a_page_that_states_no_language_tell_its_zone() -> None:
    stated = '<meta property="article:published_time" content="2024-05-01T14:00:00">'
    prose = "<p>" + "Der Rat sagte am Montag, dass die neue Brücke über den Fluss im nächsten Jahr offen ist. " * 4
    dated = page(f"<html><head>{stated}</head><body>{prose}").published
    assert dated is not None and dated.time == NOON


def test_an_article_is_read() -> None:
    seen = page(ARTICLE)
    assert (seen.url, seen.kind, seen.title, seen.lang) == (URL, Kind.ARTICLE, "Bridge opens", "en-gb")
    assert seen.canonical == "https://gazette.example/bridge"
    assert [(link.url, link.channel) for link in seen.links] == [
        ("https://gazette.example/bridge", Channel.CANONICAL),
        ("https://gazette.example/rss", Channel.ALTERNATE),
        ("https://gazette.example/", Channel.LINK),
        ("https://gazette.example/old", Channel.LINK),
    ]
    assert seen.published is not None and seen.modified is not None
    assert (seen.published.time, seen.published.source) == (NOON - 4 * 3600, DateSource.JSON_LD)
    assert seen.modified.time == NOON - 3 * 3600
    assert "new bridge over the river" in seen.text and "Home" not in seen.text
    assert seen.robots == RobotsMeta(follow=False, archive=False)
    assert seen.trouble == ""


def test_text_print_and_simhash_are_those_of_the_text_and_not_of_the_bytes() -> None:
    one, other = page(ARTICLE), page(ARTICLE.replace("<body>", "<body data-token=5f3>"))
    assert one.byte_print != other.byte_print
    assert (one.text_print, one.simhash) == (other.text_print, other.simhash)


def test_the_robots_header_is_honoured_on_every_kind_of_page() -> None:
    assert page(b"%PDF-1.7", "application/pdf", ("x-robots-tag", "noindex")).robots == RobotsMeta(index=False)
    assert page(ARTICLE, "text/html", ("x-robots-tag", "noindex")).robots == RobotsMeta(False, False, False)


def test_the_language_may_stand_in_the_header() -> None:
    assert page("<p>x", "text/html", ("content-language", "DE, en")).lang == "de"


def test_a_title_may_stand_in_the_open_graph() -> None:
    assert page('<title> </title><meta property="og:title" content="Bridge  opens">').title == "Bridge opens"


@pytest.mark.parametrize(
    "content_type", ["application/rss+xml", "text/html; charset=utf-8", "application/xml", "text/plain", ""]
)
def test_a_feed_is_a_feed_whatever_its_content_type(content_type: str) -> None:
    seen = page(RSS, content_type)
    assert (seen.kind, seen.title) == (Kind.FEED, "Gazette")
    assert [(link.url, link.channel, link.published) for link in seen.links] == [
        ("https://gazette.example/a", Channel.FEED, NOON - 4 * 3600)
    ]
    assert seen.text == "Bridge opens"


def test_a_json_feed_is_a_feed() -> None:
    body = '{"version": "https://jsonfeed.org/version/1.1", "title": "G", "items": [{"id": "1", "url": "https://gazette.example/a"}]}'
    assert page(body, "application/json").kind is Kind.FEED


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content_type", ["application/xml", "text/html", "application/gzip"])
def test_a_sitemap_is_a_sitemap_packed_or_not(packed: bool, content_type: str) -> None:
    body = gzip.compress(SITEMAP.encode()) if packed else SITEMAP.encode()
    seen = page(body, content_type)
    assert seen.kind is Kind.SITEMAP
    assert [(link.url, link.channel) for link in seen.links] == [("https://gazette.example/a", Channel.SITEMAP)]


def test_the_sitemaps_of_an_index_are_links() -> None:
    assert [link.url for link in page(INDEX, "text/xml").links] == ["https://gazette.example/s1.xml"]


def test_a_plain_list_of_urls_is_a_sitemap() -> None:
    seen = page("https://gazette.example/a\nhttps://gazette.example/b\n", "text/plain")
    assert (seen.kind, len(seen.links)) == (Kind.SITEMAP, 2)


@pytest.mark.parametrize("content_type", ["application/xhtml+xml", "application/xml", "text/xml", ""])
def test_xhtml_is_a_page(content_type: str) -> None:
    prolog = '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">'
    seen = page(
        prolog + '<html><body><a href="/x">x</a></body></html>', content_type, url=Url("https://gazette.example/")
    )
    assert (seen.kind, [link.anchor for link in seen.links]) == (Kind.HUB, ["x"])


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7 <a href=/x>x</a>",
        b"\x89PNG\r\n\x1a\n<a href=/x>",
        b"\xff\xd8\xff\xe0<a href=/x>",
        b"PK\x03\x04<a href=/x>",
        bytes(range(32)) * 20 + b"<a href=/x>x</a>",
        gzip.compress(b"\x89PNG", mtime=0),
        b"",
        b" \n ",
    ],
)
def test_bytes_that_are_no_text_are_other_even_if_declared_as_html(body: bytes) -> None:
    seen = page(body, "text/html")
    assert (seen.kind, seen.links, seen.text, seen.title) == (Kind.OTHER, (), "", "")


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "application/json", "text/css", "text/plain"])
def test_what_is_declared_as_something_else_and_has_no_markup_is_other(content_type: str) -> None:
    assert page("body { color: red }", content_type).kind is Kind.OTHER


def test_a_change_of_a_page_without_text_shows_in_its_text_print() -> None:
    assert page(b"%PDF-1", "application/pdf").text_print != page(b"%PDF-2", "application/pdf").text_print


def test_an_unknown_xml_document_is_other() -> None:
    assert page('<?xml version="1.0"?><data><a href="/x"/></data>', "application/xml").kind is Kind.OTHER


def test_encodings_are_undone_before_reading() -> None:
    body = "<title>Мост открыт</title><a href=/x>через реку</a>".encode("cp1251")
    seen = page(body, "text/html; charset=windows-1251")
    assert (seen.title, seen.links[0].anchor) == ("Мост открыт", "через реку")


def test_pages_in_utf_16_are_read() -> None:
    assert page("<html><title>Мост</title>".encode("utf-16"), "text/html").title == "Мост"


def test_a_feed_that_cannot_be_read_says_so() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    seen = page(bomb + '<rss version="2.0"><channel><title>&b;</title></channel></rss>', "application/xml")
    assert (seen.kind, seen.links) == (Kind.OTHER, ())
    assert seen.trouble == "feed: cannot be read"


def test_an_empty_body_says_so() -> None:
    assert page(b"").trouble == "empty body"


MANY = 200_000
HOSTILE = {
    "nested div": "<div>" * MANY,
    "nested links": "<a href=/x><div>" * MANY,
    "nested tables": "<table><tr><td>" * MANY,
    "nested links in tables": "<table><tr><td><a href=/x>" * 20_000,
    "nested lists": "<ul><li>" * MANY,
    "unclosed tags": "<p><b><i><a href=/x><span>" * 20_000,
    "unclosed attribute": '<a href="' + "x" * 1_000_000,
    "attribute of 1 MB": '<a href="' + "x" * 1_000_000 + '" class="' + "nav " * 250_000 + '">x</a>',
    "class of 1 MB": '<div class="' + "nav-" * 250_000 + '"><a href=/x>x</a></div>',
    "many attributes": "<a " + " ".join(f"a{number}=1" for number in range(MANY)) + ' href="/x">',
    "NUL bytes": "<p>\0a\0" * 1000 + "<a href=/\0x>\0</a>",
    "only less-than signs": "<" * 1_000_000,
    "reopened fonts": "<p>" + "".join(f"<font color={number}>" for number in range(1000)) + "<p>x" * 1000,
    "title of 1 MB": "<title>" + "t" * 1_000_000,
    "JSON-LD nested": '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
    "many metas": '<meta name="robots" content="noindex">' * 50_000,
    "100,000 links": "".join(f"<a href=/{number}>x</a>" for number in range(100_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_survived(name: str) -> None:
    seen = page("<html><body><p>" + HOSTILE[name])
    everything(seen)
    assert len(seen.links) <= PagesSettings().max_links
    assert len(seen.title) <= PagesSettings().max_anchor


def test_a_page_cut_for_its_depth_says_so_and_keeps_what_came_before() -> None:
    seen = page("<a href=/first>first</a>" + "<div>" * MANY + "<a href=/last>last</a>")
    assert [link.anchor for link in seen.links] == ["first"]
    assert seen.trouble.startswith("markup: nested too deeply, read ")


def test_links_of_pages_that_share_a_memo_are_the_same_as_without() -> None:
    memo = UrlMemo()
    response = Response(URL, Outcome.FETCHED, NOON, headers=(("content-type", "text/html"),), body=ARTICLE.encode())
    assert Page(response, memo=memo).links == Page(response, memo=memo).links == Page(response).links


def test_settings_reach_the_links() -> None:
    response = Response(URL, Outcome.FETCHED, NOON, headers=(("content-type", "text/html"),), body=ARTICLE.encode())
    assert len(Page(response, settings=PagesSettings(max_links=3)).links) == 3


def test_a_page_tells_its_state() -> None:
    assert repr(page("<p>x")) == f"<Page {URL} html, 4 bytes, readable>"


@pytest.mark.parametrize("first", ["kind", "links", "targets", "text_print"])
def test_an_article_with_a_feed_of_its_own_keeps_its_text_whatever_is_asked_first(first: str) -> None:
    prose = " ".join(
        f"On day {day} the council said that the bridge, closed since spring, will open." for day in range(9)
    )
    others = "".join(f'<li><a href="/s/{n}">A headline of another story, number {n}</a></li>' for n in range(8))
    address = Url("http://paper.example/2026/11/18/the-bridge-will-open/")
    seen = page(
        f"<html><head><title>Bridge</title><link rel=alternate type=application/rss+xml href={address}feed/></head>"
        f"<body><article><h1>Bridge opens</h1><p>{prose}</p></article><aside><ul>{others}</ul></aside></body></html>",
        url=address,
    )
    getattr(seen, first)
    assert (seen.text, seen.trouble, seen.kind) == (prose, "", Kind.ARTICLE)


def test_a_story_with_a_feed_of_its_own_is_read_like_any_other() -> None:
    prose = "<p>" + "The council said on Monday that a new bridge over the river would open next year. " * 5
    feed = "<link rel=alternate type=application/rss+xml href=/bridge/feed/>"
    for path in ("/bridge", "/news/a-bridge-opens-at-last"):
        response = Response(
            Url(f"https://gazette.example{path}"),
            Outcome.FETCHED,
            0.0,
            status=200,
            headers=(("content-type", "text/html"),),
            body=(feed.replace("/bridge", path) + prose * 3).encode(),
        )
        seen = Page(response)
        assert seen.kind is not Kind.OTHER and len(seen.text) > 400
        assert seen.trouble == ""


def test_a_page_that_was_read_is_freed_at_once_without_the_collector_of_garbage() -> None:
    seen = page(ARTICLE)
    everything(seen)
    tree = weakref.ref(seen._tree)
    gc.disable()
    try:
        del seen
        assert tree() is None
    finally:
        gc.enable()
