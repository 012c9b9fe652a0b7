"""Feeds of all kinds, whole, broken and hostile."""

import json
from datetime import UTC, datetime

import pytest

from forager.pages.feeds import ENTRY_CAP, Feed, entry_prints, read_feed
from forager.terms import Channel, Link, Url

HERE = Url("https://gazette.example/news/feed.xml")
MORNING = datetime(2022, 3, 14, 9, 30, tzinfo=UTC).timestamp()
STORY = Link(Url("https://gazette.example/a?x=1&y=2"), channel=Channel.FEED, published=MORNING, title="Bridge & mill")

RSS = """<rss version="2.0"><channel><title>The Gazette</title><link>https://gazette.example/</link>
<item><title>Bridge &amp; mill</title><link>/a?x=1&amp;y=2</link><pubDate>Mon, 14 Mar 2022 04:30:00 EST</pubDate></item>
</channel></rss>"""

RSS_1 = """<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>The Gazette</title></channel>
<item rdf:about="https://gazette.example/a?x=1&amp;y=2"><title>Bridge &amp;amp; mill</title>
<dc:date>2022-03-14T10:30:00+01:00</dc:date></item></rdf:RDF>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://gazette.example/"><title>The Gazette</title>
<entry><title type="html">&lt;b&gt;Bridge&lt;/b&gt; &amp;amp; mill</title>
<link rel="enclosure" href="/sound.mp3"/><link rel="alternate" type="application/json" href="/a.json"/>
<link rel="alternate" type="text/html" href="a?x=1&amp;y=2"/>
<updated>2022-03-15T00:00:00Z</updated><published>2022-03-14T09:30:00Z</published></entry></feed>"""

JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "The Gazette",
        "items": [{"id": "1", "url": "/a?y=2&x=1", "title": "Bridge & mill", "date_published": "2022-03-14T09:30:00Z"}],
    }
)

BARE_AMPERSANDS = RSS.replace("&amp;", "&")
UNKNOWN_ENTITY = RSS.replace("Bridge &amp;", "Bridge&nbsp;&amp;")
CDATA = RSS.replace("/a?x=1&amp;y=2", "<![CDATA[ /a?x=1&y=2 ]]>")
CDATA_AND_BARE = CDATA.replace("Bridge &amp; mill", "Bridge & mill")
UNCLOSED = RSS.replace("</item>", "<description><p>Torn<br></description></item>")
PERMALINK = RSS.replace("<link>/a?x=1&amp;y=2</link>", "<guid>https://gazette.example/a?x=1&amp;y=2</guid>")
CLICKS = RSS.replace(
    "</item>", "<f:origLink xmlns:f='urn:x'>https://gazette.example/a?x=1&amp;y=2</f:origLink></item>"
).replace("<link>/a?x=1&amp;y=2</link>", "<link>https://clicks.example/1</link>")


@pytest.mark.parametrize(
    "feed",
    [RSS, RSS_1, ATOM, JSON, BARE_AMPERSANDS, UNKNOWN_ENTITY, CDATA, CDATA_AND_BARE, UNCLOSED, PERMALINK, CLICKS],
    ids=["rss", "rss-1.0", "atom", "json", "bare-&", "nbsp", "cdata", "cdata-and-bare-&", "torn", "guid", "feedburner"],
)
def test_every_kind_of_feed_gives_the_same_link(feed: str) -> None:
    assert read_feed(feed.encode(), HERE) == Feed("The Gazette", (STORY,))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_feeds_come_in_wide_encodings(encoding: str) -> None:
    body = ('<?xml version="1.0" encoding="utf-16"?>' + RSS).encode(encoding)
    assert read_feed(body, HERE) == Feed("The Gazette", (STORY,))


def test_the_server_s_encoding_holds_if_the_feed_names_none() -> None:
    feed = read_feed(RSS.replace("mill", "Mühle").encode("latin-1"), HERE, "text/xml; charset=iso-8859-1")
    assert feed is not None
    assert feed.links[0].title == "Bridge & Mühle"


def test_a_guid_that_is_no_permalink_is_no_address() -> None:
    body = PERMALINK.replace("<guid>", '<guid isPermaLink="false">').encode()
    assert read_feed(body, HERE) == Feed("The Gazette", ())


def test_an_address_is_given_once_and_other_schemes_not_at_all() -> None:
    items = "<item><link>/a</link></item><item><link>/a#top</link></item><item><link>javascript:x()</link></item>"
    feed = read_feed(f"<rss><channel>{items}</channel></rss>".encode(), HERE)
    assert feed == Feed("", (Link(Url("https://gazette.example/a"), channel=Channel.FEED),))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"{",
        b"<html><body>No feed</body></html>",
        b"\x89PNG\r\n",
        b"http://a.b/",
        b"<urlset></urlset>",
    ],
)
def test_what_is_no_feed_is_nothing(body: bytes) -> None:
    assert read_feed(body, HERE) is None


def test_entity_declarations_are_refused() -> None:
    laughs = '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>' + RSS.replace("Gazette", "&b;")
    outside = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + RSS.replace("Gazette", "&x;")
    assert read_feed(laughs.encode(), HERE) is None
    assert read_feed(outside.encode("utf-16"), HERE) is None


@pytest.mark.parametrize("depth", [50_000, 2_000_000])
def test_nesting_without_end_gives_no_links(depth: int) -> None:
    feed = read_feed(b"<rss><channel>" + b"<a>" * depth, HERE)
    assert feed is None or feed.links == ()


def test_entries_beyond_the_cap_are_left_out() -> None:
    items = "".join(f"<item><link>/{number}</link></item>" for number in range(ENTRY_CAP + 5))
    feed = read_feed(f"<rss><channel>{items}</channel></rss>".encode(), HERE)
    assert feed is not None
    assert len(feed.links) == ENTRY_CAP


def test_a_huge_feed_is_cut_and_read_as_far_as_that_goes() -> None:
    body = b"<rss><channel>" + b"<item><link>/a</link></item>" + b"<x>padding</x>" * 1_000_000
    feed = read_feed(body, HERE)
    assert feed is not None
    assert [link.url for link in feed.links] == ["https://gazette.example/a"]


def test_an_entry_that_says_something_else_of_its_page_has_another_print() -> None:
    entry = (
        "<item><link>http://paper.example/storm</link><title>Storm</title><description>It rains.</description>"
        '<content:encoded xmlns:content="c">{text}</content:encoded>'
        '<slash:comments xmlns:slash="s">{count}</slash:comments></item>'
    )

    def prints(text: str, count: int) -> dict[Url, int]:
        item = entry.format(text=text, count=count)
        return entry_prints(
            f"<rss><channel><title>Paper</title>{item}</channel></rss>".encode(), Url("http://paper.example/feed/")
        )

    first = prints("It rains in the north.", 0)
    assert list(first) == [Url("http://paper.example/storm")]
    assert prints("It rains in the north.", 7) == first  # a comment is no correction
    assert prints("It rains in the south.", 0) != first
    assert entry_prints(b"<rss", Url("http://paper.example/feed/")) == {}
