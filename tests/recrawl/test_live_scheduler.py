"""The recrawl side that crawl and replay share: watching, choosing, explaining."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from forager.core import candidates
from forager.core.candidates import Candidates
from forager.core.choice import RESTING, Pool
from forager.core.exploration import Pace, Thrift
from forager.core.page_row import FRESH
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.core.scheduler import Scheduler
from forager.events import CycleDone, Scheduled
from forager.recrawl.formula import parse
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail
from forager.recrawl.policies import Formula, Policy, named
from forager.terms import UrlId

TX = Policy("t * X", Formula.of(parse("t * X")))


class Expecting(PageTable):
    """Pages that promise so many documents at any time; `fresh` are links that just appeared, `seen` were visited."""

    def __init__(self, worth: Sequence[float], fresh: Sequence[int] = (), seen: Sequence[int] = ()) -> None:
        super().__init__(ExpectationSettings(breadth=0, text_breadth=0))
        self.reserve(1024)
        self._known[: 1 + len(worth)] = [len(worth), *range(len(worth))]
        self._table["visits"][list(seen)] = 1
        self._table["fresh"][list(fresh)], self._table["met"][list(fresh)] = True, 0.0
        for page, expected in enumerate(worth):
            self.expect(page, expected)

    def expect(self, page: int, worth: float) -> None:
        """From now on: as fresh links were worth on average, or as if an archive had watched the page for very long."""
        if self._table["fresh"][page]:
            self._means[FRESH] = worth, 1.0
        else:  # 1 − e^(−λ · a day) = worth
            self._table["hours"][page], self._table["hits"][page] = 1e15, -1e15 * math.log(1 - worth) / 24.0


class Frugal(Thrift):
    """Nobody explores unless told so."""

    def __init__(self, *, explores: bool) -> None:
        super().__init__(0.3, 1.0 if explores else 0.0, Pace(500), 86_400.0)
        self.pace.row["age"] = 1.0  # a document was found young: who has found none cannot afford thrift


def scheduler(
    expecting: PageTable,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    *,
    groups: Sequence[int] | None = None,
    resting: Sequence[int] = (),
    explores: bool = False,
    seeds: Sequence[int] = (),
) -> Scheduler:
    last = np.full(expecting.size, -math.inf)
    last[list(resting)] = 1e9
    known = int(expecting.mind().known[0])
    offered = Candidates(
        expecting,
        expecting.mind,
        Frugal(explores=explores),
        every=1.0,
        last=lambda: last,
        revisit_after=0.0,
        seeds=np.array(seeds, dtype=np.int64),
        known=None if groups is None else lambda: np.arange(known),
        groups=None if groups is None else lambda begin: np.array(groups[begin:]),
    )
    return Scheduler(policy, offered)


def visit(one: Scheduler, page: int, *versions: int) -> None:
    """A visit at 0, 1, 2 …, each showing one of the versions."""
    for when, (before, version) in enumerate(pairwise((versions[0], *versions))):
        one.history.note(page, float(when), version != before)


def first(one: Scheduler, now: float, luck: float) -> int:
    """The page chosen; -1 for none."""
    chosen = one.choose(now, luck)
    return -1 if chosen is None else chosen[0]


def test_by_default_the_page_that_promises_most_documents_goes_first() -> None:
    one = scheduler(Expecting([0.4, 0.9, 0.5], fresh=[0]))
    assert one.choose(0.0, 0.0) == (0, pytest.approx(0.4))  # 10 × 0.4 in the ordering
    assert scheduler(Expecting([0.4, 0.9, 0.5])).choose(0.0, 0.0) == (1, pytest.approx(0.9))
    assert scheduler(Expecting([0.1, 0.2])).choose(0.0, 0.0) is None


@pytest.mark.parametrize("luck", [0.0, 0.6])
def test_plain_python_puts_pages_to_rest_all_at_once_and_chooses_the_same(
    monkeypatch: pytest.MonkeyPatch, luck: float
) -> None:
    chosen = []
    for plain in (False, True):
        monkeypatch.setattr(candidates, "awaits_code", lambda kernel, plain=plain: plain)
        one = scheduler(Expecting([0.9, 0.8, 0.7, 0.6, 0.5], seen=range(5)), groups=[0] * 5, resting=[0, 1, 4])
        for page in range(5):
            visit(one, page, 1, 2)
        one.postpone(2, 100.0)
        chosen.append(one.choose(10.0, luck))
        pool = one.candidates.pool_of()
        assert set(pool.columns.resting[: pool.columns.tally[RESTING]].tolist()) == (
            {0, 1, 2, 4} if plain else {0, 1, 2}
        )
    assert chosen[0] == chosen[1]
    assert chosen[0] is not None
    assert chosen[0][0] == 3


@pytest.mark.parametrize(("hours", "hits", "rested"), [(10.0, 0.0, 4.0), (10.0, 1.0, 0.0), (1000.0, 0.0, 24.0)])
def test_a_list_watched_in_vain_is_asked_ever_more_seldom_even_by_those_who_found_nothing(
    hours: float, hits: float, rested: float
) -> None:
    expecting = Expecting([0.5], seen=[0])
    expecting._table[["hub", "hours", "hits", "last"]][0] = True, hours, hits, 0.0
    one = scheduler(expecting, groups=[0], explores=True)  # .4 of its hours, at most a day
    one.candidates.thrift.pace.row["age"] = 0.0  # whoever found nothing yet takes any list, …
    visit(one, 0, 1, 1)
    for hour in (0.1, 3.9, 4.1, 23.9, 24.1):
        assert first(one, 3600 * hour, 0.5) == (0 if hour > rested else -1)
    pause = one.rest(3600 * 0.1, 0, 1.0, 1e9)  # … and sleeps until then
    assert pause == pytest.approx(max(1.0, 3600 * (rested - 0.1)))


def test_seeds_that_nobody_has_seen_come_before_everything() -> None:
    one = scheduler(Expecting([0.4, 0.9, 0.5], seen=[2]), seeds=[2, 0])
    assert first(one, 0.0, 0.0) == 0
    assert one.choose(0.0, 0.0) == (1, pytest.approx(0.9))


def test_a_policy_orders_the_pages_that_have_a_history_whatever_documents_they_promise() -> None:
    one = scheduler(Expecting([0.0, 0.0, 0.2], seen=[0, 1]), TX)
    visit(one, 0, 7, 8, 9)  # X = 2
    visit(one, 1, 5, 5, 6)  # X = 1
    page, worth = one.choose(10.0, 0.0) or (-1, 0.0)
    assert page == 0
    assert math.isnan(worth)
    explained = one.explain(1, 10.0)
    assert str(explained) == "n=3 X=1 t=8 → 8.00, rank 2 of 2"
    assert one.explain(2, 10.0) is None


def test_pages_without_history_go_first_if_they_promise_enough_and_only_then() -> None:
    expecting = Expecting([0.0, 0.5, 0.2], seen=[0])
    one = scheduler(expecting, TX)
    visit(one, 0, 7, 8)
    assert one.choose(5.0, 0.0) == (1, pytest.approx(0.5))
    expecting.expect(1, 0.1)
    assert first(one, 5.0, 0.0) == 0
    exploring = scheduler(expecting, TX, explores=True)
    visit(exploring, 0, 7, 8)
    assert exploring.choose(5.0, 0.9) == (2, 0.0)


def test_pages_without_history_do_not_keep_a_policy_from_a_list_that_promises_more() -> None:
    expecting = Expecting([0.8, 0.5], seen=[0])
    one = scheduler(expecting, TX)
    visit(one, 0, 7, 8)
    page, worth = one.choose(5.0, 0.0) or (-1, 0.0)
    assert page == 0
    assert math.isnan(worth)
    expecting.expect(0, 0.4)
    assert one.choose(5.0, 0.0) == (1, pytest.approx(0.5))
    fresh = scheduler(Expecting([0.8, 0.5], fresh=[1], seen=[0]), TX)
    visit(fresh, 0, 7, 8)
    assert fresh.choose(5.0, 0.0) == (1, pytest.approx(0.5))


def test_a_policy_looks_at_a_page_once_in_a_cycle_whatever_its_score() -> None:
    one = scheduler(Expecting([0.0, 0.0], seen=[0, 1]), Policy("X", Formula.of(parse("X"))))
    visit(one, 0, 7, 8, 9)  # X = 2, last seen at 2
    visit(one, 1, 5, 6)  # X = 1, last seen at 1
    assert first(one, 2.5, 0.0) == 1
    assert first(one, 3.0, 0.0) == 0


def test_what_was_seen_a_moment_ago_rests_and_the_next_best_is_taken() -> None:
    one = scheduler(Expecting([0.0, 0.0, 0.0], seen=[0, 1, 2]), TX, resting=[0])
    visit(one, 0, 7, 8, 9)
    visit(one, 1, 5, 5, 6)
    visit(one, 2, 1, 1, 1)
    assert first(one, 10.0, 0.0) == 1


def test_a_page_that_is_not_to_be_had_is_left_for_later() -> None:
    one = scheduler(Expecting([0.4, 0.9]))
    assert first(one, 0.0, 0.0) == 1
    one.postpone(1, 5.0)
    assert first(one, 0.5, 0.0) == 0
    assert first(one, 5.0, 0.0) == 1


def test_every_host_has_pages_of_its_own() -> None:
    one = scheduler(Expecting([0.4, 0.9, 0.5, 0.1]), groups=[0, 1, 0, 2])
    assert one.choose(0.0, 0.0, 0) == (2, pytest.approx(0.5))
    assert one.choose(0.0, 0.0, 1) == (1, pytest.approx(0.9))
    assert one.choose(0.0, 0.0, 2) is None
    assert one.choose(0.0, 0.0, 3) is None
    assert one.groups == [0, 1, 2]


def test_links_that_just_appeared_join_the_pool_at_once() -> None:
    expecting = Expecting([0.4] + [0.0] * 999, fresh=[999])
    one = scheduler(expecting, seeds=[])
    assert first(one, 0.0, 0.0) == 0
    expecting.expect(999, 0.9)
    one.reveal(np.array([999]), 1.0)
    assert one.choose(1.0, 0.0) == (999, pytest.approx(0.9))


def test_so_does_a_page_of_some_host_that_was_not_known_at_the_last_ranking() -> None:
    groups, expecting = [0, 1], Expecting([0.4, 0.5], fresh=[2])
    one = scheduler(expecting, groups=groups)
    assert one.choose(0.0, 0.0, 1) == (1, pytest.approx(0.5))
    expecting.expect(2, 0.9)
    groups.append(1)
    one.reveal(np.array([2]), 0.5)
    assert one.choose(0.5, 0.0, 1) == (2, pytest.approx(0.9))
    assert one.choose(0.5, 0.0, 0) == (0, pytest.approx(0.4))


def test_a_change_is_another_version_than_at_the_visit_before() -> None:
    pages = PageTable(ExpectationSettings())
    for when, version in enumerate([4, 4, 6, -1, 6, 7]):  # first, same, changed, failed, same, changed
        pages.record(UrlId(0), float(when), version=version)
    states = pages.history.states(6.0)
    assert (states.n[0], states.X[0], states.last_change[0]) == (6, 2, 5)


def test_a_cycle_is_told_with_its_quality() -> None:
    one = scheduler(Expecting([0.0, 0.0], seen=[0, 1]), TX)
    (scheduled,) = one.turn(0.0)
    assert isinstance(scheduled, Scheduled)
    assert one.turn(0.5) == []
    visit(one, 0, 1, 1)
    one.looked(0)
    visit(one, 1, 2, 3)
    one.looked(1)
    done, _ = one.turn(1.0)
    # one of two changed: ChangeRate 1/2; it came second, and the ideal puts it first: ranks 1 and 2 count the same
    assert done == CycleDone(1.0, "t * X", 2, 1, 0.5, 1.0)
    assert one.done == done


def test_the_first_visit_of_a_page_says_nothing_of_the_quality() -> None:
    one = scheduler(Expecting([0.0], seen=[0]), TX)
    one.turn(0.0)
    visit(one, 0, 1)
    one.looked(0)
    assert one.turn(1.0)[0] == CycleDone(1.0, "t * X", 0, 0, 0.0, 0.0)


@pytest.mark.parametrize("trail", [False, True])
def test_histories_saved_and_restored_go_on_as_before(trail: bool) -> None:
    rng = np.random.default_rng(5)

    def go_on(one: PageTable, luck: np.random.Generator, start: int) -> None:
        for when in range(start, start + 60):
            one.record(UrlId(int(luck.integers(9))), float(when), version=int(luck.integers(4)))

    one = PageTable(ExpectationSettings())
    one.keep_histories(History(trail=Trail() if trail else None))
    go_on(one, rng, 0)
    other = PageTable.load(one.save(), ExpectationSettings())
    go_on(one, np.random.default_rng(6), 60)
    go_on(other, np.random.default_rng(6), 60)
    for column in ("n", "X", "last", "halved", "interval", "rate", "update"):
        assert (
            getattr(one.history.states(130.0), column).tolist() == getattr(other.history.states(130.0), column).tolist()
        )


def test_whoever_asks_why_does_not_change_what_chance_will_choose() -> None:
    def course(asks: bool) -> list[int]:
        one = scheduler(Expecting([0.0] * 9, seen=range(9)), Policy("rand", named("rand", np.random.default_rng(1))))
        for page in range(9):
            visit(one, page, 1)
        pages = []
        for now in range(5, 12):
            if asks:
                assert one.explain(3, float(now)) is not None
            pages.append(first(one, float(now), 0.0))
        return pages

    assert course(asks=True) == course(asks=False)


def test_another_policy_can_take_over_at_any_time() -> None:
    one = scheduler(Expecting([0.0, 0.0], seen=[0, 1]), TX)
    visit(one, 0, 1, 2, 3)
    visit(one, 1, 1)
    assert first(one, 10.0, 0.0) == 0
    one.use(Policy("age", Formula.of(parse("t"))))
    assert first(one, 10.0, 0.0) == 1  # seen last at 0, the other at 2


def test_a_pool_never_holds_a_page_twice_and_wakes_those_that_rested() -> None:
    pool = Pool(np.array([3, 5]))
    pool.add(np.array([5, 7, 7]))
    assert sorted(pool.pages.tolist()) == [3, 5, 7]
    pool.rest(0, 10.0)
    assert 3 not in pool.pages
    pool.add(np.array([3]))
    pool.wake(9.0)
    assert 3 not in pool.pages
    pool.wake(10.0)
    assert sorted(pool.pages.tolist()) == [3, 5, 7]


def test_until_machine_code_is_loaded_another_part_of_very_many_pages_is_ranked_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "FEWER", 3)
    one = scheduler(Expecting([0.5] * 9), groups=[0] * 9)
    one.candidates.rank(0.0)
    assert sorted(one.candidates.pools[0].pages.tolist()) == list(range(9))
    monkeypatch.setattr(candidates, "awaits_code", lambda kernel: True)
    parts = []
    for now in (1.0, 2.0, 3.0):
        one.candidates.rank(now)
        parts.append(one.candidates.pools[0].pages.tolist())
    assert [len(part) for part in parts] == [3, 3, 3]
    assert sorted(page for part in parts for page in part) == list(range(9))


def test_until_machine_code_is_loaded_pools_stay_small_and_then_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "FEWER", 3)
    pages = Expecting([0.5] * 9, fresh=range(9))
    pages.date(np.arange(9), np.array([float(9 * day) for day in range(9)]))
    one = scheduler(pages, groups=[0] * 9)
    monkeypatch.setattr(candidates, "awaits_code", lambda kernel: True)
    one.candidates.rank(0.0)
    one.candidates.pools[0] = Pool(np.array([0]))
    one.candidates.reveal(np.arange(9), 1.0)
    assert sorted(one.candidates.pools[0].all.tolist()) == [0, 6, 7, 8]  # those with the latest dates
    one.candidates.reveal(np.arange(1, 4), 1.0)
    assert len(one.candidates.pools[0].all) == 6
    monkeypatch.setattr(candidates, "awaits_code", lambda kernel: False)
    one.choose(1.0, 0.0)
    assert sorted(one.candidates.pools[0].all.tolist()) == list(range(9))
