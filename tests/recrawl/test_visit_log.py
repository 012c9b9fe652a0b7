"""The visits of a crawl as what a lesson is learned from, and the default rule as a contender in it."""

import numpy as np
import pytest

from forager.recrawl.visit_log import VisitLog, Visits, change_log


def test_a_log_of_visits_forgets_the_oldest_half_when_it_is_full() -> None:
    log = VisitLog(most=4)
    for when in range(5):
        log.add(np.array([when]), np.array([float(when)]), np.array([False]))
    assert log.visits.page.tolist() == [2, 3, 4]
    assert log.added == 5


def test_a_document_is_brought_by_the_last_visit_of_the_page_that_revealed_it() -> None:
    log = VisitLog(most=4)
    for page in (7, 8, 7, 9):
        log.add(np.array([page]), np.array([0.0]), np.array([False]))
    for page in (7, 7, 8, 5):  # nobody visited page 5
        log.credit(page)
    assert log.visits.brought.tolist() == [0, 1, 2, 0]
    log.add(np.array([5]), np.array([0.0]), np.array([False]))  # the first two visits are forgotten
    for page in (7, 8, 5):
        log.credit(page)
    assert log.visits.page.tolist() == [7, 9, 5]
    assert log.visits.brought.tolist() == [3, 0, 1]


def test_a_log_of_visits_grows() -> None:
    log = VisitLog()
    log.add(np.arange(3000), np.arange(3000.0), np.arange(3000) % 2 == 0)
    log.add(np.arange(3000), np.arange(3000.0), np.arange(3000) % 3 == 0)
    assert log.visits.page.tolist() == [*range(3000), *range(3000)]
    assert log.visits.changed.sum() == 1500 + 1000
    assert log.visits.brought.sum() == 0


def visits(page: list[int], when: list[float], changed: list[bool], brought: list[int]) -> Visits:
    return Visits(
        np.array(page), np.array(when, dtype=np.float64), np.array(changed), np.array(brought, dtype=np.int32)
    )


def test_visits_become_a_change_log_of_the_pages_seen_more_than_once() -> None:
    seen = visits([4, 9, 4, 4, 2], [0, 1, 12, 25, 26], [False, False, True, False, False], [0] * 5)
    log, share = change_log(seen, np.empty(0, dtype=np.int64), 10.0, np.random.default_rng(0))
    assert log.changed.tolist() == [[False, True, False]]  # cycles 0, 1 and 2
    assert log.documents is None
    assert (log.start, log.cycle) == (0.0, 10.0)
    assert share == 1.0  # it was visited in every cycle


def test_what_a_visit_found_happened_at_some_time_since_the_one_before() -> None:
    # Page 1 is visited in cycles 0, 4 and 6, page 0 in cycles 0 and 6: a change and 300 documents lie in 1 … 4, and 200
    # documents in 1 … 6. What the first visit found, 50, had gathered for nobody knows how long.
    seen = visits([1, 0, 1, 0, 1], [0, 0, 4, 6, 6], [True, False, True, False, False], [50, 0, 300, 200, 0])
    log, share = change_log(seen, np.arange(2), 1.0, np.random.default_rng(0))
    assert log.hub is not None
    assert log.hub.tolist() == [True, True]
    assert log.changed.sum(axis=1).tolist() == [0, 1]
    assert log.changed[1, 1:5].any()
    assert log.documents is not None
    assert len(np.unique(log.documents.document)) == 500
    for page, last, count in ((1, 4, 300), (0, 6, 200)):
        first = log.documents.first[log.documents.page == page]
        assert len(first) == count
        assert sorted(np.unique(first)) == list(range(1, last + 1))
    assert share == pytest.approx(5 / (2 * 7))
    assert (log.documents.last >= 6).all()  # lists show them to the end


def test_documents_of_single_texts_are_not_told_of() -> None:
    seen = visits([3, 5] * 3, [0, 0, 1, 1, 2, 2], [False] * 6, [0, 0, 1, 3, 1, 2])
    log, _ = change_log(seen, np.array([5]), 1.0, np.random.default_rng(0))
    assert log.documents is not None
    assert log.documents.page.tolist() == [1] * 5  # of the list
    log, _ = change_log(seen, np.array([3]), 1.0, np.random.default_rng(0))
    assert log.documents is None  # most were on a text, of which nobody knows what came and went


def test_documents_of_the_past_pay_the_visit_that_revealed_them() -> None:
    log, hub, story = VisitLog(), 0, 1
    pages, when = np.array([hub, hub, story, hub, story]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    log.add(pages, when, np.zeros(5, dtype=np.bool_))
    log.credit_past(
        [
            (story, hub, 2.0, 3.0),  # met by the second visit of the hub, and fetched before its third
            (story, hub, 2.0, 5.0),  # changed when it was seen again
            (7, hub, 1.0, 4.0),  # stood there at the first visit
            (8, -1, 2.0, 4.0),  # no link led there
        ]
    )
    assert log.visits.brought.tolist() == [0, 1, 0, 0, 1]
