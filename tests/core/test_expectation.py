from math import exp, sqrt

import numpy as np
import pytest

from forager.core.findings import Finding
from forager.core.page_table import Introduced, PageTable
from forager.core.parameters import ExpectationSettings
from forager.recrawl.list_estimates import rate_of_text, share_left, waiting
from forager.terms import Url, UrlId

HOUR = 3600.0
NOTHING = np.empty(0)
HAZARD = 1 / 24
"""With which documents leave a list of which nothing is known: the first guess."""


def later(lists: float, text_rate: float = 0.0) -> float:
    """What a page never seen may bring once it is known: the document of a look at a list, the first guess, if it is one,
    as so many of its sort are, else the chance of news within a day at the rate of texts."""
    return lists + (1 - lists) * (1 - exp(-text_rate * 24))


def list_rate(hits: float, hours: float, guess: float = 2.0) -> float:
    """The rate of the only list of its form, visited again once: the guess weighs half a document, for the form and for the
    page, and some documents of these hours had left."""
    form = (hits + 0.5) / (hours + 0.5 / guess)
    return (hits + 0.5) / (hours * share_left(hours, HAZARD) + 0.5 / form)


def urls(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def finding(url: int, revealed_by: int) -> Finding:
    return Finding(by=0, url=url, version=0, text_print=0, published=0.0, revealed_by=revealed_by)


def worth(visits: PageTable, url: int, now: float) -> float:
    return float(visits.worth(urls(url), now)[0][0])


@pytest.fixture
def visits() -> PageTable:
    return PageTable(ExpectationSettings(hub_rate=2, prior_hours=24))


def test_a_list_is_worth_what_appeared_since_the_last_visit_and_stayed(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, 12 * HOUR, hub=True, links=urls(1, 2, 3, 4))
    for article in (2, 3, 4):
        visits.credit(finding(article, revealed_by=0))
    rate = list_rate(hits=3, hours=12)
    assert 0.25 < rate < 0.33  # 3 in 12 hours, some that left, and a first guess of 2 an hour that weighs little
    assert visits.rate(urls(0)) == pytest.approx([rate])
    assert worth(visits, 0, 14 * HOUR) == pytest.approx(2 * rate * share_left(2, HAZARD))
    assert worth(visits, 0, 100 * HOUR) == pytest.approx(24 * rate * share_left(24, HAZARD))  # older ones are lost
    assert visits.chance(urls(0), 14 * HOUR) == pytest.approx([1 - exp(-2 * rate)])


def test_a_single_text_is_worth_the_chance_that_it_changed(visits: PageTable) -> None:
    for hour in range(5):
        visits.record(7, hour * HOUR)
    visits.credit(finding(7, revealed_by=7))
    visits.credit(finding(7, revealed_by=7))
    # all texts: 2.4 in 240 h as first guess, then 2 in 4 h: 4.4/244, which counts as much as 24 h. Of this one three hours
    # were quiet, one brought both
    rate = rate_of_text(2, 1, 3, 24 * 4.4 / 244, 24)
    assert 0.08 < rate < 0.1
    assert visits.rate(urls(7)) == pytest.approx([rate])
    assert worth(visits, 7, 6 * HOUR) == pytest.approx(1 - exp(-2 * rate))


def test_fresh_links_are_worth_what_their_page_revealed_before(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, HOUR, hub=True, links=urls(1, 2, 3))
    assert worth(visits, 2, HOUR) == pytest.approx(0.9)
    visits.record(2, HOUR)  # and it was no new document
    # all fresh links: 45 of 50 as first guess, then 0 of 1: 45/51; of this page (0 + 5·45/51)/(1 + 5)
    assert worth(visits, 3, HOUR) == pytest.approx(5 * 45 / 51 / 6)
    visits.credit(finding(2, revealed_by=0))  # late: it was one after all: 46/51, and (1 + 5·46/51)/6
    assert worth(visits, 3, HOUR) == pytest.approx((1 + 5 * 46 / 51) / 6)


def test_fresh_links_go_first_but_backlog_does_not(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, HOUR, hub=True, links=urls(1, 2))
    # twelve hours later the list is worth more than two documents, the fresh link at most one
    index, its_worth, fresh, most = visits.pick(urls(0, 1, 2), 13 * HOUR, NOTHING, 0.0)
    assert (index, fresh) == (2, True)
    assert its_worth == pytest.approx(0.9)
    assert most == pytest.approx(12 * list_rate(hits=0, hours=1) * share_left(12, HAZARD))
    assert most > 2
    index, _, fresh, _ = visits.pick(urls(0, 1), 13 * HOUR, NOTHING, 0.0)
    assert (index, fresh) == (0, False)


def test_a_fresh_link_too_old_to_be_news_counts_as_backlog(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, HOUR, hub=True, links=urls(2))
    assert visits.worth(urls(2), 25 * HOUR)[1].tolist() == [True]
    assert visits.worth(urls(2), 25 * HOUR + 1)[1].tolist() == [False]


def test_a_fresh_link_is_worth_less_when_it_may_be_too_old_to_be_news(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, 12 * HOUR, hub=True, links=urls(1, 2))
    # it appeared some time in these twelve hours: until a day after the first look it is surely young enough
    assert worth(visits, 2, 24 * HOUR) == pytest.approx(0.9)
    # at the hour 30 it is only if it appeared after the hour 6, which is half of the time
    assert worth(visits, 2, 30 * HOUR) == pytest.approx(0.9 / 2)
    assert worth(visits, 2, 36 * HOUR) == pytest.approx(0.0)


def test_dates_given_by_a_feed_tell_fresh_links_from_backlog(visits: PageTable) -> None:
    visits.record(0, 100 * HOUR, hub=True, links=urls(1, 2, 3))
    visits.date(urls(1, 2), np.array([99 * HOUR, 10 * HOUR]))
    worths, fresh = visits.worth(urls(1, 2, 3), 100 * HOUR)
    assert fresh.tolist() == [True, False, False]
    assert worths.tolist() == pytest.approx(
        [0.9, 0.02, 0.5 + later(lists=0.01)]
    )  # what is surely too old is left alone


def test_backlog_is_worth_what_such_links_brought() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, backlog_memory=10**9, list_share=0.1))
    visits.record(0, 0.0, hub=True, links=urls(1, 2, 3))
    assert worth(visits, 3, 0.0) == pytest.approx(0.5 + later(lists=1 / 10))
    visits.record(1, 0.0)
    # first guess 5 of 10, then 0 of 1; lists 1 of 10, then 0 of 1
    assert worth(visits, 3, 0.0) == pytest.approx(5 / 11 + later(lists=1 / 11))
    visits.record(2, 0.0)
    visits.credit(finding(2, revealed_by=0))
    assert worth(visits, 3, 0.0) == pytest.approx(6 / 12 + later(lists=1 / 12))
    assert visits.rate(urls(0)) == pytest.approx([2.0])  # backlog does not say how often the list has news


def test_where_texts_change_often_pages_never_seen_are_worth_a_look() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, backlog_memory=10**9, list_share=0.1))
    visits.record(0, 0.0, links=urls(1, 2))
    visits.record(1, 0.0)
    for hour in range(1, 21):
        visits.record(1, hour * HOUR)
        visits.credit(finding(1, revealed_by=1))
    # first visits: 5 of 10, then 0 of 2; lists 1 of 10, then 0 of 2; texts were seen to have
    # news 20 times, in 260 hours with those of the first guess
    assert worth(visits, 2, 0.0) == pytest.approx(5 / 12 + later(lists=1 / 12, text_rate=20 / 260))


def test_a_page_to_which_everything_links_is_told_from_old_articles() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, backlog_memory=10**9, list_share=0.1))
    visits.record(0, 0.0, hub=True, links=urls(1, 2, *range(10, 40)))
    for article in range(10, 20):
        visits.record(article, 0.0, links=urls(1, 2))  # every article links to the sections 1 and 2
    # ten old articles brought nothing, and none is a list
    assert worth(visits, 20, 0.0) == pytest.approx(5 / 20 + later(lists=1 / 20))
    visits.record(1, 0.0, hub=True, links=urls(*range(100, 160)))
    # section 1 revealed 60 links worth 5/20 each: 15, counted as 10: (5 + 10)/(10 + 1) for pages with 8–15 links in, of
    # which one document counts; of these 1 of 10 was thought to be a list, and 1 of 1 was one
    assert worth(visits, 2, 0.0) == pytest.approx(1 + later(lists=2 / 11))


def test_where_links_lead_to_lists_all_of_them_are_seen_before_a_list_is_looked_at_again() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, backlog_memory=10**9, list_share=0.1))
    visits.record(0, 0.0, hub=True, links=urls(1, 2, 3))
    visits.record(1, 0.0, hub=True)
    visits.record(2, 0.0, hub=True)
    # 3 lists of 12, a document in a look: 3/12, and 5/12 for new documents. On a list of 2 an hour .6 have appeared after
    # 18 minutes, and a visit saves .0124 of their delay, more than usual (.01): .6 · √1.24 is as much
    assert visits.pick(urls(0, 1, 2, 3), 17 * 60, NOTHING, 0.0)[0] == 3
    assert visits.pick(urls(0, 1, 2, 3), 19 * 60, NOTHING, 0.0)[0] == 0


def test_where_looking_at_lists_brings_little_lists_never_seen_are_worth_little_more() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, list_share=1.0, backlog_memory=10**9))
    visits.record(0, 0.0, hub=True, links=urls(1))
    for hour in range(1, 31):
        visits.record(0, hour * HOUR, hub=True, links=urls(1, 9 + hour))
    visits.credit(finding(10, revealed_by=0))
    assert worth(visits, 1, 0.0) == pytest.approx(0.5 + 11 / 40)  # 10 in 10 looks as first guess, then 1 in 30


def test_news_on_a_linking_page_lifts_the_expectation_by_what_was_learned() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, prior_hours=24, lift_memory=10**9))
    visits.record(0, 0.0, hub=True)
    plain = worth(visits, 0, 4 * HOUR)
    assert plain == pytest.approx(8.0 * share_left(4, HAZARD))  # 2 per hour
    visits.signal(urls(0), 2 * HOUR)
    assert worth(visits, 0, 4 * HOUR) == pytest.approx(plain)  # nothing learned yet: ratio 10/10
    visits.record(0, 4 * HOUR, hub=True, links=urls(*range(1, 61)))
    for article in range(1, 61):
        visits.credit(finding(article, revealed_by=0))
    # predicted 10 + 7.4, came 10 + 60: 70/17.4 is clipped to 3
    before = worth(visits, 0, 5 * HOUR)
    visits.signal(urls(0), 4.5 * HOUR)
    assert worth(visits, 0, 5 * HOUR) == pytest.approx(3 * before)


def test_while_somebody_is_on_the_way_a_page_is_worth_nothing_to_others(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.going(0, 10 * HOUR)
    visits.going(1, 10 * HOUR)
    assert visits.worth(urls(0, 1), 10 * HOUR)[0].tolist() == [0.0, 0.0]
    assert worth(visits, 1, 11 * HOUR) > 0  # whoever went never came back
    visits.arrived(0)
    assert worth(visits, 0, 10 * HOUR) == pytest.approx(20 * share_left(10, HAZARD))  # it was a shared copy: as before


def test_a_linked_page_never_seen_that_fails_is_tried_again_twice_each_time_later(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    for hour, patience in ((1, 1), (3, 2)):
        visits.record(1, hour * HOUR, ok=False)
        assert worth(visits, 1, (hour + patience - 0.1) * HOUR) == 0.0
        assert not visits.visited(urls(1)).any()
        assert worth(visits, 1, (hour + patience) * HOUR) > 0.4
    visits.record(1, 5 * HOUR, ok=False)
    assert visits.visited(urls(1)).all()


def test_a_seed_that_was_not_there_is_never_given_up(visits: PageTable) -> None:
    hour = 0
    for patience in (1, 2, 4, 8, 16, 32, 32, 32):
        visits.record(3, hour * HOUR, ok=False)
        assert visits.met().tolist() == [3]
        assert worth(visits, 3, (hour + patience - 0.1) * HOUR) == 0.0
        assert worth(visits, 3, (hour + patience) * HOUR) > 0.0
        hour += patience
    visits.record(0, hour * HOUR, hub=True, links=urls(3))  # somebody links to it at last
    first, _ = visits.record(3, hour * HOUR)
    assert first
    assert visits.met().tolist() == [0, 3]


def test_pages_that_can_bring_news_again_are_lists_and_texts_that_did(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1, 2))
    visits.record(1, 0.0)
    visits.record(2, 0.0)
    visits.credit(finding(1, revealed_by=0))  # an article is found
    visits.credit(finding(2, revealed_by=2))  # a known page has a new text
    assert visits.returns(urls(0, 1, 2, 3)).tolist() == [True, False, True, False]
    assert visits.hubs.tolist() == [0]
    assert visits.revealer(1) == 0


def test_a_longer_absence_than_a_day_counts_as_a_day_of_watching(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True)
    visits.record(0, 72 * HOUR, hub=True)  # only documents of the last 24 h could be found
    assert visits.rate(urls(0)) == pytest.approx([list_rate(hits=0, hours=24)])


def test_where_pages_are_alike_one_hit_says_little_and_where_they_are_not_it_says_much() -> None:
    rates = {}
    for name, busy in (("alike", range(100)), ("unlike", range(5))):
        visits = PageTable(ExpectationSettings(hub_rate=2))
        for url in range(100):
            visits.record(UrlId(url), 0.0)
        for turn in range(1, 21):  # 100 hits in all: one of each page, or twenty of five pages
            for url in range(100):
                visits.record(UrlId(url), turn * 20 * HOUR)
            for url in busy:
                if name == "unlike" or url % 20 == turn - 1:
                    visits.credit(finding(url, revealed_by=url))
        visits.record(UrlId(100), 0.0)
        visits.record(UrlId(100), 20 * HOUR)
        visits.credit(finding(100, revealed_by=100))
        rates[name] = float(visits.rate(urls(100))[0])
    # a hit in 20 h: .05 an hour; the mean is .0025. Rates all alike: the mean weighs 1000 h; else prior_hours, 10 h
    assert rates["alike"] < 0.004
    assert rates["unlike"] > 0.03


def test_breadth_puts_lists_further_forward_whose_documents_have_waited_without_making_them_worth_more() -> None:
    plain, broad = (PageTable(ExpectationSettings(hub_rate=2, breadth=breadth)) for breadth in (0.0, 0.5))
    for visits in (plain, broad):
        for url, news, when in ((0, 12, 19), (1, 3, 12)):
            links = range(10, 10 + news) if url == 0 else range(50, 50 + news)
            visits.record(UrlId(url), 0.0, hub=True)
            visits.record(UrlId(url), when * HOUR, hub=True, links=urls(*links))
            for article in links:
                visits.credit(finding(article, revealed_by=url))
    both, now = urls(0, 1), 20 * HOUR
    rate, hours = plain.rate(both), np.array([1.0, 8.0])
    assert plain.rank(both, now) == pytest.approx(rate * hours)
    assert plain.worth(both, now)[0] == pytest.approx(
        [rate[0] * share_left(1, HAZARD), rate[1] * 8 * share_left(8, HAZARD)]
    )
    assert broad.worth(both, now)[0] == pytest.approx(plain.worth(both, now)[0])
    saved = [sqrt(waiting(waited, HAZARD, 24.0) / 0.01) for waited in (1.0, 8.0)]
    assert saved[1] > 2 * saved[0]
    assert broad.rank(both, now) == pytest.approx(rate * hours * np.array(saved))


def test_documents_that_stay_and_go_tell_how_fast_a_list_must_be_looked_at() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2))
    for url, stays in ((0, True), (1, False)):
        visits.record(UrlId(url), 0.0, version=1, hub=True, links=urls(url))
        for hour in range(1, 31):
            new, before = 100 * (1 + url) + hour, 100 * (1 + url) + hour - 1
            shown = urls(new, before) if stays and hour > 1 else urls(new)
            visits.record(UrlId(url), hour * HOUR, version=1 + hour, hub=True, links=shown)
            visits.credit(finding(new, revealed_by=url))
    table = visits.mind().table
    assert table["gone"][0] == pytest.approx(0.0) and table["stood_hours"][0] > 25
    assert table["gone"][1] > 25 and table["stood_hours"][1] == pytest.approx(table["gone"][1] / 2)
    lasting, fleeting = visits.rate(urls(0, 1))
    assert fleeting > 1.3 * lasting  # one an hour was seen on both, but here others came and went
    longer = visits.worth(urls(0, 1), 42 * HOUR)[0] / visits.worth(urls(0, 1), 31 * HOUR)[0]
    assert longer[0] > 2 * longer[1]  # what still stands after twelve hours against one


def test_what_is_first_found_on_one_list_and_then_on_another_is_found_elsewhere() -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2))
    for url in (0, 1):
        visits.record(UrlId(url), 0.0, version=1, hub=True)
    for hour in range(1, 11):
        visits.record(UrlId(0), hour * HOUR, version=1 + hour, hub=True, links=urls(100 + hour))
        links = urls(100 + hour) if hour % 2 else urls(200 + hour)
        visits.record(UrlId(1), hour * HOUR + 60, version=1 + hour, hub=True, links=links)
    assert visits.mind().table["elsewhere"][:2].tolist() == [5, 0]
    assert visits.mind().table["length"][:2].tolist() == [1, 1]


@pytest.mark.parametrize("main", [True, False])
def test_texts_that_the_first_visit_of_another_page_showed_earlier_tell_of_the_rate_of_a_main_list(main: bool) -> None:
    visits = PageTable(ExpectationSettings(hub_rate=2, main_rate=2))
    if main:
        visits.name_main(urls(0))
    visits.record(0, 0.0, version=1, hub=True, links=urls(1))
    visits.record(5, 6 * HOUR, links=urls(0, 2, 3))  # an old text with the latest ones beside it
    for text in (2, 3):
        visits.record(text, 6 * HOUR)
    visits.record(0, 12 * HOUR, version=1, hub=True, links=urls(1, 2, 3))
    # the form of address is credited with nothing; no fresh link was followed, so that .9 of them are documents
    form, shown = 0.5 / (12 + 0.5 / 2), 2 * 0.9 if main else 0.0
    assert visits.rate(urls(0)) == pytest.approx([(shown + 0.5) / (12 * share_left(12, HAZARD) + 0.5 / form)])


def test_texts_that_another_list_showed_first_do_not(visits: PageTable) -> None:
    visits.name_main(urls(0))
    visits.record(0, 0.0, version=1, hub=True, links=urls(1))
    visits.record(6, 0.0, version=1, hub=True, links=urls(1))
    visits.record(6, 6 * HOUR, version=1, hub=True, links=urls(1, 2))
    visits.record(2, 6 * HOUR)
    before = visits.rate(urls(0))[0]
    visits.record(0, 12 * HOUR, version=1, hub=True, links=urls(1, 2))
    assert visits.rate(urls(0))[0] < before


def test_a_quiet_night_promises_less_than_a_busy_day() -> None:
    """A list that brings a document in each hour of the day, and none at night, for three weeks."""
    visits = PageTable(ExpectationSettings(hub_rate=2))
    visits.record(UrlId(0), 0.0, version=1, hub=True)
    link = 10
    for hour in range(1, 21 * 24):
        brings = 12 if 8 <= (hour - 1) % 24 < 20 else 0
        links = urls(*range(link, link + brings))
        visits.record(UrlId(0), hour * HOUR, version=hour + 1, hub=True, links=links)
        for one in range(link, link + brings):
            visits.credit(finding(one, revealed_by=0))
        link += brings
    midnight = 21 * 24 * HOUR
    night, its_worth = visits.rank(urls(0), midnight + 5 * HOUR)[0], worth(visits, 0, midnight + 5 * HOUR)
    visits.record(UrlId(0), midnight + 10 * HOUR, version=10**6, hub=True, links=urls(5))
    day = visits.rank(urls(0), midnight + 15 * HOUR)[0]
    assert day > 5 * night
    assert worth(visits, 0, midnight + 15 * HOUR) == pytest.approx(its_worth, rel=0.2)  # it is not left alone at night


def named(*addresses: str, lists: tuple[int, ...] = (), main: tuple[int, ...] = ()) -> PageTable:
    """A table of pages with these addresses, some announced as lists, some as main pages of their site."""
    visits = PageTable(ExpectationSettings(hub_rate=2, backlog_memory=10**9))
    told = [
        Introduced(Url(f"http://paper.example{path}"), number in lists, number in main, None)
        for number, path in enumerate(addresses)
    ]
    visits.addresses = lambda begin: told[begin:]
    visits.meet_addresses()
    return visits


def test_pages_never_seen_are_worth_what_pages_of_the_same_form_of_address_were() -> None:
    visits = named("/", "/tag/storm/", "/tag/bridge/", "/tag/council/", "/tag/harbour/", "/sport/")
    visits.record(0, 0.0, hub=True, links=urls(1, 2, 3, 4, 5))
    for tag in (1, 2, 3):
        visits.record(tag, 0.0, hub=True)  # lists that reveal nothing
    # of this form: no document in 3 visits, 3 lists, which brought none in 3 first looks; the rest weighs as one of each
    sort = 5 / 13
    lists = (3 + 3.1 / 13) / 4
    assert worth(visits, 4, 0.0) == pytest.approx(sort / 4 + lists / 4)
    assert worth(visits, 5, 0.0) == pytest.approx(sort + 3.1 / 13)


def test_lists_of_one_form_share_what_is_known_of_their_rate() -> None:
    visits = named("/", *(f"/tag/{name}/" for name in "abcdefgh"), "/sport/")
    for page in range(10):
        visits.record(page, 0.0, hub=True)
    for page in range(1, 8):
        visits.record(page, HOUR, hub=True)
    # the last tag was not looked at again, but seven others were, and brought nothing
    form = 0.5 / (7 + 0.5 / 2)
    assert visits.rate(urls(8, 9)) == pytest.approx([form, 2.0])


def test_a_seed_and_the_feeds_that_it_announces_are_looked_at_soon_and_then_ever_later() -> None:
    visits = named("/", "/feed/", "/about/", main=(0,), lists=(1,))
    visits.record(0, 0.0, hub=True, links=urls(1, 2))
    assert visits.rate(urls(0)) == pytest.approx([40.0])
    assert worth(visits, 1, 0.0) == pytest.approx(0.5 + 1)  # a list for sure
    assert worth(visits, 0, 36.0) < 0.2 < worth(visits, 0, 38.0)
    now, waits = 0.0, []
    for _ in range(12):
        wait = next(seconds for seconds in range(1, 10**6) if worth(visits, 0, now + seconds) >= 0.2)
        now += wait
        waits.append(wait)
        visits.record(0, now, hub=True, links=urls(1, 2))
    assert waits == sorted(waits)
    assert now > HOUR  # twelve requests for a page without news in more than an hour


def test_a_seed_is_first_guessed_to_bring_what_other_seeds_bring() -> None:
    visits = named("/", "/sport/", "/feed/", main=(0, 1, 2), lists=(2,))
    visits.record(0, 0.0, hub=True)
    visits.record(1, 0.0, hub=True)
    visits.record(0, 2 * HOUR, hub=True, links=urls(5, 6, 7))
    for text in (5, 6, 7):
        visits.credit(finding(text, revealed_by=0))
    others = 3.5 / (2 + 0.5 / 40)  # 3 in two hours, and the first guess of 40 an hour
    assert visits.rate(urls(1)) == pytest.approx([others])
    visits.record(1, 2 * HOUR, hub=True)  # nothing: by its form .5 in so long, of which some would have left
    form = 0.5 / (2 + 0.5 / others)
    assert visits.rate(urls(1)) == pytest.approx([0.5 / (2 * share_left(2, HAZARD) + 0.5 / form)], rel=0.01)


def test_a_seed_that_could_not_be_had_comes_first_once_it_has_rested() -> None:
    visits = named("/", "/story-1", main=(0,))
    visits.record(0, 0.0, ok=False)
    assert worth(visits, 0, 3599.0) == 0
    visits.record(1, 0.0, hub=True, links=urls(2))
    visits.record(1, 3000.0, hub=True, links=urls(2, 3))
    index, its_worth, fresh, _ = visits.pick(urls(0, 1, 3), 3601.0, NOTHING, 0.0)
    assert (index, its_worth, fresh) == (0, 1.0, True)  # before a fresh link


def test_a_list_that_brings_a_document_every_30_seconds_is_not_looked_at_for_each() -> None:
    visits = named("/", main=(0,))
    visits.record(0, 0.0, hub=True)
    for turn in range(1, 41):
        visits.record(0, turn * 30.0, hub=True, links=urls(turn))
        visits.credit(finding(turn, revealed_by=0))
    (rate,) = visits.rate(urls(0))
    assert 115 < rate < 125
    # 120 an hour: .2 documents after 6 s, but they have waited for .6 s; with a patience of 16 s it is t³ = .2 · 30 · 960
    assert worth(visits, 0, 1200 + 17.5) < 0.2 < worth(visits, 0, 1200 + 18.5)


def test_an_address_that_says_how_old_its_page_is_saves_a_visit() -> None:
    visits = named("/", "/2026/11/03/a-storm-is-coming/", "/2026/11/17/the-storm-is-here/", "/2026/")
    visits.record(0, 1_794_960_000.0, hub=True, links=urls(1, 2, 3))  # 18 November 2026
    worths = visits.worth(urls(1, 2, 3), 1_794_960_000.0)[0]
    assert worths[0] == pytest.approx(0.02)
    assert (worths[1:] > 0.4).all()


def test_only_documents_on_topic_count_by_the_share_of_lists_and_the_chance_of_links(visits: PageTable) -> None:
    visits.record(0, 0.0, hub=True, links=urls(1))
    visits.record(0, HOUR, hub=True, links=urls(1, 2, 3))
    assert worth(visits, 2, HOUR) == worth(visits, 3, HOUR) > 0.5
    (rate,), later, backlog = visits.rate(urls(0)), worth(visits, 0, 3 * HOUR), worth(visits, 1, HOUR)
    visits.lean_to_topic(urls(0, 1, 3), np.array([0.5, 0.25, 0.1]))
    assert worth(visits, 3, HOUR) == pytest.approx(0.1 * worth(visits, 2, HOUR))
    assert worth(visits, 1, HOUR) == pytest.approx(0.25 * backlog)
    assert visits.rate(urls(0)) == pytest.approx(0.5 * rate)
    assert worth(visits, 0, 3 * HOUR) == pytest.approx(0.5 * later)


def dated(url: int, published: float) -> Finding:
    return Finding(by=0, url=url, version=0, text_print=0, published=published, revealed_by=url)


def test_a_text_that_states_its_date_was_watched_without_news_from_then_on() -> None:
    rates = []
    for age in (1.0, 0.1, np.inf):  # in hours, at every second hour's visit; or no date
        visits = PageTable(ExpectationSettings(rhythm=False, prior_hours=1.0))
        for number in range(20):
            visits.record(UrlId(1), number * 2 * HOUR)
            if number > 0:
                visits.credit(dated(1, number * 2 * HOUR - age * HOUR))
        rates.append(float(visits.rate(urls(1))[0]))
    often, oftener, undated = rates
    # once an hour; perhaps once in two hours, perhaps always; every six minutes
    assert often < 1.05 < undated < oftener
