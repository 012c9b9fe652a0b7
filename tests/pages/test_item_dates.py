"""The dates that lists state beside their links."""

from forager.pages.page import Page, read
from forager.terms import Outcome, Response, Url

HOME = Url("http://paper.example/")


def page(body: str, type: str = "text/html") -> Page:
    return read(Response(HOME, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", type),), body=body.encode()))


def item(name: str, time: str) -> str:
    return f"""<article><header><h2><a href="/{name}">{name}</a></h2></header><p>An excerpt. <a href="/{name}">More</a></p>
    <footer><time datetime="{time}">then</time> <a href="/tag/rain">rain</a></footer></article>"""


def test_times_beside_headlines_date_what_they_lead_to() -> None:
    items = [
        item("one", "1970-01-03T06:00:00+00:00"),
        item("two", "1970-01-02T01:00:00+01:00"),
        item("three", "1970-01-01"),
    ]
    found = page(f"<main>{''.join(items)}</main><aside><a href='/old'>old</a></aside>").latest_dates
    assert found == {f"{HOME}one": 194_400.0, f"{HOME}two": 86_400.0, f"{HOME}three": 86_400.0 + 14 * 3600}


def test_the_time_of_a_page_itself_dates_no_link() -> None:
    story = (
        "<article><h1>Rain</h1><time datetime='1970-01-03T00:00:00Z'></time><h2><a href='/sun'>Sun</a></h2></article>"
    )
    assert page(story).latest_dates == {}
    assert page(item("one", "1970-01-03") + item("two", "1970-01-02")).latest_dates == {}


def test_a_sitemap_tells_when_pages_were_last_modified() -> None:
    body = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>http://paper.example/a</loc><lastmod>1970-01-02T06:00:00+00:00</lastmod></url>
    <url><loc>http://paper.example/b</loc></url></urlset>"""
    assert page(body, "application/xml").latest_dates == {f"{HOME}a": 108_000.0}
