"""A paper as blogging software prints it: archives with excerpts, dates at the foot, feeds of comments, no types."""

from collections import Counter
from dataclasses import replace

import pytest

from forager.newsroom.newsroom_settings import Markup
from forager.pages.page import Page
from forager.settings import load_settings
from forager.terms import DateSource, Kind, Outcome, Response, Url
from tests.virtual import QUICK, Crawled, urls_asked


@pytest.fixture(scope="module")
def crawled() -> Crawled:
    """One busy blog, crawled for three hours at a request every three seconds."""
    settings = load_settings(None, [*QUICK, "newsroom.pace=40", "timetable.download_delay=3s"]).settings
    paper = replace(settings.newsroom.papers[2], markup=Markup.BLOG, feed="rss", deploy_date=False)
    return Crawled(replace(settings, newsroom=replace(settings.newsroom, papers=(paper,)))).run(3)


def page(crawled: Crawled, path: str) -> Page:
    newsroom, (base,) = crawled.newsroom, crawled.newsroom.bases.values()
    now = newsroom.settings.start + 3 * 3600
    answer = newsroom.reply(base, path, now).answer
    assert answer is not None
    return Page(
        Response(Url(base + path), Outcome.FETCHED, now, status=answer.status, headers=answer.headers, body=answer.body)
    )


def test_lists_are_lists_though_they_are_full_of_prose(crawled: Crawled) -> None:
    for path in ("/", "/local/", "/sport/", "/culture/"):
        assert page(crawled, path).kind is Kind.HUB


def test_an_article_is_dated_at_its_foot_and_not_by_the_sidebar(crawled: Crawled) -> None:
    now = crawled.newsroom.settings.start + 3 * 3600
    (site,) = (host.site for host in crawled.newsroom._hosts.values())
    shown = site.everything.latest(now, 40).articles
    dated = 0
    for article in shown:
        seen = page(crawled, article.path_at(now))
        assert seen.kind is Kind.ARTICLE
        if seen.published is not None and seen.published.source is DateSource.TIME:
            dated += abs(seen.published.time - article.published) < 1
    assert dated >= 0.85 * len(shown)  # some state no date, the day only, or a wrong one


def test_comments_have_feeds_that_lead_nowhere(crawled: Crawled) -> None:
    now = crawled.newsroom.settings.start + 3 * 3600
    (site,) = (host.site for host in crawled.newsroom._hosts.values())
    older = site.everything.latest(now - 4 * 3600, 400).articles
    article = next(one for one in older if one.number % 6 == 5 and one.visible(now))
    feed = page(crawled, f"{article.path_at(now)}/feed/")
    for one in (feed, page(crawled, "/comments/feed/")):
        assert one.kind is Kind.FEED
        assert b"#comment-" in one.response.body
        assert one.links == ()


def test_a_crawl_tells_stories_soon_and_nothing_else(crawled: Crawled) -> None:
    start, truth = crawled.newsroom.settings.start, crawled.newsroom.truth
    told = {story.url: story.at for story in crawled.stories}
    assert [url for url in told if truth.published(url) is None] == []
    published = truth.published_between(start + 1800, start + 10_000)
    late = sorted(told[each.url] - each.published for each in published if each.url in told)
    assert len(published) > 20
    assert len(late) >= 0.9 * len(published)
    assert late[len(late) // 2] < 400  # the feed is written anew every five minutes


def test_few_requests_go_to_feeds_of_comments_and_to_old_articles(crawled: Crawled) -> None:
    asked = Counter(url.endswith("/feed/") for url in urls_asked(crawled))
    assert any(url.endswith("/comments/feed/") for url in urls_asked(crawled))
    assert asked[True] <= 0.05 * asked.total()


def test_what_lists_say_of_the_age_of_articles_is_believed() -> None:
    """Three thousand articles whose addresses tell no date, crawled for an hour at a request every three seconds."""
    large = ("newsroom.pace=10", "newsroom.backlog=20d", "newsroom.days=0.5", "timetable.download_delay=3s")
    settings = load_settings(None, [*QUICK, *large]).settings
    paper = replace(settings.newsroom.papers[2], markup=Markup.BLOG, feed="rss", deploy_date=False)
    crawled = Crawled(replace(settings, newsroom=replace(settings.newsroom, papers=(paper,)))).run(1)
    start = crawled.newsroom.settings.start
    (site,) = (host.site for host in crawled.newsroom._hosts.values())
    articles = {one.path: one.published for one in site.everything.latest(start + 3600, 10_000).articles}
    asked = [request.target for request in crawled.newsroom.requests]
    old = [path for path in asked if articles.get(path, start) < start - 86_400]
    assert sum(published < start - 86_400 for published in articles.values()) > 3000
    assert len(old) <= 0.02 * len(asked)  # .05 before
    assert len(asked) <= 600  # 1,201 before: most were for lists of old articles
    assert len(crawled.stories) >= 140
