"""Feeds and sitemaps made of anything: reading never raises, and what is written well is read back."""

from datetime import UTC, datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from forager.pages.feeds import read_feed
from forager.pages.sitemaps import read_sitemap
from forager.terms import Channel, Url

HERE = Url("https://gazette.example/feed")
_PIECES = """
<rss> <channel> <item> <link> </link> </item> <feed> <entry> <title> & &nbsp; &amp; <![CDATA[ ]]> <!-- --> /a http://b.c/
<urlset> <url> <loc> </loc> </url> <sitemapindex> { } [ ] " ' = ÿ 中 <?xml ?> <!DOCTYPE <guid> <pubDate> 2022
"""
PIECES = st.sampled_from([*_PIECES.split(), "\x00", "\x0b", " ", "\n"])
TITLES = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30).filter(
    lambda title: "&" not in title and "<" not in title
)
TIMES = st.integers(631_152_001, 4_000_000_000).filter(lambda time: time % 86_400 != 0)  # midnight is a bare day


@given(st.lists(PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode()) | st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_reading_never_raises(body: bytes) -> None:
    for document in (
        body,
        b"<rss>" + body,
        b"<urlset>" + body,
        b'{"version":"https://jsonfeed.org/version/1","items":' + body,
    ):
        read_feed(document, HERE)
        read_sitemap(document, HERE)


@given(st.lists(st.tuples(TITLES, TIMES), max_size=8))
@settings(deadline=None)
def test_what_is_written_into_a_feed_is_read_from_it(stories: list[tuple[str, int]]) -> None:
    items = "".join(
        f"<item><title>{escape(title)}</title><link>/{number}</link>"
        f"<pubDate>{format_datetime(datetime.fromtimestamp(time, UTC))}</pubDate></item>"
        for number, (title, time) in enumerate(stories)
    )
    feed = read_feed(f"<rss version='2.0'><channel>{items}</channel></rss>".encode(), HERE)
    assert feed is not None
    assert [(link.title, link.published) for link in feed.links] == stories
    assert all(link.channel is Channel.FEED for link in feed.links)
