"""The account of a run, from single events."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import StoreError
from forager.events import Born, CycleDone, Deleted, Event, Fetched, Told
from forager.report.account import BUCKETS, OTHERS, REASONS, SITES, Account, Timeline
from forager.terms import NOBODY, Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId

SITE = "paper.example"
ROBOTS = "robots.txt does not allow it"


def fetched(
    outcome: Outcome,
    trouble: Trouble = Trouble.NONE,
    status: int = 0,
    *,
    id: int = 0,
    by: int = NOBODY,
    url: str = f"https://{SITE}/",
    error: str = "",
    changed: bool = False,
) -> Fetched:
    return Fetched(
        at=0.0,
        id=UrlId(id),
        url=Url(url),
        by=ForagerId(by),
        outcome=outcome,
        status=status,
        trouble=trouble,
        error=error,
        seconds=0.1,
        wire_bytes=100 if status else 0,
        kind=Kind.HUB,
        changed=changed,
        new_links=0,
    )


def told(at: float, site: str = SITE, delay: float = 60.0, *, id: int = 1, by: int = 0) -> Told:
    url = Url(f"https://{site}/story")
    return Told(at, UrlId(id), url, site, "A title", at - delay, "meta", delay, Channel.FEED, ForagerId(by))


def heard(*events: Event) -> Account:
    account = Account()
    for event in events:
        account.hear(event)
    return account


def test_a_page_that_we_do_not_ask_for_is_neither_a_request_nor_an_error() -> None:
    troubles = (Trouble.ROBOTS, Trouble.ADDRESS, Trouble.BUDGET, Trouble.URL)
    account = heard(*(fetched(Outcome.REFUSED, trouble) for trouble in troubles))
    facts = account.facts()
    assert (facts["requests"], facts["errors"], facts["sites"][SITE]["errors"]) == (0, {}, {})
    assert (facts["visits"], facts["outcomes"]) == (4, {"refused": 4})
    assert account.total.refusals[ROBOTS] == {"": 1}


def test_what_went_wrong_with_a_request_is_counted_by_its_kind() -> None:
    facts = heard(
        fetched(Outcome.FETCHED, status=200),
        fetched(Outcome.UNCHANGED, status=304),
        fetched(Outcome.GONE, Trouble.STATUS, 404),
        fetched(Outcome.FAILED, Trouble.STATUS, 503),
        fetched(Outcome.FAILED, Trouble.TIMEOUT),
        fetched(Outcome.FAILED, Trouble.TIMEOUT),
        fetched(Outcome.REFUSED, Trouble.ROBOTS),
    ).facts()
    assert (facts["requests"], facts["pages"], facts["not_modified"], facts["wire_bytes"]) == (6, 1, 1, 400)
    assert facts["errors"] == facts["sites"][SITE]["errors"] == {"timeout": 2, "status 404": 1, "status 503": 1}


def test_visits_changes_and_stories_belong_to_the_side_that_made_them() -> None:
    account = heard(
        fetched(Outcome.FETCHED, by=3),
        fetched(Outcome.FETCHED, by=3, changed=True),
        fetched(Outcome.UNCHANGED),
        fetched(Outcome.REFUSED, Trouble.ROBOTS),
        told(1.0, by=3),
        told(2.0, by=NOBODY),
        told(3.0, by=NOBODY),
    )
    fleet, recrawl = account.total.fleet, account.total.recrawl
    assert (fleet.visits, fleet.requests, fleet.changed, fleet.stories) == (2, 2, 1, 1)
    assert (recrawl.visits, recrawl.requests, recrawl.changed, recrawl.stories) == (2, 1, 0, 2)
    assert account.facts()["budget"] == {"fleet": 2, "recrawl": 1}
    assert account.total.requests_per_story == 1.0


def test_hosts_of_one_registrable_domain_are_one_site() -> None:
    account = heard(
        fetched(Outcome.FETCHED, url="https://news.example.org/"),
        fetched(Outcome.FETCHED, url="https://www.example.org/", id=1),
        told(3.0, "example.org", delay=30.0),
    )
    assert list(account.sites) == ["example.org"]
    assert account.facts()["sites"]["example.org"]["channels"] == {"feed": 1}


def test_delays_are_those_of_all_stories_and_of_each_site() -> None:
    account = heard(*(told(9.0, delay=delay) for delay in (10.0, 20.0, 60.0)), told(9.0, "b.example", delay=100.0))
    assert [one.delay(0.5) for one in (account.total, account.sites[SITE], account.sites["b.example"])] == [40, 20, 100]
    assert (Account().total.delay(0.5), Account().facts()["delay_p90_s"]) == (None, None)


def test_a_story_whose_date_has_no_hour_counts_but_its_delay_does_not() -> None:
    by_day = replace(told(100.0, id=2), delay=None)
    account = heard(told(100.0, delay=60.0), by_day)
    facts = account.facts()
    assert (facts["stories"], facts["delay_median_s"], facts["delay_p90_s"], facts["day_only"]) == (2, 60.0, 60.0, 1)
    assert Account.load(account.save()).facts() == facts


def test_a_page_counts_once_however_often_it_is_fetched() -> None:
    account = heard(*(fetched(Outcome.FETCHED, id=id) for id in (5, 70_000, 5, 0)), fetched(Outcome.GONE, id=9))
    assert account.pages == 3
    assert heard(told(1.0, id=70_000)).is_told(UrlId(70_000))
    assert not heard(told(1.0, id=70_000)).is_told(UrlId(70_001))
    assert not Account().is_told(UrlId(3))


def test_those_alive_are_announced_again_when_a_crawl_goes_on_and_are_born_once() -> None:
    first = [Born(0.0, ForagerId(0), "WL", NOBODY), Born(0.0, ForagerId(1), "WL", NOBODY)]
    account = heard(*first, Deleted(5.0, ForagerId(0), -1.0), first[1], Born(7.0, ForagerId(2), "WL", ForagerId(1)))
    assert (account.born, account.deleted, account.alive) == (3, 1, 2)
    assert sum(account.timeline.counts["born"]) == 3


def test_finished_cycles_are_summed_and_those_without_a_change_have_no_order() -> None:
    account = heard(
        CycleDone(9.0, "t * X", visits=4, changes=1, change_rate=0.25, ndcg=0.5),
        CycleDone(18.0, "t * X", visits=4, changes=0, change_rate=0.0, ndcg=0.0),
    )
    assert account.cycles.facts() == {"done": 2, "visits": 8, "changes": 1, "change_rate": 0.125, "ndcg": 0.5}
    assert Account().cycles.facts()["ndcg"] is None


def test_memory_is_bounded_and_no_count_is_lost() -> None:
    account = Account()
    for number in range(SITES + 50):
        account.hear(told(float(number), f"site{number}.example"))
        account.hear(fetched(Outcome.FAILED, Trouble.TIMEOUT, error=f"after {number} ms", id=number))
        account.hear(fetched(Outcome.REFUSED, Trouble.ROBOTS, error="x" * 10_000 + str(number)))
    assert len(account.sites) == SITES + 1
    assert account.sites[OTHERS].stories > 0
    assert sum(site.stories for site in account.sites.values()) == account.stories == SITES + 50
    assert len(account.total.errors["timeout"]) == REASONS + 1
    assert sum(account.total.error_counts.values()) == SITES + 50
    assert len(account.save()) < 200_000


def test_a_saved_account_goes_on_as_if_there_had_been_no_end() -> None:
    events = [
        fetched(Outcome.FETCHED, id=9, by=2),
        fetched(Outcome.FAILED, Trouble.TIMEOUT, error="slow"),
        told(1.0),
        Born(1.0, ForagerId(0), "WL", NOBODY),
        CycleDone(9.0, "t", visits=4, changes=1, change_rate=0.25, ndcg=0.5),
    ]
    later = [replace(event, at=event.at + 1000.0) for event in events]
    resumed = Account.load(heard(*events).save())
    assert resumed == heard(*events)
    for event in later:
        resumed.hear(event)
    assert resumed == heard(*events, *later)
    with pytest.raises(StoreError, match="account"):
        Account.load(b"nonsense")


@given(st.lists(st.floats(min_value=0, max_value=1e7), min_size=1, max_size=200))
def test_a_timeline_loses_no_count_and_keeps_few_buckets(times: list[float]) -> None:
    timeline = Timeline()
    for at in times:
        timeline.add("stories", at)
    assert sum(timeline.counts["stories"]) == len(times)
    assert len(timeline.counts["stories"]) == len(timeline.counts["requests"]) <= BUCKETS
    assert timeline.start is not None
    assert timeline.start + timeline.width * BUCKETS >= max(times)


def test_a_timeline_puts_things_where_they_happened() -> None:
    timeline = Timeline(buckets=4)
    for at in (100.0, 101.5, 103.9, 104.0):  # the last needs a fifth bucket: now four of two seconds
        timeline.add("stories", at)
    assert (timeline.start, timeline.width, timeline.end) == (100.0, 2.0, 106.0)
    assert timeline.counts["stories"] == [2, 1, 1]
