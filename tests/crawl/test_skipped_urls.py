"""What was left out of a crawl, and why."""

import pytest

from forager.engine.scope import HOSTS, OTHERS, Skip, Skipped
from forager.errors import StoreError
from forager.terms import Url


def test_links_are_counted_by_reason_and_host_with_the_latest_as_an_example() -> None:
    skipped = Skipped()
    for reason, url in (
        ("another site", "https://a.example/1"),
        ("another site", "https://a.example/2"),
        ("another site", "https://b.example/"),
        ("a trap", "https://a.example/x/x/x"),
    ):
        skipped.add(reason, Url(url))
    assert skipped.counts() == {"another site": 3, "a trap": 1}
    assert next(iter(skipped)) == Skip("another site", "a.example", 2, Url("https://a.example/2"))


def test_any_number_of_hosts_takes_bounded_room_and_loses_no_count() -> None:
    skipped = Skipped()
    for number in range(HOSTS + 7):
        skipped.add("another site", Url(f"https://host{number}.example/"))
    assert len([*skipped]) == HOSTS + 1
    assert {skip.host: skip.count for skip in skipped}[OTHERS] == 7
    assert skipped.counts() == {"another site": HOSTS + 7}


def test_a_saved_list_goes_on_where_it_stopped() -> None:
    skipped = Skipped()
    skipped.add("nofollow", Url("https://a.example/1"))
    again = Skipped.load(skipped.save())
    again.add("nofollow", Url("https://a.example/2"))
    assert [*again] == [Skip("nofollow", "a.example", 2, Url("https://a.example/2"))]
    with pytest.raises(StoreError, match="skipped"):
        Skipped.load(b"rubbish")
