"""What belongs to a crawl."""

import pytest

from forager.engine.scope import Scope
from forager.errors import SettingsError
from forager.terms import Url
from forager.web.web_settings import ScopeSettings

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
