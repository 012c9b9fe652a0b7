"""A page that was read elsewhere answers as the page itself does."""

import msgspec
import pytest

from forager.pages.facts import Facts, facts_of, page_with
from forager.pages.reader import Page, read
from forager.pages.settings import PagesSettings
from forager.terms import Outcome, Response, Url

SETTINGS = PagesSettings()
HTML = b"""<html lang="en"><head><title>Bridge</title><link rel="canonical" href="/bridge">
<link rel="alternate" type="application/rss+xml" href="/feed" title="All news"></head>
<body><nav><a href="/">Home</a></nav><p><a href="/a"><img alt="A picture"></a> <a href="/a">Two
words</a> <a href="/b" rel="nofollow">B</a> <a href="/c"></a></p>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""
FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://a.example/</link>
<item><title>One</title><link>https://a.example/1</link><pubDate>Wed, 01 May 2024 09:00:00 GMT</pubDate></item>
<item><title>Two</title><link>https://a.example/2</link></item>
<item><title>One again</title><link>https://a.example/1</link></item></channel></rss>"""
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1</loc></url>
<url><loc>https://a.example/2</loc></url></urlset>"""


def both(body: bytes, kind: str = "text/html", told: set[Url] | None = None) -> tuple[Page, Page]:
    """The page read here, and the same page from its facts after a journey."""
    headers = (("content-type", kind),)
    response = Response(Url("https://a.example/x/y"), Outcome.FETCHED, 1.7e9, 0, 200, headers, body)
    page = read(response, settings=SETTINGS)
    sent = msgspec.msgpack.encode(facts_of(page, told))
    return page, page_with(response, msgspec.msgpack.decode(sent, type=Facts), SETTINGS)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(HTML, "text/html"), (FEED, "application/rss+xml"), (SITEMAP, "application/xml"), (b"<p>no link", "text/html")],
)
def test_links_told_are_the_links_read(body: bytes, kind: str) -> None:
    here, there = both(body, kind)
    assert there.targets == here.targets
    assert [there.link(target) for target in there.targets] == [here.link(target) for target in here.targets]
    assert there.links == here.links
    assert (there.kind, there.canonical, there.title, there.trouble) == (
        here.kind,
        here.canonical,
        here.title,
        here.trouble,
    )


def test_a_link_that_says_more_than_its_anchor_keeps_it_all() -> None:
    _, there = both(HTML)
    nofollow, plain = there.link(Url("https://a.example/b")), there.link(Url("https://a.example/a"))
    assert (nofollow.rel, nofollow.anchor) == (("nofollow",), "B")
    assert (plain.rel, plain.anchor) == ((), "Two words")
    assert there.link(Url("https://a.example/feed")).anchor == "All news"


def test_what_a_link_says_is_told_once_unless_it_says_more_than_a_text() -> None:
    page, _ = both(HTML)
    told: set[Url] = set()
    first, second = facts_of(page, told), facts_of(page, told)
    assert len(first.links) == len(page.targets) == 7
    assert [link.url.removeprefix("https://a.example") for link in second.links.values()] == ["/bridge", "/feed", "/b"]
    assert second.targets == first.targets


def test_a_link_told_with_another_page_is_read_here_when_somebody_asks() -> None:
    page, there = both(HTML, told={Url("https://a.example/a")})
    assert Url("https://a.example/a") not in there.related
    assert Url("https://a.example/b") in there.related
    assert there.link(Url("https://a.example/a")) == page.link(Url("https://a.example/a"))
    assert there.links == page.links


def test_a_link_is_plain_unless_an_anchor_or_the_head_says_more_of_it() -> None:
    page, there = both(HTML)
    plain = [target.removeprefix("https://a.example") for target in page.targets if target not in page.related]
    assert plain == ["/", "/a", "/c", "/imprint"]
    assert there.related == page.related


def test_a_feed_that_names_a_page_twice_leads_there_once() -> None:
    page, there = both(FEED, "application/rss+xml")
    assert page.targets == there.targets == ("https://a.example/1", "https://a.example/2")
