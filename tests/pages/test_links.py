"""Links of a page: where they lead, what they say, where they stand, and the dates beside them."""

import pytest

from forager.pages.head import Head, PageTree
from forager.pages.links import PageLinks
from forager.pages.page import Page
from forager.pages.pages_settings import PagesSettings
from forager.pages.urls import UrlMemo
from forager.terms import Channel, Link, Outcome, Region, Response, Url

HOME = Url("https://a.example/news/")


def links(markup: str, url: Url = HOME, **settings: int) -> tuple[Link, ...]:
    return PageLinks(Head(PageTree(markup), url), settings=PagesSettings(**settings)).all()


def regions(markup: str) -> list[Region]:
    return [link.region for link in links(markup)]


def test_links_come_in_document_order_with_the_words_one_can_click() -> None:
    found = links("<p><a href=b>Second\n  <b>story</b></a> and <a href=/a>first</a></p>")
    assert [(link.url, link.anchor) for link in found] == [
        ("https://a.example/news/b", "Second story"),
        ("https://a.example/a", "first"),
    ]
    assert all(link.channel is Channel.LINK for link in found)


def test_only_http_links_to_other_pages_are_read() -> None:
    page = '<a href="mailto:x@y.example">m</a><a href="javascript:go()">j</a><a href="#top">t</a><a href>e</a>'
    assert links(page + '<a href="https://a.example/news/#part">self</a><a href="/other">o</a>') == (
        Link(Url("https://a.example/other"), "o"),
    )


@pytest.mark.parametrize(
    ("before", "region"),
    [
        ("<nav>", Region.NAV),
        ("<header>", Region.NAV),
        ("<div role=navigation>", Region.NAV),
        ('<div class="main-nav open">', Region.NAV),
        ("<div id=menu>", Region.NAV),
        ('<div class="site-header">', Region.NAV),
        ('<ul class="breadcrumbs">', Region.NAV),
        ("<footer>", Region.FOOTER),
        ("<footer><nav>", Region.FOOTER),
        ("<div role=contentinfo>", Region.FOOTER),
        ('<div class="page-footer dark">', Region.FOOTER),
        ("<aside>", Region.ASIDE),
        ("<aside><nav>", Region.NAV),
        ("<div id=sidebar>", Region.ASIDE),
        ('<section class="related-stories">', Region.ASIDE),
        ("<main><article><aside>", Region.ASIDE),
        ("<main>", Region.MAIN),
        ("<div>", Region.MAIN),
        ("<article><header>", Region.MAIN),
        ("<main><article><footer>", Region.MAIN),
        ('<div class="content with-sidebar">', Region.MAIN),
        ('<div class="unavailable navy">', Region.MAIN),
        ('<div class="card-footer">', Region.MAIN),
        ('<div class="has-menu"><main>', Region.MAIN),
    ],
)
def test_the_region_of_a_link_is_told_by_landmark_role_or_name(before: str, region: Region) -> None:
    assert regions(f"{before}<div><p><span><a href=/x>x</a></span>") == [region]


def test_a_class_of_the_body_says_nothing_about_regions() -> None:
    assert regions('<body class="nav header sidebar"><a href=/x>x</a>') == [Region.MAIN]


def test_links_in_one_box_and_links_beside_it_are_told_apart() -> None:
    page = (
        "<nav><a href=/1>1</a></nav><div><a href=/2>2</a></div><aside><p><a href=/3>3</a></p></aside><a href=/4>4</a>"
    )
    assert regions(page) == [Region.NAV, Region.MAIN, Region.ASIDE, Region.MAIN]


def test_a_url_is_listed_once_at_its_first_place() -> None:
    found = links("<nav><a href=/a>A in nav</a></nav><a href=/b>B</a><a href=/a>A in text</a>")
    assert [(link.url[-1], link.anchor, link.region) for link in found] == [
        ("a", "A in nav", Region.NAV),
        ("b", "B", Region.MAIN),
    ]


def test_a_link_without_words_takes_them_from_a_later_link_to_the_same_page() -> None:
    (found,) = links("<aside><a href=/a><img src=x></a></aside><h2><a href=/a rel=nofollow>The headline</a></h2>")
    assert found == Link(Url("https://a.example/a"), "The headline", Region.MAIN, ("nofollow",))


def test_words_win_over_the_description_of_a_picture() -> None:
    assert links('<a href=/a><img alt="A  dog"></a>')[0].anchor == "A dog"
    assert (
        links('<a href=/a><img alt="A dog"></a><a href=/a>Dog bites man</a><a href=/a>again</a>')[0].anchor
        == "Dog bites man"
    )
    assert links('<a href=/a aria-label="Read on"></a>')[0].anchor == "Read on"


def test_words_of_neighbouring_blocks_are_kept_apart() -> None:
    assert links("<a href=/a><h3>Flood</h3><p>Two missing</p></a>")[0].anchor == "Flood Two missing"


def test_rel_is_recorded() -> None:
    assert links('<a href=/a rel="NoFollow  sponsored">x</a>')[0].rel == ("nofollow", "sponsored")


def test_anchors_are_cut_at_their_cap() -> None:
    assert links(f"<a href=/a>{'word ' * 100}</a>", max_anchor=12)[0].anchor == "word word wo"


def test_a_base_element_is_honoured() -> None:
    page = '<base href="https://b.example/x/"><a href=y>y</a><a href=/z>z</a>'
    assert [link.url for link in links(page)] == ["https://b.example/x/y", "https://b.example/z"]


def test_a_relative_base_is_joined_to_the_page_and_a_useless_one_is_ignored() -> None:
    assert links("<base href=../sport/><a href=y>y</a>")[0].url == "https://a.example/sport/y"
    assert links("<base href=javascript:0><a href=y>y</a>")[0].url == "https://a.example/news/y"


def test_the_head_tells_feeds_canonical_url_and_next_page() -> None:
    page = """
        <link rel=alternate type="application/rss+xml" title="All  news" href="/rss"> <link rel=stylesheet href=/s.css>
        <link rel="alternate" type="Application/Atom+XML; charset=utf-8" href=atom> <link rel=canonical href=/home>
        <link rel=alternate type=application/feed+json href=/feed.json> <link rel=next href="?page=2">
        <link rel=alternate hreflang=fr href=/fr> <link rel=alternate type=application/json+oembed href=/oembed>
        <link rel=alternate media=handheld href=/m>"""
    assert [(link.url, link.channel, link.anchor) for link in links(page)] == [
        ("https://a.example/rss", Channel.ALTERNATE, "All news"),
        ("https://a.example/news/atom", Channel.ALTERNATE, ""),
        ("https://a.example/home", Channel.CANONICAL, ""),
        ("https://a.example/feed.json", Channel.ALTERNATE, ""),
        ("https://a.example/news/?page=2", Channel.LINK, ""),
    ]
    assert PageLinks(Head(PageTree(page), HOME)).canonical == "https://a.example/home"


def test_a_page_that_is_its_own_canonical_page_does_not_link_to_itself() -> None:
    page = "<link rel=canonical href=/news/>"
    assert links(page) == ()
    assert PageLinks(Head(PageTree(page), HOME)).canonical == HOME


def test_no_more_links_than_the_cap_are_read() -> None:
    page = "".join(f"<p><a href=/{number}>x</a>" for number in range(100_000))
    found = links(page, max_links=50)
    assert [link.url for link in found] == [f"https://a.example/{number}" for number in range(50)]


def test_a_memo_shared_by_pages_changes_nothing() -> None:
    memo = UrlMemo()
    tree = PageTree("<a href=/a>a</a><a href=b>b</a><a href=https://c.example/?utm_source=x>c</a>")
    for url in (HOME, Url("https://a.example/sport/"), HOME):
        assert PageLinks(Head(tree, url), memo=memo).all() == PageLinks(Head(tree, url)).all()


def test_a_link_in_a_drawing_does_not_hide_the_others() -> None:
    assert [link.url for link in links('<svg><a xlink:href="/map">x</a></svg><a href="/news">News</a>')] == [
        "https://a.example/news"
    ]


PAPER = Url("http://paper.example/")


def page(body: str, type: str = "text/html") -> Page:
    return Page(
        Response(PAPER, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", type),), body=body.encode())
    )


def item(name: str, time: str) -> str:
    return f"""<article><header><h2><a href="/{name}">{name}</a></h2></header><p>An excerpt. <a href="/{name}">More</a></p>
    <footer><time datetime="{time}">then</time> <a href="/tag/rain">rain</a></footer></article>"""


def test_times_beside_headlines_date_what_they_lead_to() -> None:
    items = [
        item("one", "1970-01-03T06:00:00+00:00"),
        item("two", "1970-01-02T01:00:00+01:00"),
        item("three", "1970-01-01"),
    ]
    found = page(f"<main>{''.join(items)}</main><aside><a href='/old'>old</a></aside>").latest_dates
    assert found == {f"{PAPER}one": 194_400.0, f"{PAPER}two": 86_400.0, f"{PAPER}three": 86_400.0 + 14 * 3600}


def test_the_time_of_a_page_itself_dates_no_link() -> None:
    story = (
        "<article><h1>Rain</h1><time datetime='1970-01-03T00:00:00Z'></time><h2><a href='/sun'>Sun</a></h2></article>"
    )
    assert page(story).latest_dates == {}
    assert page(item("one", "1970-01-03") + item("two", "1970-01-02")).latest_dates == {}


def test_a_sitemap_tells_when_pages_were_last_modified() -> None:
    body = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>http://paper.example/a</loc><lastmod>1970-01-02T06:00:00+00:00</lastmod></url>
    <url><loc>http://paper.example/b</loc></url></urlset>"""
    assert page(body, "application/xml").latest_dates == {f"{PAPER}a": 108_000.0}
