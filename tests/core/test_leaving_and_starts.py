from collections import Counter

import numpy as np
import pytest

from forager.core.exploration import Pace, Thrift
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings, ForagerSettings, StartSettings, WeblogSettings
from forager.core.weblog import Weblog
from tests.core.lone import Lone

HOUR = 3600.0
SEEDS = (1, 2)
Entries = list[tuple[int, float]]


def test_the_pace_is_hits_per_download_with_the_older_ones_fading() -> None:
    pace = Pace(memory=2)
    assert pace.mean == 0.0
    pace.downloaded(1)
    pace.hit()
    assert pace.mean == 1.0
    pace.downloaded(1)  # the first download and its hit count half: .5/(.5 + 1)
    assert pace.mean == pytest.approx(1 / 3)
    pace.downloaded(2)  # 1/8 of the first hit, 1.5/4 + 2 downloads
    assert pace.mean == pytest.approx(0.125 / 2.375)


def start(settings: StartSettings, entries: Entries, visits: PageTable, times: int = 1) -> Counter[int]:
    """Where paths start; each is over after its first step."""
    lone = Lone(ForagerSettings(start=settings, weblog=WeblogSettings(start_size=2)), seeds=SEEDS)
    lone.shared.visits, drawn = visits, Counter[int]()
    before = visits.save()
    for _ in range(times):
        lone.shared.visits = PageTable.load(before, visits.settings)
        lone.forager.weblog = Weblog(lone.forager.weblog.settings, entries)
        drawn[lone.choose(10 * HOUR).url] += 1
        lone.agent.flock.state.walkers["length"] = 0  # so that the weblog learns nothing
    return drawn


@pytest.fixture
def visits() -> PageTable:
    visits = PageTable(ExpectationSettings(hub_rate=2))
    visits.record(5, 9.9 * HOUR, hub=True)  # visited six minutes ago
    visits.record(6, 0.0, hub=True)  # ten hours ago
    visits.record(7, 0.0, hub=True)
    return visits


def test_in_the_paper_each_page_of_the_start_list_is_as_likely(visits: PageTable) -> None:
    weblog: Entries = [(5, 300.0), (6, 100.0), (7, 1.0)]
    drawn = start(StartSettings(by="list", explore=0.0), weblog, visits, 1000)
    assert set(drawn) == {5, 6}
    assert 420 < drawn[5] < 580  # 500 ± 5 standard deviations of 16


def test_the_best_start_promises_most_and_its_value_decides_between_equals(visits: PageTable) -> None:
    # λ = .5: page 5 promises .05 documents, 6 and 7 promise 5
    weblog: Entries = [(5, 3000.0), (6, 100.0), (7, 1.0)]
    assert start(StartSettings(explore=0.0, others=0), weblog, visits, 20) == {6: 20}


def test_a_seed_never_seen_is_started_from_before_a_list_seen_a_moment_ago(visits: PageTable) -> None:
    weblog: Entries = [(5, 3000.0), (1, 0.0)]
    assert start(StartSettings(explore=0.0, others=0), weblog, visits) == {1: 1}


def test_a_seed_never_seen_comes_before_everything_however_little_strangers_brought(visits: PageTable) -> None:
    visits.name_main(np.array([3, 4]))
    for stranger in range(10, 60):  # each a text without news
        visits.record(stranger, 0.0)
        visits.record(stranger, 9.0 * HOUR)
    weblog: Entries = [
        (6, 100.0),
        (3, 0.0),
    ]  # the list has waited for ten hours; a seed of a Newsroom waited for six days
    assert start(StartSettings(explore=0.0, others=0), weblog, visits) == {3: 1}


def test_a_known_page_outside_the_weblog_is_started_from_if_it_promises_more(visits: PageTable) -> None:
    assert start(StartSettings(explore=0.0), [(5, 3000.0)], visits) == {7: 1}  # a list not seen for longer than page 5
    assert start(StartSettings(explore=0.0, others=0), [(5, 3000.0)], visits) == {5: 1}


def test_a_start_may_be_drawn_with_these_weights(visits: PageTable) -> None:
    weblog: Entries = [(6, 2.0), (7, 0.0)]  # weights 3 : 1
    drawn = start(StartSettings(by="draw", explore=0.0), weblog, visits, 1000)
    assert 680 < drawn[6] < 820  # 750 ± 5 standard deviations of 14


def test_entries_with_penalties_can_still_be_chosen(visits: PageTable) -> None:
    weblog: Entries = [(6, -7.0)]
    assert start(StartSettings(by="draw", explore=0.0), weblog, visits) == {6: 1}


def test_a_share_of_the_starts_goes_to_any_known_list(visits: PageTable) -> None:
    weblog: Entries = [(6, 100.0)]
    drawn = start(StartSettings(explore=0.3), weblog, visits, 1000)
    assert set(drawn) == {5, 6, 7}
    assert 50 < drawn[5] < 150  # a tenth, ± 5 standard deviations of 9.5


def test_with_an_empty_weblog_a_path_starts_at_a_seed(visits: PageTable) -> None:
    assert set(start(StartSettings(explore=0.0, others=0), [], visits, 50)) == {1, 2}


def test_exploring_goes_on_while_nothing_is_worth_a_download() -> None:
    thrift = Thrift(0.3, 0.05, Pace(500, age=60.0), 86_400.0)
    assert thrift.allows(0.1)  # the first one
    thrift.spend(0.1)
    assert not thrift.allows(0.1)
    for _ in range(20):
        thrift.rested()
    assert thrift.owes  # 1 of 21 explored, a twentieth of them are 1.05
    thrift.spend(0.0)
    assert not thrift.owes
    assert not thrift.allows(0.1)  # 2 of 22
    assert thrift.allows(0.3)


def test_a_page_must_promise_less_the_later_documents_are_found() -> None:
    pace = Pace(500)
    thrift = Thrift(0.3, 0.05, pace, 86_400.0)
    for age, least in ((0.0, 0.0), (1.0, 0.3), (0.72 * 3600.0, 0.225), (1.44 * 3600.0, 0.0), (20 * 3600.0, 0.0)):
        pace.age = age
        assert thrift.least_worth == pytest.approx(least)
    thrift.spend(0.0)
    thrift.spend(0.01)
    assert (thrift.spent, thrift.explored) == (2, 1)  # nothing is too poor any more, but exploring still counts as such


def test_the_age_of_found_documents_is_a_running_mean() -> None:
    pace = Pace(500, age=3600.0, ages=1000.0)
    pace.found(1600.0, 86_400.0)
    assert pace.age == pytest.approx(3590.0)  # 3600 − 2000/200
    pace.found(-50.0, 86_400.0)  # dated in the future: as good as new
    assert pace.age == pytest.approx(3590 - 3589 / 200)


def test_a_crawl_must_find_some_documents_young_before_it_is_thrifty() -> None:
    pace = Pace(500)
    thrift = Thrift(0.3, 0.05, pace, 86_400.0)
    pace.found(8.0, 86_400.0)  # one may be chance: a teletext was hardly looked at for days because of one
    assert 0 < thrift.least_worth < 0.3 / 4
    for _ in range(30):
        pace.found(8.0, 86_400.0)
    assert thrift.least_worth > 0.3 * 0.9
