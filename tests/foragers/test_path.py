import numpy as np
from forager.foragers.path import Path


def links(*urls: int) -> np.ndarray:
    return np.array(urls, dtype=np.int64)


def test_links_open_once_and_never_lead_back() -> None:
    path = Path()
    path.begin()
    path.go(5, -1)
    path.admit(links(5, 6, 7, 6))
    path.admit(links(7, 8))
    assert path.open.tolist() == [6, 7, 8]


def test_a_new_path_may_go_where_the_last_one_was() -> None:
    path = Path()
    path.begin()
    path.go(5, -1)
    path.admit(links(6))
    path.begin()
    path.admit(links(5, 6))
    assert path.open.tolist() == [5, 6]


def test_taking_the_oldest_link_keeps_the_order() -> None:
    path = Path()
    path.begin()
    path.admit(links(1, 2, 3, 4))
    assert [path.take(0), path.take(0)] == [1, 2]
    path.admit(links(9))
    assert path.open.tolist() == [3, 4, 9]


def test_taking_another_link_fills_its_place_with_the_last() -> None:
    path = Path()
    path.begin()
    path.admit(links(1, 2, 3, 4))
    assert path.take(1) == 2
    assert path.open.tolist() == [1, 4, 3]


def test_steps_are_numbered_without_gaps_across_paths() -> None:
    path = Path()
    path.begin()
    assert [path.go(3, -1), path.go(4, 1)] == [0, 1]
    path.begin()
    assert path.go(3, -1) == 2
    assert path.step_to(3) == 2
    assert path.step_to(4) is None


def test_earnings_are_booked_on_the_step_that_earned_them() -> None:
    path = Path()
    path.begin()
    first, second = path.go(3, -1), path.go(4, 1)
    assert path.book(first, 100.0) and path.book(second, -1.0) and path.book(first, 5.0)
    assert path.earned == [105.0, -1.0]
    path.begin()
    assert not path.book(first, 1.0)  # that path is over


def test_thousands_of_links_find_room() -> None:
    path = Path()
    path.begin()
    path.admit(np.arange(10_000, dtype=np.int64))
    taken = [path.take(0) for _ in range(5000)]
    path.admit(np.arange(20_000, dtype=np.int64))
    assert taken == list(range(5000))
    assert path.open.tolist() == list(range(5000, 20_000))
