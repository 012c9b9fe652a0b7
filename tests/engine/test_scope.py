"""What belongs to a crawl, what was left out and why, and where documents stand."""

import pytest

from forager.engine.scope import HOSTS, OTHERS, Scope, SitePlaces, Skip, Skipped, places_of
from forager.errors import SettingsError, StoreError
from forager.terms import Url
from forager.web.web_settings import ScopeSettings
from tests.virtual import Crawled, crawl_newsroom

SEEDS = [Url("https://www.example.co.uk/news"), Url("http://127.0.0.1:8001/")]


@pytest.mark.parametrize(
    ("url", "objection"),
    [
        ("https://sport.example.co.uk/today", ""),
        ("http://127.0.0.1:8001/world/1.html", ""),
        ("http://127.0.0.1:8002/", "another site"),
        ("https://example.org/", "another site"),
        ("https://www.example.co.uk/photo.JPG", "not a page by its name"),
        ("https://www.example.co.uk/feed.json", ""),
        ("https://www.example.co.uk/sitemap-news.xml.gz", ""),
        ("https://www.example.co.uk/a/b/a/b/a/b", "a trap: path too deep or repeating"),
        ("https://www.example.co.uk/" + "d/" * 20, "a trap: path too deep or repeating"),
        ("https://www.example.co.uk/find?a=1&b=2&c=3&d=4&e=5&f=6&g=7", "a trap: too many query parameters"),
    ],
)
def test_each_url_stays_out_for_its_reason(url: str, objection: str) -> None:
    assert Scope(SEEDS, ScopeSettings()).objection(Url(url), depth=1) == objection


def test_rules_of_the_operator_come_first() -> None:
    scope = Scope(SEEDS, ScopeSettings(allow=(r"^https://partner\.org/",), deny=(r"/archive/",)))
    assert scope.objection(Url("https://partner.org/x"), 1) == ""
    assert scope.objection(Url("https://www.example.co.uk/archive/1"), 1) == "denied by scope.deny"


def test_a_folder_that_grows_without_end_is_closed() -> None:
    scope = Scope(SEEDS, ScopeSettings(max_per_folder=3))
    for day in range(3):
        url = Url(f"https://www.example.co.uk/calendar/{day}")
        assert scope.objection(url, 1) == ""
        scope.enter(url)
    assert scope.objection(Url("https://www.example.co.uk/calendar/9"), 1) == "a trap: too many URLs in one folder"
    assert scope.objection(Url("https://www.example.co.uk/news/9"), 1) == ""


def test_what_had_entered_before_counts_host_by_host() -> None:
    asked: list[str] = []

    def before(host: str) -> list[Url]:
        asked.append(host)
        return [Url(f"https://{host}/calendar/{day}") for day in range(2)]

    scope = Scope(SEEDS, ScopeSettings(max_per_folder=3), before)
    assert asked == []
    day = Url("https://www.example.co.uk/calendar/5")
    assert scope.objection(day, 1) == ""
    scope.enter(day)
    assert scope.objection(Url("https://www.example.co.uk/calendar/6"), 1) == "a trap: too many URLs in one folder"
    assert asked == ["www.example.co.uk"]


def test_too_many_clicks_from_a_seed_is_too_far() -> None:
    scope = Scope(SEEDS, ScopeSettings(max_depth=2))
    assert scope.objection(Url("https://www.example.co.uk/x"), 3) == "too many clicks from a seed"


def test_a_bad_expression_is_one_line() -> None:
    with pytest.raises(SettingsError, match=r"scope\.deny: not a regular expression"):
        Scope(SEEDS, ScopeSettings(deny=("(",)))


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


PAPER = "https://paper.example"
HEADLINE = "Harbour tunnel to open a year late"


def url(path: str) -> Url:
    return Url(PAPER + path)


def see(places: SitePlaces, folder: str, count: int, **what: object) -> None:
    for number in range(count):
        places.seen(url(f"{folder}{number}"), **what)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", []),
        ("/about", []),
        ("/calendar/2026-03-02", ["/calendar/"]),
        ("/events/2026/03/02/", ["/events/", "/events/2026/"]),
        ("/search?form=text&sort=new", ["/search?", "/search?form&sort"]),
        ("/a/b/c?page=2", ["/a/", "/a/b/", "/a/b/c?", "/a/b/c?page"]),
    ],
)
def test_a_url_lies_in_its_folders_and_under_its_parameters(path: str, expected: list[str]) -> None:
    assert places_of(url(path)) == [PAPER + place for place in expected]


def test_a_place_is_barren_after_some_pages_without_yield() -> None:
    places = SitePlaces(patience=3)
    see(places, "/calendar/", 2)
    assert not places.is_barren(url("/calendar/9"))
    see(places, "/calendar/", 1)
    assert places.is_barren(url("/calendar/9"))
    assert not places.is_barren(url("/world/9"))


def test_one_document_or_one_that_was_revealed_makes_a_place_fertile_again() -> None:
    for yields in (lambda g: g.seen(url("/x/a"), document=True), lambda g: g.revealed(url("/x/0"))):
        places = SitePlaces(patience=3)
        see(places, "/x/", 5)
        assert places.is_barren(url("/x/9"))
        yields(places)
        assert not places.is_barren(url("/x/9"))


def test_each_yield_earns_patience_for_some_more_pages_not_for_ever() -> None:
    places = SitePlaces(patience=3)
    see(places, "/x/", 10)
    places.revealed(url("/x/0"))
    see(places, "/x/", 19)
    assert not places.is_barren(url("/x/9"))  # 29 pages, one yield: 3 · 5 · (1 + 1) = 30
    see(places, "/x/", 1)
    assert places.is_barren(url("/x/9"))


def test_where_links_read_like_headlines_patience_is_five_times_as_long() -> None:
    places = SitePlaces(patience=3)
    places.met(url("/2026/03/tunnel"), HEADLINE, url("/section/near"))
    see(places, "/section/", 14)
    assert not places.is_barren(url("/section/far"))
    see(places, "/section/", 1)
    assert places.is_barren(url("/section/far"))


def test_copies_of_other_pages_are_no_yield_whatever_they_show() -> None:
    told = SitePlaces(patience=3)
    for number in range(3):
        told.seen(url(f"/?visitor={number}"), document=True, canonical=f"{PAPER}/")
    told.revealed(url("/?visitor=1"))
    assert told.is_barren(url("/?visitor=9"))
    assert not told.is_barren(url("/?story=9"))
    shown = SitePlaces(patience=3)
    for number in range(12):
        shown.seen(url(f"/old/{number}"), document=True, is_copy=number > 0)
    assert shown.is_barren(url("/old/9"))


def test_copies_speak_against_all_places_that_they_share_with_the_other_page() -> None:
    places = SitePlaces(patience=3)
    for facet in ("a=1", "b=1", "c=1", "a=1&b=1"):
        places.seen(url(f"/search?{facet}"), is_copy=facet != "a=1")
    assert places.is_barren(url("/search?z=1"))


def test_of_the_known_pages_in_a_barren_place_one_in_twenty_is_looked_at() -> None:
    places = SitePlaces(patience=3)
    assert not places.skips(url("/calendar/1"))
    see(places, "/calendar/", 3)
    assert sum(not places.skips(url(f"/calendar/{day}")) for day in range(100)) == 5


def test_what_was_learned_is_kept() -> None:
    before, after = SitePlaces(patience=3), SitePlaces(patience=3)
    see(before, "/calendar/", 3)
    after.load(before.save())
    assert after.is_barren(url("/calendar/9"))
    with pytest.raises(StoreError, match="new run directory"):
        after.load(b"\x93\x01")


def test_a_feed_may_announce_what_a_link_may_not_and_fertile_folders_have_no_cap() -> None:
    scope = Scope([url("/")], ScopeSettings(max_per_folder=2, barren_after=3))
    see(scope.places, "/calendar/", 3)
    assert scope.objection(url("/calendar/9"), 1) == "a trap: many pages in this place, no document"
    assert scope.objection(url("/calendar/9"), 1, announced=True) == ""
    for number in range(2):
        scope.enter(url(f"/news/{number}"))
    assert scope.objection(url("/news/9"), 1) == "a trap: too many URLs in one folder"
    scope.places.seen(url("/news/0"), document=True)
    assert scope.objection(url("/news/9"), 1) == ""


def test_traps_cost_little_and_no_stories() -> None:
    free, trapped = (crawl_newsroom(3, f"newsroom.traps={traps}") for traps in ("false", "true"))
    assert len(trapped.newsroom.requests) < 2 * len(free.newsroom.requests)
    assert len(trapped.stories) > 0.9 * len(free.stories)
    assert trapped.store.counts().known < 2000


def test_a_crawl_that_goes_on_remembers_barren_ground_and_full_folders() -> None:
    before = crawl_newsroom(2, "newsroom.traps=true")
    after = Crawled(before.settings).run(0.01, store=before.store, start=2)
    scopes = [crawled.crawl.world.ingest.scope for crawled in (before, after)]
    assert scopes[0].places._barren <= scopes[1].places._barren
    assert sum(scopes[1]._folders.values()) >= sum(scopes[0]._folders.values()) > 100
