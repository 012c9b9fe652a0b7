"""The chronicle keeps what the pages show, in bounded memory; coverage over time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forager.dashboard.chronicle import STORIES, Chronicle, LastHour, Trace
from forager.dashboard.watched import BUCKETS, AnnouncedStories, Appeared, Coverage
from forager.events import Born, CycleDone, Deleted, Fetched, Learned, Reinforced, Scheduled, Told
from forager.report.account import Account
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import NOBODY, Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId


def fetched(
    at: float, url: str, *, outcome: Outcome = Outcome.FETCHED, by: int = NOBODY, changed: bool = False
) -> Fetched:
    trouble, status = (Trouble.STATUS, 410) if outcome is Outcome.GONE else (Trouble.NONE, 200)
    return Fetched(
        at, UrlId(0), Url(url), ForagerId(by), outcome, status, trouble, "", 0.1, 1000, Kind.HUB, changed, new_links=0
    )


def told(at: float, site: str, delay: float = 60.0) -> Told:
    url = Url(f"https://{site}/story")
    return Told(at, UrlId(1), url, site, "A title", at - delay, "meta", delay, Channel.FEED, ForagerId(0))


def test_requests_of_the_last_hour_are_counted_by_host_and_errors_are_listed() -> None:
    chronicle = Chronicle(Account())
    for event in (
        fetched(0.0, "https://news.example.org/"),
        fetched(1.0, "https://www.example.org/a", outcome=Outcome.UNCHANGED),
        fetched(2.0, "https://www.example.org/b", outcome=Outcome.GONE),
    ):
        chronicle(event)
    assert chronicle.hosts["www.example.org"].total(2.0) == 2
    assert [event.url for event in chronicle.errors] == ["https://www.example.org/b"]


def test_a_cycle_counts_the_visits_that_it_caused_and_their_changes() -> None:
    chronicle = Chronicle(Account())
    chronicle(Scheduled(0.0, "expected", known=10, chosen=3))
    chronicle(fetched(1.0, "https://a.example/1", changed=True))
    chronicle(fetched(2.0, "https://a.example/2"))
    chronicle(fetched(3.0, "https://a.example/3", by=4, changed=True))  # a forager's
    chronicle(Scheduled(9.0, "expected", known=11, chosen=2))
    assert [(cycle.visited, cycle.changed) for cycle in chronicle.cycles] == [(2, 1), (0, 0)]


def test_lives_begin_and_end_with_what_was_earned_between() -> None:
    chronicle = Chronicle(Account())
    chronicle(Born(1.0, ForagerId(0), "WL", NOBODY))
    chronicle(Reinforced(2.0, ForagerId(0), UrlId(7), 100.0))
    chronicle(Reinforced(3.0, ForagerId(0), UrlId(8), -1.0))
    chronicle(Reinforced(3.0, ForagerId(99), UrlId(8), -1.0))  # nobody knows it
    chronicle(Deleted(4.0, ForagerId(0), score=-0.5))
    life = chronicle.lives[ForagerId(0)]
    assert (life.rewards, life.penalties, life.is_over) == (100.0, -1.0, True)


def test_memory_is_bounded_and_numbers_go_on() -> None:
    chronicle = Chronicle(Account())
    for number in range(STORIES + 10):
        event = told(float(number), "a.example")
        chronicle.account.hear(event)
        chronicle(event)
    assert len(chronicle.stories) == STORIES
    assert chronicle.stories[-1][0] == STORIES + 10


@given(st.integers(min_value=1, max_value=2000))
def test_a_trace_keeps_the_first_point_and_stays_short(count: int) -> None:
    trace = Trace(most=16)
    for at in range(count):
        trace.add(float(at), 2.0 * at)
    assert trace.points[0] == (0.0, 0.0)
    assert len(trace.points) < 16 or count < 16
    assert trace.points == sorted(trace.points)


def test_the_last_hour_forgets_what_is_older_to_the_minute() -> None:
    lately = LastHour()
    for minute in (0, 1, 1, 59):
        lately.add(60.0 * minute)
    assert lately.total(60.0 * 59) == 4
    assert lately.total(60.0 * 60) == 3  # the first minute is over an hour ago
    assert lately.total(60.0 * 61) == 1
    lately.add(60.0 * 500)
    assert lately.total(60.0 * 500) == 1


def test_a_finished_cycle_gets_its_quality_and_a_learned_function_is_kept() -> None:
    chronicle = Chronicle(Account())
    chronicle(Scheduled(0.0, "t * X", known=10, chosen=3))
    chronicle(CycleDone(9.0, "t * X", visits=4, changes=1, change_rate=0.25, ndcg=0.5))
    chronicle(Scheduled(9.0, "t * X", known=10, chosen=3))
    chronicle(CycleDone(18.0, "t * X", visits=4, changes=0, change_rate=0.0, ndcg=0.0))
    chronicle(Learned(20.0, "t", "ndcg", new=0.7, old=0.6, replaced=True, visits=99))
    first, second = chronicle.cycles
    assert (first.change_rate, first.ndcg) == (0.25, 0.5)
    assert (second.change_rate, second.ndcg) == (0.0, None)  # where nothing changed no order is better than another
    assert [one.formula for one in chronicle.learned] == ["t"]


def _arrays(pairs: list[tuple[float, bool]]) -> Appeared:
    return np.array([at for at, _ in pairs]), np.array([found for _, found in pairs], dtype=np.bool_)


def test_columns_count_what_appeared_and_what_was_found() -> None:
    pairs = [(100.0, True), (119.0, False), (130.0, True), (3000.0, False)]  # 2,900 s: 49 minutes are too many
    series = Coverage("stories", lambda: _arrays(pairs)).over_time()
    assert (series["start"], series["width"], series["share"]) == (0.0, 300.0, 0.5)
    assert series["appeared"] == [3, *[0] * 9, 1]
    assert series["found"] == [2, *[0] * 9, 0]


def test_any_span_has_few_columns_and_nothing_appeared_is_nothing_shown() -> None:
    for span in (0.0, 59.0, 3e4, 3e6, 3e9):
        series = Coverage("stories", lambda span=span: _arrays([(0.0, True), (span, True)])).over_time()
        assert len(series["appeared"]) <= BUCKETS
        assert sum(series["appeared"]) == sum(series["found"]) == 2
    nothing = Coverage("stories", lambda: _arrays([])).over_time()
    assert (nothing["start"], nothing["share"]) == (None, None)


async def test_a_live_crawl_counts_what_feeds_announced_after_it_began() -> None:
    store, told = Store(), set[UrlId]()
    await store.put([Found(Url("https://a.example/old"), Channel.FEED, 900.0, published=890.0)])  # of an earlier run
    announced = AnnouncedStories(store, told.__contains__, lambda: 1000.0)
    dates = (999.0, 1000.0, 1500.0, 2001.0, None)  # before the crawl, two that count, a date to come, no date
    urls = [Url(f"https://a.example/{number}") for number in range(len(dates))]
    found = zip(urls, dates, strict=True)
    await store.put([Found(url, Channel.FEED, 2000.0, published=date) for url, date in found])
    times, seen = announced()
    assert (times.tolist(), seen.tolist()) == ([1000.0, 1500.0], [False, False])
    told.add(UrlId(3))
    await store.put([Found(Url("https://a.example/new"), Channel.FEED, 3000.0, published=2500.0)])
    times, seen = announced()
    assert (times.tolist(), seen.tolist()) == ([1000.0, 1500.0, 2500.0], [False, True, False])
    assert np.isfinite(times).all()
