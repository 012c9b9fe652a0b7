"""Bounded memory; and pages that are gone when they are first looked at."""

from forager.engine.memory import remember
from tests.virtual import crawl_newsroom


def test_only_the_latest_are_remembered_one_of_each_page() -> None:
    seen: dict[int, float] = {}
    for id, when in ((1, 10.0), (2, 20.0), (1, 30.0), (3, 40.0)):
        remember(seen, id, when, 2)
    assert seen == {1: 30.0, 3: 40.0}  # page 1 was seen again after page 2


def test_a_page_that_is_gone_is_asked_for_once() -> None:
    crawled = crawl_newsroom(6, "newsroom.removals=0.5", "newsroom.removal_delay=1h")
    gone = [asked.target for asked in crawled.newsroom.requests if asked.status == 410]
    seen_before = {asked.target for asked in crawled.newsroom.requests if asked.status == 200}
    at_first_sight = [target for target in gone if target not in seen_before]
    assert len(at_first_sight) > 5
    assert len(at_first_sight) == len(set(at_first_sight))
