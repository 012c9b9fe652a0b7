"""Where pages do not answer, the crawl spends its visits elsewhere, and notices when they answer again."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.engine.walls import Walls, pattern
from forager.errors import StoreError
from forager.terms import Outcome, Url
from tests.virtual import Crawled, crawl_newsroom


def page(number: int, place: str = "news") -> Url:
    return Url(f"http://a.example/{place}/2026/a-slug-of-words-{number}.html")


def refused(walls: Walls, count: int, place: str = "news", begin: int = 0) -> None:
    for number in range(begin, begin + count):
        walls.learn(page(number, place), Outcome.GONE, 0.0, first=True)


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("http://a.example/", "http://a.example/"),
        ("http://a.example/world/", "http://a.example/world/"),
        ("http://a.example/world/2026/11/18/some-slug-of-4-words", "http://a.example/world/#/#/#/*"),
        ("http://a.example/article/some-slug-of-words-12.html", "http://a.example/article/*.html"),
        ("http://a.example/live-blog/7?page=2&x=1", "http://a.example/live-blog/#?page&x"),
    ],
)
def test_a_pattern_names_folders_and_hides_numbers_and_slugs(url: str, shape: str) -> None:
    assert pattern(Url(url)) == shape


def test_after_eight_refusals_most_are_passed_by_and_later_all_but_a_few_for_each_hundred_answers() -> None:
    walls = Walls()
    walls.learn(page(1, "sport"), Outcome.FETCHED, 0.0, first=True)
    refused(walls, 7)
    assert not walls.skips(page(99), 0.0)
    refused(walls, 1, begin=7)
    assert 0 < sum(not walls.skips(page(number), 0.0) for number in range(100, 300)) < 60
    refused(walls, 100, begin=8)
    assert not any(not walls.skips(page(number), 0.0) for number in range(1000, 1200))
    asked = 0
    for number in range(100):  # the home page answers, and the wall grows by two pages at a time
        walls.learn(Url("http://a.example/"), Outcome.UNCHANGED, 0.0, first=False)
        asked += sum(not walls.skips(page(1200 + 2 * number + more), 0.0) for more in (0, 1))
    assert asked in (5, 6)
    assert not walls.skips(page(99, "sport"), 0.0)  # another pattern
    assert not walls.skips(Url("http://b.example/news/2026/a-slug-of-words-1.html"), 0.0)  # another host
    assert "do not answer" in walls.why(page(1), 1e9)
    assert walls.why(page(1, "sport"), 0.0) == ""


def test_many_walls_of_a_host_cost_no_more_than_one() -> None:
    walls, places = Walls(), ("news", "sport", "world", "local")
    for place in places:
        refused(walls, 100, place)
    asked = 0
    for number in range(100):
        walls.learn(Url("http://a.example/"), Outcome.FETCHED, 0.0, first=False)
        asked += sum(not walls.skips(page(1000 + number, place), 0.0) for place in places)
    assert asked in (5, 6)


def test_a_wall_after_years_of_answers_is_tested_often_until_these_are_forgotten() -> None:
    """As where a site refuses all for an hour."""
    walls = Walls()
    for number in range(500):
        walls.learn(page(number), Outcome.FETCHED, 0.0, first=True)
    refused(walls, 60, begin=1000)
    assert walls.at(page(1)) is not None
    assert sum(not walls.skips(page(number), 0.0) for number in range(2000, 2010)) > 3


def test_each_answer_opens_a_wall_a_little_until_it_is_none() -> None:
    walls, url = Walls(), page(0)
    refused(walls, 500)
    shares = []
    for number in range(12):
        known = walls.at(url)
        if known is None:
            break
        shares.append(known.requested)
        walls.learn(page(1000 + number), Outcome.FETCHED, 0.0, first=True)
    assert shares[0] == pytest.approx(0.06, abs=0.01)
    assert shares == sorted(shares) and len(shares) < 12


def test_where_one_in_six_answers_most_are_still_asked() -> None:
    walls = Walls()
    for number in range(600):
        fine = number % 6 == 0
        walls.learn(page(number), Outcome.FETCHED if fine else Outcome.GONE, 0.0, first=True)
    asked = sum(not walls.skips(page(number), 0.0) for number in range(1000, 1100))
    assert 50 < asked < 80


def test_one_page_next_request_and_again_is_no_wall() -> None:
    walls = Walls()
    walls.learn(page(1), Outcome.GONE, 0.0, first=True)
    for _ in range(100):
        walls.learn(page(1), Outcome.GONE, 0.0, first=False)
    assert walls.at(page(1)) is None


def test_a_page_that_does_not_answer_is_asked_ever_more_rarely_until_it_does() -> None:
    walls, url = Walls(retry_after=100.0), page(1)
    for times in range(4):
        now = walls.next_request(url)
        walls.learn(url, Outcome.UNRECORDED, now, first=times == 0)
        assert walls.skips(url, now + 100.0 * 2**times - 1)
        assert not walls.skips(url, now + 100.0 * 2**times)
    assert "did not answer 4 times" in walls.why(url, now)
    walls.learn(url, Outcome.FETCHED, now, first=False)
    assert not walls.skips(url, now)


def test_a_host_of_which_nothing_answers_is_a_wall_for_patterns_not_yet_known() -> None:
    walls = Walls()
    for number in range(8):
        walls.learn(Url(f"http://a.example/{'abcdefgh'[number]}"), Outcome.GONE, 0.0, first=True)
    assert walls.at(page(1)) is not None
    walls.learn(page(2), Outcome.FETCHED, 0.0, first=True)
    assert walls.at(page(1)) is None


def test_trouble_that_may_pass_and_pages_not_asked_say_nothing() -> None:
    walls = Walls()
    for outcome in (Outcome.FAILED, Outcome.REFUSED, Outcome.MOVED):
        for number in range(50):
            walls.learn(page(number), outcome, 0.0, first=True)
    assert walls.at(page(1)) is None


def test_pages_that_lead_to_one_place_or_show_one_text_do_not_answer() -> None:
    consent, soft = Walls(), Walls()
    for number in range(20):
        consent.redirected(page(number), Url(f"http://consent.example/ask?back={number}"))
        soft.learn(page(number), Outcome.FETCHED, 0.0, first=True, is_copy=number > 0)
    assert consent.at(page(1)) is not None
    assert soft.at(page(1)) is not None
    moved = Walls()
    for number in range(50):
        moved.redirected(page(number), Url(f"http://a.example/new/{number}"))
    assert moved.at(page(1)) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(list(Outcome)), st.integers(0, 3)), max_size=80))
def test_what_is_saved_decides_as_before(seen: list[tuple[int, Outcome, int]]) -> None:
    walls, again = Walls(), Walls()
    for number, outcome, text in seen:
        walls.learn(page(number), outcome, 0.0, first=text > 0, is_copy=text > 1)
        walls.redirected(page(number), page(text))
    again.load(walls.save())
    assert [walls.skips(page(1), 1e9) for _ in range(30)] == [again.skips(page(1), 1e9) for _ in range(30)]


def test_a_page_that_says_it_is_gone_for_good_is_next_request_much_later() -> None:
    walls = Walls(retry_after=3600.0)
    walls.learn(page(1), Outcome.GONE, 0.0, first=True)
    walls.learn(page(2), Outcome.GONE, 0.0, first=True, for_good=True)
    assert [walls.next_request(page(number)) for number in (1, 2)] == [3600.0, 16 * 3600.0]
    kept = Walls(retry_after=3600.0)
    kept.load(walls.save())
    assert kept.next_request(page(2)) == 16 * 3600.0


def test_a_damaged_save_of_walls_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(StoreError, match="new run directory"):
        Walls().load(b"\x93\x01")


def statuses(crawled: Crawled) -> Counter[int]:
    return Counter(asked.status for asked in crawled.newsroom.requests)


def test_a_newsroom_with_a_wall_costs_few_requests() -> None:
    crawled = crawl_newsroom(12, "newsroom.wall=0.7", "newsroom.pace=2", "timetable.download_delay=5s")
    seen = statuses(crawled)
    articles = crawled.newsroom.plan.articles
    assert sum(map(crawled.newsroom.is_walled, articles)) > 0.5 * len(articles)
    assert 20 < seen[403] < 0.2 * seen.total()
    assert crawled.crawl.world.ingest.skipped.counts()["pages like it do not answer"] > 50
    assert crawled.store.counts().stories > 50
