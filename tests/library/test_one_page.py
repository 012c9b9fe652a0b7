"""One page, through all rules or from bytes at hand."""

import pytest

import forager
from forager.errors import InputError, SettingsError
from forager.terms import Outcome
from tests.library.program import LOOPBACK, WHO
from tests.server import Served, serving

PAGE = (
    b"<html lang=en><title>Rain</title><meta property='article:published_time' content='2024-05-01T10:00:00Z'>"
    b"<p>It rains in the valley, and it will go on raining until the evening. <a href='/sun'>Sun</a></p></html>"
)


async def test_a_page_is_fetched_by_all_rules() -> None:
    site = {
        "/robots.txt": Served(b"User-agent: *\nDisallow: /private"),
        "/news": Served(PAGE, headers={"Content-Type": "text/html"}),
        "/old": Served(status=301, headers={"Location": "/news"}),
        "/private": Served(PAGE),
    }
    async with serving(site) as served:
        moved = await forager.fetch(served.url("/old"), user_agent=WHO, settings=LOOPBACK)
        private = await forager.fetch(served.url("/private"), user_agent=WHO, settings=LOOPBACK)
        gone = await forager.fetch(served.url("/nothing"), user_agent=WHO, settings=LOOPBACK)
    assert (moved.title, moved.url, moved.response.first_url) == ("Rain", served.url("/news"), served.url("/old"))
    assert (private.response.outcome, gone.response.outcome) == (Outcome.REFUSED, Outcome.GONE)
    assert "robots" in private.trouble
    assert "404" in gone.trouble
    assert not served.asked("/private")
    assert {seen.headers["user-agent"] for seen in served.log} == {WHO}


async def test_whoever_fetches_names_a_contact_and_a_page() -> None:
    with pytest.raises(SettingsError, match="names no contact"):
        await forager.fetch("https://example.org/", user_agent="Mine/1.0")
    with pytest.raises(InputError, match="not an http"):
        await forager.fetch("somewhere", user_agent=WHO)


@pytest.mark.parametrize("html", [PAGE, PAGE.decode()], ids=["bytes", "text"])
def test_a_page_is_read_without_any_web(html: str | bytes) -> None:
    page = forager.read(html, "https://example.org/rain")
    assert isinstance(page, forager.Page)
    assert (page.title, page.lang, page.trouble) == ("Rain", "en", "")
    assert [link.url for link in page.links] == ["https://example.org/sun"]
    assert page.published is not None
    assert page.published.time == 1714557600
    assert "rains in the valley" in page.text


def test_dates_later_than_the_fetch_are_not_believed() -> None:
    page = forager.read(PAGE, "https://example.org/rain", fetched=1704110400)
    assert page.published is None or page.published.time < 1704110400


def test_text_in_any_alphabet_stays_what_it_is() -> None:
    assert forager.read("<title>Москва – 東京</title>", "https://example.org/").title == "Москва – 東京"
