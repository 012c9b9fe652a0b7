"""The engine end to end, in virtual time: deterministic, polite, nothing lost, stories right."""

import itertools
from collections import Counter, defaultdict
from functools import cache

import pytest

from forager.pages.urls import path
from forager.settings import load_settings
from forager.terms import Outcome
from tests.virtual import QUICK, Crawled, crawl_newsroom, urls_asked


@cache
def six_hours(kind: str) -> Crawled:
    """A crawl that several tests look at. That it is the same each time is shown by the golden journals."""
    return crawl_newsroom(6, f"forager.kind={kind}")


def test_another_seed_gives_another_journal() -> None:
    assert crawl_newsroom(0.2).journal.getvalue() != crawl_newsroom(0.2, seed=2).journal.getvalue()


@pytest.mark.parametrize("kind", ["BFS", "WL"])
def test_no_host_is_asked_more_often_than_the_delay_allows(kind: str) -> None:
    crawled = six_hours(kind)
    times = defaultdict(list)
    for asked in crawled.newsroom.requests:
        times[asked.paper].append(asked.at)
    gaps = [later - earlier for log in times.values() for earlier, later in itertools.pairwise(sorted(log))]
    assert min(gaps) >= 20.0 - 1e-6
    assert len(gaps) > 100


@pytest.mark.parametrize("kind", ["BFS", "WL"])
def test_every_story_is_really_one_and_is_told_once(kind: str) -> None:
    crawled = six_hours(kind)
    truth = crawled.newsroom.truth
    told = [story.url for story in crawled.stories]
    assert told
    assert max(Counter(told).values()) == 1
    assert [url for url in told if truth.published(url) is None] == []
    dates = [abs(story.published - (truth.published(story.url) or 0)) for story in crawled.stories]
    assert sum(error <= 3600 for error in dates) / len(dates) > 0.9  # a few dates of the site are wrong or missing


def test_the_fleet_finds_new_stories_sooner_than_the_sweep() -> None:
    delays = {}
    for kind in ("BFS", "WL"):
        crawled = crawl_newsroom(10, f"forager.kind={kind}", "timetable.download_delay=2m", "newsroom.pace=1")
        start = crawled.settings.newsroom.start
        truth = crawled.newsroom.truth.published_between(start + 4 * 3600, start + 9 * 3600)
        told = {story.url: story.at for story in crawled.stories}
        delays[kind] = sum(min(told.get(story.url, float("inf")) - story.published, 86_400) for story in truth) / len(
            truth
        )
    assert delays["WL"] < delays["BFS"]


def test_the_summary_counts_every_request_for_a_page_also_those_that_were_redirected() -> None:
    crawled = crawl_newsroom(6, "newsroom.moves=0.3")
    asked = [request for request in crawled.newsroom.requests if not request.target.endswith("/robots.txt")]
    assert any(request.status == 301 for request in asked)
    assert crawled.account.total.requests == len(asked)


def test_an_unchanged_page_costs_a_304_and_is_no_new_version() -> None:
    counts = six_hours("BFS").store.counts()
    assert counts.outcomes[Outcome.UNCHANGED] > 0
    assert counts.versions < counts.visits - counts.outcomes[Outcome.UNCHANGED]


def test_disallowed_pages_are_never_asked_for() -> None:
    crawled = six_hours("BFS")
    disallowed = [
        line.split(":", 1)[1].strip()
        for line in crawled.newsroom.reply(crawled.newsroom.homes[0].rstrip("/"), "/robots.txt", 0.0)
        .answer.body.decode()  # type: ignore[union-attr]
        .splitlines()
        if line.startswith("Disallow")
    ]
    assert disallowed
    asked = urls_asked(crawled)
    assert not [url for url in asked for folder in disallowed if f"/{url.split('/', 1)[1]}".startswith(folder)]
    assert crawled.crawl.world.ingest.skipped.counts()["robots.txt does not allow it"] > 0
    assert "robots" not in crawled.account.total.errors


def test_a_crawl_that_stops_and_goes_on_tells_nothing_twice_and_loses_nothing() -> None:
    crawled = crawl_newsroom(3)
    before = [story.url for story in crawled.stories]
    fleet = {id: forager.path.number for id, forager in crawled.crawl.agent.foragers.items()}
    crawled.run(3, store=crawled.store, start=3.0)
    after = [story.url for story in crawled.stories]
    assert after[: len(before)] == before
    assert max(Counter(after).values()) == 1
    assert len(after) > len(before)
    alive = {id: forager.path.number for id, forager in crawled.crawl.agent.foragers.items()}
    assert set(fleet) - set(alive) == {id for id in fleet if crawled.crawl.agent.records[id].deleted is not None}
    assert all(alive[id] >= number for id, number in fleet.items() if id in alive)
    assert crawled.store.counts().stories == len(after)


def test_errors_of_the_server_are_counted_and_do_not_stop_the_crawl() -> None:
    crawled = crawl_newsroom(
        3, "newsroom.errors=0.1", "newsroom.resets=0.1", "newsroom.busy=0.05", "retrying.retries=1"
    )
    assert crawled.stories
    assert set(crawled.account.total.errors) >= {"status 500"}


class KnowsItsEnd(Crawled):
    knows_end = True


def test_a_crawl_that_knows_its_end_looks_at_busy_lists_once_more_before_it() -> None:
    busy = load_settings(
        None, [*QUICK, "newsroom.pace=60", "newsroom.backlog=10m", "timetable.download_delay=1s"]
    ).settings
    published, found = 0, [0, 0]
    for hours in (0.3, 0.35, 0.4):
        end = busy.newsroom.start + hours * 3600
        crawls = [kind(busy).run(hours) for kind in (Crawled, KnowsItsEnd)]
        articles = crawls[0].newsroom.plan.articles
        late = {article.path for article in articles if end - 60 < article.published <= end - 10}
        published += len(late)
        for place, crawled in enumerate(crawls):
            found[place] += len(late & {path(story.url) for story in crawled.stories})
        surprised, prepared = (len(crawled.newsroom.requests) for crawled in crawls)
        assert 0 < prepared - surprised <= 45  # fifteen seconds of three papers
    assert found[0] < found[1] == published
