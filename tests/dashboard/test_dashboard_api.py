"""The dashboard over HTTP: who may come in, and what it answers."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from forager.dashboard import server as doors
from forager.dashboard.server import serve_dashboard
from forager.engine.crawl_settings import DashboardSettings
from forager.errors import SettingsError
from tests.dashboard.crawling import Running, crawling, lively

TOKEN = "a-long-enough-secret"


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def _some_stories(running: Running) -> None:
    async with asyncio.timeout(40):
        while running.chronicle.account.stories < 2:
            await asyncio.sleep(0.1)


async def test_every_answer_of_a_running_crawl_makes_sense(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        await _some_stories(running)

        async def ask(path: str) -> dict[str, object]:
            async with client.get(running.address + path) as answer:
                assert answer.status == 200, path
                return dict(await answer.json())

        now = await ask("api/now")
        assert now["figures"]["stories"] >= 2  # type: ignore[index]
        stories = (await ask("api/stories?limit=1"))["stories"]
        assert len(stories) == 1  # type: ignore[arg-type]
        newest = stories[0]["number"]  # type: ignore[index]
        assert all(one["number"] > newest for one in (await ask(f"api/stories?after={newest}"))["stories"])  # type: ignore[attr-defined]
        fleet = await ask("api/fleet")
        assert fleet["alive"] == len([one for one in fleet["foragers"] if one["deleted"] is None])  # type: ignore[attr-defined]
        forager = await ask("api/forager?id=0")
        assert forager["weblog"][0]["url"].startswith("http://127.0.0.1")  # type: ignore[index]
        sites = await ask("api/sites")
        assert {one["site"] for one in sites["sites"]} <= {
            base.removeprefix("http://") for base in running.newsroom.bases.values()
        }  # type: ignore[attr-defined]
        assert all(one["robots"]["allowed"] and one["robots"]["group"] == "*" for one in sites["hosts"])  # type: ignore[attr-defined]
        assert all(one["delay"] == 20.0 for one in sites["hosts"])  # type: ignore[attr-defined]  # download_delay=20s
        recrawl = await ask("api/recrawl")
        never = [one for one in recrawl["next"] if one["score"] is None]  # type: ignore[attr-defined]
        order = [one["worth"] + 1000 * one["fresh"] for one in never]
        assert order == sorted(order, reverse=True)
        scores = [one["score"] for one in recrawl["next"] if one["score"] is not None]  # type: ignore[attr-defined]
        assert scores == sorted(scores, reverse=True)
        assert all(one["why"] for one in recrawl["next"])  # type: ignore[attr-defined]
        assert recrawl["policy"] == "learned" and recrawl["formula"]
        page = await ask(f"api/page?url={stories[0]['url']}")  # type: ignore[index]
        assert "asked at most every 20 s" in str(page["host"]) and "robots.txt allows this page" in str(page["host"])
        assert page["editions"][0]["opening"]  # type: ignore[index]
        assert page["stories"] and page["editions"] and str(page["story"]).startswith("Yes")
        for unknown in ("api/page?url=http://nowhere.example/", "api/page?url=nonsense", "api/forager?id=x"):
            async with client.get(running.address + unknown) as answer:
                assert answer.status == 404
                assert "error" in await answer.json()


async def test_a_crawl_that_goes_on_shows_the_stories_from_before(
    client: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        await _some_stories(running)
    before = [told.url for _, told in running.chronicle.stories]
    async with (
        crawling(lively(), tmp_path / "run", run=False) as running,
        client.get(f"{running.address}api/stories?limit=1000") as answer,
    ):
        assert [story["url"] for story in (await answer.json())["stories"]] == before[::-1]


async def test_feed_metrics_and_health(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with crawling(lively(), tmp_path / "run") as running:
        await _some_stories(running)
        async with client.get(f"{running.address}stories.atom") as answer:
            feed = ElementTree.fromstring(await answer.text())
        assert len(feed.findall("{http://www.w3.org/2005/Atom}entry")) >= 2
        async with client.get(f"{running.address}metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            lines = (await answer.text()).splitlines()
        families = {family.name: family for family in text_string_to_metric_families("\n".join(lines) + "\n")}
        assert {sample.labels["site"] for sample in families["forager_stories"].samples} <= {
            base.removeprefix("http://") for base in running.newsroom.bases.values()
        }
        assert families["forager_story_delay_seconds"].type == "summary"
        assert families["forager_host_delay_seconds"].samples[0].value == 20.0  # download_delay=20s
        assert {"forager_skipped", "forager_host_requests_last_hour", "forager_fetches"} <= set(families)
        async with client.get(f"{running.address}healthz") as answer:
            assert await answer.json() == {"ok": True}
        async with client.get(f"{running.address}api") as answer:
            assert "/api/recrawl" in await answer.text()


async def test_new_stories_are_streamed(client: aiohttp.ClientSession) -> None:
    async with crawling(lively()) as running, client.get(f"{running.address}api/stream") as stream, asyncio.timeout(40):
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        async for line in stream.content:
            if line.startswith(b"data: ") and b'"new":[{' in line:
                break
        else:
            raise AssertionError("the stream ended without a story")


async def test_only_our_own_name_comes_in_without_a_token(client: aiohttp.ClientSession) -> None:
    async with crawling(lively(), run=False) as running:
        port = running.address.rstrip("/").rpartition(":")[2]
        for name, status in (
            (f"127.0.0.1:{port}", 200),
            (f"localhost:{port}", 200),
            (f"LOCALHOST:{port}", 200),
            (f"rebound.example:{port}", 421),
            ("127.0.0.1", 421),
            (f"127.0.0.1:{port}.rebound.example", 421),
        ):
            async with client.get(f"{running.address}api/now", headers={"Host": name}) as answer:
                assert answer.status == status, name


async def test_every_answer_carries_the_rules_for_browsers(client: aiohttp.ClientSession) -> None:
    async with crawling(lively(), run=False) as running:
        for path in ("", "static/app.js", "api/now", "stories.atom", "metrics", "no/such/page", "static/../app.py"):
            async with client.get(running.address + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy and "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
        async with client.post(f"{running.address}api/now", data=b"x") as answer:
            assert answer.status == 405
        async with client.head(f"{running.address}api/stream") as answer:
            assert answer.status == 405  # it would never end


async def test_with_a_token_nothing_but_health_is_told_without_it(client: aiohttp.ClientSession) -> None:
    async with crawling(lively(), dashboard=DashboardSettings(token=TOKEN), run=False) as running:
        for path, status in (
            ("", 401),
            ("api/now", 401),
            ("metrics", 401),
            ("?token=wrong-but-long-enough", 401),
            ("healthz", 200),
        ):
            async with client.get(running.address + path) as answer:
                assert answer.status == status, path
        async with client.get(f"{running.address}metrics", headers={"Authorization": f"Bearer {TOKEN}"}) as answer:
            assert answer.status == 200
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an IP address
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            async with browser.get(f"{running.address}fleet?token={TOKEN}", allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, "/fleet")
                assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Strict" in answer.headers["Set-Cookie"]
            async with browser.get(f"{running.address}api/now") as answer:
                assert answer.status == 200


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (DashboardSettings(host="0.0.0.0"), "dashboard.token"),
        (DashboardSettings(host="example.org"), "dashboard.token"),
        (DashboardSettings(token="short"), "16"),
    ],
)
def test_settings_that_would_open_it_to_everybody_are_refused(settings: DashboardSettings, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        doors.check_access(settings)


async def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with crawling(lively(), run=False) as running:
            with pytest.raises(SettingsError, match=f"port {port}"):
                async with serve_dashboard(running.watched, running.chronicle, DashboardSettings(port=port)):
                    pass
