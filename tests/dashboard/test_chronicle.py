"""The chronicle keeps what the pages show, in bounded memory."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from forager.dashboard.chronicle import OTHERS, PLACES, STORIES, Chronicle
from forager.dashboard.timeline import BUCKETS, LastHour, Timeline, Trace
from forager.events import Born, CycleDone, Deleted, Fetched, Learned, Reinforced, Scheduled, Told
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


def test_sites_get_their_requests_stories_and_errors() -> None:
    chronicle = Chronicle()
    for event in (
        fetched(0.0, "https://news.example.org/"),
        fetched(1.0, "https://www.example.org/a", outcome=Outcome.UNCHANGED),
        fetched(2.0, "https://www.example.org/b", outcome=Outcome.GONE),
        told(3.0, "example.org", delay=30.0),
    ):
        chronicle(event)
    place = chronicle.places["example.org"]  # both hosts belong to one registrable domain
    assert (place.requests, place.stories, place.wire_bytes) == (3, 1, 3000)
    assert place.outcomes == {"fetched": 1, "unchanged": 1, "gone": 1}
    assert place.errors == {"status 410": 1}
    assert place.channels == {"feed": 1}
    assert [*place.delays] == [30.0]
    assert chronicle.hosts["www.example.org"].total(2.0) == 2


def test_a_cycle_counts_the_visits_that_it_caused_and_their_changes() -> None:
    chronicle = Chronicle()
    chronicle(Scheduled(0.0, "expected", known=10, chosen=3))
    chronicle(fetched(1.0, "https://a.example/1", changed=True))
    chronicle(fetched(2.0, "https://a.example/2"))
    chronicle(fetched(3.0, "https://a.example/3", by=4, changed=True))  # a forager's
    chronicle(Scheduled(9.0, "expected", known=11, chosen=2))
    assert [(cycle.visited, cycle.changed) for cycle in chronicle.cycles] == [(2, 1), (0, 0)]


def test_lives_begin_and_end_with_what_was_earned_between() -> None:
    chronicle = Chronicle()
    chronicle(Born(1.0, ForagerId(0), "WL", NOBODY))
    chronicle(Reinforced(2.0, ForagerId(0), UrlId(7), 100.0))
    chronicle(Reinforced(3.0, ForagerId(0), UrlId(8), -1.0))
    chronicle(Reinforced(3.0, ForagerId(99), UrlId(8), -1.0))  # nobody knows it
    chronicle(Deleted(4.0, ForagerId(0), score=-0.5))
    life = chronicle.lives[ForagerId(0)]
    assert (life.rewards, life.penalties, life.deleted, life.last_score) == (100.0, -1.0, 4.0, -0.5)
    assert (chronicle.born, chronicle.deleted) == (1, 1)


def test_memory_is_bounded_and_numbers_go_on() -> None:
    chronicle = Chronicle()
    for number in range(STORIES + 10):
        chronicle(told(float(number), f"site{number % (PLACES + 50)}.example"))
    assert len(chronicle.stories) == STORIES
    assert chronicle.stories[-1][0] == STORIES + 10
    assert len(chronicle.places) == PLACES + 1
    assert sum(place.stories for place in chronicle.places.values()) == STORIES + 10
    assert chronicle.places[OTHERS].stories > 0


@given(st.lists(st.floats(min_value=0, max_value=1e7), min_size=1, max_size=200))
def test_a_timeline_loses_no_count_and_keeps_few_buckets(times: list[float]) -> None:
    timeline = Timeline(("stories", "requests"))
    for at in times:
        timeline.add("stories", at)
    series = timeline.series()
    assert sum(series.counts["stories"]) == len(times)
    assert len(series.counts["stories"]) == len(series.counts["requests"]) <= BUCKETS
    assert series.start + series.width * BUCKETS >= max(times)


def test_a_timeline_puts_things_where_they_happened() -> None:
    timeline = Timeline(("stories",), width=1.0, buckets=4)
    for at in (100.0, 101.5, 103.9, 104.0):  # the last needs a fifth bucket: now four of two seconds
        timeline.add("stories", at)
    series = timeline.series()
    assert (series.start, series.width, series.counts["stories"]) == (100.0, 2.0, [2, 1, 1])


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
    chronicle = Chronicle()
    chronicle(Scheduled(0.0, "t * X", known=10, chosen=3))
    chronicle(CycleDone(9.0, "t * X", visits=4, changes=1, change_rate=0.25, ndcg=0.5))
    chronicle(Scheduled(9.0, "t * X", known=10, chosen=3))
    chronicle(CycleDone(18.0, "t * X", visits=4, changes=0, change_rate=0.0, ndcg=0.0))
    chronicle(Learned(20.0, "t", "ndcg", new=0.7, old=0.6, replaced=True, visits=99))
    first, second = chronicle.cycles
    assert (first.change_rate, first.ndcg) == (0.25, 0.5)
    assert (second.change_rate, second.ndcg) == (0.0, None)  # where nothing changed no order is better than another
    assert [one.formula for one in chronicle.learned] == ["t"]


def test_what_robots_forbids_is_a_refusal_and_no_error() -> None:
    chronicle = Chronicle()
    refused = replace(
        fetched(0.0, "https://a.example/x", outcome=Outcome.REFUSED), trouble=Trouble.ROBOTS, error="Disallow: /x"
    )
    chronicle(refused)
    place = chronicle.places["a.example"]
    assert (place.requests, place.refusals, place.errors.total()) == (0, {"Disallow: /x": 1}, 0)
