"""The newsroom as a web: what it publishes, how it answers, and what it knows of itself."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from selectolax.lexbor import LexborHTMLParser

from forager.chance import stream
from forager.clock import LoopClock, run_virtual
from forager.newsroom.newsroom import Newsroom, Published
from forager.newsroom.newsroom_settings import FeedFormat, Honesty, NewsroomSettings, Paper, Section
from forager.newsroom.plan import NewsPlan, hourly_rates, make_plan, publication_times
from forager.terms import Outcome, Request, Response, Trouble, Url, Validators
from forager.web.robots import RobotsRules
from tests.newsroom_truth import whole_truth

SETTINGS = NewsroomSettings(days=4, latency=0.0)
DAY = 86400.0
NOON = SETTINGS.start + 2.5 * DAY
NOTHING = Validators()


class Still:
    """A clock that stands until it is set."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += max(0.0, seconds)


@cache
def plan_of(settings: NewsroomSettings) -> NewsPlan:
    return make_plan(settings)


def newsroom(settings: NewsroomSettings = SETTINGS, at: float = NOON) -> Newsroom:
    return Newsroom(settings, Still(at), plan=plan_of(settings))


async def get(room: Newsroom, url: str, at: float | None = None, validators: Validators = NOTHING) -> Response:
    if at is not None:
        room.clock = Still(at)
    return await room.fetch(Request(Url(url), validators))


def main_text(body: bytes) -> str:
    return LexborHTMLParser(body).css_first("article").text()


def hrefs(base: str, body: bytes) -> list[str]:
    """The links of a page without tracking parameters, absolute."""
    found = [node.attributes["href"] or "" for node in LexborHTMLParser(body).css("body a[href]")]
    return [re.sub(r"\?utm.*", "", href if "://" in href else base + href) for href in found]


def story(room: Newsroom, **wanted: bool) -> Published:
    """The first story before noon whose article has (or lacks) each of these."""
    return next(
        s
        for s in room.truth.published_between(0, NOON - 2 * DAY)
        if all(bool(getattr(s.article, name)) == value for name, value in wanted.items())
    )


# What is published


def test_the_expected_articles_of_a_week_are_seven_days_of_the_rate():
    _, expected = hourly_rates(24.0, 0.5, SETTINGS.start, SETTINGS.start + 7 * DAY)
    assert np.isclose(expected.sum(), 7 * 24.0)
    # weekdays w, weekend days w/2: 5w + 2w/2 = 7 · 24, so w = 28 and a Saturday has 14; the start is a Monday
    assert np.isclose(expected[:24].sum(), 28) and np.isclose(expected[5 * 24 : 6 * 24].sum(), 14)


def test_a_part_of_an_hour_counts_as_a_part():
    _, whole = hourly_rates(24.0, 1.0, SETTINGS.start, SETTINGS.start + 3600)
    _, part = hourly_rates(24.0, 1.0, SETTINGS.start + 900, SETTINGS.start + 1800)
    assert np.isclose(part.sum(), whole.sum() / 4)


def test_every_section_publishes_at_its_rate():
    settings = replace(SETTINGS, days=18)
    plan = plan_of(settings)
    since, until = settings.start - settings.backlog, settings.start + settings.days * DAY
    for p, paper in enumerate(settings.papers):
        for s, section in enumerate(paper.sections):
            own = [a for a in plan.articles if (a.paper, a.section, a.copy_of) == (p, s, None)]
            expected = hourly_rates(section.per_day, settings.weekend, since, until)[1].sum()
            print(f"{paper.name} {section.name}: {len(own)} articles, {expected:.1f} expected")
            assert abs(len(own) - expected) < 4 * np.sqrt(expected)  # 4 standard errors of a Poisson count


def test_mornings_are_busy_and_nights_are_quiet():
    times = publication_times(500.0, 0.6, SETTINGS.start, SETTINGS.start + 14 * DAY, stream(1, "test"))
    hours = np.bincount((times // 3600 % 24).astype(int), minlength=24)
    # the table says 0.2 at two o'clock and 1.8 at eight; the sum of the 24 hours is 25.4 of those
    for hour, weight in ((2, 0.2), (8, 1.8)):
        expected = len(times) * weight / 25.4
        assert abs(hours[hour] - expected) < 4 * np.sqrt(expected)


def test_without_rhythm_all_hours_are_alike():
    _, expected = hourly_rates(24.0, 1.0, SETTINGS.start, SETTINGS.start + DAY, rhythm=0.0)
    assert np.allclose(expected, 1.0)


def test_the_default_site_publishes_between_100_and_200_articles_a_day():
    plan = plan_of(NewsroomSettings())
    assert 100 < len(plan.articles) / 22 < 200  # 18 days and 4 of backlog


def test_pace_multiplies_the_number_of_articles():
    slow, fast = plan_of(replace(SETTINGS, wire=0.0)), plan_of(replace(SETTINGS, wire=0.0, pace=3.0))
    assert abs(len(fast.articles) - 3 * len(slow.articles)) < 4 * np.sqrt(len(fast.articles) + 9 * len(slow.articles))


def test_there_is_a_backlog_at_the_start_and_nothing_after_the_end():
    truth = whole_truth(newsroom())
    assert truth.published_between(SETTINGS.start - SETTINGS.backlog, SETTINGS.start)
    assert not truth.published_between(0, SETTINGS.start - SETTINGS.backlog)
    assert not truth.published_between(SETTINGS.start + SETTINGS.days * DAY, np.inf)


def test_copies_stand_on_another_host_later_with_nearly_the_same_text():
    room = newsroom()
    by_url = {s.url: s for s in room.truth.stories}
    copies = [s for s in room.truth.stories if s.copy_of]
    assert len(copies) > 10
    for copy in copies:
        original = by_url[copy.copy_of]
        assert original.paper != copy.paper and original.published < copy.published and original.copy_of is None
        first = [x for p in room.plan.writer.text(original.article, 0).paragraphs for x in p]
        second = [x for p in room.plan.writer.text(copy.article, 0).paragraphs for x in p]
        assert len(second) == len(first) + 1 and len(set(first) - set(second)) <= 1  # one sentence anew, a credit line


def test_no_two_stories_have_the_same_text_unless_one_copies_the_other():
    plan = plan_of(SETTINGS)
    texts = {plan.writer.text(article, 0).paragraphs for article in plan.articles}
    assert len(texts) == len(plan.articles)


def test_pages_of_a_section_share_words_that_other_sections_lack():
    plan = plan_of(SETTINGS)

    def words(section: str) -> set[str]:
        of_section = [a for a in plan.articles if plan.topics[a.topic].section == section][:30]
        return {
            word
            for article in of_section
            for paragraph in plan.writer.text(article, 0).paragraphs
            for word in re.findall(r"[a-z-]{4,}", " ".join(paragraph))
        }

    assert {"treaty", "embassy", "summit"} <= words("world") - words("sport")
    assert {"goal", "referee", "stadium"} <= words("sport") - words("world")


# How it answers


async def test_the_home_page_has_as_many_links_as_that_of_a_newspaper():
    for home in newsroom().homes:
        response = await get(newsroom(), home)
        assert response.outcome is Outcome.FETCHED
        assert 50 <= response.body.count(b"<a ") <= 110


async def test_article_pages_have_the_size_of_real_ones():
    room = newsroom()
    sizes = [len((await get(room, s.url)).body) for s in room.truth.published_between(0, NOON)[:200]]
    whole = [size for size in sizes if size > 1000]  # not the removed and moved ones
    assert len(whole) > 180 and min(whole) > 12_000 and max(whole) < 45_000


async def test_before_its_publication_an_article_is_not_there():
    room = newsroom()
    chosen = story(room, removed=False, moved=False)
    assert (await get(room, chosen.url, chosen.published - 1)).status == 404
    assert (await get(room, chosen.url, chosen.published)).status == 200


async def test_a_removed_article_answers_410_from_then_on():
    room = newsroom()
    gone = story(room, removed=True)
    removed = whole_truth(room).removed(gone.url)
    assert (await get(room, gone.url, removed - 1)).status == 200
    response = await get(room, gone.url, removed)
    assert response.status == 410 and response.outcome is Outcome.GONE
    assert whole_truth(room).version_of(gone.url, removed) is None


async def test_a_moved_article_redirects_to_its_new_url():
    room = newsroom()
    moved = story(room, moved=True)
    base, article = room.bases[moved.paper], moved.article
    assert (await get(room, base + article.moved_path, article.moved - 1)).status == 404
    response = await get(room, moved.url, article.moved)
    assert response.outcome is Outcome.MOVED and response.header("location") == base + article.moved_path
    assert main_text((await get(room, response.header("location"))).body) != ""


async def test_an_unknown_path_is_gone_and_an_unknown_host_has_no_address():
    room = newsroom()
    assert (await get(room, f"{room.homes[0]}nowhere")).status == 404
    response = await get(room, "http://tribune.example/")
    assert response.outcome is Outcome.FAILED and response.trouble is Trouble.DNS


async def test_a_live_blog_changes_often_and_shows_its_entries():
    room = newsroom()
    blog = story(room, live=True, removed=False, moved=False)
    changes = whole_truth(room).changes_of(blog.url, 0, np.inf)
    assert len(changes) > 10  # 30 expected
    page = LexborHTMLParser((await get(room, blog.url, changes[-1])).body)
    assert len(page.css("p.entry")) == sum(change.shift == "entry" for change in blog.article.changes)


async def test_each_host_states_its_dates_in_its_own_way():
    room = newsroom(replace(SETTINGS, missing_dates=0.0, day_dates=0.0, future_dates=0.0))
    for paper, pattern in (
        ("gazette", r'"datePublished": "([^"]*)"'),
        ("herald", r'<meta property="article:published_time" content="([^"]*)"'),
        ("courier", r'<time datetime="([^"]*)"'),
    ):
        chosen = next(
            s for s in room.truth.stories if s.paper == paper and s.article.visible(NOON) and not s.article.moved
        )
        body = (await get(room, chosen.url)).body.decode()
        stated = re.search(pattern, body)[1]
        assert stated == f"{np.datetime64(int(chosen.published), 's')}Z"
        assert ('<meta name="date" content="2026-02-26">' in body) == (paper == "courier")  # the day of deployment


@pytest.mark.parametrize(
    ("trouble", "stated"),
    [
        ({"missing_dates": 1.0}, lambda published: None),
        ({"day_dates": 1.0}, lambda published: str(np.datetime64(int(published), "s"))[:10]),
        ({"future_dates": 1.0}, lambda published: f"{np.datetime64(int(published + 5 * DAY), 's')}Z"),
    ],
)
async def test_dates_can_be_missing_rough_or_in_the_future(trouble, stated):
    room = newsroom(replace(SETTINGS, **({"missing_dates": 0.0, "day_dates": 0.0, "future_dates": 0.0} | trouble)))
    chosen = next(
        s for s in room.truth.stories if s.paper == "herald" and s.article.visible(NOON) and not s.article.moved
    )
    found = re.search(r'article:published_time" content="([^"]*)"', (await get(room, chosen.url)).body.decode())
    assert (found and found[1]) == stated(chosen.published)


async def test_robots_txt_forbids_a_folder_names_the_sitemaps_and_may_ask_for_a_delay():
    for delay, expected in ((0.0, 0.0), (2.5, 2.5)):
        room = newsroom(replace(SETTINGS, crawl_delay=delay))
        rules = RobotsRules.read((await get(room, f"{room.homes[0]}robots.txt")).body.decode())
        assert not rules.allows(f"{room.homes[0]}internal/login", "forager")
        assert rules.allows(f"{room.homes[0]}world/", "forager")
        assert rules.crawl_delay("forager") == expected
        assert list(rules.sitemaps) == [f"{room.homes[0]}sitemap.xml", f"{room.homes[0]}sitemap-news.xml"]
        assert f"{room.homes[0]}internal/login" in hrefs(room.bases["gazette"], (await get(room, room.homes[0])).body)


async def test_feeds_show_the_newest_stories_first_and_no_more_than_asked_for():
    room = newsroom(replace(SETTINGS, feed_length=7))
    for paper, path, pattern in (
        ("gazette", "/feed.xml", r"<item>.*?<link>([^<]*)</link>"),
        ("herald", "/atom.xml", r'<entry>.*?<link href="([^"]*)"'),
    ):
        body = (await get(room, room.bases[paper] + path)).body.decode()
        times = [room.truth.published(Url(url)) for url in re.findall(pattern, body)]
        assert len(times) == 7 and times == sorted(times, reverse=True)
    items = json.loads((await get(room, room.bases["courier"] + "/feed.json")).body)["items"]
    assert len(items) == 7 and all(room.truth.article(Url(item["url"])) for item in items)


async def test_quiet_sections_are_in_no_feed_no_sitemap_and_not_on_the_home_page():
    room = newsroom()
    quiet = [s for s in room.truth.published_between(0, NOON) if s.section == "opinion"]
    assert len(quiet) > 3
    for path in ("/", "/atom.xml", "/sitemap-news.xml", "/sitemap-2026-02.xml", "/sitemap-2026-03.xml"):
        body = (await get(room, room.bases["herald"] + path)).body.decode()
        assert not any(s.article.path in body for s in quiet)
    listed = hrefs(room.bases["herald"], (await get(room, f"{room.bases['herald']}/opinion/")).body)
    assert quiet[-1].url in listed


async def test_the_sitemap_index_leads_to_every_story_that_is_not_quiet():
    room = newsroom()
    base = room.bases["gazette"]
    index = re.findall("<loc>([^<]*)</loc>", (await get(room, f"{base}/sitemap.xml")).body.decode())
    found = {url for name in index for url in re.findall("<loc>([^<]*)", (await get(room, name)).body.decode())}
    written = NOON // SETTINGS.sitemap_every * SETTINGS.sitemap_every
    for s in room.truth.published_between(0, written):
        if s.paper == "gazette" and s.article.visible(written):
            assert base + s.article.path_at(written) in found


async def test_the_archive_of_a_section_leads_to_all_its_stories():
    room = newsroom()
    base, page, found = room.bases["gazette"], f"{room.bases['gazette']}/breaking/", set()
    while page:
        body = (await get(room, page)).body
        found |= set(hrefs(base, body))
        older = re.search(r'<a href="([^"]*)">Older</a>', body.decode())
        page = base + older[1] if older else ""
    wanted = [s for s in room.truth.published_between(0, NOON + 1) if (s.paper, s.section) == ("gazette", "breaking")]
    assert len(wanted) > SETTINGS.list_length
    assert all(base + s.article.path_at(NOON) in found for s in wanted if s.article.visible(NOON))
    assert (await get(room, f"{base}/breaking/?page=999")).status == 404


async def test_a_page_carries_exactly_the_links_its_truth_names_and_those_of_the_most_read_box():
    room = newsroom()
    for url in (*room.homes, room.truth.published_between(0, NOON)[99].url, Url(f"{room.homes[1]}politics/?page=2")):
        body = (await get(room, url)).body
        noise = LexborHTMLParser(body).css("aside a")
        base = "/".join(url.split("/")[:3])
        box = {base + re.sub(r"\?utm.*", "", node.attributes["href"] or "") for node in noise}
        assert len(box) == 5 and set(hrefs(base, body)) - box == set(whole_truth(room).links_of(url, NOON)) - box


async def test_a_rewired_site_never_links_to_an_article_before_its_publication():
    room = newsroom(replace(SETTINGS, rewired=True))
    related = [
        (s, other) for s in room.truth.published_between(0, NOON) for other in room.plan.related[s.article.number]
    ]
    assert any(room.plan.articles[other].published > NOON for _, other in related)
    for chosen in room.truth.published_between(0, NOON)[::10]:
        for url in whole_truth(room).links_of(chosen.url, NOON):
            assert (await get(room, url)).status in (200, 301, 410)


async def test_tracking_parameters_lead_to_the_same_article():
    room = newsroom()
    chosen = story(room, removed=False, moved=False)
    plain, tracked = await get(room, chosen.url), await get(room, f"{chosen.url}?utm_source=mostread&utm_medium=box")
    assert main_text(plain.body) == main_text(tracked.body)
    assert f'<link rel="canonical" href="{chosen.url}">' in tracked.body.decode()


async def test_a_host_with_useless_validators_never_says_unchanged_and_one_without_has_none():
    room = newsroom()
    first = await get(room, room.homes[2])
    again = await get(room, room.homes[2], NOON + 1, Validators(first.header("etag")))
    assert again.status == 200 and again.header("etag") != first.header("etag")
    silent = replace(SETTINGS, papers=(replace(SETTINGS.papers[0], validators=Honesty.ABSENT),))
    response = await get(newsroom(silent), newsroom(silent).homes[0])
    assert (response.header("etag"), response.header("last-modified")) == ("", "")


async def test_an_etag_decides_alone_when_both_validators_are_sent():
    room = newsroom()
    first = await get(room, room.homes[0])
    later = Validators('W/"other"', first.header("last-modified"))
    assert (await get(room, room.homes[0], validators=later)).status == 200
    assert (await get(room, room.homes[0], validators=Validators("", first.header("last-modified")))).status == 304


async def test_a_body_limit_cuts_the_body():
    room = newsroom()
    response = await room.fetch(Request(room.homes[0], body_limit=1000))
    assert len(response.body) == response.wire_bytes == 1000


# Trouble, traps and the log


async def test_servers_have_as_much_trouble_as_asked_for():
    room = newsroom(replace(SETTINGS, errors=0.1, busy=0.2, resets=0.05, slow=0.1, slow_for=20.0, latency=0.0))
    answers = [await get(room, room.homes[0], NOON + second) for second in range(0, 4000, 2)]
    assert {r.header("retry-after") for r in answers if r.status == 503} == {"30"}
    assert all(r.trouble is Trouble.CONNECT and r.outcome is Outcome.FAILED for r in answers if r.status == 0)
    for share, count in (
        (0.1, sum(r.status == 500 for r in answers)),
        (0.2, sum(r.status == 503 for r in answers)),
        (0.05, sum(r.status == 0 for r in answers)),
        (0.1, sum(r.seconds == 20.0 for r in answers)),
    ):
        assert abs(count - 2000 * share) < 4 * np.sqrt(2000 * share * (1 - share))  # 4 standard errors


async def test_by_default_there_is_no_trouble_and_no_trap():
    room = newsroom()
    answers = [await get(room, room.homes[0], NOON + second) for second in range(500)]
    assert {r.status for r in answers} == {200}
    assert (await get(room, f"{room.homes[0]}calendar/2026-03-02")).status == 404


async def test_traps_have_no_end():
    room = newsroom(replace(SETTINGS, traps=True))
    base, page = room.bases["gazette"], f"{room.bases['gazette']}/calendar/2026-03-02"
    for _ in range(50):
        page = next(
            href
            for href in reversed(hrefs(base, (await get(room, page)).body))
            if "/calendar/" in href and href != page and not href.endswith("2026-03-02")
        )
    assert page.endswith("/calendar/2027-02-15")  # 50 weeks later
    search = hrefs(base, (await get(room, f"{base}/search?sort=new&form=video")).body)
    assert any("sort=new" in href and "form=video" in href and "length=long" in href for href in search)
    sessions = {re.search(rb"sid=(\w+)", (await get(room, base + "/", NOON + 60 * i)).body)[1] for i in range(3)}
    assert len(sessions) == 3


async def test_the_server_remembers_what_was_asked():
    room = newsroom(replace(SETTINGS, log=2))
    await get(room, room.homes[0])
    first = await get(room, f"{room.homes[1]}politics/?page=2")
    await get(room, f"{room.homes[1]}politics/?page=2", NOON + 1, Validators(first.header("etag")))
    asked, again = room.requests  # the first request is forgotten
    assert (asked.at, asked.paper, asked.target, asked.status) == (NOON, "herald", "/politics/?page=2", 200)
    assert (asked.conditional, asked.bytes) == (False, len(first.body))
    assert (again.at, again.conditional, again.status, again.bytes) == (NOON + 1, True, 304, 0)


def test_answers_take_their_time_on_the_clock():
    async def crawl() -> list[Response]:
        settings = replace(SETTINGS, latency=2.0)
        room = Newsroom(settings, LoopClock(NOON), plan=plan_of(SETTINGS))
        return [await room.fetch(Request(room.homes[0])) for _ in range(200)]

    responses = run_virtual(crawl())
    seconds = [response.seconds for response in responses]
    assert min(seconds) >= 0.999 and max(seconds) <= 3.001  # half to one and a half of the mean
    assert abs(np.mean(seconds) - 2.0) < 4 * 2.0 / np.sqrt(12 * 200)  # uniform of width 2: deviation 2/√12
    assert responses[1].asked == pytest.approx(NOON + seconds[0])


# What it knows of itself


def test_stories_of_a_period_are_those_published_in_it():
    truth = whole_truth(newsroom())
    chosen = truth.published_between(NOON - DAY, NOON)
    assert chosen == tuple(s for s in truth.stories if NOON - DAY <= s.published < NOON) and len(chosen) > 50


def test_a_story_enters_the_feed_when_the_feed_is_next_written():
    room = newsroom()
    chosen = next(
        s for s in room.truth.published_between(NOON - DAY, NOON) if s.paper == "gazette" and not s.article.removed
    )
    visible, base = whole_truth(room).first_visible(chosen.url), room.bases["gazette"]
    assert visible[Url(f"{base}/{chosen.section}/")] == visible[Url(f"{base}/")] == chosen.published
    assert visible[Url(f"{base}/feed.xml")] == np.ceil(chosen.published / 300) * 300
    assert visible[Url(f"{base}/sitemap-news.xml")] == np.ceil(chosen.published / 900) * 900


def test_changes_of_a_list_are_the_moments_its_content_became_another():
    truth, home = whole_truth(newsroom()), newsroom().homes[0]
    since, until = NOON - 2 * 3600, NOON
    states = [truth.content_of(home, second) for second in np.arange(since - 1, until, 1.0)]
    expected = [since + i for i in range(len(states) - 1) if states[i] != states[i + 1]]
    assert truth.changes_of(home, since, until) == expected and len(expected) > 3


def test_truth_knows_nothing_of_urls_that_are_no_articles():
    truth = whole_truth(newsroom())
    url = Url("http://gazette.example/nowhere")
    assert (truth.article(url), truth.published(url), truth.removed(url), truth.version_of(url, NOON)) == (None,) * 4
    assert truth.content_of(url, NOON) is None and truth.first_visible(url) == {} and truth.links_of(url, NOON) == []


# Settings


def test_a_paper_of_ones_own_with_unknown_sections_and_no_feed_works():
    paper = Paper("star", "The Star", (Section("astrology", 20),), feed=FeedFormat.NONE)
    room = newsroom(replace(SETTINGS, papers=(paper,)))
    assert len(room.truth.stories) > 50 and set(room.bases) == {"star"}
    assert whole_truth(room).content_of(Url("http://star.example/feed.xml"), NOON) is None


def test_settings_refuse_what_makes_no_sense():
    adapter = TypeAdapter(NewsroomSettings)
    assert adapter.validate_python({"backlog": "2d", "page_size": "30k"}).backlog == 2 * DAY
    for wrong in ({"errors": 1.5}, {"days": 0}, {"papers": ()}, {"noise_every": 0}):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)
