"""Sitemaps of all kinds, whole, broken and hostile."""

import gzip
import zlib
from datetime import UTC, datetime

import pytest

from forager.pages.markup import inflated_body
from forager.pages.sitemaps import BYTE_CAP, URL_CAP, Sitemap, read_sitemap
from forager.terms import Channel, Link, Url

HERE = Url("https://gazette.example/sitemap.xml")
MORNING = datetime(2022, 3, 14, 9, 30, tzinfo=UTC).timestamp()


def page(path: str, published: float | None = None, title: str = "") -> Link:
    return Link(Url(f"https://gazette.example{path}"), channel=Channel.SITEMAP, published=published, title=title)


PLAIN = """<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://gazette.example/a?x=1&amp;y=2 </loc><lastmod>2022-03-14</lastmod></url>
<url><loc>/b</loc></url><!-- a comment --><url><lastmod>2022-03-14</lastmod></url></urlset>"""
TWO_PAGES = Sitemap(links=(page("/a?x=1&y=2"), page("/b")))

NEWS = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><image:image><image:loc>/picture.jpg</image:loc><image:title>A picture</image:title></image:image>
<loc>/a</loc><n:news><n:publication><n:name>The Gazette</n:name></n:publication>
<n:publication_date>2022-03-14T10:30:00+01:00</n:publication_date><n:title>Bridge &amp; mill</n:title></n:news>
</url></urlset>"""
ONE_STORY = Sitemap(links=(page("/a", MORNING, "Bridge & mill"),))


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.encode(),
        gzip.compress(PLAIN.encode(), mtime=0),
        PLAIN.replace("&amp;", "&").encode(),
        PLAIN.replace(' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', "").encode(),
        PLAIN.replace(
            "https://gazette.example/a?x=1&amp;y=2", "<![CDATA[https://gazette.example/a?x=1&y=2]]>"
        ).encode(),
        PLAIN.replace("UTF-8", "UTF-16").encode("utf-16"),
        ("\ufeff" + PLAIN).encode(),
        PLAIN.removesuffix("</urlset>").encode(),
        b"https://gazette.example/a?x=1&y=2\r\n\r\nhttps://gazette.example/b\nhttps://gazette.example/b\n",
    ],
    ids=["xml", "gzip", "bare-&", "no-namespace", "cdata", "utf-16", "bom", "unclosed", "text"],
)
def test_a_sitemap_is_read_however_it_comes(body: bytes) -> None:
    assert read_sitemap(inflated_body(body, BYTE_CAP), HERE) == TWO_PAGES


def test_a_news_sitemap_gives_date_and_title() -> None:
    assert read_sitemap(NEWS.encode(), HERE) == ONE_STORY


def test_a_prefix_that_was_never_declared_is_tolerated() -> None:
    undeclared = NEWS.replace('xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"', "")
    assert read_sitemap(undeclared.encode(), HERE) == ONE_STORY


def test_an_index_lists_sitemaps() -> None:
    index = (
        "<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.xml.gz</loc></sitemap></sitemapindex>"
    )
    assert read_sitemap(index.encode(), HERE) == Sitemap(sitemaps=(page("/one.xml"), page("/two.xml.gz")))


def test_a_cut_sitemap_gives_what_came_before_the_cut() -> None:
    whole = "<urlset>" + "".join(f"<url><loc>/{number}</loc></url>" for number in range(1000)) + "</urlset>"
    half = read_sitemap(whole.encode()[: len(whole) // 2], HERE)
    packed = read_sitemap(inflated_body(gzip.compress(whole.encode())[:-500], BYTE_CAP), HERE)
    assert half is not None and packed is not None
    assert 480 <= len(half.links) <= 520  # half of a thousand, but for longer numbers at the end
    assert packed.links[:100] == half.links[:100]


def test_urls_beyond_the_cap_are_left_out() -> None:
    body = "<urlset>" + "".join(f"<url><loc>/{number}</loc></url>" for number in range(URL_CAP + 5)) + "</urlset>"
    sitemap = read_sitemap(body.encode(), HERE)
    assert sitemap is not None
    assert len(sitemap.links) == URL_CAP


def test_a_gzip_bomb_is_unpacked_no_further_than_the_cap() -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = packer.compress(b"<urlset><url><loc>/a</loc></url>")
    for _ in range(8):
        bomb += packer.compress(b" " * (BYTE_CAP // 4))
    bomb += packer.compress(b"<url><loc>/late</loc></url></urlset>") + packer.flush()
    assert read_sitemap(inflated_body(bomb, BYTE_CAP), HERE) == Sitemap(links=(page("/a"),))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no sitemap",
        b"<html><body><a href=/a>a</a></body></html>",
        b"<rss><channel/></rss>",
        b"\x1f\x8bnot really gzip",
        b'<!DOCTYPE urlset [<!ENTITY a "ha">]><urlset><url><loc>/&a;</loc></url></urlset>',
    ],
)
def test_what_is_no_sitemap_is_nothing(body: bytes) -> None:
    assert read_sitemap(body, HERE) is None


def test_nesting_without_end_is_survived() -> None:
    assert read_sitemap(b"<urlset>" + b"<url>" * 1_000_000, HERE) == Sitemap()
