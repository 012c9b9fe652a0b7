"""What is too old by its place in a list."""

import pytest

from forager.engine.memory import APART, ArchiveOrder
from forager.terms import UrlId

DAY = 86_400.0
NOW = 100 * DAY


def pages(*numbers: int) -> list[UrlId]:
    return [UrlId(number) for number in numbers]


def learned(days: list[float]) -> ArchiveOrder:
    """A list with pages of these ages was read, and all of them were seen."""
    order = ArchiveOrder()
    order.read(UrlId(0), "/maps/#", [pages(*range(100, 100 + len(days)))], NOW - DAY)
    for place, age in enumerate(days):
        order.dated(UrlId(100 + place), NOW - age * DAY, NOW - DAY)
    return order


@pytest.mark.parametrize(("days", "old"), [((1, 2, 3, 4, 5), range(13, 20)), ((5, 4, 3, 2, 1), range(10, 12))])
def test_one_old_page_dates_all_that_are_older_by_their_place(days: tuple[float, ...], old: range) -> None:
    order = learned([*days])
    order.read(UrlId(1), "/maps/#", [pages(*range(10, 20))], NOW - DAY)
    assert order.dated(UrlId(12), NOW - 9 * DAY, NOW - DAY) == [(pages(*old), NOW - 9 * DAY + APART)]
    assert order.dated(UrlId(12), NOW - 9 * DAY, NOW - DAY) == []  # it is known


def test_a_date_known_before_the_list_was_read_counts_too() -> None:
    order = learned([1, 2, 3, 4, 5])
    order.dated(UrlId(12), NOW - 9 * DAY, NOW - DAY)
    assert order.read(UrlId(1), "/maps/#", [pages(11, 12, 13)], NOW - DAY) == [(pages(13), NOW - 9 * DAY + APART)]


def test_nothing_is_said_where_there_is_no_order() -> None:
    mixed = learned([3, 1, 4, 1, 5, 9, 2, 6])
    mixed.read(UrlId(1), "/maps/#", [pages(*range(10, 20))], NOW - DAY)
    assert mixed.dated(UrlId(12), NOW - 9 * DAY, NOW - DAY) == []
    order = learned([1, 2, 3, 4, 5])
    order.read(UrlId(1), "/other/*", [pages(*range(10, 20))], NOW - DAY)  # lists of another form
    assert order.dated(UrlId(12), NOW - 9 * DAY, NOW - DAY) == []
    order.read(UrlId(2), "/maps/#", [pages(*range(30, 40))], NOW - DAY)
    order.dated(UrlId(31), NOW - 9 * DAY, NOW - DAY)
    assert order.dated(UrlId(35), NOW - 2 * DAY, NOW - DAY) == []  # this one contradicts


def test_young_pages_say_nothing() -> None:
    order = learned([1, 2, 3, 4, 5])
    order.read(UrlId(1), "/maps/#", [pages(*range(10, 20))], NOW - DAY)
    assert order.dated(UrlId(12), NOW - 0.5 * DAY, NOW - DAY) == []


def test_how_deep_young_pages_stand_is_learned() -> None:
    order = learned([0.1, 0.2, *range(2, 12)])
    for number in range(1, 9):  # in each the third is old, and so is what follows
        ids = pages(*range(1000 * number, 1000 * number + 10))
        order.read(UrlId(number), "/maps/#", [ids], NOW - DAY)
        order.dated(ids[0], NOW - 0.3 * DAY, NOW - DAY)
        order.dated(ids[2], NOW - 3 * DAY, NOW - DAY)
    ((old, latest),) = order.read(UrlId(9), "/maps/#", [pages(*range(9000, 9010))], NOW - DAY)
    assert old == pages(*range(9002, 9010))  # not the first two, though none of them was seen
    assert latest < NOW - DAY


def test_a_list_that_is_read_again_teaches_nothing_new() -> None:
    order = ArchiveOrder()
    order.dated(UrlId(10), NOW - 2 * DAY, NOW - DAY)
    order.dated(UrlId(11), NOW - 3 * DAY, NOW - DAY)
    for _ in range(20):
        assert order.read(UrlId(1), "/maps/#", [pages(10, 11, 12)], NOW - DAY) == []
