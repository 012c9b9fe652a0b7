"""The top k of a cycle, its ties, and the explanation of a decision."""

import numpy as np
import pytest

from forager.recrawl import cycle
from forager.recrawl.cycle import explain, top
from forager.recrawl.formula import parse
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail
from forager.recrawl.policies import Formula, Hacs, ScoreFunction, named
from forager.recrawl.recrawl_settings import HacsSettings


def policy(name: str) -> ScoreFunction:
    return named(name, np.random.default_rng(3))


@pytest.fixture
def history() -> History:
    """Pages 0 … 9, page i visited at 0 and at i; odd pages had changed. Page 10 was never visited."""
    history = History(11)
    for page in range(10):
        history.note(page, 0.0, False)
        history.note(page, float(page), page % 2 == 1)
    return history


def test_the_highest_scores_go_first(history: History) -> None:
    schedule = top(history, Formula.of(parse("t * X")), 10.0, 3)
    assert schedule.pages.tolist() == [1, 3, 5]
    assert schedule.scores.tolist() == [9, 7, 5]
    assert schedule.known == 10


def test_among_equal_scores_the_longer_unvisited_goes_first(history: History) -> None:
    assert top(history, policy("brute"), 10.0, 4).pages.tolist() == [0, 1, 2, 3]


def test_after_that_a_fixed_random_order_decides() -> None:
    history = History()
    history.note_all(np.arange(1000), 0.0, np.zeros(1000, dtype=bool))
    first, again = top(history, policy("age"), 5.0, 100), top(history, policy("age"), 5.0, 100)
    assert first.pages.tolist() == again.pages.tolist()
    assert first.pages.tolist() != sorted(first.pages.tolist())
    assert set(first.pages.tolist()) <= set(top(history, policy("age"), 6.0, 200).pages.tolist())


def test_pages_never_visited_and_pages_ruled_out_are_not_scheduled(history: History) -> None:
    def even(pages: np.ndarray) -> np.ndarray:
        return pages % 2 == 0

    schedule = top(history, policy("age"), 10.0, 100, eligible=even)
    assert schedule.pages.tolist() == [0, 2, 4, 6, 8]


def test_scoring_in_parts_gives_the_same_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    history = History()
    for visit in range(4):
        pages = rng.permutation(500)[:400]
        history.note_all(pages, float(visit), rng.random(400) < 0.3)
    score = Formula.of(parse("X + t"))
    whole = top(history, score, 6.0, 60)
    monkeypatch.setattr(cycle, "PART", 7)
    assert top(history, score, 6.0, 60).pages.tolist() == whole.pages.tolist()


def test_a_decision_is_explained_by_what_the_function_read(history: History) -> None:
    assert str(explain(history, Formula.of(parse("t * X")), 10.0, 5)) == "n=2 X=1 t=5 → 5.00, rank 3 of 10"
    small, large = (explain(history, Formula.of(parse(text)), 10.0, 5) for text in ("t * X / 10000", "exp(t * 1000)"))
    assert (small.score, str(small)) == (0.0005, "n=2 X=1 t=5 → 0.0005, rank 3 of 10")
    assert "→ 7.72e+99, rank" in str(large)  # e to the 230, where scores end
    assert "cg=0.5108" in str(explain(history, Formula.of(parse("cg")), 10.0, 5))  # −ln(1.5/2.5)


def test_a_page_that_must_not_be_visited_leaves_the_budget_unspent() -> None:
    history = History(trail=Trail())
    history.note(0, 0.0, False)
    history.note(0, 1.0, True)
    history.note(1, 0.0, False)
    assert top(history, Hacs(HacsSettings(threshold=0.1)), 5.0, 2).pages.tolist() == [0]


def test_random_scores_come_from_the_generator_passed_in(history: History) -> None:
    one, two = (top(history, policy("rand"), 10.0, 5).pages.tolist() for _ in range(2))
    assert one == two
