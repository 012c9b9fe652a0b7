"""What feeds say of pages is kept until the pages are read."""

from forager.engine import ingest
from forager.engine.ingest import Announced
from forager.pages.feeds import Entry
from forager.terms import NOTHING, About, UrlId


def entry(author: str) -> Entry:
    return Entry("/a", "", "T", "", (author,), "A lead.")


def test_what_the_first_feed_said_of_a_page_is_told_once() -> None:
    announced = Announced()
    announced.note(UrlId(1), entry("Ann Lee"))
    announced.note(UrlId(1), entry("Bo Ek"))
    announced.note(None, entry("Cy Fox"))
    announced.note(UrlId(2), None)
    assert announced.of(UrlId(1)) == About(("Ann Lee",), "A lead.")
    assert announced.of(UrlId(1)) == announced.of(UrlId(2)) == NOTHING


def test_only_so_many_entries_are_kept_and_the_oldest_go_first() -> None:
    announced = Announced()
    for number in range(ingest.ENTRIES + 1):
        announced.note(UrlId(number), entry("Ann Lee"))
    assert announced.of(UrlId(0)) == NOTHING
    assert announced.of(UrlId(1)) != NOTHING
