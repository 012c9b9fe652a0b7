"""The map of the topic: what lists and links have to do with it."""

import numpy as np
import pytest

from forager.core.topic_map import ENOUGH, FEW, TopicMap
from forager.terms import UrlId


def ids(*numbers: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(numbers, dtype=np.int64)


def test_a_list_is_worth_its_documents_on_topic_and_lifts_its_links() -> None:
    found = TopicMap(0.1)
    for number in range(10):
        found.read(UrlId(number), number < 8)
    pages, shares = found.show(UrlId(20), ids(*range(10), 11))
    # 8 of 10 documents read are on topic; as much again as is known of all others
    assert shares[pages == 20] == pytest.approx((8 + FEW * 0.1) / (10 + FEW))
    assert pages.tolist() == [11, 20]  # what was read has its verdict
    assert shares[0] == shares[1]  # nothing is known of its words
    assert found.chances(ids(12)) == pytest.approx(0.1)  # of a link on no list
    found.show(UrlId(21), ids(9, 11))  # of which less is known to be on topic
    assert found.listed(UrlId(11)) == found.listed(UrlId(0)) == shares[-1]
    assert found.listed(UrlId(12)) == found.listed(UrlId(9999)) == 0


def test_the_words_of_a_link_change_its_chance_by_odds() -> None:
    found = TopicMap(0.2)
    found.hear(ids(0, 1, 2), np.array([4.0, 0.25, 1.0]))
    assert found.chances(ids(0, 1, 2)) == pytest.approx([0.5, 1 / 17, 0.2])  # odds of 1, 1/16, 1/4


def test_a_list_seen_before_is_no_link_whose_chance_is_set() -> None:
    found = TopicMap(0.5)
    found.show(UrlId(1), ids(5))
    assert found.show(UrlId(2), ids(1, 5))[0].tolist() == [5, 2]


def test_the_share_of_all_is_what_verdicts_and_words_say_together() -> None:
    found = TopicMap(0.3)
    for number in range(ENOUGH - 1):
        found.read(UrlId(number), number % 5 == 0)
    assert found.settle()[1].max() == 0.3  # too little is known
    found.read(UrlId(ENOUGH - 1), False)
    found.hear(ids(ENOUGH), np.array([1.0]))  # says nothing, and counts for nothing
    pages, shares = found.settle()
    assert found.share == pytest.approx(10.5 / 51)
    assert len(pages) > ENOUGH
    assert shares[ENOUGH] == found.share
