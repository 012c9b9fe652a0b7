"""The last sightings, within bounded memory; and pages that are gone when they are first looked at."""

from forager.core.findings import Sighting
from forager.engine.ingest import Lately
from forager.terms import UrlId
from tests.virtual import crawl_newsroom


def test_only_the_last_sightings_are_kept_one_of_each_page() -> None:
    lately = Lately(most=2)
    for id, when in ((1, 10.0), (2, 20.0), (1, 30.0), (3, 40.0)):
        lately.note(UrlId(id), Sighting(UrlId(id), when))
    assert len(lately) == 2
    assert lately.of(UrlId(2)) is None  # page 1 was seen again after it
    assert [seen.when for seen in (lately.of(UrlId(1)), lately.of(UrlId(3))) if seen] == [30.0, 40.0]


def test_a_page_that_is_gone_is_asked_for_once() -> None:
    crawled = crawl_newsroom(6, "newsroom.removals=0.5", "newsroom.removal_delay=1h")
    gone = [asked.target for asked in crawled.newsroom.requests if asked.status == 410]
    seen_before = {asked.target for asked in crawled.newsroom.requests if asked.status == 200}
    at_first_sight = [target for target in gone if target not in seen_before]
    assert len(at_first_sight) > 5
    assert len(at_first_sight) == len(set(at_first_sight))
