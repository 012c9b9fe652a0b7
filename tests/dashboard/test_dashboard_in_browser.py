"""The dashboard of a real crawl of the Newsroom, seen by a real browser."""

import asyncio
import html
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from forager.engine.crawl_settings import DashboardSettings
from tests.dashboard.browser import BROWSERS, PATIENCE, Tab, browsing
from tests.dashboard.crawling import Running, corrected_article, crawling, lively
from tests.server import Served, Site, serving

pytestmark = pytest.mark.needs(*BROWSERS)

HOSTILE = (
    "<script>window.harmed = 1</script>\u202edrowssap \x07\u2066<img src=x onerror='window.harmed = 2'>" + "A" * 10_000
)
ROWS = "document.querySelectorAll('main section tbody')[0].rows"


def _hostile_page(clock_now: float) -> bytes:
    """An article whose every field is an attack."""
    published = datetime.fromtimestamp(clock_now, UTC).isoformat()
    data = json.dumps({"@type": "NewsArticle", "headline": HOSTILE, "datePublished": published}).replace("<", "\\u003c")
    paragraph = (
        html.escape(HOSTILE[:200]) + " The minister said on Monday that the plan was sound and would go ahead. " * 8
    )
    return (
        f"<!doctype html><html lang=en><title>{html.escape(HOSTILE)}</title>"
        f"<script type='application/ld+json'>{data}</script><body><article><h1>{html.escape(HOSTILE)}</h1>"
        f"<p>{paragraph}</p><p>{paragraph}</p></article>"
    ).encode()


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsing() as one:
        await one.look()
        yield one


async def _calm(tab: Tab, running: Running) -> None:
    """Nothing was complained about, and nothing was asked of anybody else."""
    ours = urlsplit(running.address).netloc
    loaded = await tab.value("performance.getEntriesByType('resource').map((one) => one.name)")
    asked = [url for url in [*tab.requests, *loaded] if not url.startswith(("about:", "data:"))]
    assert asked
    assert {urlsplit(url).netloc for url in asked} == {ours}
    assert tab.complaints == []


async def test_stories_and_births_show_without_a_reload(tab: Tab, tmp_path: Path) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        await tab.open(running.address)
        await tab.until("document.getElementById('link').textContent === 'live'")
        await tab.value("window.sameDocument = true")
        await tab.until(f"{ROWS}.length >= 3")
        before = await tab.value(f"{ROWS}.length")
        await tab.until(f"{ROWS}.length > {before}")
        assert await tab.value("window.sameDocument")

        await tab.open(f"{running.address}fleet")
        await tab.until(f"{ROWS}.length >= 1")
        await tab.value("window.sameDocument = true")
        born = len(running.crawl.agent.records)
        assert running.crawl.agent.settings.population.most > born, "no room for a birth"
        await tab.until(f"{ROWS}.length > {born}")
        await tab.until(f"document.querySelectorAll('.birth-dot').length > {born}")
        assert await tab.value("window.sameDocument")
        await tab.value(f"{ROWS}[0].querySelector('button').click()")
        await tab.until("document.querySelectorAll('#forager .urls li').length >= 1")

        for page, section in (("sites", 0), ("recrawl", 0)):
            await tab.open(f"{running.address}{page}")
            await tab.until(f"document.querySelectorAll('main section tbody')[{section}].rows.length >= 3")
        await _calm(tab, running)


async def test_the_changes_of_a_corrected_article_show(tab: Tab, tmp_path: Path) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        corrected = await corrected_article(running)
        await tab.open(f"{running.address}page?url={quote(corrected, safe='')}")
        await tab.until("document.querySelectorAll('.diff ins').length >= 1")
        put_in = await tab.value("document.querySelector('.text-diff ins, .title-diff ins').textContent.trim()")
        assert put_in
        assert await tab.value("document.querySelectorAll('.edition').length") >= 2
        await _calm(tab, running)


async def test_a_hostile_title_does_no_harm(tab: Tab, tmp_path: Path) -> None:
    settings = lively("crawl.recrawl_share=0.5")
    async with serving() as site:
        _serve_hostile(site, settings.newsroom.start + 6 * 3600)
        async with crawling(
            settings, tmp_path / "run", [site.url("/"), site.url("/2026/03/02/story-1.html")]
        ) as running:
            await tab.open(running.address)
            await tab.until(f"[...{ROWS}].some((row) => row.textContent.includes('drowssap'))")
            cell = f"[...{ROWS}].find((row) => row.textContent.includes('drowssap')).querySelector('a')"
            title = await tab.value(f"{cell}.textContent")
            assert title.startswith("<script>window.harmed = 1</script>")
            assert len(title) <= 300
            assert not set(title) & set("\u202e\u2066\x07")
            assert await tab.value(f"{cell}.children.length") == 1  # only the element that keeps the direction
            await tab.value(f"{cell}.click()")
            await tab.until("document.querySelector('h1')?.textContent.includes('drowssap')")
            await tab.until("document.querySelectorAll('.edition').length >= 1")
            assert await tab.value(
                "window.harmed === undefined && document.querySelectorAll('main img, main script').length === 0"
            )
            assert await tab.value("document.documentElement.scrollWidth <= innerWidth"), "it broke out of the page"
            await _calm(tab, running)


def _serve_hostile(site: Site, now: float) -> None:
    kind = {"Content-Type": "text/html; charset=utf-8"}
    home = b"<!doctype html><title>Home</title><body><main><a href='/2026/03/02/story-1.html'>A story</a></main>"
    site.pages["/"] = Served(home, headers=kind)
    site.pages["/2026/03/02/story-1.html"] = Served(_hostile_page(now), headers=kind)


async def test_it_reconnects_by_itself_and_is_sensible_when_there_is_nothing_yet(tab: Tab) -> None:
    async with crawling(lively(), run=False) as running:
        await tab.open(running.address)
        await tab.until("document.getElementById('link').textContent === 'live'")
        assert "No story yet" in await tab.value("document.querySelector('main').innerText")
        for page in ("fleet", "sites", "recrawl", "page", "page?url=http%3A%2F%2Fnowhere.example%2F"):
            tab.complaints.clear()
            await tab.open(f"{running.address}{page}")
            await tab.until("Boolean(document.querySelector('.empty')?.offsetParent)")
            await tab.until("document.getElementById('link').textContent === 'live'")
            unexpected = [one for one in tab.complaints if "404" not in one]  # the last page is not known to the crawl
            assert unexpected == []
        port = urlsplit(running.address).port
        address = running.address
    await tab.until("document.getElementById('link').className === 'lost'")
    assert port is not None
    async with crawling(lively(), dashboard=DashboardSettings(port=port), run=False) as running:
        assert running.address == address
        await tab.until("document.getElementById('link').textContent === 'live'")


async def test_tables_are_sorted_and_filtered_with_the_keyboard(tab: Tab, tmp_path: Path) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        await tab.open(running.address)
        await tab.until(f"{ROWS}.length >= 5")
        async with asyncio.timeout(PATIENCE):
            while not await tab.value("document.activeElement.type === 'search'"):  # a busy browser may drop a key
                await _press(tab, "/")
                await asyncio.sleep(0.2)
        await tab.do("Input.insertText", text="nothing has these words")
        await tab.until("[...document.querySelectorAll('.empty')].some((one) => one.textContent.includes('matches'))")
        await tab.value("document.activeElement.value = ''; document.activeElement.dispatchEvent(new Event('input'))")
        await tab.value("document.querySelectorAll('main section th button')[1].focus()")
        await _press(tab, "Enter")
        await tab.until("document.querySelectorAll('main section th')[1].getAttribute('aria-sort') === 'descending'")
        await tab.value("document.activeElement.blur()")
        await _press(tab, "2")
        await tab.until("location.pathname === '/fleet'")
        await _calm(tab, running)


async def _press(tab: Tab, key: str) -> None:
    text = {"Enter": "\r"}.get(key, key)
    code = {"Enter": 13}.get(key, ord(key[0]))
    await tab.do("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
    await tab.do("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


async def test_every_page_fits_a_phone_and_tells_its_rules(tab: Tab, tmp_path: Path) -> None:
    await tab.look(width=390, height=844, phone=True)
    async with crawling(lively(), tmp_path / "run") as running:
        told = {
            "": "found of what appeared",
            "fleet": "multiplies at a score of 104",
            "sites": "home page allowed",
            "recrawl": "last seen",
        }
        for page, words in told.items():
            await tab.open(running.address + page)
            await tab.until(f"document.querySelector('main').innerText.includes({json.dumps(words)})")
            assert await tab.value("document.documentElement.scrollWidth <= innerWidth"), page
        await _calm(tab, running)
