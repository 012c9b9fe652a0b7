from dataclasses import replace

import numpy as np
import pytest

from forager.core.agent import ReinforcingAgent
from forager.core.findings import Finding, Sighting
from forager.core.parameters import ForagerSettings, ReinforcingSettings, StateSettings
from forager.core.shared import Shared
from forager.terms import NOBODY
from tests.core.lone import Lone, article, hub, urls

HOUR = 3600.0


def judge(shared: Shared, sighting: Sighting, revealer: int, links: np.ndarray, now: float) -> None:
    """Somebody sends a document that nobody had found."""
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(), seed=1)
    (one,) = agent.judge(replace(sighting, links=links), revealer, now, shared, NOBODY)
    assert one.relevant


@pytest.fixture
def shared() -> Shared:
    """The lift is at its most, 3, so that a signal can be seen: page 99 had far more news than predicted."""
    shared = Shared.fresh(ForagerSettings(states=StateSettings(dimension=2)))
    shared.note(hub(99, 0.0))
    shared.visits.signal(urls(99), 1.0)
    shared.note(hub(99, 2.0, *range(100, 140)))
    for page in range(100, 140):
        shared.visits.credit(Finding(0, page, 0, 0, 0.0, revealed_by=99))
    return shared


def lift(shared: Shared, url: int, now: float) -> float:
    """How much more than its rate times the time is expected of a list."""
    hours = (now - 2.0) / HOUR
    return float(-np.log1p(-shared.visits.chance(urls(url), now)[0]) / (shared.visits.rate(urls(url))[0] * hours))


def test_new_links_on_a_known_list_lift_its_neighbours(shared: Shared) -> None:
    shared.note(hub(1, 2.0))
    shared.note(hub(0, 2.0, 1, 5))
    assert lift(shared, 1, HOUR) == pytest.approx(1.0)  # whatever is on a list when it is first seen is no news
    shared.note(hub(0, HOUR, 1, 5))
    assert lift(shared, 1, HOUR) == pytest.approx(1.0)  # no link was new
    shared.note(hub(0, HOUR, 1, 5, 6))
    assert lift(shared, 1, HOUR) == pytest.approx(3.0)


def test_an_accepted_document_lifts_what_its_page_links_to(shared: Shared) -> None:
    shared.note(hub(1, 2.0))
    judge(shared, article(7, HOUR), 7, urls(1), HOUR)
    assert lift(shared, 1, HOUR) == pytest.approx(3.0)


def test_a_history_counts_documents_except_those_that_stood_there_before_the_first_visit() -> None:
    shared = Shared.fresh(ForagerSettings())
    shared.note(hub(0, 0.0, 1))
    shared.note(hub(0, HOUR, 1, 2))
    for page in (1, 2):  # the first is backlog, the second appeared between two visits
        shared.note(Sighting(page, 2 * HOUR))
        judge(shared, article(page, 2 * HOUR), 0, urls(), 2 * HOUR)
    assert shared.visits.history.states(0.0, urls(0, 1, 2)).documents.tolist() == [1.0, 0.0, 0.0]


def test_a_page_that_is_gone_at_first_sight_is_not_tried_again_one_that_failed_is(shared: Shared) -> None:
    shared.note(hub(0, 2.0, 1, 5))
    shared.note(Sighting(1, HOUR, ok=False, gone=True))
    shared.note(Sighting(5, HOUR, ok=False))
    assert shared.visits.visited(urls(1, 5)).tolist() == [True, False]


def test_a_shared_copy_is_no_visit_and_no_download() -> None:
    lone = Lone(ForagerSettings())
    lone.walk(0.0, hub(0, 0.0, 1, 2, free=True))
    assert lone.shared.pace.downloads == 0
    assert not lone.shared.visits.visited(urls(0)).any()
    assert sorted(lone.forager.path.open.tolist()) == [1, 2]  # but the path goes on from it


def test_a_sighting_says_where_the_state_of_its_page_stands(shared: Shared) -> None:
    (row,) = shared.states.add(np.array([[0.5, -0.5]], dtype=np.float32))
    shared.note(Sighting(3, 5.0, state_row=int(row)))
    shared.note(Sighting(3, 6.0))  # -1 leaves it as it was
    assert shared.states.of(urls(3)).tolist() == [[0.5, -0.5]]
