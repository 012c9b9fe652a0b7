"""What visits on a change log tell of how documents come to a page and leave it."""

import numpy as np
import pytest

from forager.gp.fitness import Judge
from forager.gp.gp_settings import GPSettings
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.document_watch import ELSEWHERE, HAZARD, LENGTH, NEWS, Watch, watch_of, watch_visit
from forager.recrawl.formula import parse
from forager.recrawl.list_estimates import rate_of_text
from forager.recrawl.policies import ByKind, Formula, hand_made
from forager.recrawl.terminals import PageStates

CYCLES = 200


def log_of(entries: list[tuple[int, int, int, int]], pages: int = 1) -> ChangeLog:
    """Entries of document, page, first and last cycle; hourly cycles."""
    table = np.array(entries, dtype=np.int64).reshape(-1, 4)
    shown = ShownDocuments(table[:, 0], table[:, 1], table[:, 2], table[:, 3])
    return ChangeLog(np.zeros((pages, CYCLES), dtype=np.bool_), (), shown, start=0.0, cycle=3600.0)


def watched(log: ChangeLog, every: int, changed: bool = False) -> Watch:
    watch = watch_of(log, np.arange(float(log.cycles)))
    for cycle in range(0, log.cycles, every):
        for page in range(log.pages):
            watch_visit(watch, page, cycle, changed)
    return watch


@pytest.mark.parametrize("every", [1, 8])
def test_documents_that_came_and_went_unseen_count_too(every: int) -> None:
    # Two documents an hour, each for three hours: of eight hours a visit sees those of the last three.
    log = log_of([(number, 0, number // 2, number // 2 + 2) for number in range(2 * CYCLES)])
    sums = watched(log, every).sums
    assert sums[NEWS, 0] == pytest.approx(2.0, rel=0.35)
    assert sums[LENGTH, 0] == 6
    if every == 8:
        assert sums[HAZARD, 0] > 0.1
        assert sums[NEWS, 0] > 1.5 * 6 / 8  # the visits see six in eight hours


def test_a_list_that_went_silent_is_forgotten() -> None:
    log = log_of([(number, 0, number, CYCLES) for number in range(60)])
    watch, rates = watch_of(log, np.arange(float(CYCLES))), []
    for cycle in range(0, CYCLES, 4):
        watch_visit(watch, 0, cycle, False)
        rates.append(float(watch.sums[NEWS, 0]))
    assert max(rates) > 0.8
    assert rates[-1] < 0.5 * 60 / CYCLES / 0.6  # less than its mean by far


def test_documents_of_a_list_are_found_elsewhere_too() -> None:
    twice = [(number, page, number, CYCLES) for number in range(100) for page in (0, 1)]
    watch = watched(log_of(twice, pages=2), 1)
    assert watch.sums[ELSEWHERE, 0] == pytest.approx(1.0, abs=0.1)
    assert watch.sums[ELSEWHERE, 1] == 0.0
    assert watch.sums[NEWS, 1] < 0.1  # it never was the first


def test_the_rate_of_a_text_is_the_likeliest_for_intervals_with_and_without_news() -> None:
    log = ChangeLog(np.zeros((1, CYCLES), dtype=np.bool_), (), None, cycle=3600.0)
    watch = watch_of(log, np.arange(float(CYCLES)))
    for visit, cycle in enumerate(range(0, 100, 10)):
        watch_visit(watch, 0, cycle, visit % 3 > 0)
    assert watch.sums[NEWS, 0] == watch.sums[HAZARD, 0] == rate_of_text(6.0, 60.0, 30.0, 0.5, 24.0)


def test_every_change_of_a_text_is_a_document_lost_at_the_next() -> None:
    changed = np.zeros((2, 10), dtype=np.bool_)
    changed[0, [2, 5]] = changed[1, 4] = True
    shown = ChangeLog(changed).with_texts().documents
    assert shown is not None
    assert [*zip(shown.page.tolist(), shown.first.tolist(), shown.last.tolist(), strict=True)] == [
        (0, 2, 4),
        (0, 5, 9),
        (1, 4, 9),
    ]
    own = log_of([(0, 0, 3, 4)])
    assert own.with_texts() is own


def test_late_is_the_share_of_the_summed_delay_that_visits_save() -> None:
    # Warm-up in cycles 0 and 1; then page 0, the lower one, is visited in turn with page 1. The change of page 0 in cycle 3 is
    # found in 4, that of page 1 in cycle 3 at once, and that of page 1 in cycle 4 is gone before its visit in cycle 5.
    changed = np.zeros((2, 6), dtype=np.bool_)
    changed[0, 3] = changed[1, [3, 4, 5]] = True
    settings = GPSettings(fitness="late", k=0.5, young=4.0)
    judge = Judge(ChangeLog(changed), settings)
    saved = (1 - 1 / 4) + 1 + 0 + 1
    assert judge(("t",)) == pytest.approx(saved / 4)
    assert judge.by_page(("t",)).mean() == pytest.approx(saved / 4)


def test_the_fitness_for_several_budgets_is_their_mean() -> None:
    log = log_of([(number, number % 5, number, number + 9) for number in range(150)], pages=5)
    few, many = (Judge(log, GPSettings(fitness="late", k=k)) for k in (0.2, 0.6))
    both = Judge(log, GPSettings(fitness="late", k=0.2, more_k=(0.6,)))
    tree = parse("rate * busy")
    assert few(tree) != many(tree)
    assert both(tree) == pytest.approx((few(tree) + many(tree)) / 2)
    assert both.by_page(tree).mean() == pytest.approx(both(tree))


def states(hub: bool, day: float = 24.0) -> PageStates:
    return PageStates(
        now=10.0,
        last=np.array([4.0, 8.0]),
        first=np.zeros(2),
        n=np.array([3.0, 5.0]),
        X=np.array([1.0, 4.0]),
        news=np.array([0.5, 2.0]),
        hazard=np.array([0.1, 0.3]),
        hub=np.full(2, float(hub)),
        day=day,
    )


def test_a_function_counts_time_in_the_cycles_it_was_learned_in() -> None:
    hourly = Formula.of(parse("t + rate * t"), (), 3600.0)
    quarters, wait = states(True).counted_in(900.0), Formula.of(("wlate",))
    assert quarters.t.tolist() == [24.0, 8.0]
    assert wait.scores(quarters) == pytest.approx(wait.scores(states(True)))
    assert hourly.scores(quarters) == pytest.approx(hourly.scores(states(True)))


def test_lists_and_texts_have_a_function_each() -> None:
    both = ByKind(Formula.of(parse("n")), Formula.of(parse("X")))
    assert both.scores(states(True)).tolist() == [3.0, 5.0]
    assert both.scores(states(False)).tolist() == [1.0, 4.0]
    none = ByKind()
    assert none.scores(states(True)).tolist() == hand_made(True).scores(states(True)).tolist()
    rate, t = np.array([0.5, 2.0]), np.array([6.0, 2.0])
    assert none.scores(states(False)) == pytest.approx((1 - np.exp(-rate * t)) / rate**0.12)
