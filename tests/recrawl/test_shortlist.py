"""Of very many known pages only the better part is ranked most of the time; what became known since is ranked too."""

import numpy as np
import pytest

from forager.core.candidates import Candidates
from forager.core.exploration import Pace, Thrift
from forager.core.findings import Finding
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.core.refill import LATE, LEAST, LOOKS, PART, POOL, list_length, list_serves
from forager.core.scheduler import Scheduler
from forager.recrawl.policies import Policy
from forager.terms import ForagerId, UrlId

HOUR = 3600.0


def site(pages: int) -> PageTable:
    """A list that links all other pages and brought a document; page p was seen once, lower numbers earlier."""
    visits = PageTable(ExpectationSettings())
    visits.record(UrlId(0), 0.0, hub=True, links=np.arange(1, pages))
    for page in range(1, pages):
        visits.record(UrlId(page), HOUR * page / pages)
    visits.record(UrlId(0), HOUR, hub=True, links=np.arange(1, pages))
    visits.credit(Finding(ForagerId(0), UrlId(0), 0, 0, HOUR, UrlId(0)))
    return visits


def scheduler(visits: PageTable, *, short: bool, least: float = 0.0) -> Scheduler:
    """Without a short list: all pages are those of one host. `least` is the threshold; documents are found young."""
    candidates = Candidates(
        visits,
        visits.mind,
        Thrift(least, 0.0, Pace(500, age=60.0), 86_400.0),
        every=900.0,
        last=lambda: visits.history.tables.times[1],
        revisit_after=0.0,
        known=None if short else visits.met,
        groups=None if short else lambda begin: np.zeros(visits.size - begin, dtype=np.int64),
    )
    return Scheduler(Policy(), candidates)


def visit(one: Scheduler, visits: PageTable, now: float) -> int:
    chosen = one.choose(now, 0.5)
    assert chosen is not None
    visits.record(UrlId(chosen[0]), now)
    return chosen[0]


def test_few_pages_need_no_list_and_of_many_one_in_32_is_on_it() -> None:
    assert list_length(2 * LEAST) == 0
    assert list_length(2 * LEAST + 1) == LEAST
    assert list_length(PART * 5000) == 5000


def test_a_list_serves_for_some_downloads_unless_too_many_pages_became_known() -> None:
    known, used = PART * LEAST, PART * LEAST // LOOKS - 1  # 32 · 1024 / 64 = 512 downloads
    assert list_serves(used, known, late=LATE * LEAST, listed=LEAST)
    assert not list_serves(used, known, late=LATE * LEAST + 1, listed=LEAST)
    assert not list_serves(used + 1, known, late=0, listed=LEAST)


def test_with_a_short_list_the_same_pages_are_chosen_as_by_ranking_all() -> None:
    every, some = site(3 * LEAST), site(3 * LEAST)
    full, short = scheduler(every, short=False), scheduler(some, short=True)
    times = [30 * HOUR + 60.0 * count for count in range(2 * POOL)]
    assert [visit(short, some, now) for now in times] == [visit(full, every, now) for now in times]


def test_pages_that_became_known_since_the_list_was_made_are_chosen_too() -> None:
    visits = site(3 * LEAST)
    one = scheduler(visits, short=True)
    now = 30 * HOUR
    visit(one, visits, now)
    visits.record(UrlId(7), now, links=np.array([10_000]))  # seen again, it shows a link nobody had met
    assert one.candidates.known == 3 * LEAST
    chosen = {visit(one, visits, now + 900.0 * count) for count in range(1, 4)}  # a ranking each
    assert 10_000 in chosen
    assert one.candidates.known == 3 * LEAST + 1


@pytest.mark.parametrize("short", [True, False])
def test_a_busy_list_seen_a_moment_before_a_ranking_is_seen_again_as_soon_as_it_is_due(short: bool) -> None:
    pages = POOL + 100
    visits = site(pages)
    now = HOUR
    for new in range(pages, pages + 20):  # a document every half a minute
        now += 30.0
        visits.record(UrlId(0), now, hub=True, links=np.array([new]))
        visits.record(UrlId(new), now)
        visits.credit(Finding(ForagerId(0), UrlId(new), 0, 0, now, UrlId(0)))
    one = scheduler(visits, short=short, least=0.2)
    assert one.choose(now + 1, 0.5) is None  # all pages are ranked, and nothing is worth a request yet
    wait = one.rest(now + 1, 0, 1.0, 1000.0)
    # λ is 21 in 4200 s, and (2 · 16 · .2 / λ²)^(1/3) = 63.5 s, of which one is over
    assert wait == pytest.approx(62.5, abs=1)
    chosen = one.choose(now + 2 + wait, 0.5)
    assert chosen is not None and chosen[0] == 0
