"""Which dates to believe, what counts as a change, and who printed a text first."""

from email.utils import formatdate

import pytest

from forager.pages.fingerprints import Copies, simhash
from forager.pages.page import Page
from forager.pages.pages_settings import Change, has_changed
from forager.pages.trust import FEWEST, Trust
from forager.terms import Dated, DateSource, Kind, Outcome, Response, Url, UrlId

NOW = 1_772_500_000.0
DAY = 86_400.0


def test_a_date_that_never_moves_is_not_believed_any_more() -> None:
    trust = Trust()
    for _ in range(FEWEST + 2):
        trust.learn("courier", Dated(NOW - 30 * DAY, DateSource.META), NOW)
    assert trust.liars("courier") == {DateSource.META}
    assert trust.liars("gazette") == frozenset()


def test_a_day_shared_by_todays_documents_is_no_lie_but_an_old_day_shared_by_all_is() -> None:
    today, old = Trust(), Trust()
    for _ in range(10):
        today.learn("s", Dated(NOW - 0.5 * DAY, DateSource.URL, exact=False), NOW)
        old.learn("s", Dated(NOW - 30 * DAY, DateSource.URL, exact=False), NOW)
    assert today.believes("s", DateSource.URL)
    assert not old.believes("s", DateSource.URL)


@pytest.mark.parametrize(("zone", "believed"), [("", DateSource.FIRST_SEEN), ("+00:00", DateSource.META)])
def test_a_day_without_a_zone_may_still_last_in_the_west(zone: str, believed: DateSource) -> None:
    headers = (("content-type", "text/html"),)
    stated = f'<meta property="article:published_time" content="2026-03-01{zone and "T00:00" + zone}">'
    body = f"<title>Bridge</title>{stated}<p>It opens.</p>".encode()
    now = 1_772_423_400.0  # 2 March, 3:50 in Greenwich
    page = Page(Response(Url("http://a.example/1"), Outcome.FETCHED, now, status=200, headers=headers, body=body))
    seen = Dated(now - 100, DateSource.FIRST_SEEN)
    dated = Trust().published("a.example", page, (seen,), now, new=True)
    assert dated is not None and dated.source is believed


def test_a_source_that_mends_is_believed_again() -> None:
    trust = Trust()
    for _ in range(10):
        trust.learn("s", Dated(NOW + 10 * DAY, DateSource.META), NOW)
    assert not trust.believes("s", DateSource.META)
    for hour in range(20):  # as many as the window holds
        trust.learn("s", Dated(NOW - hour * 3600, DateSource.META), NOW)
    assert trust.believes("s", DateSource.META)


def test_the_best_believed_date_is_chosen_and_never_one_in_the_future() -> None:
    trust = Trust()
    meta, time = Dated(NOW + 5 * DAY, DateSource.META), Dated(NOW - 60, DateSource.TIME)
    assert trust.choose("s", [meta, None, time], NOW) == time
    assert trust.choose("s", [meta], NOW) is None


def test_a_page_written_to_disk_lately_is_new_only_if_its_link_was_seen_to_appear() -> None:
    def dated(modified: float, seen: Dated | None) -> Dated | None:
        stamp = formatdate(modified, usegmt=True)
        headers = (("content-type", "text/html"), ("last-modified", stamp))
        response = Response(
            Url("https://s.example/a"), Outcome.FETCHED, NOW, status=200, headers=headers, body=b"<p>Text."
        )
        return Trust().published("s", Page(response), [seen], NOW, new=True)

    seen = Dated(NOW - 600, DateSource.FIRST_SEEN)
    assert dated(NOW - 60, None) is None
    assert dated(NOW - 60, seen) == seen
    assert dated(NOW - 3600, seen) == Dated(NOW - 3600, DateSource.LAST_MODIFIED)
    assert dated(NOW - 9 * DAY, None) == Dated(NOW - 9 * DAY, DateSource.LAST_MODIFIED)


def test_saved_and_loaded_trust_believes_the_same() -> None:
    trust, other = Trust(), Trust()
    for _ in range(9):
        trust.learn("a b", Dated(NOW - 9 * DAY, DateSource.META), NOW)
    other.load(trust.save())
    assert other.liars("a b") == trust.liars("a b") == {DateSource.META}


@pytest.mark.parametrize(
    ("rule", "kind", "bytes_differ", "text_differs", "new_links", "expected"),
    [
        (Change.AUTO, Kind.HUB, True, True, 0, False),  # a clock on a section page
        (Change.AUTO, Kind.HUB, True, False, 1, True),
        (Change.AUTO, Kind.ARTICLE, True, False, 3, False),  # a new "most read" box
        (Change.AUTO, Kind.ARTICLE, True, True, 0, True),
        (Change.BYTES, Kind.HUB, True, False, 0, True),
        (Change.TEXT, Kind.HUB, True, False, 5, False),
        (Change.LINKS, Kind.ARTICLE, True, True, 0, False),
    ],
)
def test_the_rule_picks_what_counts_as_a_change(
    rule: Change, kind: Kind, bytes_differ: bool, text_differs: bool, new_links: int, expected: bool
) -> None:
    changed = has_changed(rule, kind, bytes_differ=bytes_differ, text_differs=text_differs, new_links=new_links)
    assert changed is expected


def test_a_copy_with_small_edits_names_the_first_publisher() -> None:
    words = [f"word{number}" for number in range(300)]
    edited = [*words[:150], "corrected", *words[151:]]
    copies = Copies()
    assert copies.first(simhash(" ".join(words))) is None
    copies.learn(simhash(" ".join(words)), UrlId(4))
    assert copies.first(simhash(" ".join(edited))) == 4
    assert copies.first(simhash(" ".join(f"other{number}" for number in range(300)))) is None
