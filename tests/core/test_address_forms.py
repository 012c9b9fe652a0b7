"""What an address says of a page that nobody has seen."""

from datetime import UTC, datetime

import numpy as np
import pytest

from forager.core.addresses import Forms, form_of, latest_of
from forager.terms import Url


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/2026/11/17/a-storm-is-coming/", "/2025/01/02/the-bridge-will-open"),
        ("/2026/11/17/a-storm-is-coming/feed/", "/2026/11/18/the-bridge-will-open/feed/"),
        ("/tag/storm/", "/tag/harbour/"),
        ("/category/sport/page/2/", "/category/politics/page/13/"),
        ("/a-storm-is-coming/", "/the-bridge-will-open/"),
        ("/news/world-europe-61234567", "/news/uk-politics-61234568"),
        ("/article/1234.html", "/article/99.html"),
        ("/search?page=2&q=storm", "/search?page=3&q=bridge"),
    ],
)
def test_pages_of_one_template_have_one_form(one: str, other: str) -> None:
    assert form_of(Url(f"http://paper.example{one}")) == form_of(Url(f"http://paper.example{other}"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/", "/feed/"),
        ("/sport/", "/politics/"),
        ("/sport/football/", "/sport/what-we-learned-from-the-final/"),
        ("/tag/storm/", "/tag/storm/feed/"),
        ("/2026/11/17/a-storm-is-coming/", "/2026/11/17/"),
        ("/feed", "/feed?page=2"),
        ("/sitemap.xml", "/sitemap.html"),
    ],
)
def test_pages_that_differ_have_other_forms(one: str, other: str) -> None:
    assert form_of(Url(f"http://paper.example{one}")) != form_of(Url(f"http://paper.example{other}"))


def test_another_host_has_other_forms() -> None:
    assert form_of(Url("http://a.example/tag/storm/")) != form_of(Url("http://b.example/tag/storm/"))


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/2026/11/17/a-storm-is-coming/", datetime(2026, 11, 18, 14, tzinfo=UTC)),
        ("/news/2026-11-17-storm", datetime(2026, 11, 18, 14, tzinfo=UTC)),
        ("/2026/11/", datetime(2026, 12, 1, 14, tzinfo=UTC)),
        ("/2025/12/", datetime(2026, 1, 1, 14, tzinfo=UTC)),
        ("/2026/", datetime(2027, 1, 1, 14, tzinfo=UTC)),
    ],
)
def test_a_day_month_or_year_in_an_address_is_over_in_all_zones_some_time(path: str, end: datetime) -> None:
    assert latest_of(Url(f"http://paper.example{path}")) == end.timestamp()


@pytest.mark.parametrize("path", ["/", "/news/", "/2026/13/45/no-such-day/", "/article/20261/", "/v/1999000/"])
def test_an_address_without_a_date_says_nothing(path: str) -> None:
    assert np.isnan(latest_of(Url(f"http://paper.example{path}")))


def test_forms_are_numbered_by_the_first_page_that_has_them() -> None:
    forms = Forms()
    first, _ = forms.add(Url(f"http://paper.example{path}") for path in ("/", "/tag/storm/", "/sport/"))
    then, _ = forms.add(Url(f"http://paper.example{path}") for path in ("/tag/bridge/", "/news/", "/tag/sea/"))
    assert (first.tolist(), then.tolist()) == ([0, 1, 2], [1, 4, 1])
