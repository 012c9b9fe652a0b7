"""Pages as stock WordPress writes them: archives with excerpts, dates in footers, comment feeds, undated pages."""

from forager.pages.feeds import read_feed
from forager.pages.page import Page
from forager.terms import DateSource, Kind, Outcome, Response, Url

NOW = 1_795_000_000.0
PROSE = "The council voted on Tuesday to close the harbour road for repairs that will last until spring. " * 8


def page(url: str, body: str, *, head: str = "", body_class: str = "") -> Page:
    html = f"<html><head><title>x</title>{head}</head><body class='{body_class}'>{body}</body></html>"
    return Page(
        Response(
            Url(url), Outcome.FETCHED, NOW, status=200, headers=(("content-type", "text/html"),), body=html.encode()
        )
    )


def teaser(number: int, excerpt: str) -> str:
    return (
        f"<article class='post'><header><h2 class='entry-title'><a href='/story-number-{number}/'>Headline of story "
        f"{number}</a></h2></header><div><p>{excerpt}</p></div></article>"
    )


def test_an_archive_with_excerpts_is_a_list_though_it_is_full_of_prose() -> None:
    teasers = "".join(teaser(number, f"{number} {PROSE}") for number in range(8))
    for url in ("https://a.example/2026/11/", "https://a.example/all-the-news-of-this-week/"):
        assert page(url, f"<main><h1>Sport</h1>{teasers}</main>").kind is Kind.HUB


def test_a_story_with_teasers_below_is_an_article() -> None:
    teasers = "".join(teaser(number, "A short lead of another story.") for number in range(8))
    story = f"<article><h1>The road is closed</h1><p>{PROSE}</p><p>1 {PROSE}</p></article>{teasers}"
    assert page("https://a.example/road-is-closed-until-spring/", f"<main>{story}</main>").kind is Kind.ARTICLE


def test_the_class_of_the_body_says_what_the_theme_knows() -> None:
    story = f"<main><h1>Sport</h1><p>{PROSE}</p></main>"
    assert page("https://a.example/sport-and-more-sport/", story, body_class="archive category").kind is Kind.HUB
    assert page("https://a.example/sport/", story, body_class="single single-post").kind is Kind.ARTICLE


def test_the_footer_of_the_article_states_its_date_and_the_footer_of_the_page_does_not() -> None:
    stamp = '<time class="entry-date published" datetime="2026-11-14T10:20:30+00:00">14 November</time>'
    story = f"<article><h1>A headline</h1><p>{PROSE}</p><footer class='entry-footer'>{stamp}</footer></article>"
    dated = page("https://a.example/a-headline-of-a-story/", story).published
    assert dated is not None and dated.exact and dated.source is DateSource.TIME
    below = f"<article><h1>A headline</h1><p>{PROSE}</p></article><footer>{stamp}</footer>"
    dated = page("https://a.example/a-headline-of-a-story/", below).published
    assert dated is None or dated.source is not DateSource.TIME


def test_dates_in_a_list_of_other_pages_do_not_date_this_one() -> None:
    entries = "".join(f"<li><a href='/s{n}/'>Story {n}</a> <span>November {n}, 2026</span></li>" for n in range(10, 15))
    imprint = f"<main><h1>Imprint</h1><p>{PROSE}</p></main><section><h2>Recent</h2><ul>{entries}</ul></section>"
    assert page("https://a.example/imprint/", imprint).published is None


def feed(*links: str) -> bytes:
    items = "".join(
        f"<item><title>Comment on X</title><link>{link}</link><pubDate>Sat, 14 Nov 2026 10:20:30 +0000</pubDate></item>"
        for link in links
    )
    return f"<?xml version='1.0'?><rss version='2.0'><channel><title>t</title>{items}</channel></rss>".encode()


def test_a_feed_of_comments_leads_nowhere_and_many_entries_for_a_page_do_not_date_it() -> None:
    url = Url("https://a.example/comments/feed/")
    by_place = read_feed(feed("https://a.example/a/#comment-1", "https://a.example/b/#comment-2"), url)
    by_number = read_feed(feed(*["https://a.example/a/"] * 5, "https://a.example/b/"), url)
    assert by_place is not None and by_place.links == ()
    assert by_number is not None and len(by_number.links) == 2
    assert all(link.published is None and link.title == "" for link in by_number.links)
    stories = read_feed(feed("https://a.example/a/", "https://a.example/b/"), url)
    assert stories is not None and all(link.published is not None for link in stories.links)


def test_the_feed_of_a_single_story_is_not_followed_and_the_feed_of_a_list_is() -> None:
    kind = "type='application/rss+xml'"
    head = "".join(f"<link rel='alternate' {kind} href='{path}'>" for path in ("/feed/", "/a-long-story-about/feed/"))
    story = page("https://a.example/a-long-story-about/", f"<main><h1>t</h1><p>{PROSE}</p></main>", head=head)
    assert story.kind is Kind.ARTICLE
    assert story.targets == (Url("https://a.example/feed/"),) == tuple(link.url for link in story.links)
    head = f"<link rel='alternate' {kind} href='/sport/feed/'>"
    teasers = "".join(teaser(number, PROSE) for number in range(5))
    section = page("https://a.example/sport/", f"<main>{teasers}</main>", head=head)
    assert Url("https://a.example/sport/feed/") in section.targets
